"""What the puzzle on many small arrays computes."""

from __future__ import annotations

from array import array

from tools.judging.problems import (
    Buffer,
    Case,
    Chance,
    Shape,
    first_difference,
    noise,
    problem,
    words,
)

#: The arrays are about as long as each other, so that blocks with one each share the work.
LEAST, MOST = 200, 261


@problem("in", "begin", "out", timed=2**16)
def many_sums(shape: Shape, chance: Chance) -> Case:
    """The sums of n small arrays that lie one behind the other, modulo 2^32."""
    begin = array("I", [0])
    for k in range(shape.n):
        begin.append(begin[-1] + LEAST + 37 * k % (MOST - LEAST))
    data = noise(chance, 4 * begin[-1])
    view = words(data, "i")
    sums = (sum(view[begin[k] : begin[k + 1]]) % 2**32 for k in range(shape.n))
    expected = array("I", sums).tobytes()

    def wrong(got: dict[str, bytes]) -> str:
        return first_difference("out", got["out"], expected, "i")

    buffers = {
        "in": Buffer("in", data),
        "begin": Buffer("in", begin.tobytes()),
        "out": Buffer("out", noise(chance, 4 * shape.n)),
    }
    return Case(buffers, {"n": shape.n}, wrong)
