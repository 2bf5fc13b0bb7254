"""What chapter 10's copies and loads of vectors touch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial as bind

from figures.kit.costs import Pattern, each_block
from figures.kit.patterns import GLOBAL, INT_BYTES, LOAD, SHARED, STORE, Access, Recorder

Lanes = list[tuple[int, int]]  # thread and index


def _copied(record: Recorder, loads: Lanes, stores: Lanes, width: int) -> Iterator[Access]:
    yield from record(0, GLOBAL, LOAD, "in", loads, width)
    yield from record(1, GLOBAL, STORE, "out", stores, width)


def copy(
    n: int, block: int, index: int, *, load_stride: int = 1, store_stride: int = 1, offset: int = 0
) -> Iterator[Access]:
    """An element per thread, strides apart in an array of n, or from an offset on."""
    first, stride = index * block, load_stride * store_stride
    some = min(block, max(-(-n // stride) - first, 0))  # threads with an element in the array
    mine = [(t, first + t) for t in range(some)]
    loads = [(t, i * load_stride + offset) for t, i in mine]
    stores = [(t, i * store_stride) for t, i in mine]
    yield from _copied(Recorder(index), loads, stores, INT_BYTES)


def copy_words(n: int, block: int, index: int, *, width: int) -> Iterator[Access]:
    """n ints in words of *width* bytes; what is left at the end, one by one by one thread."""
    record = Recorder(index)
    first, words = index * block, n * INT_BYTES // width
    mine = [(t, first + t) for t in range(block) if first + t < words]
    yield from _copied(record, mine, mine, width)
    if 0 <= words - first < block:
        for left in range(words * width // INT_BYTES, n):
            lane = [(words - first, left)]
            yield from _copied(record, lane, lane, INT_BYTES)


PACKED, ALIGNED, ARRAYS, STAGED = "packed", "aligned", "arrays", "staged"


def vec3(n: int, block: int, index: int, *, layout: str) -> Iterator[Access]:
    """A vector of three ints per thread, and one int of each stored."""
    record = Recorder(index)
    first = index * block
    mine = [(t, first + t) for t in range(block) if first + t < n]
    if layout == PACKED:
        for k in range(3):
            yield from record(0, GLOBAL, LOAD, "in", [(t, 3 * i + k) for t, i in mine])
    elif layout == ALIGNED:
        yield from record(0, GLOBAL, LOAD, "in", mine, 16)
    elif layout == ARRAYS:
        for name in "xyz":
            yield from record(0, GLOBAL, LOAD, name, mine)
    else:
        row = [[(t, k * block + t) for t in range(block)] for k in range(3)]
        for lanes in row:
            inside = [(t, 3 * first + j) for t, j in lanes if 3 * first + j < 3 * n]
            yield from record(0, GLOBAL, LOAD, "in", inside)
        for lanes in row:
            yield from record(0, SHARED, STORE, "tile", lanes)
        for k in range(3):
            yield from record(1, SHARED, LOAD, "tile", [(t, 3 * t + k) for t, _ in mine])
    yield from record(2, GLOBAL, STORE, "out", mine)


PATTERNS: dict[str, Pattern] = {
    **{
        f"load_stride{s}": each_block(bind(copy, load_stride=s), 4 * s)
        for s in (1, 2, 3, 4, 8, 16, 32)
    },
    **{
        f"store_stride{s}": each_block(bind(copy, store_stride=s), 4 * s) for s in (2, 4, 8, 16, 32)
    },
    **{f"load_offset{o}": each_block(bind(copy, offset=o)) for o in (0, 1, 2, 4, 7, 8, 9, 16, 32)},
    **{f"copy{width}": each_block(bind(copy_words, width=width), width) for width in (1, 4, 8, 16)},
    **{
        f"vec3_{layout}": each_block(bind(vec3, layout=layout))
        for layout in (PACKED, ALIGNED, ARRAYS, STAGED)
    },
}
