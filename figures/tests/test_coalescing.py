"""The rules of coalescing on the examples that NVIDIA's guides give, and chapter 10's patterns."""

from __future__ import annotations

import csv
import os
import random
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from chapters.tests.programs import program
from common.records import traces
from common.records.recordings import Recordings
from figures import chapters
from figures.chapters.chapter10_coalescing import rules, sweeps
from figures.chapters.chapter10_coalescing.kernels import PATTERNS
from figures.chapters.chapter10_coalescing.rules import (
    EXAMPLES,
    Transaction,
    first_rule,
    line_rule,
    second_rule,
    todays_rule,
)
from figures.kit import costs, patterns
from figures.kit.patterns import Access
from figures.kit.pictures import View
from figures.tests.test_traces import METRICS

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

ROOT = Path(__file__).resolve().parents[2]
WARP = range(patterns.WARP)


def line(first: int, width: int = 4, stride: int = 1) -> list[int]:
    return [first + lane * stride * width for lane in WARP]


# ------------------------------------------------------------------------------- 1.0 and 1.1


@pytest.mark.parametrize(
    ("width", "expected"),
    [(4, [64] * 2), (8, [128] * 2), (16, [128] * 4)],
)
def test_in_order_and_aligned_is_one_transaction_or_two(width: int, expected: list[int]) -> None:
    made = first_rule(line(256, width), width)
    assert [each.size for each in made] == expected
    assert made[0].start == 256
    assert rules.moved(made) == patterns.WARP * width


@pytest.mark.parametrize("first", (4, 32, 60))
def test_half_a_warp_that_begins_elsewhere_is_taken_apart(first: int) -> None:
    made = first_rule(line(first), 4)
    assert [each.size for each in made] == [32] * 32
    # Each thread's own, even where neighbours' are the same.
    assert made[0] == Transaction(first // 32 * 32, 32) and len(set(made)) < 32


def test_each_half_is_judged_by_itself() -> None:
    good, bad = line(0)[:16], line(0)[16:]
    bad[3], bad[4] = bad[4], bad[3]
    made = first_rule([*good, *bad], 4)
    assert made[0] == Transaction(0, 64) and len(made) == 1 + 16


@pytest.mark.parametrize("width", (1, 2))
def test_narrow_words_never_coalesce(width: int) -> None:
    assert len(first_rule(line(0, width), width)) == 32


def test_a_thread_that_takes_no_part_breaks_nothing() -> None:
    some = [None if lane % 3 else address for lane, address in enumerate(line(128))]
    assert first_rule(some, 4) == [Transaction(128, 64), Transaction(192, 64)]
    # Of those that are taken apart, it needs no transaction.
    apart = [None if lane % 2 else address for lane, address in enumerate(line(4))]
    assert len(first_rule(apart, 4)) == 16


# ------------------------------------------------------------------------------- 1.2 and 1.3


def test_sequential_within_a_segment_is_one_transaction_of_all_of_it() -> None:
    # "A single 128-byte transaction": the Best Practices Guide's first misaligned half warp.
    assert second_rule(line(4)[:16], 4) == [Transaction(0, 128)]


def test_sequential_across_two_segments_is_two_made_small() -> None:
    # The Best Practices Guide's second: one of 64 bytes and one of 32.
    assert second_rule(line(96)[:16], 4) == [Transaction(96, 32), Transaction(128, 32)]
    assert second_rule(line(68)[:16], 4) == [Transaction(64, 64), Transaction(128, 32)]


@pytest.mark.parametrize(("width", "segment"), [(1, 32), (2, 64), (4, 128), (8, 128), (16, 128)])
def test_the_segment_goes_with_the_width(width: int, segment: int) -> None:
    # Two threads at either end of a segment, and one that begins the next.
    ends = [0, segment - width]
    assert second_rule(ends, width) == [Transaction(0, segment)]
    assert len(second_rule([*ends, segment], width)) == 2


def test_order_does_not_matter_and_neither_do_repetitions() -> None:
    addresses = line(0)[:16]
    mixed = random.Random(1).sample(addresses, 16)
    assert second_rule(mixed, 4) == second_rule(addresses, 4) == [Transaction(0, 64)]
    assert second_rule([64] * 16, 4) == [Transaction(64, 32)]


def test_what_is_far_apart_costs_a_transaction_each() -> None:
    assert [each.size for each in second_rule(line(0, 4, 64), 4)] == [32] * 32


def test_it_never_moves_less_than_is_wanted_nor_more_than_the_first_rule() -> None:
    dice = random.Random(2)
    for _ in range(500):
        width = dice.choice((4, 8, 16))
        addresses = [width * dice.randrange(64) for _ in WARP]
        made = second_rule(addresses, width)
        for half, half_made in ((addresses[:16], made), (addresses[16:], made)):
            for address in half:
                inside = [e for e in half_made if e.start <= address < e.start + e.size]
                assert inside and address + width <= inside[0].start + inside[0].size
        assert all(each.start % each.size == 0 for each in made)
        assert len(made) <= len(first_rule(addresses, width))


# --------------------------------------------------------------------------------------- 2.x


def test_a_line_is_fetched_whole_and_once() -> None:
    assert line_rule(line(128), 4) == [Transaction(128, 128)]
    assert line_rule(line(4), 4) == [Transaction(0, 128), Transaction(128, 128)]
    assert line_rule([64] * 32, 4) == [Transaction(0, 128)]
    assert [each.size for each in line_rule(line(0, 4, 32), 4)] == [128] * 32


@pytest.mark.parametrize(("width", "lines"), [(1, 1), (4, 1), (8, 2), (16, 4)])
def test_wide_words_make_a_request_of_each_part_of_a_warp(width: int, lines: int) -> None:
    assert len(line_rule(line(0, width), width)) == lines
    # Half warps that want the same line ask for it twice.
    assert len(line_rule([0] * 32, width)) == lines


# ------------------------------------------------------------------------------------- today


@pytest.mark.parametrize(
    ("width", "stride", "first"), [(4, 1, 0), (4, 3, 4), (8, 2, 8), (16, 1, 16)]
)
def test_todays_rule_is_that_of_the_patterns(width: int, stride: int, first: int) -> None:
    request = [
        Access(0, 0, 0, lane, patterns.GLOBAL, patterns.LOAD, "x", address // width, width)
        for lane, address in enumerate(line(first, width, stride))
    ]
    made = todays_rule(line(first, width, stride), width)
    assert len(made) == costs.sectors(request)


def test_a_warp_of_nobody_moves_nothing() -> None:
    for rule in rules.RULES.values():
        assert rule([None] * 32, 4) == []


# ---------------------------------------------------------------------- what the page says of it


def test_the_pages_examples() -> None:
    moved = {
        name: [rules.moved(rule(addresses, 4)) for rule in rules.RULES.values()]
        for name, addresses in EXAMPLES.items()
    }
    assert moved == {
        "aligned": [128, 128, 128, 128],
        "offset by one": [1024, 224, 256, 160],
        "permuted": [1024, 128, 128, 128],
        "stride 2": [1024, 256, 256, 256],
    }
    assert all(len(set(addresses)) == 32 for addresses in EXAMPLES.values())
    # Permuted within each half warp, that is.
    assert sorted(EXAMPLES["permuted"][:16]) == EXAMPLES["aligned"][:16]


# --------------------------------------------------------------- the kernels, as they are traced


def run(*arguments: str, **settings: str) -> None:
    done = subprocess.run(
        [program("chapter10_coalescing"), "--device", "embedded", "--once", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


#: Warp, space, direction, width, array and, by lane, the byte that it begins at.
Request = tuple[int, str, str, int, str, tuple[tuple[int, int], ...]]


def of_trace(traced: traces.Trace, arrays: Sequence[str]) -> list[Request]:
    """All requests; arrays are named in the order of their allocation."""
    parts = [
        (instruction.warp, part)
        for instruction in traced.instructions
        for part in instruction.parts
        if part.space in (patterns.GLOBAL, patterns.SHARED)
    ]
    bases = sorted({part.base for _, part in parts if part.space == patterns.GLOBAL})
    names = {0: "tile", **dict(zip(bases, arrays, strict=True))}
    return sorted(
        (
            warp,
            part.space,
            part.direction,
            part.width,
            names[part.base],
            tuple(zip(part.lanes, part.offsets, strict=True)),
        )
        for warp, part in parts
    )


def of_pattern(accesses: Iterable[Access]) -> list[Request]:
    return sorted(
        (
            request[0].warp,
            request[0].space,
            request[0].kind,
            request[0].width,
            request[0].array,
            tuple((access.lane, access.byte_offset) for access in request),
        )
        for request in patterns.by_request(accesses)
    )


@pytest.mark.parametrize(("n", "block", "index"), [(1003, 96, 0), (1003, 100, 1), (4099, 64, 7)])
@pytest.mark.parametrize(
    "variant",
    [
        *("load_stride3", "load_stride8", "store_stride4", "load_offset7"),
        *("copy1", "copy8", "copy16"),
        *("vec3_packed", "vec3_aligned", "vec3_arrays", "vec3_staged"),
    ],
)
def test_a_pattern_is_what_its_kernel_does(
    variant: str, n: int, block: int, index: int, tmp_path: Path
) -> None:
    path = tmp_path / "trace.jsonl"
    more = {"EMU_TRACE_KERNEL": "chapter", "EMU_TRACE_BLOCK": f"{index},0,0"}
    shape = ["--variant", variant, "--n", str(n), "--block", str(block)]
    run(*shape, EMU_TRACE=str(path), **more)
    kernel = PATTERNS[variant].accesses
    assert kernel
    expected = of_pattern(kernel(n, block, index))
    arrays = ("x", "y", "z", "out") if variant == "vec3_arrays" else ("in", "out")
    assert expected and of_trace(traces.read(path), arrays) == expected


@pytest.mark.parametrize(("n", "block"), [(33, 32), (1001, 100), (10_007, 256), (4096, 1024)])
def test_what_is_derived_is_counted(n: int, block: int, tmp_path: Path) -> None:
    page = tmp_path / "page.csv"
    names = [*PATTERNS]
    run("--n", str(n), "--block", str(block), "--variant", *names, EMU_CSV=str(page))
    with page.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ID"]]
    for variant, row in zip(PATTERNS, rows, strict=True):
        grid = int(row["Grid Size"].strip("()").split(",")[0])
        derived = chapters.derived_counts(sweeps.NAME, variant, n, block, grid)
        for metric, short in METRICS.items():
            assert int(row[f"{metric}.sum"]) == getattr(derived, short), f"{variant} {short}"


# ------------------------------------------------------------------------------- the page's law


def law(stride: int, offset: int, width: int) -> int:
    """Sectors of a full warp's request, as chapter 10 derives them."""
    sector = patterns.SECTOR_BYTES
    apart = stride * width
    if apart >= sector:
        return patterns.WARP
    last = offset * width % sector + (patterns.WARP - 1) * apart + width - 1
    return last // sector + 1


@pytest.mark.parametrize("width", (1, 2, 4, 8, 16))
def test_the_law_is_the_count(width: int) -> None:
    for stride in range(1, 40):
        for offset in range(70):
            addresses = [width * (offset + stride * lane) for lane in WARP]
            assert law(stride, offset, width) == len(todays_rule(addresses, width))


def test_the_law_in_the_words_of_the_page() -> None:
    for stride in range(1, 40):
        assert law(stride, 0, 4) == 4 * min(stride, 8)
    for offset in range(40):
        assert law(1, offset, 4) == (4 if offset % 8 == 0 else 5)
    for width in (1, 4, 8, 16):
        assert law(1, 0, width) == width
    # Three ints apart, from any word on; four of these vectors, from one of them on.
    assert {law(3, first, 4) for first in (0, 1, 2)} == {12}
    assert law(3, 0, 16) == patterns.WARP


def coalesced_once(variant: str, kind: str) -> bool:
    """Whether all of a variant's requests are, on compute capability 1.0 and 1.1."""
    kernel = PATTERNS[variant].accesses
    assert kernel
    least = 0
    made = 0
    for request in patterns.by_request(kernel(1 << 16, 256, 1)):
        if (request[0].space, request[0].kind) == (patterns.GLOBAL, kind):
            addresses = [access.byte_offset for access in request]
            made += len(first_rule(addresses, request[0].width))
            least += 4 if request[0].width == 16 else 2
    assert made > 0
    return made == least


def test_the_exercise_of_the_old_card() -> None:
    loads = {name for name in PATTERNS if coalesced_once(name, patterns.LOAD)}
    stores = {name for name in PATTERNS if coalesced_once(name, patterns.STORE)}
    scattered = {name for name in PATTERNS if name.startswith("store_stride")}
    assert loads == scattered | {
        *("load_stride1", "load_offset0", "load_offset16", "load_offset32"),
        *("copy4", "copy8", "copy16", "vec3_aligned", "vec3_arrays", "vec3_staged"),
    }
    assert stores == set(PATTERNS) - scattered - {"copy1"}


def test_the_other_exercises() -> None:
    assert [4 * 1001 * row % 32 == 0 for row in range(1000)].count(True) == 125
    assert len(todays_rule([4 * 1001 * lane for lane in WARP], 4)) == 32
    assert len(todays_rule([8 + 24 * lane for lane in WARP], 8)) == 24
    assert len(todays_rule([8 + 32 * lane for lane in WARP], 8)) == 32
    threes = [todays_rule([48 * lane + 16 * load for lane in WARP], 16) for load in range(3)]
    assert sum(map(len, threes)) == 96
    assert len({each for request in threes for each in request}) == 48


def test_a_picture_says_who_counted(repository: Path) -> None:
    recordings = Recordings(repository)
    view = View(recordings, recordings.reference)
    assert recordings.reference.counters
    chapters = {run["chapter"] for run in recordings.reference.counters["runs"]}
    by = "the hardware" if sweeps.NAME in chapters else "the embedded device"
    for picture in (sweeps.strides(view), sweeps.offsets(view), sweeps.widths(view)):
        assert f"by {by}" in picture.caption
    for picture in (sweeps.strides(view), sweeps.offsets(view)):
        assert f"counted by {by} as derived" in picture.alt
