"""What chapter 4 says of conflicts: derived from the patterns, and as the embedded device counts.

That the device counts as hardware does is test_embedded_counters.py's to see.
"""

from __future__ import annotations

import csv
import math
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapters.tests.programs import program
from common.records import columns, traces
from figures.chapters.chapter02_smem import smem
from figures.chapters.chapter03_divergence import strided
from figures.chapters.chapter04_bank_conflicts.kernels import (
    LAYOUTS,
    stride_walk,
    strided_padded,
    strided_swizzled,
    tile_column,
)
from figures.kit import costs, patterns
from figures.kit.patterns import WARP
from tools.tests.built import BUILD

pytestmark = pytest.mark.built("programs", "embedded_device")

ROOT = Path(__file__).resolve().parents[3]
CHAPTER = "chapter04_bank_conflicts"
COUNTERS = ROOT / "figures/data/nvidia-h200/counters.json"
ROUNDS = 256
BLOCK = 256
TREES = {
    ("chapter02_smem", "smem"): smem,
    ("chapter03_divergence", "strided"): strided,
    (CHAPTER, "strided_padded"): strided_padded,
}


def run(folder: Path, chapter: str, *arguments: str, **more: str) -> list[dict[str, int]]:
    """What each launch of a chapter's program counted of shared memory."""
    page = folder / "page.csv"
    settings = {"LD_LIBRARY_PATH": str(BUILD / "emulator/lib"), "EMU_CSV": str(page), **more}
    subprocess.run(
        [program(chapter), "--once", *arguments],
        check=True,
        capture_output=True,
        env=os.environ | settings,
    )
    with page.open(encoding="utf-8") as file:
        return [shared_counts(row) for row in csv.DictReader(file) if row["ID"]]


def shared_counts(metrics: dict[str, Any]) -> dict[str, int]:
    return {
        f"{kind}_{what}": int(metrics[f"l1tex__data_{name}_mem_shared_op_{operation}.sum"])
        for kind, operation in (("load", "ld"), ("store", "st"))
        for what, name in (
            ("wavefronts", "pipe_lsu_wavefronts"),
            ("conflicts", "bank_conflicts_pipe_lsu"),
        )
    }


# ------------------------------------------------------------------------- strides and widths


def test_conflicts_follow_from_the_common_divisor(tmp_path: Path) -> None:
    strides = range(1, 34)
    names = [f"stride{stride}" for stride in strides]
    counted = run(tmp_path, CHAPTER, "--n", "1024", "--variant", *names)
    requests = 1024 // WARP * ROUNDS
    for stride, counts in zip(strides, counted, strict=True):
        divisor = math.gcd(stride, patterns.BANKS)
        assert costs.wavefronts(stride_walk(stride)) == divisor
        assert counts["load_wavefronts"] == requests * divisor, stride
        assert counts["load_conflicts"] == requests * (divisor - 1), stride
        assert counts["store_conflicts"] == 0


WALKS = [
    *(("width", width) for width in (1, 2, 4, 8, 16)),
    *((name, width) for name in ("pairs", "twos", "halves", "all") for width in (4, 8, 16)),
]


#: Which element a lane of width_walk reads.
SHARING: dict[str, Callable[[int], int]] = {
    "width": lambda lane: lane,
    "pairs": lambda lane: lane // 2,
    "twos": lambda lane: lane // 4 * 2 + lane % 2,
    "halves": lambda lane: lane % 16,
    "all": lambda lane: 0,
}


def test_widths_and_shared_elements_follow_the_rules(tmp_path: Path) -> None:
    names = [f"{name}{width}" for name, width in WALKS]
    counted = run(tmp_path, CHAPTER, "--n", "1024", "--variant", *names)
    requests = 1024 // WARP * ROUNDS
    for (name, width), counts in zip(WALKS, counted, strict=True):
        lanes = map(SHARING[name], range(WARP))
        passes = costs.wavefronts(patterns.one_warp(lanes, width))
        assert counts["load_wavefronts"] == requests * passes, (name, width)
        assert counts["load_conflicts"] == 0, (name, width)


def test_the_rules_have_the_widths_that_the_page_tells() -> None:
    def passes(name: str) -> list[int]:
        requests = (map(SHARING[name], range(WARP)) for _ in range(5))
        return [
            costs.wavefronts(patterns.one_warp(lanes, width))
            for lanes, width in zip(requests, (1, 2, 4, 8, 16), strict=True)
        ]

    assert passes("width") == passes("halves") == [1, 1, 1, 2, 4]
    assert passes("pairs") == passes("twos") == passes("all") == [1, 1, 1, 1, 2]


@pytest.mark.parametrize(("n", "block", "launches"), [(1 << 14, BLOCK, 50), (256, 1024, 7)])
def test_walks_and_tiles_count_what_the_hardware_counted(
    n: int, block: int, launches: int, tmp_path: Path
) -> None:
    """To the last one: so few blocks do not get in each other's way."""
    record = columns.read(COUNTERS)
    runs = [r for r in record["runs"] if (r["chapter"], r["n"], r["block"]) == (CHAPTER, n, block)]
    if not runs:
        pytest.skip(f"{CHAPTER} is not recorded with counters yet")
    assert len(runs) == launches
    shape = ["--n", str(n), "--block", str(block)]
    ours = run(tmp_path, CHAPTER, *shape, "--variant", *(r["variant"] for r in runs))
    for recorded, counts in zip(runs, ours, strict=True):
        (launch,) = recorded["launches"]
        assert counts == shared_counts(launch["metrics"]), recorded["variant"]


# ------------------------------------------------------------------------------ step by step


def traced_steps(trace: traces.Trace) -> list[tuple[int, int]]:
    """Wavefronts and conflicts of each step of a tree: what its warps do between barriers."""
    steps: dict[int, tuple[int, int]] = {}
    for warp in {instruction.warp for instruction in trace.instructions}:
        step = 0
        for instruction in trace.of_warp(warp):
            if instruction.text.startswith(("bar.", "barrier.")):
                step += 1
            found = [
                sum(
                    instruction.counts.get(f"shared_{kind}_{what}", 0) for kind in ("load", "store")
                )
                for what in ("wavefronts", "conflicts")
            ]
            before = steps.get(step, (0, 0))
            steps[step] = before[0] + found[0], before[1] + found[1]
    # Before the first barrier the tile is filled, after the last one the result is taken.
    return [steps[step] for step in sorted(steps)][1:-1]


@pytest.mark.parametrize(("chapter", "variant"), TREES)
@pytest.mark.parametrize("block", [64, 256, 1024])
def test_each_step_of_a_tree_takes_what_its_pattern_takes(
    chapter: str, variant: str, block: int, tmp_path: Path
) -> None:
    path = tmp_path / "trace.jsonl"
    shape = ["--variant", variant, "--n", str(4 * block), "--block", str(block)]
    more = {"EMU_TRACE": str(path), "EMU_TRACE_KERNEL": "chapter", "EMU_TRACE_BLOCK": "1,0,0"}
    (whole,) = run(tmp_path, chapter, *shape, **more)
    trace = traces.read(path)
    pattern = costs.tree_steps(TREES[chapter, variant](4 * block, block, 1))
    assert traced_steps(trace) == [(step.wavefronts, step.conflicts) for step in pattern]
    # Four blocks that all do the same make the launch's count.
    totals = trace.totals()
    for name, value in whole.items():
        assert value == 4 * totals.get(f"shared_{name}", 0), name
    assert sum(step.conflicts for step in pattern) * 4 == sum(
        value for name, value in whole.items() if name.endswith("conflicts")
    )


def test_the_page_says_what_the_steps_take() -> None:
    steps = costs.tree_steps(strided(BLOCK, BLOCK, 0))
    ways = [step.wavefronts // step.requests for step in steps]
    assert ways == [2, 4, 8, 8, 8, 4, 2, 1]
    assert sum(step.conflicts for step in steps) == 105
    largest = costs.tree_steps(strided(1024, 1024, 0))
    assert [step.wavefronts // step.requests for step in largest] == [
        2,
        4,
        8,
        16,
        32,
        16,
        8,
        4,
        2,
        1,
    ]
    for tree in (strided_padded, strided_swizzled, smem):
        for block in (32, 64, 256, 1024):
            assert not any(step.conflicts for step in costs.tree_steps(tree(block, block, 0)))


#: Of launches that every block takes alike: hardware's counts.
RECORDED = ROOT / "chapters/tests/nvidia-h200.csv"


@pytest.mark.parametrize(("chapter", "variant"), TREES)
def test_the_steps_sum_is_the_hardwares_count(chapter: str, variant: str, tmp_path: Path) -> None:
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    case = f"--once --variant {variant} --n 4096 --block {BLOCK}"
    found = [row for row in rows if (row["chapter"], row["case"]) == (chapter, case)]
    if not found:
        pytest.skip(f"{chapter}/{variant} is not recorded yet: chapters/tests/record, on a GPU")
    (row,) = found
    path = tmp_path / "trace.jsonl"
    more = {"EMU_TRACE": str(path), "EMU_TRACE_KERNEL": "chapter", "EMU_TRACE_BLOCK": "0,0,0"}
    run(tmp_path, chapter, *case.split()[1:], **more)
    conflicts = sum(conflicts for _, conflicts in traced_steps(traces.read(path)))
    hardware = sum(
        int(row[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum"])
        for operation in ("ld", "st")
    )
    assert conflicts * 4096 // BLOCK == hardware


# ------------------------------------------------------------------------------------ the tiles

#: Layout of the columns' tile, bytes a load of it, bytes a load of the rows' tile.
TILES = {
    "tile": ("Plain", 16, 16),
    "tile_padded": ("Padded", 4, 16),
    "tile_padded4": ("PaddedBy4", 16, 16),
    "tile_swizzled": ("Swizzled", 4, 16),
    "tile_swizzled4": ("SwizzledBy4", 16, 16),
    "tile_as_written": ("Plain", 4, 4),
    "tile_padded_as_written": ("Padded", 4, 4),
}


def tile_passes(layout: str, width: int, row_width: int) -> tuple[int, int]:
    """Wavefronts and conflicts of one warp's loads for 32 products a lane."""
    loads = [
        *(tile_column(layout, k, width) for k in range(0, 32, width // 4)),
        *(patterns.one_warp([k] * WARP, row_width) for k in range(0, 32, row_width // 4)),
    ]
    return sum(map(costs.wavefronts, loads)), sum(map(costs.bank_conflicts, loads))


def test_tiles_take_what_their_layouts_take(tmp_path: Path) -> None:
    rows = 64
    counted = run(tmp_path, CHAPTER, "--n", str(rows), "--block", "1024", "--variant", *TILES)
    tiles = (rows // 32) ** 2 * (rows // 32) * 32  # of c, along k, and warps in each
    for (name, how), counts in zip(TILES.items(), counted, strict=True):
        wavefronts, conflicts = tile_passes(*how)
        assert counts["load_wavefronts"] == tiles * wavefronts, name
        assert counts["load_conflicts"] == tiles * conflicts, name
        assert counts["store_conflicts"] == 0, name


def test_the_page_says_what_the_tiles_take() -> None:
    for name, expected in (
        ("tile_as_written", 33),
        ("tile_padded_as_written", 2),
        ("tile", 8.5),
        ("tile_padded", 1.5),
        ("tile_padded4", 1.5),
        ("tile_swizzled", 1.5),
        ("tile_swizzled4", 1.5),
    ):
        wavefronts, conflicts = tile_passes(*TILES[name])
        assert wavefronts / 32 == expected, name
        assert (conflicts == 0) == ("padded" in name or "swizzled" in name)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_has_a_place_for_each_element(layout: str) -> None:
    at = LAYOUTS[layout]
    places = {at(row, column) for row in range(32) for column in range(32)}
    assert len(places) == 32 * 32
