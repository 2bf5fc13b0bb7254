"""The elements that the book's programs add up, as ``include/book/input.hpp`` makes them.

common/tests/test_input.py holds these, and those of the page (docs/_static/device/plans.js), to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: A chapter program's own default.
SEED = 2018
_MASK = 2**64 - 1


def input_bits(seed: int, position: Any, word: Callable[[int], Any] = int) -> Any:
    """The 64 bits at a position: the splitmix64 finaliser.

    An array of positions gives an array, where *word* is its type: ``numpy.uint64`` or CuPy's.
    """
    mask = word(_MASK)
    z = (word(seed) + (position + word(1)) * word(0x9E3779B97F4A7C15)) & mask
    z = ((z ^ (z >> word(30))) * word(0xBF58476D1CE4E5B9)) & mask
    z = ((z ^ (z >> word(27))) * word(0x94D049BB133111EB)) & mask
    return z ^ (z >> word(31))


def input_value(seed: int, position: int) -> int:
    """The value at a position, 0 to 255."""
    return int(input_bits(seed, position) >> 56)
