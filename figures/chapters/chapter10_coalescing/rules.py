"""How the accesses of a warp became transactions of memory, generation by generation.

Each rule is a pure function. It takes the first byte of each lane's word (None for an idle lane)
and the words' width, and returns the transactions. The older rules are NVIDIA's own, in the *CUDA C
Programming Guide*, version 4.2 (16 April 2012): sections F.3.2.1 and F.3.2.2 judge half a warp at a
time, and section F.4.2 brought cache lines. The last is today's rule, as :mod:`figures.kit.costs`
counts it for a whole warp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from figures.kit import patterns

HALF_WARP = 16
#: Bytes of the segment that a transaction of compute capability 1.2 begins with, by width.
SEGMENT = {1: 32, 2: 64, 4: 128, 8: 128, 16: 128}
LEAST = 32
#: Bytes of a cache line on compute capability 2.x.
LINE = 128

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
    """Compute capability 1.2 and 1.3: a transaction per segment, shrunk to what is asked for."""
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


def line_rule(addresses: Addresses, width: int) -> list[Transaction]:
    """Compute capability 2.x, where the L1 caches loads: each line of 128 bytes that is touched.

    Words of 8 bytes make a request of each half warp, and words of 16 one of each quarter warp.
    """
    lanes = patterns.WARP * 4 // max(width, 4)
    return [
        Transaction(line * LINE, LINE)
        for at in range(0, len(addresses), lanes)
        for line in sorted(_touched(addresses[at : at + lanes], width, LINE))
    ]


def todays_rule(addresses: Addresses, width: int) -> list[Transaction]:
    """Today: the whole warp at once, and each 32-byte sector that it touches."""
    size = patterns.SECTOR_BYTES
    return [Transaction(sector * size, size) for sector in sorted(_touched(addresses, width, size))]


def _touched(addresses: Addresses, width: int, size: int) -> set[int]:
    """The numbers of the pieces of memory, *size* bytes each, that the words lie in."""
    return {
        piece
        for address in addresses
        if address is not None
        for piece in range(address // size, (address + width - 1) // size + 1)
    }


#: The rules, by the compute capabilities that follow them.
RULES: dict[str, Callable[[Addresses, int], list[Transaction]]] = {
    "1.0, 1.1": first_rule,
    "1.2, 1.3": second_rule,
    "2.x": line_rule,
    "today": todays_rule,
}


def moved(transactions: Sequence[Transaction]) -> int:
    """The bytes that they carry, whether or not a lane asked for them."""
    return sum(each.size for each in transactions)


def backwards(lane: int) -> int:
    """The lane's place when each half warp counts from its other end."""
    return lane ^ (HALF_WARP - 1)


#: The example that begins one word late.
LATE = "offset by one"
#: What a warp's lanes load in the pictures: the first byte of each one's 4-byte word.
EXAMPLES: dict[str, list[int]] = {
    "aligned": [4 * lane for lane in range(patterns.WARP)],
    LATE: [4 * (lane + 1) for lane in range(patterns.WARP)],
    "permuted": [4 * backwards(lane) for lane in range(patterns.WARP)],
    "stride 2": [8 * lane for lane in range(patterns.WARP)],
}
