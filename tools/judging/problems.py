"""Problems: what a kernel gets, and what is right.

A problem names its buffers; a puzzle's parameters pick from these names. Inputs are random words
that differ from position to position, so that an element that is left out, taken twice or swapped
shows.
"""

from __future__ import annotations

import random
import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Code = Literal["b", "i", "I", "q", "Q"]


class Chance(random.Random):
    """What a problem's data come from."""

    #: Numbers that the code of the file to be judged names.
    named: tuple[int, ...] = ()
    named_floats: tuple[float, ...] = ()


def words(data: bytes | bytearray, code: Code = "I") -> memoryview[int]:
    return memoryview(data).cast(code)


def noise(chance: Chance, size: int) -> bytes:
    return chance.randbytes(size)


#: What a kernel may take for something else.
SPECIAL = (0, -1, 2**31 - 1, -(2**31))


def ints(chance: Chance, n: int) -> bytes:
    """n ints: mostly noise, now and then with special values in it and with those that the code
    names, and all alike where n is large and even: then the sum is as far from 0 as it can be."""
    if n >= 2**19 and n % 2 == 0:
        return array("i", [chance.choice(SPECIAL[2:])]).tobytes() * n
    data = noise(chance, 4 * n)
    if n and n % 4 == 2:
        mixed = array("i", data)
        named = {near for x in chance.named for near in (x, -x, x + 1, -x - 1) if abs(near) < 2**31}
        special = (*SPECIAL, *SPECIAL, *sorted(named))
        for at in range(chance.randrange(3), n, 3):
            mixed[at] = chance.choice(special)
        return mixed.tobytes()
    return data


@dataclass(frozen=True)
class Shape:
    """One way to launch: n, and what the launch has. Values are a puzzle's own parameters."""

    n: int
    block: tuple[int, int]
    grid: tuple[int, int]
    values: tuple[tuple[str, int], ...] = ()
    share: int = 0  #: elements that the blocks take at a time, in turn; 0: as the kernel likes

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1]

    def value(self, name: str) -> int:
        return dict(self.values)[name]

    def __str__(self) -> str:
        x, y = self.block
        said = f"n = {self.n}, block {x}" + (f" by {y}" if y > 1 else "")
        if self.grid[0] > 1 or self.grid[1] > 1:
            said += f", {self.blocks} blocks"
        return said + "".join(f", {name} {value}" for name, value in self.values)


@dataclass(frozen=True)
class Buffer:
    """Bytes that a kernel is given. What it is for:

    - ``in``: read, and left as it is
    - ``work``: read, and free to be destroyed
    - ``out``: poison before the launch, checked after it
    - ``sum``: zero before the launch, checked after it
    - ``zero``: zero before the launch, and zero again after it
    - ``scratch``: poison, and not checked
    """

    role: str
    data: bytes = b""
    size: int = 0
    begins: int = 0  #: bytes of the allocation before it, which the kernel must leave as they are
    unset: range = range(0)  #: bytes that are not written, so that a check sees who reads them


@dataclass(frozen=True)
class Case:
    """A problem at one shape: buffers and values by name, and what judges the outputs.

    ``wrong`` gives one sentence, or nothing where all is right. ``total``, of sums: what the
    outputs add up to."""

    buffers: dict[str, Buffer]
    values: dict[str, int]
    wrong: Callable[[dict[str, bytes]], str]
    total: Callable[[dict[str, bytes]], int] | None = None


@dataclass(frozen=True)
class Problem:
    """Something to compute."""

    make: Callable[[Shape, Chance], Case]
    names: frozenset[str]
    timed: int = 2**24  #: n on a GPU
    side: bool = False  #: n is the side of a square
    is_sum: bool = False
    floats: bool = False  #: what is added up
    peaks: bool = False  #: one element per block decides: so many blocks that each place has one
    shares: bool = False  #: each block leaves a result for its share


PROBLEMS: dict[str, Problem] = {}


def problem(
    *names: str, timed: int = 2**24, **flags: bool
) -> Callable[[Callable[[Shape, Chance], Case]], Callable[[Shape, Chance], Case]]:
    def add(
        make: Callable[[Shape, Chance], Case],
    ) -> Callable[[Shape, Chance], Case]:
        PROBLEMS[make.__name__] = Problem(make, frozenset({*names, "n"}), timed, **flags)
        return make

    return add


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _differ(name: str, got: int, expected: int) -> str:
    return "" if got == expected else f"{name} is {got}, and should be {expected}"


def places_by_block(shape: Shape) -> list[list[range]]:
    """Where the elements of each block's share lie."""
    step, turn = shape.share, shape.share * shape.blocks
    return [
        [range(at, min(at + step, shape.n)) for at in range(block * step, shape.n, turn)]
        for block in range(shape.blocks)
    ]


def by_block(
    shape: Shape, data: Sequence[int], combine: Callable[[Iterable[int]], int], none: int = 0
) -> list[int]:
    """What each block makes of its share; `none` where it has no elements. What is combined of
    parts has to be what is combined of all."""
    step, blocks = shape.share, shape.blocks
    parts = [combine(data[at : at + step]) for at in range(0, shape.n, step)]
    return [
        combine(parts[block::blocks]) if block < len(parts) else none for block in range(blocks)
    ]


def _wrong_share(
    name: str, shape: Shape, got: Sequence[int], expected: list[int], bits: int, sign: bool = True
) -> str:
    """Of blocks that are right together: the first that has left something else than its share."""
    mask = (1 << bits) - 1
    pairs = enumerate(zip(got, expected, strict=True))
    at = next((block for block, (x, y) in pairs if x & mask != y & mask), None)
    if at is None:
        return ""
    mine, right = (_signed(x, bits) if sign else x & mask for x in (got[at], expected[at]))
    first, last = at * shape.share, min((at + 1) * shape.share, shape.n) - 1
    share = f"elements {first} to {last}" if last > first else f"element {first}"
    if first >= shape.n:
        share = "no elements"
    elif shape.n > shape.blocks * shape.share:
        share += ", and so on"
    said = f"{name}[{at}] is {mine}, and block {at}'s share ({share}) comes to {right}"
    return f"{said}; all blocks together are right"


def first_difference(
    name: str, got: bytes, expected: bytes, code: Code, found_in: dict[str, bytes] | None = None
) -> str:
    """The first element that differs, and which input it holds instead, if one alone."""
    if got == expected:
        return ""
    mine, right = words(got, code), words(expected, code)
    at = next(i for i in range(len(right)) if mine[i] != right[i])
    wrong = sum(a != b for a, b in zip(mine, right, strict=True))
    said = f"{name}[{at}] is {mine[at]}, and should be {right[at]}"
    for source, data in (found_in or {}).items():
        view = words(data, code)
        places = [i for i in range(len(view)) if view[i] == mine[at]]
        if len(places) == 1:
            said = f"{name}[{at}] holds {source}[{places[0]}]"
            should = [i for i in range(len(view)) if view[i] == right[at]]
            if len(should) == 1:
                said += f", and should hold {source}[{should[0]}]"
    return said + (f" ({wrong} of {len(right)} are wrong)" if wrong > 1 else "")


# ------------------------------------------------------------------ sums


def _unfair(shape: Shape, counts: Sequence[int]) -> str:
    """Where blocks may divide the input as they like: whether one does far more than its part.
    `counts` says how many elements each has added."""
    threads = shape.blocks * shape.threads
    most = -(-shape.n // (16 * threads)) * 16 * shape.threads + 16  # up to 16 neighbours per thread
    block = max(range(shape.blocks), key=lambda b: counts[b])
    if counts[block] <= most:
        return ""
    return (
        f"block {block} adds up {counts[block]} of {shape.n} elements: all blocks are to share them"
    )


@problem("in", "data", "partial", is_sum=True, shares=True)
def partial_sums(shape: Shape, chance: Chance) -> Case:
    """One sum per block, modulo 2^32, which together are the sum of all elements."""
    counted = shape.share == 0 and shape.n > 64 and shape.n % 16 == 1
    data = array("i", [1]).tobytes() * shape.n if counted else ints(chance, shape.n)
    view = words(data, "i")
    expected = by_block(shape, view, sum) if shape.share else [sum(view)]
    total = sum(expected)

    def added(got: dict[str, bytes]) -> int:
        return _signed(sum(words(got["partial"])), 32)

    def wrong(got: dict[str, bytes]) -> str:
        what = "partial[0]" if shape.blocks == 1 else "the sum of all partial sums"
        if said := _differ(what, added(got), _signed(total, 32)):
            return said
        if shape.share:
            return _wrong_share("partial", shape, words(got["partial"]), expected, 32)
        return _unfair(shape, words(got["partial"])) if counted else ""

    poison = noise(chance, 4 * shape.blocks)
    buffers = {
        "in": Buffer("in", data),
        "data": Buffer("work", data),
        "partial": Buffer("out", poison),
    }
    return Case(buffers, {"n": shape.n}, wrong, added)


@problem("in", "partial", is_sum=True, shares=True)
def partial_sums_anywhere(shape: Shape, chance: Chance) -> Case:
    """The same of an input that begins at any int, not only where an allocation does."""
    case = partial_sums(shape, chance)
    data = case.buffers["in"].data
    begins = 4 * (shape.n // 7 % 4)
    return replace(case, buffers={**case.buffers, "in": Buffer("in", data, begins=begins)})


def _whole_sum(shape: Shape, chance: Chance, bits: int) -> Case:
    data = ints(chance, shape.n)
    total = sum(words(data, "i"))
    size = bits // 8

    def added(got: dict[str, bytes]) -> int:
        return _signed(int.from_bytes(got["out" if "out" in got else "total"], "little"), bits)

    def wrong(got: dict[str, bytes]) -> str:
        name = "*out" if "out" in got else "*total"
        return _differ(name, added(got), _signed(total, bits))

    buffers = {
        "in": Buffer("in", data),
        "data": Buffer("work", data),
        "out": Buffer("out", noise(chance, size)),
        "total": Buffer("sum", bytes(size)),
        "partial": Buffer("scratch", noise(chance, size * shape.blocks)),
        "ticket": Buffer("zero", bytes(4)),
        "word": Buffer("zero", bytes(8)),
    }
    return Case(buffers, {"n": shape.n}, wrong, added)


@problem("in", "data", "out", "total", "partial", "ticket", "word", is_sum=True)
def sum_32(shape: Shape, chance: Chance) -> Case:
    """One sum, modulo 2^32."""
    return _whole_sum(shape, chance, 32)


@problem("in", "data", "out", "total", "partial", "ticket", "word", is_sum=True)
def sum_64(shape: Shape, chance: Chance) -> Case:
    """One sum, of ints of either sign, in 64 bits."""
    return _whole_sum(shape, chance, 64)


def positions(shape: Shape, chance: Chance) -> list[int]:
    """Where in each block's share its largest element lies: at the edges of warps, and everywhere
    else. Where there are enough blocks, each place has its turn."""
    threads = shape.threads
    edges = {0, threads - 1, *range(0, threads, 32), *range(31, threads, 32)}
    every = [*edges, *(place for place in range(threads) if place not in edges)]
    if shape.blocks < threads:
        few = list(edges)
        either = (chance.choice(few if chance.random() < 0.5 else every) for _ in range(threads))
        every = list(either)
    return [every[block % threads] for block in range(shape.blocks)]


def _nearly_equal(view: memoryview[int], peaks: set[int], shape: Shape, chance: Chance) -> None:
    """Beside each largest element, in its block's share, one that is smaller by 1: as floats they
    are equal."""
    for at in peaks:
        first = at // shape.threads * shape.threads
        other = chance.randrange(first, min(first + shape.threads, shape.n))
        if other not in peaks:
            view[other] = view[at] - 1


#: The top byte of an int that is none of the largest: of either sign, or all of them negative.
_LOWER = bytes(byte & 0xBF | byte >> 1 & 0x40 for byte in range(256))
_LOWER_NEGATIVE = bytes(byte & 0x3F | 0x80 for byte in range(256))


@problem("in", "partial", peaks=True, shares=True)
def largest(shape: Shape, chance: Chance) -> Case:
    """The largest element of each block's share; of none, INT_MIN."""
    # Numbers below 0 alone, every other time, so that no 0 passes for the largest.
    below = shape.n % 2 == 1
    data = bytearray(noise(chance, 4 * shape.n))
    data[3::4] = data[3::4].translate(_LOWER_NEGATIVE if below else _LOWER)
    view = words(data, "i")
    if shape.n < 5000 and chance.randrange(5) == 0:
        data[:] = struct.pack("<i", SPECIAL[3]) * shape.n  # nothing larger than nothing
    else:
        places = enumerate(positions(shape, chance))
        peaks = [at for block, place in places if (at := block * shape.threads + place) < shape.n]
        for at in peaks:
            view[at] = chance.randrange(2**30, 2**31) - (2**31 if below else 0)
        if peaks:
            view[chance.choice(peaks)] = -1 if below else SPECIAL[2]
        _nearly_equal(view, set(peaks), shape, chance)
    expected = by_block(shape, view, max, -(2**31))

    def wrong(got: dict[str, bytes]) -> str:
        what = "partial[0]" if shape.blocks == 1 else "the largest of all that partial holds"
        mine = words(got["partial"], "i")
        return _differ(what, max(mine), max(expected)) or _wrong_share(
            "partial", shape, mine, expected, 32
        )

    poison = noise(chance, 4 * shape.blocks)
    buffers = {"in": Buffer("in", bytes(data)), "partial": Buffer("out", poison)}
    return Case(buffers, {"n": shape.n}, wrong)


@problem("in", "sums", "squares", timed=2**20, shares=True)
def moments(shape: Shape, chance: Chance) -> Case:
    """Sum (modulo 2^32) and sum of squares (modulo 2^64) of each block's share."""
    data = ints(chance, shape.n)
    view = words(data, "i")
    square_of = [x * x for x in view]
    added, squared = by_block(shape, view, sum), by_block(shape, square_of, sum)
    total, squares = sum(added), sum(squared)

    def wrong(got: dict[str, bytes]) -> str:
        mine = _signed(sum(words(got["sums"])), 32)
        square = sum(words(got["squares"], "Q")) % 2**64
        return (
            _differ("the sum of all sums", mine, _signed(total, 32))
            or _differ("the sum of all squares", square, squares % 2**64)
            or _wrong_share("sums", shape, words(got["sums"]), added, 32)
            or _wrong_share("squares", shape, words(got["squares"], "Q"), squared, 64, sign=False)
        )

    buffers = {
        "in": Buffer("in", data),
        "sums": Buffer("out", noise(chance, 4 * shape.blocks)),
        "squares": Buffer("out", noise(chance, 8 * shape.blocks)),
    }
    return Case(buffers, {"n": shape.n}, wrong)


# ------------------------------------------------------------------ chains


@problem("next", "last", "hops", timed=2**20)
def ring(shape: Shape, chance: Chance) -> Case:
    """Where a walk of so many hops from element 0 on ends: each element says which one follows. The
    ring visits all n elements in a random order."""
    order = list(range(shape.n))
    chance.shuffle(order)
    following = array("I", bytes(4 * shape.n))
    for k, at in enumerate(order):
        following[at] = order[(k + 1) % shape.n]
    hops = shape.value("hops")
    last = order[(order.index(0) + hops) % shape.n]

    def wrong(got: dict[str, bytes]) -> str:
        return _differ("*last", words(got["last"])[0], last)

    buffers = {"next": Buffer("in", following.tobytes()), "last": Buffer("out", noise(chance, 4))}
    return Case(buffers, {"n": shape.n, "hops": hops}, wrong)


# ------------------------------------------------------------------ counts


def _bytes_to_count(shape: Shape, chance: Chance) -> bytes:
    large = shape.n >= 2**19 and shape.n % 2 == 0  # more of one value than 16 bits count
    if large:
        return bytes([chance.randrange(256)]) * shape.n
    kind = shape.n % 3
    if kind == 0:  # one value, and a last byte that differs
        return bytes([chance.randrange(256)]) * max(shape.n - 1, 0) + bytes([7] * min(shape.n, 1))
    data = noise(chance, shape.n)
    return data if kind == 1 else bytes(byte & 0xF0 | 0xF for byte in data)


@problem("in", "bins")
def histogram(shape: Shape, chance: Chance) -> Case:
    """How often each of 256 values occurs in n bytes."""
    data = _bytes_to_count(shape, chance)
    counts = Counter(data)
    expected = struct.pack("256I", *(counts[value] for value in range(256)))

    def wrong(got: dict[str, bytes]) -> str:
        return first_difference("bins", got["bins"], expected, "I")

    begins = shape.n // 3 % 16
    buffers = {"in": Buffer("in", data, begins=begins), "bins": Buffer("sum", bytes(1024))}
    return Case(buffers, {"n": shape.n}, wrong)


# ------------------------------------------------------------------ copies


def _mapped(
    shape: Shape, buffers: dict[str, Buffer], expected: dict[str, bytes], code: Code = "i"
) -> Case:
    def wrong(got: dict[str, bytes]) -> str:
        sources = {name: b.data for name, b in buffers.items() if b.role == "in" and b.data}
        if len(next(iter(sources.values()), b"")) > 1 << 20:
            sources = {}
        said = (
            first_difference(name, got[name], right, code, sources)
            for name, right in expected.items()
            if name in got
        )
        return next(filter(None, said), "")

    return Case(buffers, {"n": shape.n, **dict(shape.values)}, wrong)


@problem("in", "out")
def copy(shape: Shape, chance: Chance) -> Case:
    """out[i] = in[i]."""
    data = ints(chance, shape.n)
    buffers = {"in": Buffer("in", data), "out": Buffer("out", noise(chance, 4 * shape.n))}
    return _mapped(shape, buffers, {"out": data})


@problem("in", "out", "offset")
def shifted(shape: Shape, chance: Chance) -> Case:
    """out[i] = in[i + offset]."""
    offset = shape.value("offset")
    data = noise(chance, 4 * (shape.n + offset))
    buffers = {"in": Buffer("in", data), "out": Buffer("out", noise(chance, 4 * shape.n))}
    return _mapped(shape, buffers, {"out": data[4 * offset :]})


@problem("in", "out")
def reverse(shape: Shape, chance: Chance) -> Case:
    """out[i] = in[n - 1 - i]."""
    data = ints(chance, shape.n)
    buffers = {"in": Buffer("in", data), "out": Buffer("out", noise(chance, 4 * shape.n))}
    turned = array("i", data)
    turned.reverse()
    return _mapped(shape, buffers, {"out": turned.tobytes()})


@problem("in", "out", side=True, timed=2048)
def transpose(shape: Shape, chance: Chance) -> Case:
    """out(c, r) = in(r, c), n rows of n ints."""
    n = shape.n
    data = noise(chance, 4 * n * n)
    view = words(data, "i")
    right = b"".join(view[c::n].tobytes() for c in range(n))
    buffers = {"in": Buffer("in", data), "out": Buffer("out", noise(chance, 4 * n * n))}
    return _mapped(shape, buffers, {"out": right})


@problem("in", "out", timed=2**20)
def lengths(shape: Shape, chance: Chance) -> Case:
    """out[i] = x² + y² + z² modulo 2^32, of n vectors of three ints one behind the other."""
    data = noise(chance, 12 * shape.n)
    view = words(data, "i").tolist()
    squares = [x * x for x in view]
    right = array("I", (sum(squares[i : i + 3]) & 0xFFFFFFFF for i in range(0, 3 * shape.n, 3)))
    buffers = {"in": Buffer("in", data), "out": Buffer("out", noise(chance, 4 * shape.n))}
    return _mapped(shape, buffers, {"out": right.tobytes()})


@problem("in", "x", "y", "z", timed=2**20)
def split(shape: Shape, chance: Chance) -> Case:
    """n vectors of three ints one behind the other, taken apart into three arrays."""
    data = noise(chance, 12 * shape.n)
    view = words(data, "i")
    right = {name: view[k::3].tobytes() for k, name in enumerate("xyz")}
    buffers = {name: Buffer("out", noise(chance, 4 * shape.n)) for name in "xyz"}
    return _mapped(shape, {"in": Buffer("in", data), **buffers}, right)


def with_data(case: Case, data: bytes) -> Case:
    """The same with another input."""
    buffers = {
        name: replace(b, data=data) if b.role in ("in", "work") else b
        for name, b in case.buffers.items()
    }
    return replace(case, buffers=buffers)


def with_one(case: Case, n: int, at: int) -> Case:
    """The same with an input that is 0 but for a 1 at one position."""
    data = bytearray(4 * n)
    data[4 * at] = 1
    return with_data(case, bytes(data))


def small_ones(n: int, seed: str) -> array[int]:
    """n ints from 0 to 3."""
    return array("i", random.Random(f"small {seed}").choices(range(4), k=n))
