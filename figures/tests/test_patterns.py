"""Access patterns: they add up what their kernels add up, and cost what the kernels cost."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from figures import patterns, recorded
from figures.patterns import GLOBAL, LOAD, SHARED, STORE, Access, Counts

BLOCKS = (1, 2, 31, 32, 33, 100, 256)
SIZES = (1, 31, 33, 256, 1000, 1025)

Kernel = Callable[[int, int, int], Iterator[Access]]

# name: the pattern, blocks of the input that a thread block folds
KERNELS: dict[str, tuple[Kernel, int]] = {
    "gmem": (patterns.gmem, 1),
    "smem": (patterns.smem, 1),
    "smem_unrolled": (patterns.smem_unrolled, 1),
    **{f"unroll{f}": (partial(patterns.unroll, factor=f), f) for f in (2, 4, 8)},
    "smem_stride": (partial(patterns.smem_stride, grid=3), 0),
    "interleaved": (patterns.interleaved, 1),
    "strided": (patterns.strided, 1),
    "strided_padded": (patterns.strided_padded, 1),
    "strided_swizzled": (patterns.strided_swizzled, 1),
}


def _grid(n: int, block: int, factor: int) -> int:
    return -(-n // (block * factor)) if factor else 3


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", KERNELS)
def test_following_a_pattern_adds_up_the_array(name: str, block: int) -> None:
    kernel, factor = KERNELS[name]
    for n in SIZES:
        values = [random.Random(n).randrange(256) for _ in range(n)]
        grid = _grid(n, block, factor)
        partials = [-1] * grid  # poisoned, so that a block that writes nothing is seen
        source = "data" if name == "gmem" else "in"
        tile = [-1] * (max(patterns.padded(block), 32 * -(-block // 32)) + 1)
        arrays = {source: list(values), "tile": tile, "partial": partials}
        for index in range(grid):
            patterns.follow(kernel(n, block, index), arrays)
        assert sum(partials) == sum(values), f"n = {n}"


@pytest.mark.parametrize("block", (1, 2, 16, 32, 64, 256))
def test_the_shuffled_end_leaves_its_last_values_to_the_lanes(block: int) -> None:
    accesses = list(patterns.unroll(4 * block, block, 0, factor=4, finish=patterns.SHUFFLE))
    arrays = {"in": list(range(4 * block)), "tile": [-1] * block, "partial": [-1]}
    patterns.follow([a for a in accesses if a.array != "partial"], arrays)
    # What the last warp's lanes loaded is what they then exchange.
    last = [a.index for a in accesses if a.space == SHARED and a.level == accesses[-1].level]
    assert len(last) == min(block, patterns.WARP)
    assert sum(arrays["tile"][i] for i in last) == sum(range(4 * block))


def test_one_shuffle_tree_reaches_every_lane() -> None:
    values = list(range(patterns.WARP))
    for offset in (16, 8, 4, 2, 1):
        values = [v + values[patterns.shuffle_partner(t, offset)] for t, v in enumerate(values)]
    assert values == [sum(range(patterns.WARP))] * patterns.WARP


@pytest.mark.parametrize("block", (2, 8, 256, 1024))
def test_gmem_reads_as_often_as_the_page_derives(block: int) -> None:
    # Two loads for each of the block's additions, and one for the result.
    loads = [a for a in patterns.gmem(block, block, 0) if a.kind == LOAD]
    assert len(loads) == 2 * (block - 1) + 1


@pytest.mark.parametrize("n", (1, 100, 256, 1000))
def test_smem_reads_each_element_once(n: int) -> None:
    loads = [
        a.index
        for index in range(-(-n // 256))
        for a in patterns.smem(n, 256, index)
        if (a.space, a.kind) == (GLOBAL, LOAD)
    ]
    assert loads == list(range(n))


def test_a_step_never_reads_what_the_same_step_writes() -> None:
    # Within a level only a barrier orders threads, so no thread may read another's new value.
    kernels = (patterns.gmem, patterns.smem, patterns.interleaved, patterns.strided)
    for kernel in kernels:
        for block in BLOCKS:
            accesses = list(kernel(block, block, 0))
            for level in range(1, max(a.level for a in accesses)):
                here = [a for a in accesses if a.level == level]
                written = {a.index: a.thread for a in here if a.kind == STORE}
                for a in here:
                    if a.kind == LOAD:
                        assert written.get(a.index, a.thread) == a.thread


@pytest.mark.parametrize("block", BLOCKS)
def test_interleaved_and_strided_make_the_same_additions(block: int) -> None:
    def slots(kernel: Kernel) -> list[tuple[int, str, int]]:
        tree = [a for a in kernel(block, block, 0) if a.space == SHARED]
        return [(a.step, a.kind, a.index) for a in tree]

    assert slots(patterns.interleaved) == slots(patterns.strided)


# What chapter 3 says of a block of 256: threads that add, warps that they are in, and those of
# these warps in which other lanes do not, step by step.
WORK: dict[str, tuple[Kernel, list[tuple[int, int, int]]]] = {
    "interleaved": (
        patterns.interleaved,
        [
            *((128 >> step, 8, 8) for step in range(5)),
            *((4, 4, 4), (2, 2, 2), (1, 1, 1)),
        ],
    ),
    "strided": (
        patterns.strided,
        [(128, 4, 0), (64, 2, 0), (32, 1, 0), *((16 >> step, 1, 1) for step in range(5))],
    ),
    "smem": (
        patterns.smem,
        [(128, 4, 0), (64, 2, 0), (32, 1, 0), *((16 >> step, 1, 1) for step in range(5))],
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_who_works_at_each_step(name: str) -> None:
    kernel, expected = WORK[name]
    steps = patterns.work(kernel(256, 256, 0), 256)
    assert [(s.adding, len(s.lanes), s.parted) for s in steps] == expected
    assert [s.step for s in steps] == list(range(1, 9)) and steps[0].warps == 8


def test_a_short_warp_with_all_its_lanes_at_work_is_not_parted() -> None:
    # 66 threads: at the first step of smem the first 33 add, one of them alone in its warp's half.
    (first, *_rest) = patterns.work(patterns.smem(66, 66, 0), 66)
    assert (first.adding, len(first.lanes), first.parted) == (33, 2, 1)
    (only,) = patterns.work(patterns.interleaved(2, 2, 0), 2)
    assert (only.adding, only.parted) == (1, 1)
    short = patterns.Work(1, {1: frozenset({0, 1})}, 2, 34)
    assert short.parted == 0


# ----------------------------------------------------------------------------------- costs


@pytest.mark.parametrize("block", (32, 100, 256, 1024))
def test_strided_pays_in_conflicts_what_interleaved_pays_in_warps(block: int) -> None:
    counts = {
        name: patterns.derived_counts(name, 10_001, block, -(-10_001 // block))
        for name in ("interleaved", "strided")
    }
    by_warps, by_conflicts = counts["interleaved"], counts["strided"]
    assert by_warps is not None and by_conflicts is not None
    assert by_warps.shared_load_conflicts == by_warps.shared_store_conflicts == 0
    assert (by_warps.shared_load_wavefronts, by_warps.shared_store_wavefronts) == (
        by_conflicts.shared_load_wavefronts,
        by_conflicts.shared_store_wavefronts,
    )
    assert block == 32 or by_conflicts.shared_load_conflicts > 0


def _request(offsets: list[int], space: str = GLOBAL, width: int = 4) -> list[Access]:
    return [
        Access(0, 0, 0, lane, space, LOAD, "x", offset, width)
        for lane, offset in enumerate(offsets)
    ]


@pytest.mark.parametrize(
    ("stride", "first", "sectors"),
    [(1, 0, 4), (2, 0, 8), (8, 0, 32), (33, 0, 32), (0, 0, 1), (1, 1, 5), (1, 8, 4)],
)
def test_sectors_of_a_strided_warp(stride: int, first: int, sectors: int) -> None:
    assert patterns.sectors(_request([first + stride * lane for lane in range(32)])) == sectors


def test_an_access_across_two_sectors_touches_both() -> None:
    assert patterns.sectors([Access(0, 0, 0, 0, GLOBAL, LOAD, "x", 1, 24)]) == 2


@pytest.mark.parametrize(
    ("stride", "conflicts"), [(1, 0), (2, 1), (4, 3), (16, 15), (32, 31), (33, 0), (0, 0), (3, 0)]
)
def test_bank_conflicts_of_a_strided_warp(stride: int, conflicts: int) -> None:
    request = _request([stride * lane for lane in range(32)], SHARED)
    assert patterns.bank_conflicts(request) == conflicts
    assert patterns.wavefronts(request) == conflicts + 1


def test_bytes_side_by_side_do_not_conflict() -> None:
    assert patterns.bank_conflicts(_request(list(range(32)), SHARED, width=1)) == 0


def test_a_request_of_no_lane_costs_nothing() -> None:
    assert patterns.count([]) == Counts()
    assert patterns.bank_conflicts([]) == 0


def test_wide_loads_go_by_parts_of_the_warp_and_join_where_neighbours_share() -> None:
    def passes(indices: list[int], width: int) -> tuple[int, int]:
        request = _request(indices, SHARED, width=width)
        return patterns.wavefronts(request), patterns.bank_conflicts(request)

    assert passes(list(range(32)), 8) == (2, 0)
    assert passes(list(range(32)), 16) == (4, 0)
    assert passes([2 * lane for lane in range(32)], 8) == (4, 2)
    assert passes([lane // 2 for lane in range(32)], 8) == (1, 0)
    assert passes([lane % 16 for lane in range(32)], 8) == (2, 0), "the same data, not neighbours"
    assert passes([0] * 32, 16) == (2, 0), "quarters join to halves, and no further"
    assert passes([32 * (lane // 2) for lane in range(32)], 8) == (16, 15), "joined, they conflict"
    # A lane whose partner is not there shares with nobody else.
    alone = _request([0], SHARED, width=8)
    assert patterns.wavefronts(alone) == 1
    store = [replace(access, kind=STORE) for access in _request([0] * 32, SHARED, width=8)]
    assert patterns.wavefronts(store) == 2, "stores never join"


@pytest.mark.parametrize("block", (32, 33, 100, 256))
@pytest.mark.parametrize("n", (1, 1000, 4096, 10_001))
@pytest.mark.parametrize(
    "variant",
    (
        *("gmem", "smem", "smem_unrolled", "smem_stride", "first_add", "unroll4", "complete"),
        *("interleaved", "strided", "strided_padded"),
    ),
)
def test_derived_counts_equal_those_of_every_block(variant: str, n: int, block: int) -> None:
    more: dict[str, tuple[Kernel, int]] = {
        "first_add": (partial(patterns.unroll, factor=2), 2),
        "complete": (partial(patterns.unroll, factor=4, finish=patterns.SHUFFLE), 4),
    }
    kernel, factor = (KERNELS | more)[variant]
    grid = _grid(n, block, factor)
    counted = sum((patterns.count(kernel(n, block, i)) for i in range(grid)), Counts())
    assert patterns.derived_counts(variant, n, block, grid) == counted
    assert counted.global_load_sectors > 0


def test_no_count_is_derived_for_what_has_no_pattern() -> None:
    assert patterns.derived_counts("smem_classic", 1024, 256, 4) is None


def test_the_hardware_counted_what_is_derived(repository: Path) -> None:
    books = recorded.open_books(repository)
    if not books.reference.counters:
        pytest.skip("no counters are recorded yet")
    compared = 0
    for run in books.reference.counters["runs"]:
        grid = run["launches"][0]["grid"][0]
        derived = patterns.derived_counts(run["variant"], run["n"], run["block"], grid)
        name = (run["chapter"], run["variant"], run["n"], run["block"])
        if derived is None or recorded.stale(books.run(*name[:2], only=recorded.REFERENCE)):
            continue
        found = books.counters(*name, only=recorded.REFERENCE)
        for field in derived.__dataclass_fields__:
            measured, expected = recorded.counter(found, field), getattr(derived, field)
            if field.endswith("conflicts"):
                # A busy SM now and then makes a shared access wait its turn, and counts that as
                # a conflict and a wavefront more than the pattern has.
                assert measured >= expected, f"{name} {field}"
                continue
            if field.endswith("wavefronts"):
                conflicts = field.replace("wavefronts", "conflicts")
                measured -= recorded.counter(found, conflicts)
                expected -= getattr(derived, conflicts)
            assert measured == expected, f"{name} {field}"
            compared += 1
    assert compared, "every kernel has changed since its counters were recorded"
