"""Which shapes a kernel is tried at: sizes around everything that a kernel may trip over."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from common.arithmetic import whole_value
from tools.judging.problems import PROBLEMS, Shape
from tools.judging.puzzles import Puzzle

Block = tuple[int, int]

SMALL = (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129)
MIDDLE = (255, 256, 257, 999, 1000, 1023, 1024, 1025, 4095, 4096, 4097)
LARGE = (65535, 65536, 65537)
SIDES = (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 128, 129, 200, 255, 256, 257)
#: What an unchecked trial may come to, in threads and elements.
AFFORDABLE = 400_000
#: The same of a checked one.
CHECKED = 5_000
#: The largest n of a checked one.
MOST_CHECKED = 2**17
#: The largest table.
MOST_TABLE = AFFORDABLE
#: Of the sizes above a usual trial's that a file's code names, how many are tried, and of numbers
#: of blocks.
MOST_NAMED, MOST_NAMED_BLOCKS = 8, 1
#: Values of a puzzle's own that are drawn for trials with checks, and for those without.
FEW_VALUES, MANY_VALUES = 3, 32


def _around(block: int) -> Iterator[int]:
    for shares in (1, 2, 3, 4, 8, 16):
        yield from (shares * block - 1, shares * block, shares * block + 1)


def with_drawn_values(puzzle: Puzzle, seed: str, named: Sequence[int], most: int) -> Puzzle:
    """The puzzle with more values of its own, between the least and the largest that it lists: up
    to `most` that the code names or that are next to those, and as many that depend on the seed."""
    chance = random.Random(f"values {seed}")
    values = {}
    for name, of in puzzle.values.items():
        few = sorted({value for value in _near(named) if min(of) < value < max(of)} - set(of))
        few = chance.sample(few, min(len(few), most))
        few += (chance.randint(min(of), max(of)) for _ in range(most))
        values[name] = (*few, *of * -(-len(few) // len(of)))  # half of the trials are for its own
    return replace(puzzle, values=values)


def _within(puzzle: Puzzle, sizes: Iterable[int]) -> list[int]:
    return sorted({n for n in sizes if puzzle.least <= n <= puzzle.most})


def at(puzzle: Puzzle, n: int, block: tuple[int, int], turn: int = 0) -> Shape:
    """One shape; `turn` picks among the grids and values that a puzzle leaves open."""
    names = {"n": n, "block": block[0] * block[1]}
    values = tuple((name, _one_of(of, turn, n)) for name, of in puzzle.values.items())
    names.update(values)
    grid = max(whole_value(puzzle.grids[turn % len(puzzle.grids)], names), 1)
    share = whole_value(puzzle.share, names)
    return Shape(n, block, (grid, max(whole_value(puzzle.grid_y, names), 1)), values, share)


def _one_of(values: Sequence[int], turn: int, n: int) -> int:
    """A puzzle's value, or the next that makes no table that takes long."""
    at = (turn if turn < 0 else 31 * turn + n) % len(values)  # none has large sizes alone
    fit = (value for value in (*values[at:], *values[:at]) if n * value <= MOST_TABLE)
    return next(fit, values[at])


def names_of(shape: Shape) -> dict[str, int]:
    """What a formula of a puzzle may speak of."""
    warps = shape.blocks * -(-shape.threads // 32)
    return {
        "n": shape.n,
        "block": shape.threads,
        "grid": shape.blocks,
        "warps": warps,
        **dict(shape.values),
    }


def _cost(shape: Shape, side: bool) -> int:
    elements = shape.n * shape.n if side else shape.n
    return elements + shape.blocks * max(shape.threads, 32)


def blocks(puzzle: Puzzle, seed: str) -> list[Block]:
    """The puzzle's blocks, and one that depends on the seed, so that a file can't know them all."""
    if puzzle.drawn == 0:
        return list(puzzle.blocks)
    every = [(x, 1) for x in range(puzzle.drawn, 1025, puzzle.drawn)]
    others = [block for block in every if block not in puzzle.blocks]
    return [*puzzle.blocks, random.Random(f"block {seed}").choice(others)]


def more_blocks(puzzle: Puzzle, seed: str, named: Sequence[int]) -> list[Block]:
    """Others, of which each has a few trials: one for every remainder of 32 where any block is
    promised, and else some; and those that the code names, with their neighbours."""
    if puzzle.drawn == 0:
        return []
    chance = random.Random(f"more blocks {seed}")
    steps = 1024 // puzzle.drawn
    some = [k + 32 * chance.randrange(steps // 32) for k in range(1, 33)]
    if puzzle.drawn > 1:
        some = chance.sample(range(1, steps + 1), 8)
    few = sorted({k for each in _near(named) if 1 <= (k := each // puzzle.drawn) <= steps})
    every = dict.fromkeys([*chance.sample(few, min(len(few), 32)), *some])
    usual = set(blocks(puzzle, seed))
    return [block for k in every if (block := (k * puzzle.drawn, 1)) not in usual]


def _near(numbers: Iterable[int]) -> Iterator[int]:
    for number in numbers:
        yield from (number - 1, number, number + 1)


def _usual(puzzle: Puzzle) -> list[Block]:
    return [b for b in puzzle.blocks if b[0] * b[1] in (128, 256)] or list(puzzle.blocks)


def _large(puzzle: Puzzle, seed: str, named: Sequence[int], beyond: int) -> list[int]:
    """Some of the numbers beyond that which the code names, and the next of each: as far as a
    comparison with one tells apart, all smaller sizes are like usual ones."""
    chance = random.Random(f"named {seed}")
    few = [number for number in named if beyond < number <= puzzle.most + 1]
    few = chance.sample(few, min(len(few), MOST_NAMED))
    return _within(puzzle, (n for number in few for n in (number, number + 1)))


def checked(puzzle: Puzzle, side: bool, seed: str, named: Sequence[int] = ()) -> list[Shape]:
    """Shapes for the checks, from the smallest on: each block with sizes around it. `named`: the
    numbers in the file's code."""
    chance = random.Random(f"checked {seed}")
    puzzle = with_drawn_values(puzzle, seed, named, FEW_VALUES)
    shapes = []
    for turn, block in enumerate(blocks(puzzle, seed)):
        threads = block[0] * block[1]
        drawn = chance.randrange(2, 5 * threads + 2)
        sizes = (
            SIDES[:9]
            if side
            else (
                0,
                1,
                33,
                100,
                threads - 1,
                threads,
                threads + 1,
                2 * threads + 1,
                4 * threads + 5,
                8 * threads + 3,
                drawn,
            )
        )
        shapes += [at(puzzle, n, block, turn + k) for k, n in enumerate(_within(puzzle, sizes))]
    if not side:
        for turn, block in enumerate(more_blocks(puzzle, seed, named)):
            n = 2 * block[0] + 1 + chance.randrange(block[0])
            shapes += [at(puzzle, each, block, turn) for each in _within(puzzle, (n,))]
    few = sorted((s for s in shapes if _cost(s, side) <= 3 * CHECKED), key=lambda s: _cost(s, side))
    if side:
        return few
    above = (chance.randrange(CHECKED, LARGE[0]), *_large(puzzle, seed, named, CHECKED // 4))
    large = [n for n in _within(puzzle, above) if n <= MOST_CHECKED]
    usual = _usual(puzzle)[-1]
    return [*few, *(at(puzzle, n, usual, turn) for turn, n in enumerate(large))]


def apart(puzzle: Puzzle, side: bool, seed: str) -> list[Shape]:
    """Fewer of them, for each schedule: a block of one warp, and one of several."""
    few = [s for s in checked(puzzle, side, seed) if s.n > 1 and _cost(s, side) <= CHECKED]
    several = [s for s in few if s.threads > 32 and s.blocks > 1] or few
    return [*few[:1], *several[-1:], *several[: len(several) // 2 + 1][-1:]]


def unchecked(puzzle: Puzzle, side: bool, seed: str, named: Sequence[int] = ()) -> list[Shape]:
    """All that a few seconds allow, from the smallest on, and the largest. Some sizes depend on the
    seed, so that a file can't know which are tried, and some are those that its code names."""
    chance = random.Random(seed)
    puzzle = with_drawn_values(puzzle, seed, named, MANY_VALUES)
    peaks = PROBLEMS[puzzle.problem].peaks
    shapes = []
    for turn, block in enumerate(blocks(puzzle, seed)):
        threads = block[0] * block[1]
        sizes = (*SIDES, *(chance.randrange(2, 200) for _ in range(4)))
        if not side:
            sizes = (*SMALL, *MIDDLE, *LARGE, *_around(threads))
            sizes += (
                *(chance.randrange(2, 5000) for _ in range(4)),
                chance.randrange(5000, LARGE[0]),
            )
            sizes += (threads**2,) if peaks and threads <= 256 else ()  # each place has its turn
        shapes += [at(puzzle, n, block, turn + k) for k, n in enumerate(_within(puzzle, sizes))]
    usual = _usual(puzzle)
    small = _within(puzzle, (n for n in _near(named) if 2 < n <= (SIDES[-1] if side else CHECKED)))
    shapes += [at(puzzle, n, usual[turn % len(usual)], turn) for turn, n in enumerate(small)]
    if not side:
        for turn, block in enumerate(more_blocks(puzzle, seed, named)):
            sizes = (block[0], 2 * block[0] + 1, chance.randrange(1, 4 * block[0] + 1))
            shapes += [at(puzzle, n, block, turn + k) for k, n in enumerate(_within(puzzle, sizes))]
    affordable = sorted(
        (s for s in shapes if _cost(s, side) <= AFFORDABLE), key=lambda s: _cost(s, side)
    )
    if side:
        return affordable
    largest = _within(puzzle, (puzzle.most - 1, puzzle.most))
    # More blocks than 16 bits count, or as many as there can be.
    smallest = min(puzzle.blocks, key=lambda block: block[0] * block[1])
    few = [number for number in named if 2**16 < number < puzzle.most]
    few = chance.sample(few, min(len(few), MOST_NAMED_BLOCKS))
    many = _within(puzzle, ((k + 2) * smallest[0] * smallest[1] + 1 for k in (2**16, *few)))
    many = many or [puzzle.most]
    # An even one and an odd one, as likely among the smaller as among the larger.
    drawn = (int(2 ** chance.uniform(16.1, 18)), int(2 ** chance.uniform(18, 20)))
    turned = chance.randrange(2)
    between = _within(puzzle, (n & ~1 | (k + turned) % 2 for k, n in enumerate(drawn)))
    widest = max(puzzle.blocks, key=lambda block: block[0] * block[1])
    every = _within(puzzle, ((widest[0] * widest[1]) ** 2,)) if peaks else []
    large = _large(puzzle, seed, named, CHECKED)
    return [
        *affordable,
        *(at(puzzle, n, smallest) for n in many),
        *(at(puzzle, n, usual[0], turn=1) for n in (*between, *large)),
        *(at(puzzle, n, widest) for n in every),
        *(at(puzzle, n, usual[-1], turn) for turn, n in enumerate(largest)),
    ]
