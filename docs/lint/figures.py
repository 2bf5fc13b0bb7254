"""What the figures' modules say in alt texts and captions; what they compute is covered."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from docs.lint.prose import Sentence, split
from docs.lint.words import VALUE

_SAID = ("alt", "caption")


def _texts(node: ast.expr, within: ast.AST) -> list[str]:
    """What an expression can give, with a mark for each piece that isn't written out."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else [VALUE]
    if isinstance(node, ast.JoinedStr):
        return ["".join(_texts(part, within)[0] for part in node.values)]
    if isinstance(node, ast.IfExp):
        return _texts(node.body, within) + _texts(node.orelse, within)
    if isinstance(node, ast.BinOp):
        return [
            left + right
            for left in _texts(node.left, within)
            for right in _texts(node.right, within)
        ]
    if isinstance(node, ast.Name):
        given = [
            text
            for one in ast.walk(within)
            if isinstance(one, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in one.targets)
            and not isinstance(one.value, ast.Name)
            for text in _texts(one.value, within)
        ]
        return given or [VALUE]
    return [VALUE]


def sentences(name: str, source: str) -> Iterator[Sentence]:
    """The sentences of a module's alt texts and captions; their section is the function's name."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.keyword) and node.arg in _SAID:
                for text in _texts(node.value, function):
                    line = node.value.lineno
                    yield from split(text, [False] * len(text), [], name, function.name, line)


def modules(root: Path) -> list[Path]:
    """The modules that draw."""
    return [path for path in sorted(root.glob("figures/**/*.py")) if "tests" not in path.parts]
