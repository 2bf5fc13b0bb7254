"""Access patterns: they add up what their kernels add up, and cost what the kernels cost."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from common.records.naming import REFERENCE
from common.records.recordings import Recordings, counter_of, is_stale
from common.records.sets import NoSuchRun
from figures import chapters
from figures.chapters.chapter01_gmem.kernels import gmem
from figures.chapters.chapter02_smem import interleaved, smem, smem_stride
from figures.chapters.chapter03_divergence import strided
from figures.chapters.chapter04_bank_conflicts.kernels import padded, strided_swizzled
from figures.chapters.chapter05_unroll4 import shuffle_partner
from figures.kit import costs, patterns
from figures.kit.costs import Counts, Work
from figures.kit.patterns import GLOBAL, LOAD, SHARED, STORE, Access, Kernel

pytestmark = pytest.mark.all

BLOCKS = (1, 2, 31, 32, 33, 100, 256)
SIZES = (1, 31, 33, 256, 1000, 1025)


def tiles_of_a_block(kernel: Kernel) -> int:
    """How many tiles of a long input a thread block folds."""
    read = [a for a in kernel(1 << 20, 64, 0) if (a.space, a.kind) == (GLOBAL, LOAD)]
    return len({a.index for a in read}) // 64


def leaves_a_sum(kernel: Kernel) -> bool:
    """Whether a block of it ends in one thread that stores what the array has added up to."""
    accesses = list(kernel(1 << 20, 64, 0))
    last = [a for a in accesses if a.level == accesses[-1].level and a.kind == LOAD]
    return accesses[-1].array == "partial" and len(last) == 1


#: The blocks whose accesses are registered, by chapter and variant, and of these the sums.
REGISTERED: dict[tuple[str, str], Kernel] = {
    (name, variant): pattern.accesses
    for name, chapter in chapters.known().items()
    for variant, pattern in chapter.patterns.items()
    if pattern.accesses
}
SUMS = {name: kernel for name, kernel in REGISTERED.items() if leaves_a_sum(kernel)}
GRID = 3
#: Kernels whose blocks share the input by turns, and an answer of chapter 4's.
MORE: dict[tuple[str, str], Kernel] = {
    ("chapter02_smem", "smem_stride"): partial(smem_stride, grid=GRID),
    ("answers", "strided_swizzled"): strided_swizzled,
}
KERNELS = SUMS | MORE


def grid_of(name: tuple[str, str], n: int, block: int) -> int:
    return GRID if name[1] == "smem_stride" else -(-n // (block * tiles_of_a_block(KERNELS[name])))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", KERNELS, ids="/".join)
def test_following_a_pattern_adds_up_the_array(name: tuple[str, str], block: int) -> None:
    kernel = KERNELS[name]
    for n in SIZES:
        values = [random.Random(n).randrange(256) for _ in range(n)]
        grid = grid_of(name, n, block)
        partials = [-1] * grid  # poisoned, so that a block that writes nothing is seen
        tile = [-1] * (max(padded(block), 32 * -(-block // 32)) + 1)
        # In place or not, an array of the input's own.
        arrays = {
            **{source: list(values) for source in ("data", "in")},
            "tile": tile,
            "partial": partials,
        }
        for index in range(grid):
            patterns.follow(kernel(n, block, index), arrays)
        assert sum(partials) == sum(values), f"n = {n}"


@pytest.mark.parametrize("block", (1, 2, 16, 32, 64, 256))
def test_the_shuffled_end_leaves_its_last_values_to_the_lanes(block: int) -> None:
    accesses = list(patterns.folded(4 * block, block, 0, factor=4, finish=patterns.SHUFFLE))
    arrays = {"in": list(range(4 * block)), "tile": [-1] * block, "partial": [-1]}
    patterns.follow([a for a in accesses if a.array != "partial"], arrays)
    # What the last warp's lanes loaded is what they then exchange.
    last = [a.index for a in accesses if a.space == SHARED and a.level == accesses[-1].level]
    assert len(last) == min(block, patterns.WARP)
    assert sum(arrays["tile"][i] for i in last) == sum(range(4 * block))


def test_one_shuffle_tree_reaches_every_lane() -> None:
    values = list(range(patterns.WARP))
    for offset in (16, 8, 4, 2, 1):
        values = [v + values[shuffle_partner(t, offset)] for t, v in enumerate(values)]
    assert values == [sum(range(patterns.WARP))] * patterns.WARP


@pytest.mark.parametrize("block", (2, 8, 256, 1024))
def test_gmem_reads_as_often_as_the_page_derives(block: int) -> None:
    # Two loads for each of the block's additions, and one for the result.
    loads = [a for a in gmem(block, block, 0) if a.kind == LOAD]
    assert len(loads) == 2 * (block - 1) + 1


@pytest.mark.parametrize("n", (1, 100, 256, 1000))
def test_smem_reads_each_element_once(n: int) -> None:
    loads = [
        a.index
        for index in range(-(-n // 256))
        for a in smem(n, 256, index)
        if (a.space, a.kind) == (GLOBAL, LOAD)
    ]
    assert loads == list(range(n))


def test_a_step_never_reads_what_the_same_step_writes() -> None:
    # Within a level only a barrier orders threads, so no thread may read another's new value.
    kernels = (gmem, smem, interleaved, strided)
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

    assert slots(interleaved) == slots(strided)


def parted_warps(step: Work, block: int) -> int:
    """Warps in which some lanes add and others do not: where a branch parts lanes."""
    return sum(
        len(lanes) < min(patterns.WARP, block - warp * patterns.WARP)
        for warp, lanes in step.lanes.items()
    )


# What chapter 3 says of a block of 256: threads that add, warps that they are in, and those of
# these warps in which other lanes do not, step by step.
WORK: dict[str, tuple[Kernel, list[tuple[int, int, int]]]] = {
    "interleaved": (
        interleaved,
        [
            *((128 >> step, 8, 8) for step in range(5)),
            *((4, 4, 4), (2, 2, 2), (1, 1, 1)),
        ],
    ),
    "strided": (
        strided,
        [(128, 4, 0), (64, 2, 0), (32, 1, 0), *((16 >> step, 1, 1) for step in range(5))],
    ),
    "smem": (
        smem,
        [(128, 4, 0), (64, 2, 0), (32, 1, 0), *((16 >> step, 1, 1) for step in range(5))],
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_who_works_at_each_step(name: str) -> None:
    kernel, expected = WORK[name]
    steps = costs.work(kernel(256, 256, 0), 256)
    assert [(s.adding, len(s.lanes), parted_warps(s, 256)) for s in steps] == expected
    assert [s.step for s in steps] == list(range(1, 9)) and steps[0].warps == 8


def test_a_short_warp_with_all_its_lanes_at_work_is_not_parted() -> None:
    # 66 threads: at the first step of smem the first 33 add, one of them alone in its warp's half.
    (first, *_rest) = costs.work(smem(66, 66, 0), 66)
    assert (first.adding, len(first.lanes), parted_warps(first, 66)) == (33, 2, 1)
    (only,) = costs.work(interleaved(2, 2, 0), 2)
    assert (only.adding, parted_warps(only, 2)) == (1, 1)
    short = Work(1, {1: frozenset({0, 1})}, 2)
    assert parted_warps(short, 34) == 0


# ----------------------------------------------------------------------------------- costs


@pytest.mark.parametrize("block", (32, 100, 256, 1024))
def test_strided_pays_in_conflicts_what_interleaved_pays_in_warps(block: int) -> None:
    counts = {
        name: chapters.derived_counts(
            "chapter03_divergence", name, 10_001, block, -(-10_001 // block)
        )
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
    assert costs.sectors(_request([first + stride * lane for lane in range(32)])) == sectors


def test_an_access_across_two_sectors_touches_both() -> None:
    assert costs.sectors([Access(0, 0, 0, 0, GLOBAL, LOAD, "x", 1, 24)]) == 2


@pytest.mark.parametrize(
    ("stride", "conflicts"), [(1, 0), (2, 1), (4, 3), (16, 15), (32, 31), (33, 0), (0, 0), (3, 0)]
)
def test_bank_conflicts_of_a_strided_warp(stride: int, conflicts: int) -> None:
    request = _request([stride * lane for lane in range(32)], SHARED)
    assert costs.bank_conflicts(request) == conflicts
    assert costs.wavefronts(request) == conflicts + 1


def test_bytes_side_by_side_do_not_conflict() -> None:
    assert costs.bank_conflicts(_request(list(range(32)), SHARED, width=1)) == 0


def test_a_request_of_no_lane_costs_nothing() -> None:
    assert costs.count([]) == Counts()
    assert costs.bank_conflicts([]) == 0


def test_wide_loads_go_by_parts_of_the_warp_and_join_where_neighbours_share() -> None:
    def passes(indices: list[int], width: int) -> tuple[int, int]:
        request = _request(indices, SHARED, width=width)
        return costs.wavefronts(request), costs.bank_conflicts(request)

    assert passes(list(range(32)), 8) == (2, 0)
    assert passes(list(range(32)), 16) == (4, 0)
    assert passes([2 * lane for lane in range(32)], 8) == (4, 2)
    assert passes([lane // 2 for lane in range(32)], 8) == (1, 0)
    assert passes([lane % 16 for lane in range(32)], 8) == (2, 0), "the same data, not neighbours"
    assert passes([0] * 32, 16) == (2, 0), "quarters join to halves, and no further"
    assert passes([32 * (lane // 2) for lane in range(32)], 8) == (16, 15), "joined, they conflict"
    # A lane whose partner is missing shares with no other.
    alone = _request([0], SHARED, width=8)
    assert costs.wavefronts(alone) == 1
    store = [replace(access, kind=STORE) for access in _request([0] * 32, SHARED, width=8)]
    assert costs.wavefronts(store) == 2, "stores never join"


@pytest.mark.parametrize("block", (32, 33, 100, 256))
@pytest.mark.parametrize("n", (1, 1000, 4096, 10_001))
@pytest.mark.parametrize(
    ("chapter", "variant"),
    [
        *(("chapter01_gmem", name) for name in ("gmem", "gmem_interleaved")),
        *(("chapter02_smem", name) for name in ("smem", "interleaved")),
        *(("chapter02_smem", "smem_unrolled"), ("chapter02_smem", "smem_stride")),
        *(("chapter03_divergence", name) for name in ("interleaved", "strided")),
        ("chapter04_bank_conflicts", "strided_padded"),
        *(("chapter05_unroll4", name) for name in ("first_add", "unroll4", "complete")),
    ],
)
def test_derived_counts_equal_those_of_every_block(
    chapter: str, variant: str, n: int, block: int
) -> None:
    kernel = (REGISTERED | MORE)[chapter, variant]
    grid = GRID if variant == "smem_stride" else -(-n // (block * tiles_of_a_block(kernel)))
    counted = sum((costs.count(kernel(n, block, i)) for i in range(grid)), Counts())
    assert chapters.derived_counts(chapter, variant, n, block, grid) == counted
    assert counted.global_load_sectors > 0


def test_no_count_is_derived_for_what_has_no_pattern() -> None:
    assert chapters.derived_counts("chapter02_smem", "smem_classic", 1024, 256, 4) is None
    assert chapters.derived_counts("chapter99_none", "smem", 1024, 256, 4) is None


def test_the_hardware_counted_what_is_derived(repository: Path) -> None:
    recordings = Recordings(repository)
    if not recordings.reference.counters:
        pytest.skip("no counters are recorded yet")
    compared = 0
    for run in recordings.reference.counters["runs"]:
        grid = run["launches"][0]["grid"][0]
        name = (run["chapter"], run["variant"], run["n"], run["block"])
        try:
            timed = recordings.run(*name[:2], only=REFERENCE)
        except NoSuchRun:
            continue  # a faulty form, which was not timed
        derived = chapters.derived_counts(timed.run["from"], *name[1:], grid)
        if derived is None or is_stale(timed):
            continue
        found = recordings.counters(*name, only=REFERENCE)
        for field in derived.__dataclass_fields__:
            measured, expected = counter_of(found, field), getattr(derived, field)
            if field.endswith("conflicts"):
                # A busy SM now and then makes a shared access wait its turn, and counts that as
                # a conflict and a wavefront more than the pattern has.
                assert measured >= expected, f"{name} {field}"
                continue
            if field.endswith("wavefronts"):
                conflicts = field.replace("wavefronts", "conflicts")
                measured -= counter_of(found, conflicts)
                expected -= getattr(derived, conflicts)
            assert measured == expected, f"{name} {field}"
            compared += 1
    assert compared, "every kernel has changed since its counters were recorded"
