"""What a kernel is tried with: a block that no file knows, the largest element everywhere."""

from __future__ import annotations

import random
from dataclasses import replace

from tools.judging import fair, puzzles, shapes, trial
from tools.judging.judge import _missed
from tools.judging.problems import PROBLEMS, Shape, by_block, positions, words
from tools.judging.tests.conftest import ptx
from tools.judging.trial import Kernel

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
    seen = [place for seed in SEEDS for place in positions(shape, random.Random(seed))]
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
