"""How a number is written on a page: value, no-break space, unit."""

from __future__ import annotations

import re
import statistics
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from common.records.verdict import shared_digits
from figures.kit.words import power, significant

NO_BREAK = "\u00a0"
THIN = "\u202f"  # narrow no-break space, between groups of three digits
TIMES = "\u00d7"
DASH = "\u2013"

#: What a line doesn't begin with: a unit whose number ends the line before.
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[nµm]s|[KMG]iB|[kMGT]B(?:/s)?|[MG]Hz)(?![\w/]))")


def digits(*values: float, places: int = 3) -> str:
    """A value to so many significant digits, by the book's one rule.

    Of several, one from each pass of a recording, what they settle: "18.8", or "1.5 to 1.7".
    """
    if len(values) == 1:
        return group(significant(values[0], places))
    return " to ".join(map(group, shared_digits(values, places).texts))


def steady(*values: float, places: int = 3) -> str:
    """The median of several passes' values, to the digits that they settle, at least two.

    For a table's cell, which has no room for a range.
    """
    shown = shared_digits(values, places)
    if len(shown.texts) == 1:
        return group(shown.texts[0])
    return group(significant(float(f"{statistics.median(values):.1e}"), 2))


def group(number: str) -> str:
    """Thin spaces between groups of three, from five digits on."""
    whole, point, rest = number.partition(".")
    if len(whole.lstrip("-")) > 4:
        whole = f"{int(whole):,}".replace(",", THIN)
    return whole + point + rest


def count(*values: float) -> str:
    """A count, exactly; a mean that is not whole to three digits."""
    if len(set(values)) == 1 and float(values[0]).is_integer():
        return group(str(int(values[0])))
    return digits(*values)


def _time_scale(us: float) -> tuple[float, str]:
    if us < 1e3:
        return 1.0, "\u00b5s"
    return (1e-3, "ms") if us < 1e6 else (1e-6, "s")


def time(*us: float) -> str:
    scale, unit = _time_scale(max(us))
    return f"{digits(*(each * scale for each in us))}{NO_BREAK}{unit}"


def time_difference(*us: float) -> str:
    """A difference of two times, to two digits: more is noise where they are close."""
    scale, unit = _time_scale(max(map(abs, us)))
    return f"{digits(*(each * scale for each in us), places=2)}{NO_BREAK}{unit}"


def interval(low_us: float, high_us: float) -> str:
    """A narrow interval, with enough digits that its ends differ where they do."""
    scale, unit = _time_scale(high_us)
    low, high = (digits(end * scale, places=4) for end in (low_us, high_us))
    return f"{low}{DASH}{high}{NO_BREAK}{unit}"


def rate(*gb_per_s: float) -> str:
    return f"{digits(*gb_per_s)}{NO_BREAK}GB/s"


def percent(*values: float) -> str:
    return f"{digits(*values)}{NO_BREAK}%"


def ratio(*values: float) -> str:
    """To three digits, below 1 to two."""
    return digits(*values, places=3 if max(values) >= 1 else 2) + TIMES


def error(*values: float) -> str:
    """How far a sum is off, relative to it: 2.6 × 10⁻⁸, to two digits; 0 is the sum itself."""
    low, high = (_power_of_ten(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _power_of_ten(value: float) -> str:
    if value == 0:
        return "0"
    shown, _e, exponent = f"{value:.1e}".partition("e")
    return f"{shown}{NO_BREAK}{TIMES}{NO_BREAK}{power(10, int(exponent))}"


def plain_bytes(*values: float) -> str:
    return f"{count(*values)}{NO_BREAK}B"


def decimal_bytes(value: float) -> str:
    """Traffic, in the powers of ten that bandwidth is given in."""
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= scale:
            return f"{digits(value / scale)}{NO_BREAK}{unit}"
    return plain_bytes(value)


def binary_bytes(value: float) -> str:
    """Capacity, in the powers of two that memories are built in."""
    for scale, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value >= scale:
            return f"{digits(value / scale)}{NO_BREAK}{unit}"
    return plain_bytes(value)


def size(n: int) -> str:
    """A number of elements: 2 to a power where it is one."""
    if n >= 1024 and n & (n - 1) == 0:
        return power(2, n.bit_length() - 1)
    return group(str(n))


class KeepUnits(SphinxPostTransform):
    """Puts a no-break space between number and unit where a page was written with a plain one."""

    default_priority = 900

    def run(self, **kwargs: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, (nodes.literal, nodes.literal_block, nodes.raw)):
                kept = _UNIT.sub(NO_BREAK, text)
                if kept != text:
                    text.parent.replace(text, nodes.Text(kept))


def setup(app: Sphinx) -> None:
    app.add_post_transform(KeepUnits)
