"""``:given:`200 GB/s <exercise>```: a quantity that no recording has, and whose it is.

Where it follows from other numbers or stands in a file, the build checks it:
``:given:`twelve times <383 / 32>```.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from common.records.schema import Device

from .book import Book, Lost
from .calc import arithmetic
from .claims.words import Asked, asked
from .names import BadName
from .numbers import RecordedRole

#: An exercise's, the method's own rule, a maker's data sheet; or measured once, with no recording
#: that keeps it.
SOURCES = ("exercise", "rule", "data sheet", "once")
#: A rounded number is this near to what it stands for.
_ROUNDED = 0.01


def _off(one: Asked) -> float:
    """By how much a number may differ from what it stands for: half of its last digit."""
    last = 0.0
    if digits := re.match(r"\d+\.?(\d*)", one.text):
        last = 0.501 * 10.0 ** -len(digits[1]) * one.value / float(digits[0])
    return max(last, _ROUNDED * one.value)


def check(text: str, root: Path, device: Callable[[], Device]) -> str:
    """What the role shows. Raises BadName and Lost where its source says something else."""
    match = re.fullmatch(r"(?P<said>.*?)\s*<(?P<by>[^<>]+)>", text, re.DOTALL)
    if not match:
        raise BadName(f"'{text}' should read QUANTITY <SOURCE>")
    said, by = match["said"], match["by"]
    if by in SOURCES:
        return said
    if (path := root / by).is_file():
        known = path.read_text(encoding="utf-8")
        if missing := [one for one in re.findall(r"\d+(?:\.\d+)?", said) if one not in known]:
            raise Lost(f"'{said}': {by} has no {missing[0]}")
        return said
    if not re.search(r"\d", by):
        raise Lost(f"'{by}' is no file, no arithmetic, and none of {', '.join(SOURCES)}")
    value = arithmetic(by, device)
    numbers = [one for one in asked(said) if one.kind == "number"]
    low, high = (end(numbers, key=lambda one: one.value, default=None) for end in (min, max))
    if not (low and high and low.value - _off(low) <= value <= high.value + _off(high)):
        raise Lost(f"'{said}': {by} is {value:.4g}")
    return said


class Given(RecordedRole):
    """``:given:`QUANTITY <SOURCE>```"""

    def find(self, book: Book) -> nodes.Node:
        return nodes.Text(check(self.text, book.root, lambda: book.reference().device))


def setup(app: Sphinx) -> None:
    app.add_role("given", Given())
