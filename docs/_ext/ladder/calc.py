"""``:calc:`256 * 4 / 32```: arithmetic that the build does, for numbers that follow from others.

``common/arithmetic.py`` says what a formula is. A device's attribute stands for its value on the
card that the book's times are of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from docutils import nodes
from sphinx.application import Sphinx

from common.arithmetic import NoFormula, NoName, value
from common.records.schema import Device

from . import units
from .book import Book, Lost, nearest
from .claims.amounts import Kind
from .claims.quantities import DEVICE
from .names import BadName
from .numbers import RecordedRole

#: Attributes that are plain numbers: a rate or a frequency has a unit, which a result would lose.
_ATTRIBUTES = [name for name, (kind, _of) in DEVICE.items() if kind in (Kind.COUNT, Kind.BYTES)]


class _Attributes(Mapping[str, int]):
    """A card's, which a formula without them doesn't ask for."""

    def __init__(self, device: Callable[[], Device]) -> None:
        self._device = device

    def __getitem__(self, name: str) -> int:
        return int(DEVICE[name][1](self._device()))

    def __contains__(self, name: object) -> bool:
        return name in _ATTRIBUTES

    def __iter__(self) -> Iterator[str]:
        return iter(_ATTRIBUTES)

    def __len__(self) -> int:
        return len(_ATTRIBUTES)


def arithmetic(text: str, device: Callable[[], Device]) -> float:
    """What an expression comes to. Raises BadName and Lost, and NotYet where it asks a device."""
    try:
        return value(text, _Attributes(device))
    except NoName as error:
        raise Lost(f"no attribute '{error.name}'{nearest(error.name, _ATTRIBUTES)}") from None
    except NoFormula as error:
        raise BadName(str(error)) from None


class Calc(RecordedRole):
    """``:calc:`256 * 4 / 32```"""

    def find(self, book: Book) -> nodes.Node:
        result = arithmetic(self.text, lambda: book.reference().device)
        return nodes.inline("", units.count(result), classes=["measured"])


def setup(app: Sphinx) -> None:
    app.add_role("calc", Calc())
