"""What a kernel is tried with: a block that no file knows, the largest element everywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.judging import fair, named, puzzles, shapes, trial
from tools.judging.judge import _missed, seed_of
from tools.judging.problems import (
    PROBLEMS,
    SPECIAL,
    Chance,
    Shape,
    by_block,
    ints,
    positions,
    words,
)
from tools.judging.tests.conftest import ptx
from tools.judging.trial import Kernel

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device", "judge_kernels")]

SEEDS = [f"seed {k}" for k in range(20)]


def test_one_block_depends_on_the_file() -> None:
    for key, step in (("chapter02/1", 1), ("chapter07/3", 32)):
        puzzle = puzzles.find(key)
        drawn = [shapes.blocks(puzzle, seed)[len(puzzle.blocks) :] for seed in SEEDS]
        assert all(len(each) == 1 for each in drawn)
        assert len({x for ((x, _y),) in drawn}) > 10
        assert all(x % step == 0 and (x, 1) not in puzzle.blocks for ((x, _y),) in drawn)
        (block,) = drawn[0]
        assert any(shape.block == block for shape in shapes.checked(puzzle, False, SEEDS[0]))
        assert any(shape.block == block for shape in shapes.unchecked(puzzle, False, SEEDS[0]))
    powers = puzzles.find("chapter04/1")
    assert shapes.blocks(powers, "seed") == [(2**k, 1) for k in range(11)]


def test_blocks_leave_every_remainder_of_a_warp() -> None:
    puzzle = puzzles.find("chapter02/1")
    for seed in SEEDS:
        more = shapes.more_blocks(puzzle, seed, ())
        assert {x % 32 for x, _y in (*more, *puzzle.blocks)} == set(range(32))
        assert not set(more) & set(shapes.blocks(puzzle, seed))
        assert {x for x, _y in more} <= set(range(1, 1025))
    assert len({shapes.more_blocks(puzzle, seed, ())[0] for seed in SEEDS}) > 10
    warps = puzzles.find("chapter07/3")
    assert {x % 32 for x, _y in shapes.more_blocks(warps, "seed", (70,))} == {0}
    assert shapes.more_blocks(puzzles.find("chapter04/1"), "seed", (70,)) == []


def test_what_the_code_names_is_tried_as_size_and_as_block() -> None:
    puzzle = puzzles.find("chapter02/1")
    for tried in (shapes.checked, shapes.unchecked):
        usual = {shape.n for shape in tried(puzzle, False, "seed")}
        with_it = {shape.n for shape in tried(puzzle, False, "seed", (77_777,))}
        assert not usual & {77_777, 77_778}
        assert with_it >= {77_777, 77_778}
        assert {711, 712, 713} <= {s.threads for s in tried(puzzle, False, "seed", (712,))}
    many = tuple(range(10_000, 1_000_000, 1000))
    assert len(shapes.unchecked(puzzle, False, "seed", many)) < 40 + len(
        shapes.unchecked(puzzle, False, "seed")
    )
    assert max(s.n for s in shapes.checked(puzzle, False, "seed", many)) <= shapes.MOST_CHECKED


def test_odd_and_even_sizes_are_drawn_between_the_known_ones() -> None:
    puzzle = puzzles.find("chapter02/1")
    for seed in SEEDS:
        drawn = {s.n for s in shapes.unchecked(puzzle, False, seed) if 70_000 < s.n < 2**20 - 2}
        assert {n % 2 for n in drawn} == {0, 1}


PTX = """
.visible .entry _Z3sumv(
) {
 setp.lt.u64 %p1, %rd3, 19999;
 @%p1 bra $L__BB0_2;
 add.s32 %r5, %r4, -77;
 shr.u64 %rd4, %rd3, 14;
 and.b32 %r7, %r5, 0x1F;
 mov.b32 %r9, %r10;
 ld.global.u32 %r8, [%rd1+4096];
 bar.sync 3;
 setp.lt.f32 %p2, %f1, 0f3A83126F;
 setp.lt.f64 %p2, %fd1, 0d3FF8000000000000;
 mov.f32 %f3, 0f7F800000;
}
.visible .entry _Z5otherv() { setp.eq.u32 %p1, %r2, 4242; }
"""


def test_numbers_that_code_names() -> None:
    assert named.numbers(PTX, "_Z3sumv") == (14, 31, 77, 16384, 19999)
    held = ".const .align 8 .u64 a = 777;\n.global .align 4 .b8 b[4] = {57, 48, 0, 0};\n"
    assert {777, 12345} <= set(named.numbers(held + PTX, "_Z3sumv"))
    inline = PTX.replace("bar.sync 3;", "{ .reg .pred p; setp.eq.u64 p, %rd3, 4711; }")
    assert 4711 in named.numbers(inline, "_Z3sumv")
    assert named.floats(PTX, "_Z3sumv") == (0.0010000000474974513, 1.5)


def test_ints_have_what_the_code_names_among_them() -> None:
    chance = Chance("seed")
    chance.named = (77_777, 2**31)
    seen = set(words(ints(chance, 4098), "i"))
    assert seen >= {77_777, -77_777, 77_778, -77_778, *SPECIAL}
    assert 77_777 not in set(words(ints(Chance("seed"), 4098), "i"))


def test_the_same_file_gets_the_same_inputs_in_any_folder() -> None:
    name = "_ZN34_INTERNAL_%s_4_a_cu_6513c8d536_GLOBAL__N__%s_4_a_cu_6513c8d53hidE"
    one, other = (f".global .u32 {name % (2 * (of,))};" for of in ("ee7f18dc", "0ff67016"))
    assert one != other
    assert seed_of("source", one) == seed_of("source", other) != seed_of("other", one)
    assert seed_of("source", one) != seed_of("source", one.replace("hid", "had"))


def test_the_largest_is_at_each_place_of_a_block() -> None:
    puzzle = puzzles.find("chapter02/3")
    assert PROBLEMS[puzzle.problem].peaks
    where: dict[int, set[int]] = {}
    for shape in shapes.unchecked(puzzle, False, "seed"):
        if shape.threads not in (128, 256, 1024):
            continue
        data = words(trial.case_at(puzzle, shape, "seed").buffers["in"].data, "i")
        for start in range(0, shape.n - shape.threads + 1, shape.threads):
            share = data[start : start + shape.threads].tolist()
            where.setdefault(shape.threads, set()).add(share.index(max(share)))
    assert {threads: len(places) for threads, places in where.items()} == {
        threads: threads for threads in (128, 256, 1024)
    }


def test_few_blocks_have_it_at_the_edges_of_warps() -> None:
    shape = Shape(10_240, (1024, 1), (10, 1), share=1024)
    seen = [place for seed in SEEDS for place in positions(shape, Chance(seed))]
    edges = sum(place % 32 in (0, 31) for place in seen)
    assert 80 < edges < 150 and len(seen) == 200


def test_shares() -> None:
    shape = Shape(10, (2, 1), (3, 1), share=2)
    assert by_block(shape, range(10), sum) == [0 + 1 + 6 + 7, 2 + 3 + 8 + 9, 4 + 5]
    assert by_block(replace(shape, n=3), range(3), sum, -1) == [0 + 1, 2, -1]
    assert by_block(replace(shape, n=0), range(0), max, -1) == [-1, -1, -1]


def test_atomics_are_counted() -> None:
    puzzle = puzzles.find("chapter09/3")
    shape = shapes.at(puzzle, 96, (64, 1))
    case = trial.case_at(puzzle, shape, "seed")

    def counts(kind: str) -> tuple[int, int, int]:
        kernel = Kernel(ptx(kind, puzzle.file_name), puzzle.form.mangled, puzzle.form)
        got = trial.run(kernel, puzzle, shape, [case]).counts
        return got["global_atomics"], got["shared_atomics"], got["shared_collisions"]

    assert shape.blocks == 1
    assert counts("answers") == (256, 96, 0)
    assert counts("skeletons") == (256, 96, 3 * 31)  # one bank for all 32 lanes


def test_sizes_between_the_known_ones_are_drawn_from_the_whole_range() -> None:
    puzzle = puzzles.find("chapter02/2")
    drawn = [s.n for k in range(12) for s in shapes.unchecked(puzzle, False, f"seed {k}")]
    assert any(600_000 < n < puzzles.MOST_N - 2 for n in drawn)
    assert any(60_000 < n < 65_000 for n in drawn)


def test_blocks_that_do_more_than_their_part_are_named() -> None:
    shape = Shape(4096, (32, 1), (128, 1), share=32)
    even = [128] * 128
    assert fair.unshared(even, shape) == fair.unshared([0] * 128, shape) == ""
    assert fair.unshared([*even[:-1], 4], shape) == ""
    # Some neighbours at a time, as many blocks as have them.
    assert fair.unshared([2048] * 8 + [0] * 120, shape) == ""
    three = fair.unshared([5462, 5462, 5460, *[0] * 125], shape)
    assert three.startswith("blocks 0, 1 and 2 read 100 % of all that is read, at n = 4096")
    assert fair.unshared([*even[:7], 16384, *even[8:]], shape).startswith("block 7 reads 50 %")
    assert "5 of 128 blocks read" in fair.unshared([3277] * 5 + [0] * 123, shape)


def test_blocks_are_compared_at_sizes_that_no_file_knows() -> None:
    puzzle = puzzles.find("chapter00/1")
    tried = [tuple(fair._shapes(puzzle, seed)) for seed in SEEDS]
    assert len({shape.n for each in tried for shape in each}) > len(SEEDS)
    assert {shape.blocks for each in tried for shape in each} == {7, 132}


def test_an_atomic_without_a_goal_is_a_goal_missed() -> None:
    """Of shared memory as of global memory, and of an accepted answer's too if its goal goes."""
    for key, count in (("chapter08/1", "global_atomics"), ("chapter09/3", "shared_atomics")):
        puzzle = puzzles.find(key)
        shape = shapes.at(puzzle, 96, (64, 1))
        kernel = Kernel(ptx("answers", puzzle.file_name), puzzle.form.mangled, puzzle.form)
        outcome = trial.run(kernel, puzzle, shape, [trial.case_at(puzzle, shape, "seed")])
        assert _missed(puzzle, outcome) is None
        others = tuple(goal for goal in puzzle.goals if goal.count != count)
        missed = _missed(replace(puzzle, goals=others), outcome)
        assert missed and missed.says == "no atomics" and count.split("_")[0] in missed.line
        within = replace(outcome, counts={**outcome.counts, "in_pipelines": 1, "shared_atomics": 2})
        spared = _missed(replace(puzzle, goals=others), within)
        assert (spared is None) == (count == "shared_atomics")  # one per warp, of a pipeline
