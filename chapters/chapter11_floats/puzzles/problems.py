"""What the puzzles on floats compute, and how far from the exact sum a result may be."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable

from tools.judging.problems import (
    Buffer,
    Case,
    Chance,
    Shape,
    first_difference,
    noise,
    places_by_block,
    problem,
    words,
)

#: What one addition may lose: half of a float's last bit.
HALF_ULP = 2.0**-24


def floats(data: bytes | bytearray) -> memoryview[float]:
    return memoryview(data).cast("f")


def _all_words(n: int, word: int) -> int:
    """n times the same word, as one large number."""
    return int.from_bytes(struct.pack("<I", word) * n, "little")


#: The unit's exponents, so that neither large sums nor lost parts leave a float's range.
LEAST_UNIT, LARGEST_UNIT = -90, 60


def unit(chance: Chance) -> float:
    """A power of two: 1, any, or one near a number that the code names, so that a kernel can't know
    how large its input is."""
    exponents = [0, chance.randrange(LEAST_UNIT, LARGEST_UNIT + 1)]
    near = [math.frexp(x)[1] - d for x in chance.named_floats if x for d in (1, 2)]
    exponents += (e for e in near if LEAST_UNIT <= e <= LARGEST_UNIT)
    return 2.0 ** chance.choice(exponents)


def small(chance: Chance, n: int, unit: float) -> bytearray:
    """n floats from 1 to 2 units. One that is missing shows, however many there are. Of those that
    the code names, some are among them, if they have that size."""
    bits = int.from_bytes(noise(chance, 4 * n), "little")
    exponent = math.frexp(unit)[1] + 126
    bits = bits & _all_words(n, 0x007FFFFF) | _all_words(n, exponent << 23)
    data = bytearray(bits.to_bytes(4 * n, "little"))
    named = [x for x in map(abs, chance.named_floats) if unit <= x < 2 * unit]
    if named:
        view = floats(data)
        for at in range(chance.randrange(3), n, 3):
            view[at] = chance.choice(named)
    return data


def _large(chance: Chance, unit: float) -> float:
    """So large that a float added to it, from 1 to 2 units, changes nothing."""
    return (2**25 + 4 * chance.getrandbits(23)) * unit


def _some(chance: Chance, own: list[range], most: int) -> list[int]:
    """Some of a block's places, all of them different."""
    step = len(own[0]) if own else 0
    count = sum(map(len, own))
    chosen = chance.sample(range(count), min(most, count))
    return [own[k // step][k % step] for k in chosen]


def _case(
    shape: Shape,
    chance: Chance,
    data: bytearray,
    places: list[list[range]],
    allowed: Callable[[list[float], float], float],
) -> Case:
    """One float per block. `allowed` says how far from the exact sum it may be, of a block's
    elements and that sum."""
    view = floats(data)
    shares = [[x for of in own for x in view[of.start : of.stop]] for own in places]
    exact = [math.fsum(share) for share in shares]

    def wrong(got: dict[str, bytes]) -> str:
        for block, mine in enumerate(floats(got["partial"])):
            off, limit = abs(mine - exact[block]), allowed(shares[block], exact[block])
            if not off <= limit:
                said = f"partial[{block}] is {mine:.9g}, and should be {exact[block]:.9g}"
                return f"{said}: it is off by {off:.3g}, and may be by {limit:.3g}"
        return ""

    poison = noise(chance, 4 * shape.blocks)
    buffers = {"in": Buffer("in", bytes(data)), "partial": Buffer("out", poison)}
    return Case(buffers, {"n": shape.n}, wrong)


@problem("in", "partial", timed=2**20, is_sum=True, shares=True, floats=True)
def float_sums(shape: Shape, chance: Chance) -> Case:
    """One sum per block, of positive floats, within 2^-19 of the exact one. Kahan keeps that
    whatever their number and order; a plain sum doesn't where small ones follow a large one.

    He promises 2 half ulps in a row. In a tree, where a sum may join one that is smaller, each of
    up to ten levels may add 3."""
    one = unit(chance)
    data, places = small(chance, shape.n, one), places_by_block(shape)
    if chance.random() < 0.5:
        view = floats(data)
        for own in places:
            for at in _some(chance, own, 1):
                view[at] = _large(chance, one)
    return _case(shape, chance, data, places, lambda _, exact: 32 * HALF_ULP * exact)


@problem("in", "partial", timed=2**20, is_sum=True, shares=True, floats=True)
def cancelling_float_sums(shape: Shape, chance: Chance) -> Case:
    """One sum per block, of floats that nearly cancel. The bound is Neumaier's: the sum is rounded,
    and what additions lose is added up with a second rounding."""
    one = unit(chance)
    data, places = small(chance, shape.n, one), places_by_block(shape)
    if chance.random() < 0.75:
        view = floats(data)
        for own in places:
            chosen = _some(chance, own, 32)
            for first, second in zip(chosen[1::2], chosen[::2], strict=False):
                view[first] = _large(chance, one)
                view[second] = -view[first]

    def allowed(share: list[float], exact: float) -> float:
        # The additions on an element's way: those of its thread, and a tree of the threads.
        depth = -(-len(share) // shape.threads) + 2 * shape.threads.bit_length()
        magnitudes = math.fsum(map(abs, share))
        return 2 * HALF_ULP * abs(exact) + (depth * HALF_ULP) ** 2 * magnitudes

    return _case(shape, chance, data, places, allowed)


BINS = 16


def in_bins(data: bytes) -> list[int]:
    """The sum of floats in whole numbers: one for every 16 exponents, in units of 2^(16 k - 150)
    for number k."""
    view = words(data).tolist()
    kinds = [word >> 23 for word in view]  # sign and exponent
    added = [0] * 512
    for word, kind in zip(view, kinds, strict=True):
        added[kind] += word & 0x7FFFFF
    bins = [0] * BINS
    for kind, times in Counter(kinds).items():
        exponent = kind & 255
        whole = added[kind] + (times << 23 if exponent else 0)  # in units of 2^(exponent - 150)
        k = exponent // 16
        whole <<= max(exponent, 1) - 16 * k
        bins[k] += -whole if kind >> 8 else whole
    return bins


@problem("in", "bins", timed=2**20, floats=True)
def float_bins(shape: Shape, chance: Chance) -> Case:
    """The sum of n floats in 16 whole numbers, which no order of additions changes."""
    bits = int.from_bytes(noise(chance, 4 * shape.n), "little")
    if shape.n % 3 == 0:  # below the smallest normal one
        bits &= _all_words(shape.n, 0x807FFFFF)
    ones = bits  # whether all eight bits of an exponent are 1, in its lowest
    for by in (1, 2, 4):
        ones &= ones >> by
    bits ^= ones & _all_words(shape.n, 1 << 23)  # no infinity, and no NaN
    data = bits.to_bytes(4 * shape.n, "little")
    expected = struct.pack(f"<{BINS}q", *in_bins(data))

    def wrong(got: dict[str, bytes]) -> str:
        return first_difference("bins", got["bins"], expected, "q")

    buffers = {"in": Buffer("in", data), "bins": Buffer("sum", bytes(8 * BINS))}
    return Case(buffers, {"n": shape.n}, wrong)
