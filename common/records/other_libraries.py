"""What other people's libraries took, as ``tools/measuring/libraries.py`` printed it on a device.

The file lies with the chapter whose problems they are:
``chapters/chapterNN_x/transcripts/<set>/libraries.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Table(NamedTuple):
    """What was asked of a library: the method, and the table's shape."""

    library: str
    method: str
    rows: int
    columns: int


class FloatSum(NamedTuple):
    """A library's sum of chapter 11's floats."""

    library: str
    method: str  #: what it adds in
    data: str
    n: int
    error: float  #: relative to the exact sum
    again: int  #: different results of launches of the same data
    moved: int  #: of those data and of the same four bytes further on
    order: int  #: of those data and of some other orders of them
    median_us: float


class WholeSum(NamedTuple):
    """A sum of n ints in 64 bits, of chapter 13's comparison."""

    library: str  #: "book" for the book's own
    method: str
    n: int
    median_us: float


class Bits(NamedTuple):
    """A launch of chapter 11's sums on an array, and the bits of both."""

    data: str
    n: int
    block: int
    grid: int
    exact: str
    plain: str


class Steady(NamedTuple):
    """A time of the book's sum of 2^28 ints, and the card's condition right after it."""

    what: str  #: "values", "place" or "second"
    which: str
    median_us: float
    sm_mhz: float
    watts: float
    celsius: float


class Ring(NamedTuple):
    """A sum of 2^28 ints by chapter 13's ``shares``."""

    stages: int
    past: int  #: bytes from a multiple of 128 to the first stage
    order: str  #: "turns" or "tickets"
    median_us: float
    first_end: int  #: per cent of the last block's
    fewest: int  #: pieces of a block
    most: int


def path_of(root: Path, chapter: str, device: str, name: str = "libraries") -> Path:
    return root / "chapters" / chapter / "transcripts" / device / f"{name}.txt"


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Those that are neither a head nor a comment, as words, with their number."""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words and not line.startswith("#") and words[0] != "library":
            yield number, words


def times(text: str) -> dict[Table, float]:
    """The median of each, in microseconds. ValueError names a line that is neither a head, a
    comment nor a time."""
    found: dict[Table, float] = {}
    for number, words in _lines(text):
        try:
            library, method, rows, columns, median, _low, _high = words
            found[Table(library, method, int(rows), int(columns))] = float(median)
        except ValueError:
            raise ValueError(f"line {number} gives no time: {' '.join(words)!r}") from None
    return found


def float_sums(text: str) -> list[FloatSum]:
    """Each line. ValueError names one that is neither a head, a comment nor a sum."""
    found = []
    for number, words in _lines(text):
        try:
            library, method, data, n, error, again, moved, order, median, _low, _high = words
            counts = (int(again), int(moved), int(order))
            found.append(
                FloatSum(library, method, data, int(n), float(error), *counts, float(median))
            )
        except ValueError:
            raise ValueError(f"line {number} gives no sum: {' '.join(words)!r}") from None
    return found


def recorded(root: Path, chapter: str, device: str) -> dict[Table, float]:
    """Those of a set; none where nothing was recorded."""
    return times(_text(root, chapter, device))


def recorded_sums(root: Path, chapter: str, device: str, name: str = "libraries") -> list[FloatSum]:
    """Those of a set, in one of its transcripts; none where nothing was recorded."""
    return float_sums(_text(root, chapter, device, name))


def whole_sums(root: Path, chapter: str, device: str) -> list[WholeSum]:
    """What ``tools/measuring/rivals.py sums`` printed on a device; none where nothing was recorded.
    ValueError names a line that is neither a head, a comment nor a time."""
    found = []
    for number, words in _lines(_text(root, chapter, device)):
        try:
            library, method, n, median, _low, _high = words
            found.append(WholeSum(library, method, int(n), float(median)))
        except ValueError:
            raise ValueError(f"line {number} gives no time: {' '.join(words)!r}") from None
    return found


def steady_times(root: Path, chapter: str, device: str) -> list[Steady]:
    """The same of ``rivals.py steady``."""
    found = []
    for number, words in _lines(_text(root, chapter, device, "steady")):
        if words[0] == "what":
            continue
        try:
            what, which, median, _low, _high, clock, watts, degrees = words
            numbers = (float(one) for one in (median, clock, watts, degrees))
            found.append(Steady(what, which, *numbers))
        except ValueError:
            raise ValueError(f"line {number} gives no time: {' '.join(words)!r}") from None
    return found


def rings_of(root: Path, chapter: str, device: str) -> list[Ring]:
    """What chapter 13's ``shares`` printed on a device; none where nothing was recorded.
    ValueError names a line that is neither a head, a comment nor a ring."""
    found = []
    for number, words in _lines(_text(root, chapter, device, "shares")):
        ring = re.fullmatch(
            r"(\d{1,2}) stages, (\d{1,3}) bytes past, (turns|tickets) ?: (\d{1,9}\.\d) us, "
            r"blocks end after (\d{1,3}) to 100 %, with (\d{1,9}) to (\d{1,9}) pieces",
            " ".join(words),
            re.ASCII,
        )
        if ring is None:
            raise ValueError(f"line {number} gives no ring: {' '.join(words)!r}")
        stages, past, order, median, *rest = ring.groups()
        found.append(Ring(int(stages), int(past), order, float(median), *map(int, rest)))
    return found


def same_bits_of(root: Path, chapter: str, device: str) -> list[Bits]:
    """What chapter 11's ``same_bits`` printed on a device; none where nothing was recorded.
    ValueError names a line that is neither a head, a comment nor a launch."""
    found = []
    for number, words in _lines(_text(root, chapter, device, "same_bits")):
        if words[0] == "data":
            continue
        try:
            data, n, block, grid, exact, plain = words
            found.append(Bits(data, int(n), int(block), int(grid), exact, plain))
        except ValueError:
            raise ValueError(f"line {number} gives no launch: {' '.join(words)!r}") from None
    return found


def _text(root: Path, chapter: str, device: str, name: str = "libraries") -> str:
    path = path_of(root, chapter, device, name)
    return path.read_text(encoding="utf-8") if path.is_file() else ""
