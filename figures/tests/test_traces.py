"""The patterns that figures are drawn from, held to traces of the kernels that they are of."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from chapters.tests.programs import program
from common.records import traces
from figures.chapters.chapter02_smem import smem_stride
from figures.kit import costs, patterns
from figures.kit.patterns import GLOBAL, SHARED, STORE, Access, Kernel
from figures.tests.test_patterns import REGISTERED, tiles_of_a_block

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

ROOT = Path(__file__).resolve().parents[2]
METRICS = {
    f"l1tex__{metric}_op_{operation}": f"{space}_{kind}_{what}"
    for operation, kind in (("ld", "load"), ("st", "store"))
    for metric, space, what in (
        ("t_requests_pipe_lsu_mem_global", "global", "requests"),
        ("t_sectors_pipe_lsu_mem_global", "global", "sectors"),
        ("data_pipe_lsu_wavefronts_mem_shared", "shared", "wavefronts"),
        ("data_bank_conflicts_pipe_lsu_mem_shared", "shared", "conflicts"),
    )
}

#: The kernels with a pattern that leave one partial sum per block.
TRACED: dict[tuple[str, str], Kernel] = {
    name: kernel
    for name, kernel in REGISTERED.items()
    if any(access.array == "partial" for access in kernel(64, 64, 0))
}


def there(kernel: Kernel, n: int, block: int, index: int) -> int:
    """That block, or the last of a grid that has no such."""
    return min(index, -(-n // (block * tiles_of_a_block(kernel))) - 1)


def trace(
    folder: Path, chapter: str, variant: str, n: int, block: int, index: int, **more: str
) -> traces.Trace:
    path = folder / "trace.jsonl"
    options = ["--device", "embedded", "--once", "--variant", variant]
    environment = {
        **os.environ,
        "EMU_TRACE": str(path),
        "EMU_TRACE_KERNEL": "chapter",
        "EMU_TRACE_BLOCK": f"{index},0,0",
        **more,
    }
    done = subprocess.run(
        [program(chapter), *options, "--n", str(n), "--block", str(block)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return traces.read(path)


# What one warp does from one store to the next: (space, direction, array, lanes and elements). Of
# loads in a row the compiler chooses the order, and the assembler may make one of two.
Touched = tuple[str, str, str, tuple[tuple[int, int], ...]]
Steps = dict[int, list[list[Touched]]]


def _steps(touched: Iterable[tuple[int, Touched]]) -> Steps:
    steps: Steps = {}
    for warp, what in touched:
        own = steps.setdefault(warp, [[]])
        own[-1].append(what)
        if what[1] == STORE:
            own[-1].sort()
            own.append([])
    return steps


def of_trace(traced: traces.Trace, source: str) -> Steps:
    bases: dict[int, str] = {0: "tile"}  # the input is what is touched first

    def touched() -> Iterable[tuple[int, Touched]]:
        for instruction in traced.instructions:
            for part in instruction.parts:
                if part.space not in (GLOBAL, SHARED):
                    continue
                array = bases.setdefault(part.base, "partial" if len(bases) > 1 else source)
                lanes = tuple(
                    (lane, offset // part.width)
                    for lane, offset in zip(part.lanes, part.offsets, strict=True)
                )
                yield instruction.warp, (part.space, part.direction, array, lanes)

    return _steps(touched())


def of_pattern(accesses: Iterable[Access]) -> Steps:
    def touched() -> Iterable[tuple[int, Touched]]:
        for request in patterns.by_request(accesses):
            first, lanes = request[0], {a.lane for a in request}
            # A lane that has two slots of one load has two loads in the PTX.
            for part in (request[: len(lanes)], request[len(lanes) :]):
                if part:
                    slots = tuple((a.lane, a.index) for a in part)
                    yield first.warp, (first.space, first.kind, first.array, slots)

    return _steps(touched())


@pytest.mark.parametrize(("n", "block", "index"), [(1000, 256, 0), (4096, 64, 1), (5000, 128, 4)])
@pytest.mark.parametrize(("chapter", "variant"), TRACED)
def test_a_pattern_is_what_its_kernel_does(
    chapter: str, variant: str, n: int, block: int, index: int, tmp_path: Path
) -> None:
    kernel = TRACED[chapter, variant]
    index = there(kernel, n, block, index)
    traced = trace(tmp_path, chapter, variant, n, block, index)
    source = "data" if chapter == "chapter01_gmem" else "in"
    expected = of_pattern(kernel(n, block, index))
    assert expected and of_trace(traced, source) == expected


@pytest.mark.parametrize("block", [1, 31, 33, 100])
@pytest.mark.parametrize(
    ("chapter", "variant"),
    [("chapter01_gmem", "gmem"), ("chapter02_smem", "smem"), ("chapter05_unroll4", "unroll4")],
)
def test_so_it_is_in_blocks_of_any_size(
    chapter: str, variant: str, block: int, tmp_path: Path
) -> None:
    test_a_pattern_is_what_its_kernel_does(chapter, variant, 1000, block, 2, tmp_path)


def test_a_strided_load_goes_on_by_the_grid(tmp_path: Path) -> None:
    traced = trace(tmp_path, "chapter02_smem", "smem_stride", 1 << 18, 64, 3)
    pattern = smem_stride(1 << 18, 64, 3, grid=traced.grid[0])
    assert of_trace(traced, "in") == of_pattern(pattern)


@pytest.mark.parametrize("schedule", ["together", "apart:3"])
@pytest.mark.parametrize(("chapter", "variant"), TRACED)
def test_a_trace_adds_up_to_the_counters(
    chapter: str, variant: str, schedule: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.csv"
    more = {"EMU_CSV": str(page), "EMU_SCHEDULE": schedule}
    traced = trace(tmp_path, chapter, variant, 100, 256, 0, **more)
    assert traced.grid == (1, 1, 1) and traced.schedule == schedule
    with page.open(encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if "chapter" in row["Kernel Name"]]
    totals = traced.totals()
    for metric, short in METRICS.items():
        assert int(row[f"{metric}.sum"]) == totals.get(short, 0), short
    assert int(row["source__warp_instructions.sum"]) == len(traced.instructions)
    assert int(row["source__thread_instructions.sum"]) == sum(
        len(i.active) for i in traced.instructions
    )


@pytest.mark.parametrize(("chapter", "variant"), TRACED)
def test_counts_of_a_trace_follow_from_its_addresses(
    chapter: str, variant: str, tmp_path: Path
) -> None:
    index = there(TRACED[chapter, variant], 4096, 128, 2)
    traced = trace(tmp_path, chapter, variant, 4096, 128, index)
    seen = together = 0
    for instruction in traced.instructions:
        for part in instruction.parts:
            request = [
                Access(0, 0, 0, lane, part.space, part.direction, "x", address // part.width)
                for lane, address in zip(part.lanes, part.addresses, strict=True)
            ]
            if part.space == GLOBAL:
                found = instruction.counts[f"global_{part.direction}_sectors"]
                assert found == costs.sectors(request)
                assert instruction.counts[f"global_{part.direction}_requests"] == 1
            elif part.space == SHARED:
                found = instruction.counts.get(f"shared_{part.direction}_wavefronts", 0)
                together += found == 0  # with the load of the slot beside it
                assert found in (0, costs.wavefronts(request))
            else:
                continue
            seen += 1
    assert seen > 10
    # The assembler makes one load of the last two slots where the steps are written out.
    assert together == (variant in ("smem_unrolled", "last_warp_sync"))


def test_a_trace_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("")
    with pytest.raises(ValueError, match="empty"):
        traces.read(path)
    with pytest.raises(ValueError, match="cut"):
        trace(tmp_path, "chapter02_smem", "smem", 1000, 64, 0, EMU_TRACE_LIMIT="7")
    assert traces.read(path, whole=False).end == "cut"
    assert len(traces.read(path, whole=False).instructions) == 7
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-3] + lines[-1:]))
    with pytest.raises(ValueError, match="torn"):
        traces.read(path, whole=False)
    path.write_text(json.dumps({"some": "thing"}))
    with pytest.raises(ValueError):
        traces.read(path)
