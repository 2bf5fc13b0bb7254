"""Numbers and lists as the pictures and the pages write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from common.records.naming import size_text

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def significant(value: float, digits: int = 3) -> str:
    """The number to so many significant digits, as all of the book writes it.

    Zeros that are significant stay: 0.5 to three digits is 0.500, and 99.96 is 100. Digits before
    the point are never rounded away (12345.6 is 12346), and there is no scientific notation.
    """
    if value == 0:
        return "0"
    # The power of ten after rounding: 99.96 has two digits before the point, what is shown three.
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:.{max(digits - 1 - power, 0)}f}"


def size(n: int) -> str:
    """A size as a picture writes it: 2²⁴ rather than 16777216."""
    text = size_text(n)
    if not text.startswith("2^"):
        return text
    return power(2, int(text[2:]))


def power(base: int, exponent: int) -> str:
    """2⁻¹⁴⁹. A plot's own exponents are smaller than what can be read on a phone."""
    return f"{base}{str(exponent).translate(SUPERSCRIPTS)}"


def short_size(n: int) -> str:
    """A size as the programs' --n takes it, 16M for 2^24: for axes, where 2²⁴ gets too small."""
    for power, letter in ((30, "G"), (20, "M"), (10, "K")):
        if n >= 2**power and n % 2**power == 0:
            return f"{n >> power}{letter}"
    return str(n)


def time_text(us: float) -> str:
    """A time in the unit that keeps it readable."""
    return f"{significant(us)} µs" if us < 1000 else f"{significant(us / 1000)} ms"


def rate_text(gb_per_s: float) -> str:
    return f"{significant(gb_per_s)} GB/s"


def card(device_name: str) -> str:
    """What people call a card: "H100" of "NVIDIA H100 80GB HBM3"."""
    name = device_name.removeprefix("NVIDIA ").removeprefix("GeForce ")
    return re.sub(r"[ -]\d+GB\b.*", "", name)


def bytes_text(count: float) -> str:
    """A size in memory, in binary units."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if count == int(count) else f"{count:.1f} {unit}"


def listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def times_text(ratio: float) -> str:
    return f"{ratio:.2f} times"
