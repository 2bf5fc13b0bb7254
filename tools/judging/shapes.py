"""Which shapes a kernel is tried at: sizes around everything that a kernel may trip over."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from tools.judging.arithmetic import value
from tools.judging.problems import PROBLEMS, Shape
from tools.judging.puzzles import MOST_N, Puzzle

SMALL = (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129)
MIDDLE = (255, 256, 257, 999, 1000, 1023, 1024, 1025, 4095, 4096, 4097)
LARGE = (65535, 65536, 65537)
SIDES = (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 128, 129, 200, 255, 256, 257)
#: What an unchecked trial may come to, in threads and elements.
AFFORDABLE = 400_000
#: The same of a checked one.
CHECKED = 5_000


def _around(block: int) -> Iterator[int]:
    for shares in (1, 2, 3, 4, 8, 16):
        yield from (shares * block - 1, shares * block, shares * block + 1)


def _within(puzzle: Puzzle, sizes: Iterable[int]) -> list[int]:
    return sorted({n for n in sizes if puzzle.least <= n <= puzzle.most})


def at(puzzle: Puzzle, n: int, block: tuple[int, int], turn: int = 0) -> Shape:
    """One shape; `turn` picks among the grids and values that a puzzle leaves open."""
    names = {"n": n, "block": block[0] * block[1]}
    values = tuple((name, of[turn % len(of)]) for name, of in puzzle.values.items())
    names.update(values)
    grid = max(value(puzzle.grids[turn % len(puzzle.grids)], names), 1)
    share = value(puzzle.share, names)
    return Shape(n, block, (grid, max(value(puzzle.grid_y, names), 1)), values, share)


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


def blocks(puzzle: Puzzle, seed: str) -> list[tuple[int, int]]:
    """The puzzle's blocks, and one that depends on the seed, so that a file can't know them all."""
    if puzzle.drawn == 0:
        return list(puzzle.blocks)
    every = [(x, 1) for x in range(puzzle.drawn, 1025, puzzle.drawn)]
    others = [block for block in every if block not in puzzle.blocks]
    return [*puzzle.blocks, random.Random(f"block {seed}").choice(others)]


def checked(puzzle: Puzzle, side: bool, seed: str) -> list[Shape]:
    """Shapes for the checks, from the smallest on: each block with sizes around it."""
    chance = random.Random(f"checked {seed}")
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
    return sorted(
        (s for s in shapes if _cost(s, side) <= 3 * CHECKED), key=lambda s: _cost(s, side)
    )


def apart(puzzle: Puzzle, side: bool, seed: str) -> list[Shape]:
    """Fewer of them, for each schedule: a block of one warp, and one of several."""
    few = [s for s in checked(puzzle, side, seed) if s.n > 1 and _cost(s, side) <= CHECKED]
    several = [s for s in few if s.threads > 32 and s.blocks > 1] or few
    return [*few[:1], *several[-1:], *several[: len(several) // 2 + 1][-1:]]


def unchecked(puzzle: Puzzle, side: bool, seed: str) -> list[Shape]:
    """All that a few seconds allow, from the smallest on, and the largest. Some sizes depend on the
    seed, so that a file can't know which are tried."""
    chance = random.Random(seed)
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
    affordable = sorted(
        (s for s in shapes if _cost(s, side) <= AFFORDABLE), key=lambda s: _cost(s, side)
    )
    if side:
        return affordable
    usual = [b for b in puzzle.blocks if b[0] * b[1] in (128, 256)] or list(puzzle.blocks)
    largest = _within(puzzle, (puzzle.most - 1, puzzle.most))
    # More blocks than 16 bits count.
    smallest = min(puzzle.blocks, key=lambda block: block[0] * block[1])
    many = _within(puzzle, (2**16 * smallest[0] * smallest[1] + 3,))
    between = _within(puzzle, (chance.randrange(LARGE[-1] + 1, MOST_N - 1),))
    widest = max(puzzle.blocks, key=lambda block: block[0] * block[1])
    every = _within(puzzle, ((widest[0] * widest[1]) ** 2,)) if peaks else []
    return [
        *affordable,
        *(at(puzzle, n, smallest) for n in many),
        *(at(puzzle, n, usual[0], turn=1) for n in between),
        *(at(puzzle, n, widest) for n in every),
        *(at(puzzle, n, usual[-1], turn) for turn, n in enumerate(largest)),
    ]
