"""What the accesses of a pattern cost: sectors, wavefronts and conflicts.

The rule was found exact on an H200: a request is one warp's access with at least one lane; its
sectors are the distinct 32-byte pieces that it touches; a shared access of up to 4 bytes takes as
many wavefronts as the most distinct words that any one of the 32 banks has to give. A wider one
goes by halves of the warp (8 bytes) or by quarters (16), and two of these pass together where each
lane loads what its neighbour, or the next but one, does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial as bind

from figures.kit.patterns import (
    BANK_BYTES,
    BANKS,
    GLOBAL,
    INT_BYTES,
    LOAD,
    LOOP,
    SECTOR_BYTES,
    SHARED,
    STORE,
    WARP,
    Access,
    Finish,
    Kernel,
    Recorder,
    by_request,
    folded,
    load_tile,
)


def sectors(request: Iterable[Access]) -> int:
    """How many 32-byte sectors one request to global memory touches."""
    touched = set()
    for access in request:
        first, last = access.byte_offset, access.byte_offset + access.width - 1
        touched |= set(range(first // SECTOR_BYTES, last // SECTOR_BYTES + 1))
    return len(touched)


def groups(request: Iterable[Access]) -> list[list[Access]]:
    """The parts of one shared-memory request that pass one after the other, whatever the banks.

    8 bytes per lane: half warps; 16: quarters. Two neighbouring ones of a load join where lane
    xor 1, or where lane xor 2, of every lane loads the same element or nothing.
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


# ------------------------------------------------------------------- patterns of whole launches


@dataclass(frozen=True)
class Pattern:
    """What is known of a variant's accesses."""

    counts: Callable[[int, int, int], Counts]  #: of a launch: n, threads per block, blocks
    accesses: Kernel | None = None  #: of one block, where a block's are known by themselves


def each_block(kernel: Kernel, bytes_a_thread: int = INT_BYTES) -> Pattern:
    """Blocks that each do what the kernel's block does; a thread stands for so much of the input.

    Only the threads that have a whole share each begin alike within a sector.
    """

    def counts(n: int, block: int, grid: int) -> Counts:
        return _repeated(bind(kernel, n, block), n * INT_BYTES // bytes_a_thread, block, grid)

    return Pattern(counts, kernel)


def tiles(finish: Finish = LOOP, kernel: Kernel | None = None) -> Pattern:
    """Each tile of the input is loaded once, whichever block does it; then each block does the same
    to its own tile in shared memory."""

    def counts(n: int, block: int, grid: int) -> Counts:
        def load(tile: int) -> Iterator[Access]:
            return load_tile(Recorder(tile), n, block, tile)

        return _repeated(load, n, block, -(-n // block)) + count(finish(Recorder(0), block)) * grid

    return Pattern(counts, kernel)


def folding(factor: int, finish: Finish = LOOP) -> Pattern:
    """Blocks that fold so many tiles into one each."""
    return tiles(finish, bind(folded, factor=factor, finish=finish))


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
        if some := list(accesses(rest)):  # strides leave most blocks of a grid with nothing to do
            total += count(some)
    return total


# -------------------------------------------------------------------------- a tree, step by step


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

    @property
    def adding(self) -> int:
        return sum(len(lanes) for lanes in self.lanes.values())


def work(accesses: Iterable[Access], block: int) -> list[Work]:
    """The steps of one block's tree, each with the lanes that store a sum."""
    stored: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for access in accesses:
        if (access.space, access.kind) == (SHARED, STORE) and access.level > 0:
            stored[access.level][access.warp].add(access.lane)
    return [
        Work(step, {w: frozenset(lanes) for w, lanes in warps.items()}, -(-block // WARP))
        for step, warps in sorted(stored.items())
    ]
