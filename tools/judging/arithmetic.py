"""Formulas of a puzzle: whole numbers, + - * // %, and a few functions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def up(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)


_FUNCTIONS: dict[str, Callable[..., int]] = {"up": up, "min": min, "max": max}


def value(formula: str, names: Mapping[str, int]) -> int:
    """What it comes to. ``2^20`` is a power."""

    def of(node: ast.AST) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](of(left), of(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -of(operand)
            case ast.Call(func=ast.Name(id=name), args=args) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(of, args))
        raise ValueError(f"{formula!r} is not a formula of {', '.join(sorted(names))}")

    return of(_parsed(formula))


@cache
def _parsed(formula: str) -> ast.expr:
    try:
        return ast.parse(formula.replace("^", "**"), mode="eval").body
    except SyntaxError:
        raise ValueError(f"{formula!r} is not a formula") from None
