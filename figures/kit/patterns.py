"""Which thread touches what, as records like those of a trace.

A kernel's pattern is a function that yields the accesses of one of its blocks, in the order of the
kernel's instructions. It lies with its chapter; here is what such functions are made of. Diagrams
are drawn from the records, the counts that a page derives come from them, by the rules in
:mod:`figures.kit.costs`, and tests add up an array by following them.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial as bind

WARP = 32
SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
INT_BYTES = 4

GLOBAL = "global"
SHARED = "shared"
LOAD = "load"
STORE = "store"


@dataclass(frozen=True, slots=True)
class Access:
    """One lane's part in one load or store."""

    step: int  # the instruction: each load and each store of the kernel is a step of its own
    level: int  # 0 while loading the input, then the tree's levels from 1, then the result
    block: int
    thread: int
    space: str  # 'global' or 'shared'
    kind: str  # 'load' or 'store'
    array: str  # its name in the kernel; every array begins on a sector's boundary
    index: int  # of the element
    width: int = INT_BYTES

    @property
    def warp(self) -> int:
        return self.thread // WARP

    @property
    def lane(self) -> int:
        return self.thread % WARP

    @property
    def byte_offset(self) -> int:
        return self.index * self.width


Kernel = Callable[[int, int, int], Iterator[Access]]
"""The accesses of one block: of n elements, threads per block, and which block."""


class Recorder:
    """Numbers the instructions of one block's run."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.step = 0

    def __call__(
        self,
        level: int,
        space: str,
        kind: str,
        array: str,
        lanes: Iterable[tuple[int, int]],
        width: int = INT_BYTES,
    ) -> Iterator[Access]:
        """One instruction, executed by (thread, index) pairs."""
        step, self.step = self.step, self.step + 1
        for thread, index in lanes:
            yield Access(step, level, self.block, thread, space, kind, array, index, width)


def by_request(accesses: Iterable[Access]) -> Iterator[list[Access]]:
    """The accesses grouped as the hardware sees them: one instruction of one warp."""
    groups: dict[tuple[int, int, int], list[Access]] = defaultdict(list)
    for access in accesses:
        groups[access.block, access.step, access.warp].append(access)
    yield from groups.values()


# ---------------------------------------------------------------------------------- trees


def tree_levels(block: int) -> int:
    """Steps of a tree over that many slots."""
    return (block - 1).bit_length()


def halving_tree(
    record: Recorder,
    space: str,
    array: str,
    first: int,
    end: int,
    block: int,
    *,
    stop: int = 1,
    pair: bool = False,
) -> Iterator[Access]:
    """Adds up array[first … first + block) in place, halving the width (rounded up) to *stop*.

    An element at *end* or past it is left alone. *pair*: the last two are loaded as one.
    """
    width = block
    for level in itertools.count(1):
        if width <= stop:
            return
        half = (width + 1) // 2
        threads = [t for t in range(width - half) if first + t + half < end]
        near = [(t, first + t) for t in threads]
        far = [(t, first + t + half) for t in threads]
        if pair and half == 1:
            yield from record(level, space, LOAD, array, near + far)
        else:
            yield from record(level, space, LOAD, array, near)
            yield from record(level, space, LOAD, array, far)
        yield from record(level, space, STORE, array, [(t, first + t) for t in threads])
        width = half


Place = Callable[[int], int]
"""Where in shared memory a slot lies."""


def in_order(slot: int) -> int:
    return slot


def spreading_tree(
    record: Recorder, block: int, *, strided: bool, place: Place = in_order
) -> Iterator[Access]:
    """Adds up tile[0 … block) in place, doubling the distance between partners.

    The thread that adds is the slot's own, or, *strided*, the next one from the block's first.
    """
    for level in range(1, tree_levels(block) + 1):
        s = 1 << (level - 1)
        slots = range(0, block - s, 2 * s)
        lanes = [(number if strided else slot, slot) for number, slot in enumerate(slots)]
        near = [(t, place(slot)) for t, slot in lanes]
        yield from record(level, SHARED, LOAD, "tile", near)
        yield from record(level, SHARED, LOAD, "tile", [(t, place(slot + s)) for t, slot in lanes])
        yield from record(level, SHARED, STORE, "tile", near)


# --------------------------------------------------- from a tile in shared memory to a partial sum


Finish = Callable[[Recorder, int], Iterator[Access]]
"""How a block of so many threads gets from a value in each thread to its partial sum."""


def _result(record: Recorder, block: int, left: int) -> Iterator[Access]:
    last = tree_levels(block) + 1
    yield from record(last, SHARED, LOAD, "tile", [(t, t) for t in range(left)])
    yield from record(last, GLOBAL, STORE, "partial", [(0, record.block)])


def finish_halving(
    record: Recorder, block: int, *, stop: int = 1, pair: bool = False
) -> Iterator[Access]:
    """A tree in shared memory, whose width halves down to *stop* slots, which are loaded again."""
    yield from record(0, SHARED, STORE, "tile", [(t, t) for t in range(block)])
    yield from halving_tree(record, SHARED, "tile", 0, block, block, stop=stop, pair=pair)
    yield from _result(record, block, min(block, stop))


def finish_spreading(
    record: Recorder, block: int, *, strided: bool, place: Place = in_order
) -> Iterator[Access]:
    """A tree in shared memory with partners next door first."""
    yield from record(0, SHARED, STORE, "tile", [(t, place(t)) for t in range(block)])
    yield from spreading_tree(record, block, strided=strided, place=place)
    yield from _result(record, block, 1)


#: Down to one slot, which thread 0 loads again after the last barrier.
LOOP: Finish = finish_halving
#: The same, but the last two slots, side by side, are loaded by one instruction.
UNROLLED: Finish = bind(finish_halving, pair=True)
#: The last warp takes its slots into registers, and needs no memory any more.
SHUFFLE: Finish = bind(finish_halving, stop=WARP)


def load_tile(record: Recorder, n: int, block: int, tile: int) -> Iterator[Access]:
    """Each thread of a block loads its element of one tile of the input, where there is one."""
    first = tile * block
    lanes = [(t, first + t) for t in range(block) if first + t < n]
    yield from record(0, GLOBAL, LOAD, "in", lanes)


def folded(
    n: int, block: int, index: int, *, factor: int = 1, finish: Finish = LOOP
) -> Iterator[Access]:
    """A block folds *factor* tiles of the input into one, then adds that up in shared memory."""
    record = Recorder(index)
    for k in range(factor):
        yield from load_tile(record, n, block, index * factor + k)
    yield from finish(record, block)


def one_warp(slots: Iterable[int], width: int = INT_BYTES) -> list[Access]:
    """One load of a whole warp from shared memory, lane by lane."""
    return [
        Access(0, 0, 0, lane, SHARED, LOAD, "tile", slot, width) for lane, slot in enumerate(slots)
    ]


# ------------------------------------------------------------------------- following a pattern


def follow(accesses: Iterable[Access], arrays: dict[str, list[int]]) -> None:
    """Does to the arrays what a kernel with these accesses does.

    Every kernel here is a sum, so a thread's register needs only one rule: loads add to it, a
    store writes it out, and the first load after a store begins anew.
    """
    registers: dict[tuple[int, int], int] = defaultdict(int)
    written: set[tuple[int, int]] = set()
    for access in accesses:
        thread = access.block, access.thread
        if access.kind == LOAD:
            if thread in written:
                written.remove(thread)
                registers[thread] = 0
            registers[thread] += arrays[access.array][access.index]
        else:
            written.add(thread)
            arrays[access.array][access.index] = registers[thread]
