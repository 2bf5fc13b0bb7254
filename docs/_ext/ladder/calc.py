"""``:calc:`256 * 4 / 32```: arithmetic that the build does, for numbers that follow from others.

Numbers with ``+ - * / // % **`` and parentheses; ``2^24`` is a power, and a device's attribute
stands for its value on the card that the book's times are of.
"""

from __future__ import annotations

import ast
from operator import add, floordiv, mod, mul, neg, pow, sub, truediv

from docutils import nodes
from sphinx.application import Sphinx

from common.records.schema import Device

from . import units
from .book import Book, Lost, nearest
from .claims.amounts import Kind
from .claims.quantities import DEVICE
from .names import BadName
from .numbers import RecordedRole

_OPERATORS = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
    ast.FloorDiv: floordiv,
    ast.Mod: mod,
    ast.Pow: pow,
}
#: Attributes that are plain numbers: a rate or a frequency has a unit, which a result would lose.
_ATTRIBUTES = [name for name, (kind, _of) in DEVICE.items() if kind in (Kind.COUNT, Kind.BYTES)]
#: Beyond this an exponent is a slip of the pen, and takes for ever.
_HIGHEST_POWER = 128


def arithmetic(text: str, device: Device) -> float:
    """What an expression comes to. Raises BadName and Lost."""
    try:
        tree = ast.parse(text.replace("^", "**"), mode="eval")
    except SyntaxError:
        raise BadName(f"'{text}' is not arithmetic, such as 256 * 4 / 32") from None
    try:
        return _value(tree.body, device)
    except (ZeroDivisionError, OverflowError) as error:
        raise BadName(f"'{text}': {error}") from None


def _value(node: ast.expr, device: Device) -> float:
    match node:
        case ast.Constant(int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(name) if name in _ATTRIBUTES:
            return int(DEVICE[name][1](device))
        case ast.Name(name):
            raise Lost(f"no attribute '{name}'{nearest(name, _ATTRIBUTES)}")
        case ast.UnaryOp(ast.USub(), operand):
            return float(neg(_value(operand, device)))
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            one, other = _value(left, device), _value(right, device)
            if isinstance(operator, ast.Pow) and abs(other) > _HIGHEST_POWER:
                raise BadName(f"{other} is too large an exponent")
            return _OPERATORS[type(operator)](one, other)  # type: ignore[no-any-return]
    raise BadName(f"'{ast.unparse(node)}' is not arithmetic: numbers, + - * / // % ^ and ()")


class Calc(RecordedRole):
    """``:calc:`256 * 4 / 32```"""

    def find(self, book: Book) -> nodes.Node:
        value = arithmetic(self.text, book.reference().device)
        return nodes.inline("", units.count(value), classes=["measured"])


def setup(app: Sphinx) -> None:
    app.add_role("calc", Calc())
