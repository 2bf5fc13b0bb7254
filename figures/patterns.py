"""Which thread touches what, kernel by kernel, as records like those of a trace.

Each kernel of the book has one function here that yields the accesses of one of its blocks, in the
order of the kernel's instructions. The diagrams are drawn from these records, the counts that a
page derives come from them, and tests add up an array by following them.

How accesses become sectors, wavefronts and conflicts is the rule found exact on an H200: a request
is one warp's access with at least one lane; its sectors are the distinct 32-byte pieces that it
touches; a shared access of up to 4 bytes takes as many wavefronts as the most distinct words that
any one of the 32 banks has to give. A wider one goes by halves of the warp (8 bytes) or by quarters
(16), and two of these pass together where each lane loads what its neighbour, or the next but one,
does.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
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


class _Recorder:
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


# ----------------------------------------------------------------------------- the kernels


def _tree(
    record: _Recorder,
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


def _levels(block: int) -> int:
    return (block - 1).bit_length()


def gmem(n: int, block: int, index: int) -> Iterator[Access]:
    """In place in global memory; `gmem_unrolled` touches the same."""
    record = _Recorder(index)
    first = index * block
    yield from _tree(record, GLOBAL, "data", first, n, block)
    last = _levels(block) + 1
    yield from record(last, GLOBAL, LOAD, "data", [(0, first)])
    yield from record(last, GLOBAL, STORE, "partial", [(0, index)])


def _load_tile(record: _Recorder, n: int, block: int, tile: int) -> Iterator[Access]:
    first = tile * block
    lanes = [(t, first + t) for t in range(block) if first + t < n]
    yield from record(0, GLOBAL, LOAD, "in", lanes)


Place = Callable[[int], int]
"""Where in shared memory a slot lies."""


def in_order(slot: int) -> int:
    return slot


def padded(slot: int) -> int:
    """A word is left free behind every 32."""
    return slot + slot // BANKS


def swizzled(slot: int) -> int:
    """No word is left free; each row of 32 has its slots in another order."""
    return slot ^ slot // BANKS % BANKS


def _spreading_tree(
    record: _Recorder, block: int, strided: bool, place: Place = in_order
) -> Iterator[Access]:
    """Adds up tile[0 … block) in place, doubling the distance between partners.

    The thread that adds is the slot's own, or, *strided*, the next one from the block's first.
    """
    for level in range(1, _levels(block) + 1):
        s = 1 << (level - 1)
        slots = range(0, block - s, 2 * s)
        lanes = [(number if strided else slot, slot) for number, slot in enumerate(slots)]
        near = [(t, place(slot)) for t, slot in lanes]
        yield from record(level, SHARED, LOAD, "tile", near)
        yield from record(level, SHARED, LOAD, "tile", [(t, place(slot + s)) for t, slot in lanes])
        yield from record(level, SHARED, STORE, "tile", near)


# How a block gets from its tile to its partial sum.
INTERLEAVED = "interleaved"  # like LOOP, with partners next door first
STRIDED = "strided"  # the same additions, by the block's first threads
STRIDED_PADDED = "strided, padded"  # the same threads, with a word left free behind every 32 slots
STRIDED_SWIZZLED = "strided, swizzled"  # the same threads, with rows of 32 slots out of order
LOOP = "loop"  # down to one slot, which thread 0 loads again after the last barrier
UNROLLED = (
    "unrolled"  # the same, but the last two slots, side by side, are loaded by one instruction
)
SHUFFLE = "shuffle"  # the last warp takes its slots into registers, and needs no memory any more


def _finish_in_shared(record: _Recorder, block: int, finish: str) -> Iterator[Access]:
    """From the threads' registers to the block's partial sum."""
    place = {STRIDED_PADDED: padded, STRIDED_SWIZZLED: swizzled}.get(finish, in_order)
    yield from record(0, SHARED, STORE, "tile", [(t, place(t)) for t in range(block)])
    if finish in (INTERLEAVED, STRIDED, STRIDED_PADDED, STRIDED_SWIZZLED):
        yield from _spreading_tree(record, block, strided=finish != INTERLEAVED, place=place)
    else:
        stop, pair = WARP if finish == SHUFFLE else 1, finish == UNROLLED
        yield from _tree(record, SHARED, "tile", 0, block, block, stop=stop, pair=pair)
    last = _levels(block) + 1
    left = min(block, WARP) if finish == SHUFFLE else 1
    yield from record(last, SHARED, LOAD, "tile", [(t, t) for t in range(left)])
    yield from record(last, GLOBAL, STORE, "partial", [(0, record.block)])


def unroll(n: int, block: int, index: int, *, factor: int, finish: str = LOOP) -> Iterator[Access]:
    """A block folds *factor* tiles of the input into one, then adds that up in shared memory."""
    record = _Recorder(index)
    for k in range(factor):
        yield from _load_tile(record, n, block, index * factor + k)
    yield from _finish_in_shared(record, block, finish)


smem = bind(unroll, factor=1)
smem_unrolled = bind(unroll, factor=1, finish=UNROLLED)
interleaved = bind(unroll, factor=1, finish=INTERLEAVED)
strided = bind(unroll, factor=1, finish=STRIDED)
strided_padded = bind(unroll, factor=1, finish=STRIDED_PADDED)
strided_swizzled = bind(unroll, factor=1, finish=STRIDED_SWIZZLED)


def one_warp(slots: Iterable[int], width: int = INT_BYTES) -> list[Access]:
    """One load of a whole warp from shared memory, lane by lane."""
    return [
        Access(0, 0, 0, lane, SHARED, LOAD, "tile", slot, width) for lane, slot in enumerate(slots)
    ]


#: Loads of each thread in chapter 4's walks.
WALK_ROUNDS = 256


def stride_walk(stride: int) -> list[Access]:
    """A round of the walk: neighbouring lanes *stride* words apart."""
    return one_warp(lane * stride for lane in range(WARP))


#: Which element a lane of width_walk reads.
SHARING: dict[str, Callable[[int], int]] = {
    "width": lambda lane: lane,
    "pairs": lambda lane: lane // 2,
    "twos": lambda lane: lane // 4 * 2 + lane % 2,
    "halves": lambda lane: lane % 16,
    "all": lambda lane: 0,
}

TILE = 32
#: Where the element in a row and a column of a tile lies, by the name of its layout.
LAYOUTS: dict[str, Callable[[int, int], int]] = {
    "Plain": lambda r, c: 32 * r + c,
    "Padded": lambda r, c: 33 * r + c,
    "PaddedBy4": lambda r, c: 36 * r + c,
    "Swizzled": lambda r, c: 32 * r + (c ^ r),
    "SwizzledBy4": lambda r, c: 32 * r + (c ^ r % 8 * 4),
}


def tile_column(layout: str, column: int, width: int = INT_BYTES) -> list[Access]:
    """A warp's load from the tile of columns: lane x that of row x, of 4 or of 16 bytes."""
    words = width // INT_BYTES
    at = LAYOUTS[layout]
    return one_warp((at(x, column) // words for x in range(WARP)), width)


def smem_stride(n: int, block: int, index: int, *, grid: int) -> Iterator[Access]:
    """The grid-stride load: block b takes the tiles b, b + grid, b + 2 grid, …"""
    record = _Recorder(index)
    for tile in range(index, -(-n // block), grid):
        yield from _load_tile(record, n, block, tile)
    yield from _finish_in_shared(record, block, LOOP)


def passes(n: int, share: int) -> list[int]:
    """How many values there are before the first pass of chapter08's sum_pass and after each."""
    left = [n]
    while len(left) == 1 or left[-1] > 1:
        left.append(-(-left[-1] // share))
    return left


# ------------------------------------------------------------------- chapter 10's copies, vectors

Lanes = list[tuple[int, int]]  # thread and index


def _copied(record: _Recorder, loads: Lanes, stores: Lanes, width: int) -> Iterator[Access]:
    yield from record(0, GLOBAL, LOAD, "in", loads, width)
    yield from record(1, GLOBAL, STORE, "out", stores, width)


def copy(
    n: int, block: int, index: int, *, load_stride: int = 1, store_stride: int = 1, offset: int = 0
) -> Iterator[Access]:
    """An element a thread, strides apart in an array of n, or from an offset on."""
    first, stride = index * block, load_stride * store_stride
    mine = [(t, first + t) for t in range(block) if (first + t) * stride < n]
    loads = [(t, i * load_stride + offset) for t, i in mine]
    stores = [(t, i * store_stride) for t, i in mine]
    yield from _copied(_Recorder(index), loads, stores, INT_BYTES)


def copy_words(n: int, block: int, index: int, *, width: int) -> Iterator[Access]:
    """n ints in words of *width* bytes; what is left at the end, one by one by one thread."""
    record = _Recorder(index)
    first, words = index * block, n * INT_BYTES // width
    mine = [(t, first + t) for t in range(block) if first + t < words]
    yield from _copied(record, mine, mine, width)
    if 0 <= words - first < block:
        for left in range(words * width // INT_BYTES, n):
            lane = [(words - first, left)]
            yield from _copied(record, lane, lane, INT_BYTES)


PACKED, ALIGNED, ARRAYS, STAGED = "packed", "aligned", "arrays", "staged"


def vec3(n: int, block: int, index: int, *, layout: str) -> Iterator[Access]:
    """A vector of three ints a thread, and one int of each stored."""
    record = _Recorder(index)
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


#: By variant: the pattern, and the bytes of input that a thread stands for.
COALESCING: dict[str, tuple[Callable[[int, int, int], Iterator[Access]], int]] = {
    **{f"load_stride{s}": (bind(copy, load_stride=s), 4 * s) for s in (1, 2, 3, 4, 8, 16, 32)},
    **{f"store_stride{s}": (bind(copy, store_stride=s), 4 * s) for s in (2, 4, 8, 16, 32)},
    **{f"load_offset{o}": (bind(copy, offset=o), 4) for o in (0, 1, 2, 4, 7, 8, 9, 16, 32)},
    **{f"copy{width}": (bind(copy_words, width=width), width) for width in (1, 4, 8, 16)},
    **{f"vec3_{layout}": (bind(vec3, layout=layout), 4) for layout in (PACKED, ALIGNED, ARRAYS)},
    "vec3_staged": (bind(vec3, layout=STAGED), 4),
}


def shuffle_partner(lane: int, offset: int) -> int:
    """The lane whose value __shfl_xor_sync(mask, value, offset) gives to this lane."""
    return lane ^ offset


# --------------------------------------------------------------------------- what they cost


def by_request(accesses: Iterable[Access]) -> Iterator[list[Access]]:
    """The accesses grouped as the hardware sees them: one instruction of one warp."""
    groups: dict[tuple[int, int, int], list[Access]] = defaultdict(list)
    for access in accesses:
        groups[access.block, access.step, access.warp].append(access)
    yield from groups.values()


def sectors(request: Iterable[Access]) -> int:
    """How many 32-byte sectors one request to global memory touches."""
    touched = set()
    for access in request:
        first, last = access.byte_offset, access.byte_offset + access.width - 1
        touched |= set(range(first // SECTOR_BYTES, last // SECTOR_BYTES + 1))
    return len(touched)


def groups(request: Iterable[Access]) -> list[list[Access]]:
    """The parts of one shared-memory request that pass one after the other, whatever the banks.

    8 bytes a lane: half warps; 16: quarters. Two neighbouring ones of a load join where lane xor 1,
    or where lane xor 2, of every lane loads the same element or nothing.
    """
    request = list(request)
    if not request:
        return []
    lanes = {access.lane: access.index for access in request}
    parts = max(request[0].width // BANK_BYTES, 1)
    joins = request[0].kind == LOAD and any(
        all(lanes.get(lane ^ other, index) == index for lane, index in lanes.items())
        for other in (1, 2)
    )
    if joins and parts > 1:
        parts //= 2
    split: dict[int, list[Access]] = defaultdict(list)
    for access in request:
        split[access.lane * parts // WARP].append(access)
    return list(split.values())


def _most_of_a_bank(group: Iterable[Access]) -> int:
    words: dict[int, set[int]] = defaultdict(set)
    for access in group:
        first = access.byte_offset // BANK_BYTES
        for word in range(first, first + max(access.width // BANK_BYTES, 1)):
            words[word % BANKS].add(word)
    return max((len(bank) for bank in words.values()), default=0)


def wavefronts(request: Iterable[Access]) -> int:
    """How many passes one request to shared memory takes."""
    return sum(map(_most_of_a_bank, groups(request)))


def bank_conflicts(request: Iterable[Access]) -> int:
    """The passes beyond those that its width takes in any case."""
    request = list(request)
    return wavefronts(request) - len(groups(request))


@dataclass(frozen=True)
class Counts:
    """What a launch costs, under the short names of recorded counters."""

    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_store_requests: int = 0
    global_store_sectors: int = 0
    shared_load_wavefronts: int = 0
    shared_load_conflicts: int = 0
    shared_store_wavefronts: int = 0
    shared_store_conflicts: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(self._values(), other._values(), strict=True)))

    def __mul__(self, times: int) -> Counts:
        return Counts(*(value * times for value in self._values()))

    def _values(self) -> tuple[int, ...]:
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


def count(accesses: Iterable[Access]) -> Counts:
    """The counts of these accesses."""
    totals: dict[str, int] = defaultdict(int)
    for request in by_request(accesses):
        space, kind = request[0].space, request[0].kind
        if space == GLOBAL:
            totals[f"global_{kind}_requests"] += 1
            totals[f"global_{kind}_sectors"] += sectors(request)
        else:
            totals[f"shared_{kind}_wavefronts"] += wavefronts(request)
            totals[f"shared_{kind}_conflicts"] += bank_conflicts(request)
    return Counts(**totals)


#: How the variants that load tiles finish. Variants that are not here, faulty forms for example,
#: have no derived count.
_FINISHES = {
    **dict.fromkeys(("smem", "smem_stride", "first_add"), LOOP),
    **dict.fromkeys(("interleaved", "interleaved_mask"), INTERLEAVED),
    "strided": STRIDED,
    "strided_padded": STRIDED_PADDED,
    "strided_swizzled": STRIDED_SWIZZLED,
    **{f"mixed{paths}": LOOP for paths in (1, 2, 4, 8, 16, 32)},
    "sorted32": LOOP,
    **dict.fromkeys(("dynamic_smem", "typed_int", "dynamic_unroll4"), LOOP),
    **{f"ask{kib}k": LOOP for kib in (32, 48, 64, 96, 227)},
    **{f"unroll{factor}": LOOP for factor in (1, 2, 4, 8, 16)},
    **dict.fromkeys(("smem_unrolled", "last_warp_sync"), UNROLLED),
    **dict.fromkeys(("last_warp_shuffle", "complete"), SHUFFLE),
}


@cache
def derived_counts(variant: str, n: int, block: int, grid: int) -> Counts | None:
    """What a launch of that variant must cost; None where no pattern of it is written down."""
    if variant in ("gmem", "gmem_unrolled"):
        return _repeated(bind(gmem, n, block), n, block, grid)
    if variant in COALESCING:
        kernel, share = COALESCING[variant]
        # Threads that have a whole share each: blocks of those begin alike within a sector.
        return _repeated(bind(kernel, n, block), n * INT_BYTES // share, block, grid)
    if variant not in _FINISHES:
        return None

    # Each tile of the input is loaded once, whichever block does it; then each block does the
    # same to its own tile in shared memory.
    def load(tile: int) -> Iterator[Access]:
        return _load_tile(_Recorder(tile), n, block, tile)

    finish = count(_finish_in_shared(_Recorder(0), block, _FINISHES[variant]))
    return _repeated(load, n, block, -(-n // block)) + finish * grid


def _repeated(
    accesses: Callable[[int], Iterator[Access]], n: int, block: int, blocks: int
) -> Counts:
    """Counts of *blocks* blocks; whole ones that begin alike within a sector cost the same."""
    total = Counts()
    whole = min(n // block, blocks)
    # After so many blocks at most, offsets repeat; of words of a byte, only after more.
    period = SECTOR_BYTES
    for start in range(min(period, whole)):
        total += count(accesses(start)) * len(range(start, whole, period))
    for rest in range(whole, blocks):
        total += count(accesses(rest))
    return total


@dataclass(frozen=True)
class TreeStep:
    """What one step of a block's tree takes of shared memory."""

    step: int  # from 1
    requests: int
    wavefronts: int
    conflicts: int


def tree_steps(accesses: Iterable[Access]) -> list[TreeStep]:
    """The steps of one block's tree: loads and stores together."""
    steps: dict[int, list[list[Access]]] = defaultdict(list)
    for request in by_request(access for access in accesses if access.space == SHARED):
        steps[request[0].level].append(request)
    last = max(steps)  # the result's load
    return [
        TreeStep(
            step,
            len(requests),
            sum(map(wavefronts, requests)),
            sum(map(bank_conflicts, requests)),
        )
        for step, requests in sorted(steps.items())
        if 0 < step < last
    ]


@dataclass(frozen=True)
class Work:
    """Who adds at one step of a block's tree: the lanes, by warp."""

    step: int  # from 1
    lanes: dict[int, frozenset[int]]  # of the warps with any lane at work, those lanes
    warps: int  # of the block, at work or not
    threads: int  # of the block

    @property
    def adding(self) -> int:
        return sum(len(lanes) for lanes in self.lanes.values())

    @property
    def parted(self) -> int:
        """Warps in which some lanes add and others do not: where a branch parts lanes."""
        return sum(
            len(lanes) < min(WARP, self.threads - warp * WARP) for warp, lanes in self.lanes.items()
        )


def work(accesses: Iterable[Access], block: int) -> list[Work]:
    """The steps of one block's tree, each with the lanes that store a sum."""
    stored: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for access in accesses:
        if (access.space, access.kind) == (SHARED, STORE) and access.level > 0:
            stored[access.level][access.warp].add(access.lane)
    return [
        Work(step, {w: frozenset(lanes) for w, lanes in warps.items()}, -(-block // WARP), block)
        for step, warps in sorted(stored.items())
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
