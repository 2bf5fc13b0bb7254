"""Whether the blocks share the work.

A result doesn't say which block has computed it. The embedded device counts how much of the input
each block reads.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tools.judging import shapes, trial
from tools.judging.problems import PROBLEMS, Shape
from tools.judging.puzzles import Puzzle
from tools.judging.trial import Kernel

#: With fewer blocks there is little to share.
ENOUGH = 4
#: Bytes that each thread of a block may read before the next block has its turn.
NEIGHBOURS = 64


def _shapes(puzzle: Puzzle, seed: str) -> Iterator[Shape]:
    """With some blocks, of sizes that no file knows; none where the puzzle launches fewer."""
    chance = random.Random(f"fair {seed}")
    side = PROBLEMS[puzzle.problem].side
    blocks = [block for block in shapes.blocks(puzzle, seed) if block[0] * block[1] >= 32]
    smallest = min(blocks, key=lambda block: block[0] * block[1])
    for block in {smallest: 0, chance.choice(blocks): 0}:
        for turn in range(len(puzzle.grids)):
            n = chance.randrange(90, 200) if side else chance.randrange(50_000, 70_000)
            shape = shapes.at(puzzle, min(n, puzzle.most), block, turn)
            if shape.blocks >= ENOUGH:
                yield shape


def hoarded(kernel: Kernel, puzzle: Puzzle, seed: str) -> str:
    """What a few blocks have done alone, in one sentence; nothing where the blocks share it."""
    for shape in _shapes(puzzle, seed):
        case = trial.case_at(puzzle, shape, seed)
        outcome = trial.run(kernel, puzzle, shape, [case], by_block=True)
        by_block = [sum(of) for of in zip(*outcome.read.values(), strict=True)]
        if said := unshared(by_block, shape):
            return said
    return ""


def unshared(by_block: list[int], shape: Shape) -> str:
    """Which blocks read far more than their part of all that is read."""
    most = sum(by_block) * 5 // (4 * shape.blocks) + NEIGHBOURS * shape.threads
    busy = [block for block, read in enumerate(by_block) if read > most]
    if not busy:
        return ""
    share = 100 * sum(by_block[block] for block in busy) // sum(by_block)
    *others, last = map(str, busy[:3])
    who = f"blocks {', '.join(others)} and {last}" if others else f"block {last}"
    if len(busy) > 3:
        who = f"{len(busy)} of {shape.blocks} blocks"
    verb = "reads" if len(busy) == 1 else "read"
    return f"{who} {verb} {share} % of all that is read, at {shape}: give every block its part"
