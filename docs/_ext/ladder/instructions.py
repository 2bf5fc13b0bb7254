"""What the embedded device knows, read from its instruction tables."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

from .book import Book, Lost
from .directive import LookupDirective
from .strings import _
from .table import Cell, Column, table

SOURCES = "tools/emulator/src"
#: What a table's instructions are for, by the file that the table is in.
ROOMS = {
    "integer": _("integers"),
    "carry": _("integers, with carry"),
    "packed_rows": _("pairs and fours of integers"),
    "float_rows": _("floating point, 32 and 64 bits"),
    "half_rows": _("floating point, 16 bits"),
    "compare": _("comparing and choosing"),
    "convert": _("moving and converting"),
    "memory_access": _("loads and stores"),
    "async_rows": _("asynchronous copies"),
    "atomic": _("atomics"),
    "warp_rows": _("between lanes"),
    "control": _("branches, barriers, fences"),
    "calls": _("the stack"),
}
_TABLE = re.compile(r"^constexpr Row k\w+\[\] = \{(.*?)\};$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'\{"(\w+)",')


def tables(book: Book) -> dict[str, list[str]]:
    """The instructions of each file that has a table."""
    found: dict[str, list[str]] = {}
    for path in book.files(SOURCES, "*.cpp"):
        text = path.read_text(encoding="utf-8")
        names = [name for each in _TABLE.findall(text) for name in _NAME.findall(each)]
        if names:
            found[path.stem] = sorted(set(names))
    if not found:
        raise Lost(f"no instruction table in {SOURCES}")
    return found


class Instructions(LookupDirective):
    """``.. instructions::``: every PTX instruction that the embedded device has, by kind."""

    required_arguments = 0

    def show(self, book: Book) -> list[nodes.Node]:
        found = tables(book)
        order = [*(room for room in ROOMS if room in found), *(set(found) - set(ROOMS))]
        rows: list[list[Cell]] = []
        for room in order:
            cell: list[nodes.Node] = []
            for name in found[room]:
                cell += [nodes.literal("", name), nodes.Text(" ")]
            rows.append([str(ROOMS.get(room, room.replace("_", " "))), cell])
        columns = [Column(_("for")), Column(_("instructions"))]
        return [table(columns, rows, "instructions")]


def setup(app: Sphinx) -> None:
    app.add_directive("instructions", Instructions)
