"""Formulas, such as a puzzle's ``up(n, block)`` or a page's ``256 * 4 / 32``: what they come to.

Numbers, names, ``+ - * / // % ^`` (``**`` is ``^``, too), parentheses, and ``up(a, b)``, which is
a / b rounded up, ``min`` and ``max``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache

Number = int | float

_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "up": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
}
#: Beyond this an exponent is a slip of the pen, and takes for ever.
_HIGHEST_POWER = 128


class NoFormula(ValueError):
    """A text that is no formula, or one that comes to nothing."""


class NoName(NoFormula):
    """A name that the formula may not use."""

    def __init__(self, formula: str, name: str, names: Mapping[str, Number]) -> None:
        super().__init__(f"'{formula}' is not a formula of {', '.join(sorted(names))}")
        self.name = name


def value(formula: str, names: Mapping[str, Number]) -> Number:
    """What it comes to. NoFormula where that is nothing."""

    def of(node: ast.expr) -> Number:
        match node:
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.Name(name):
                if name not in names:
                    raise NoName(formula, name, names)
                return names[name]
            case ast.UnaryOp(ast.USub(), operand):
                return -of(operand)
            case ast.BinOp(left, sign, right) if type(sign) in _OPERATORS:
                one, other = of(left), of(right)
                if isinstance(sign, ast.Pow) and abs(other) > _HIGHEST_POWER:
                    raise NoFormula(f"'{formula}': {other} is too large an exponent")
                return _OPERATORS[type(sign)](one, other)
            case ast.Call(ast.Name(name), [_, _, *_] as operands, []) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(of, operands))
        raise NoFormula(f"'{formula}' is not a formula: numbers, + - * / // % ^ and ()")

    try:
        return of(_parsed(formula))
    except (ArithmeticError, TypeError) as error:  # by zero; too large; three operands of up
        raise NoFormula(f"'{formula}': {error}") from None


def whole_value(formula: str, names: Mapping[str, int]) -> int:
    """The whole number that it comes to."""
    result = value(formula, names)
    if result != int(result):
        raise NoFormula(f"'{formula}' is not a formula of whole numbers: it comes to {result}")
    return int(result)


@cache
def _parsed(formula: str) -> ast.expr:
    try:
        return ast.parse(formula.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError):
        raise NoFormula(f"'{formula}' is not a formula, such as 256 * 4 / 32") from None
