"""Plain tables from rows of text or nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from docutils import nodes

Cell: TypeAlias = str | nodes.Node | list[nodes.Node]


@dataclass(frozen=True)
class Column:
    heading: Cell
    numeric: bool = False


def _entry(cell: Cell, numeric: bool) -> nodes.entry:
    entry = nodes.entry(classes=["num"] if numeric else [])
    content = cell if isinstance(cell, list) else [cell]
    paragraph = nodes.paragraph()
    for piece in content:
        paragraph += nodes.Text(piece) if isinstance(piece, str) else piece
    entry += paragraph
    return entry


def _row(cells: Sequence[Cell], columns: Sequence[Column], kind: str = "") -> nodes.row:
    row = nodes.row(classes=[kind] if kind else [])
    for cell, column in zip(cells, columns, strict=True):
        row += _entry(cell, column.numeric)
    return row


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *classes: str,
    caption: str = "",
    row_classes: Sequence[str] = (),
) -> nodes.table:
    """A table whose first column names the row; *row_classes*, where given, has one a row."""
    kinds = row_classes or [""] * len(rows)
    group = nodes.tgroup("", cols=len(columns))
    for position, _column in enumerate(columns):
        group += nodes.colspec("", colwidth=1, stub=1 if position == 0 else 0)
    head = nodes.thead("", _row([column.heading for column in columns], columns))
    body = nodes.tbody(
        "", *(_row(row, columns, kind) for row, kind in zip(rows, kinds, strict=True))
    )
    group += [head, body]
    made = nodes.table(classes=["ladder-table", *classes])
    if caption:
        made += nodes.title("", caption)
    made += group
    return made
