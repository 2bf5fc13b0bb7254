"""What the puzzles on several GPUs compute, each of which a block stands for."""

from __future__ import annotations

from array import array
from itertools import accumulate, pairwise

from tools.judging.problems import (
    Buffer,
    Case,
    Chance,
    Shape,
    first_difference,
    ints,
    noise,
    problem,
    sum_64,
    words,
)


@problem("in", "slots", "flags", "out", is_sum=True)
def handed_over(shape: Shape, chance: Chance) -> Case:
    """One sum, in 64 bits, and for each block a slot and a flag to hand its part over by."""
    case = sum_64(shape, chance)
    buffers = {
        **{name: case.buffers[name] for name in ("in", "out")},
        "slots": Buffer("scratch", noise(chance, 8 * shape.blocks)),
        "flags": Buffer("zero", bytes(4 * shape.blocks)),
    }
    return Case(buffers, case.values, case.wrong, case.total)


#: Up to three blocks are as unequal as can be. More of them share the work, which they can be held
#: to, and then are nearly equal.
SLOWEST, SLOW, FAST = 192, 4000, 4800


def _begins(n: int, speeds: array[int]) -> list[int]:
    """Where shares begin, and where the last ends."""
    begins = [n * before // sum(speeds) // 4 * 4 for before in accumulate(speeds, initial=0)]
    return [*begins[:-1], n]


@problem("in", "speed", "sums")
def weighted_shares(shape: Shape, chance: Chance) -> Case:
    """The sum of each block's share of n elements, in 64 bits. The shares are to each other as the
    blocks' speeds, and each begins at a multiple of four elements."""
    data = ints(chance, shape.n)
    view = words(data, "i")
    least = SLOWEST if shape.blocks < 4 else SLOW
    speeds = array("I", (chance.randrange(least, FAST) for _ in range(shape.blocks)))
    # Every other time none is to be rounded down: what comes out a little too low is off by four.
    sizes = array("I", (end - at for at, end in pairwise(_begins(shape.n, speeds))))
    if all(sizes) and chance.random() < 0.5:
        speeds = sizes
    begins = _begins(shape.n, speeds)
    expected = array("q", (sum(view[at:end]) for at, end in pairwise(begins))).tobytes()

    def wrong(got: dict[str, bytes]) -> str:
        return first_difference("sums", got["sums"], expected, "q")

    buffers = {
        "in": Buffer("in", data),
        "speed": Buffer("in", speeds.tobytes()),
        "sums": Buffer("out", noise(chance, 8 * shape.blocks)),
    }
    return Case(buffers, {"n": shape.n}, wrong)
