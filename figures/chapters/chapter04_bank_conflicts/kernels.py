"""Which words of shared memory chapter 4's kernels touch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial as bind

from figures.kit.patterns import (
    BANKS,
    INT_BYTES,
    WARP,
    Access,
    Finish,
    finish_spreading,
    folded,
    one_warp,
)


def padded(slot: int) -> int:
    """A word is left free behind every 32."""
    return slot + slot // BANKS


def swizzled(slot: int) -> int:
    """No word is left free; each row of 32 has its slots in another order."""
    return slot ^ slot // BANKS % BANKS


#: Chapter 3's strided, with a word left free behind every 32 slots.
PADDED: Finish = bind(finish_spreading, strided=True, place=padded)
#: The same, with rows of 32 slots out of order.
SWIZZLED: Finish = bind(finish_spreading, strided=True, place=swizzled)

strided_padded = bind(folded, finish=PADDED)
strided_swizzled = bind(folded, finish=SWIZZLED)


# ------------------------------------------------------------------------------------------- Walks


#: Loads of each thread in chapter 4's walks.
WALK_ROUNDS = 256


def stride_walk(stride: int) -> list[Access]:
    """A round of the walk: neighbouring lanes *stride* words apart."""
    return one_warp(lane * stride for lane in range(WARP))


# ------------------------------------------------------------------------------------------- Tiles


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
