"""Whether the blocks share the work.

A result doesn't say which block has computed it. But if the judge leaves an element unwritten, the
check of uninitialised reads names the block that reads it. So it leaves out one after the other.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tools.judging import shapes, trial
from tools.judging.form import TYPES
from tools.judging.problems import PROBLEMS, Shape
from tools.judging.puzzles import Puzzle
from tools.judging.trial import Kernel

FEW, ENOUGH = 3, 4  #: so many of so many blocks must read something
#: Where each of four blocks reads a quarter, this many elements are read by two alone once in
#: millions of times.
TRIED = 24


def _shape(puzzle: Puzzle) -> Shape | None:
    """Small, and with some blocks; none where the puzzle always launches fewer."""
    side = PROBLEMS[puzzle.problem].side
    block = next((each for each in puzzle.blocks if each[0] * each[1] >= 32), puzzle.blocks[-1])
    for n in (100,) if side else (4096, 16384):
        turns = range(len(puzzle.grids))
        tried = [shapes.at(puzzle, min(n, puzzle.most), block, turn) for turn in turns]
        if enough := [shape for shape in tried if shape.blocks >= ENOUGH]:
            return min(enough, key=lambda shape: shape.blocks)
    return None


def hoarded(kernel: Kernel, puzzle: Puzzle, seed: str) -> str:
    """What a few blocks have done alone, in one sentence; nothing where the blocks share it."""
    shape = _shape(puzzle)
    if shape is None:
        return ""
    case = trial.case_at(puzzle, shape, seed)
    given = next(p for p in kernel.form.parameters if case.buffers.get(p.name, None) is not None)
    buffer, size = case.buffers[given.name], TYPES[given.type][1]
    chance = random.Random(f"fair {seed}")
    readers: set[int] = set()
    for _ in range(TRIED):
        at = chance.randrange(len(buffer.data) // size) * size
        left_out = replace(buffer, unset=range(at, at + size))
        one = replace(case, buffers={**case.buffers, given.name: left_out})
        outcome = trial.run(kernel, puzzle, shape, [one], checks="all")
        reads = [f for f in outcome.findings if f["check"] == "init"]
        readers |= {int(f["block"]) for f in reads}
        if len(readers) >= FEW or not reads:
            return ""
    who = " and ".join(map(str, sorted(readers)))
    blocks = f"block {who} reads" if len(readers) == 1 else f"blocks {who} read"
    return (
        f"{blocks} all of {TRIED} elements that were tried, at {shape}: "
        "give every block its part of them"
    )
