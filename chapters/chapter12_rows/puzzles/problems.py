"""What the puzzles on rows compute: n rows of so many columns each."""

from __future__ import annotations

import math
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


def _table(
    shape: Shape, chance: Chance, data: bytes, results: int
) -> tuple[dict[str, Buffer], dict[str, int]]:
    """Buffers and values of a table with so many results of four bytes."""
    poison = noise(chance, 4 * results)
    buffers = {"in": Buffer("in", data), "out": Buffer("out", poison)}
    return buffers, {"n": shape.n, "columns": shape.value("columns")}


def _sums(shape: Shape, chance: Chance, *, by_column: bool) -> Case:
    columns = shape.value("columns")
    data = noise(chance, 4 * shape.n * columns)
    view = words(data, "i")
    if by_column:
        added = [sum(view[column::columns]) for column in range(columns)]
    else:
        added = [sum(view[at : at + columns]) for at in range(0, len(view), columns)]
    expected = array("I", (total % 2**32 for total in added)).tobytes()

    def wrong(got: dict[str, bytes]) -> str:
        return first_difference("out", got["out"], expected, "i")

    return Case(*_table(shape, chance, data, len(added)), wrong)


@problem("in", "out", timed=2**18)
def row_sums(shape: Shape, chance: Chance) -> Case:
    """The sum of each row, modulo 2^32."""
    return _sums(shape, chance, by_column=False)


@problem("in", "out", timed=2**18)
def column_sums(shape: Shape, chance: Chance) -> Case:
    """The sum of each column, modulo 2^32."""
    return _sums(shape, chance, by_column=True)


#: The top byte of an int of a row below its largest: above 0, or below.
_LOW_ABOVE = bytes(byte & 0x3F for byte in range(256))
_LOW_BELOW = bytes(byte & 0x3F | 0x80 for byte in range(256))


@problem("in", "out", timed=2**18)
def first_of_the_largest(shape: Shape, chance: Chance) -> Case:
    """The column of each row's largest element, and of equal ones the first."""
    columns = shape.value("columns")
    raw = bytearray(noise(chance, 4 * shape.n * columns))
    kinds = [chance.randrange(5) for _ in range(shape.n)]
    for row, kind in enumerate(kinds):
        if 0 < kind < 4:
            top = slice(4 * row * columns + 3, 4 * (row + 1) * columns, 4)
            raw[top] = raw[top].translate(_LOW_ABOVE if kind > 1 else _LOW_BELOW)
    data = array("i", raw)
    for row, kind in enumerate(kinds):
        places = range(row * columns, (row + 1) * columns)
        if kind == 0:  # nothing larger than nothing
            data[places.start : places.stop] = array("i", [-(2**31)]) * columns
        elif kind < 4:  # some are equal and the largest, above 0 or below
            sign = 2**31 if kind == 1 else 0
            few = min(columns, chance.randrange(1, 5))
            for at in chance.sample(places, min(columns, 3 * few)):  # the same as floats
                data[at] = 2**31 - 2 - sign
            for at in chance.sample(places, few):
                data[at] = 2**31 - 1 - sign
    expected = array("I", bytes(4 * shape.n))
    for row in range(shape.n):
        mine = data[row * columns : (row + 1) * columns]
        expected[row] = mine.index(max(mine))

    def wrong(got: dict[str, bytes]) -> str:
        return first_difference("out", got["out"], expected.tobytes(), "I")

    return Case(*_table(shape, chance, data.tobytes(), shape.n), wrong)


#: How far a share may be off, relative to itself: what the difference to the largest loses, which
#: is rounded to 24 bits and at most 104 where the share isn't 0, and some last bits of exponential,
#: sum and quotient.
ALLOWED = 2.0**-16
#: A float's smallest normal number. Below it, floats lie this far apart; and code compiled with
#: -ftz=true, or an instruction with .ftz, takes them for 0, which is no mistake of a kernel's.
TINY, SPACING = 2.0**-126, 2.0**-149


def is_share(share: float, right: float) -> bool:
    """Whether a float is near enough to a row's share."""
    if share == 0 and right <= (1 + ALLOWED) * TINY:
        return True
    return abs(share - right) <= ALLOWED * right + (2 * SPACING if right < TINY else 0)


@problem("in", "out", timed=2**18)
def row_softmax(shape: Shape, chance: Chance) -> Case:
    """exp(x) of each element, divided by the sum of those of its row. Most rows have elements whose
    exponential is no float."""
    columns = shape.value("columns")
    count = shape.n * columns
    random, data = words(noise(chance, 4 * count)), array("f")
    for at in range(0, count, columns):
        first = chance.choice((0, 0, 500, -500, 1e4, -1e4)) - 30
        row = [bits * 60 / 2**32 + first for bits in random[at : at + columns]]
        if chance.randrange(2) == 0:  # one, the first or another, lies far from all others
            far = chance.choice((250, chance.uniform(30, 110)))
            row[chance.choice((0, chance.randrange(columns)))] += chance.choice((-far, far))
        data.extend(row)

    def wrong(got: dict[str, bytes]) -> str:
        found = memoryview(got["out"]).cast("f")
        for row in range(shape.n):
            here = slice(row * columns, (row + 1) * columns)
            mine, theirs = data[here], found[here]
            largest = max(mine)
            powers = [math.exp(x - largest) for x in mine]
            total = math.fsum(powers)
            off = (
                column
                for column, (share, power) in enumerate(zip(theirs, powers, strict=True))
                if not abs(share * total - power) <= ALLOWED * power  # most are as near as that
                and not is_share(share, power / total)
            )
            if (column := next(off, -1)) >= 0:
                said = f"out[{row * columns + column}], of row {row} and column {column}, is"
                share = powers[column] / total
                return f"{said} {theirs[column]:.7g}, and should be {share:.7g}"
        return ""

    return Case(*_table(shape, chance, data.tobytes(), count), wrong)
