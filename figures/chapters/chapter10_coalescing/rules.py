"""How the accesses of a warp became transactions of memory, generation by generation.

A pure function for each rule: the first byte of each lane's word (None for a lane that takes no
part) and the words' width in, transactions out. The two older rules are NVIDIA's own words, in the
*CUDA C Programming Guide*, version 4.2 (16 April 2012), sections F.3.2.1 and F.3.2.2; both look at
half a warp at a time. The third is today's, as :mod:`figures.kit.costs` counts it for a whole warp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from figures.kit import patterns

HALF_WARP = 16
#: Bytes of the segment that a transaction of compute capability 1.2 begins with, by width.
SEGMENT = {1: 32, 2: 64, 4: 128, 8: 128, 16: 128}
LEAST = 32

Addresses = Sequence[int | None]


@dataclass(frozen=True, order=True)
class Transaction:
    """A piece of memory, fetched or written in one go."""

    start: int
    size: int


def _halves(addresses: Addresses) -> list[Addresses]:
    return [addresses[at : at + HALF_WARP] for at in range(0, len(addresses), HALF_WARP)]


def first_rule(addresses: Addresses, width: int) -> list[Transaction]:
    """Compute capability 1.0 and 1.1: in order and aligned, or a transaction for each thread."""
    return [each for half in _halves(addresses) for each in _first_rule_half(half, width)]


def _first_rule_half(half: Addresses, width: int) -> list[Transaction]:
    active = [(lane, address) for lane, address in enumerate(half) if address is not None]
    if not active:
        return []
    if width in (4, 8, 16):
        # The k-th thread must access the k-th word: all agree where the 0-th one is …
        begins = {address - lane * width for lane, address in active}
        # … and that is the beginning of a segment of 64 bytes, of 128, or of two of 128.
        size = 64 if width == 4 else 128
        (first, *others) = begins
        if not others and first % size == 0:
            last = first + HALF_WARP * width
            return [Transaction(start, size) for start in range(first, last, size)]
    return [Transaction(address // LEAST * LEAST, LEAST) for _, address in active]


def second_rule(addresses: Addresses, width: int) -> list[Transaction]:
    """Compute capability 1.2 and 1.3: a transaction for each segment, made as small as will do."""
    return [each for half in _halves(addresses) for each in _second_rule_half(half, width)]


def _second_rule_half(half: Addresses, width: int) -> list[Transaction]:
    waiting = [address for address in half if address is not None]
    made = []
    while waiting:
        size = SEGMENT[width]
        start = waiting[0] // size * size  # of the lowest thread that is not served yet
        served = [address for address in waiting if start <= address < start + size]
        waiting = [address for address in waiting if address not in served]
        while size > LEAST:
            middle = start + size // 2
            if all(address + width <= middle for address in served):
                size //= 2
            elif all(address >= middle for address in served):
                start, size = middle, size // 2
            else:
                break
        made.append(Transaction(start, size))
    return made


def todays_rule(addresses: Addresses, width: int) -> list[Transaction]:
    """Today: the whole warp at once, and each 32-byte sector that it touches."""
    size = patterns.SECTOR_BYTES
    touched = {
        sector
        for address in addresses
        if address is not None
        for sector in range(address // size, (address + width - 1) // size + 1)
    }
    return [Transaction(sector * size, size) for sector in sorted(touched)]


#: The rules by the compute capabilities that they are of.
RULES: dict[str, Callable[[Addresses, int], list[Transaction]]] = {
    "1.0, 1.1": first_rule,
    "1.2, 1.3": second_rule,
    "today": todays_rule,
}


def moved(transactions: Sequence[Transaction]) -> int:
    """Bytes that they carry, wanted or not."""
    return sum(each.size for each in transactions)


def backwards(lane: int) -> int:
    """The lane's place when each half warp counts from its other end."""
    return lane ^ (HALF_WARP - 1)


#: What a warp's lanes load in the page's picture: the first byte of each one's 4-byte word.
EXAMPLES: dict[str, list[int]] = {
    "aligned": [4 * lane for lane in range(patterns.WARP)],
    "offset by one": [4 * (lane + 1) for lane in range(patterns.WARP)],
    "permuted": [4 * backwards(lane) for lane in range(patterns.WARP)],
    "stride 2": [8 * lane for lane in range(patterns.WARP)],
}
