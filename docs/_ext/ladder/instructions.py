"""What the embedded device knows and what it refuses, read from its own sources."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

from .book import Book, Lost
from .directive import LookupDirective
from .folded import fold
from .strings import _
from .table import Cell, Column, table

SOURCES = "tools/emulator/src/isa"
RUNTIME = "tools/emulator/src/cudart"
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
    "cluster_rows": _("clusters of blocks"),
    "matrix_rows": _("products of matrices"),
    "matrix_memory": _("tiles of matrices: loads, stores and moves"),
    "image_rows": _("textures and surfaces"),
}
_TABLE = re.compile(r"^constexpr Row k\w+\[\] = \{(.*?)\};$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'\{"(\w+)",')
_REASON = re.compile(r'(k\w+) = "([^"]+)"')
_REFUSED = re.compile(r'^ +\{"([\w.]+)", (?:(k\w+)|"([^"]+)")\},$', re.MULTILINE)
_FUNCTION = re.compile(r"^REFUSED\((\w+)\)$", re.MULTILINE)
#: What headers and the compiler make of a call, not what a program says itself.
_VARIANT = re.compile(r"^__|_pt[sd][sz]$")
_OPENING = re.compile(r"(?://.*\n)+")


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
        if unnamed := [room for room in found if room not in ROOMS]:
            raise Lost(f"no words for the instructions of {', '.join(unnamed)}")
        rows: list[list[Cell]] = [
            [str(words), _named(found[room])] for room, words in ROOMS.items() if room in found
        ]
        columns = [Column(_("for")), Column(_("instructions"))]
        return [table(columns, rows, "instructions")]


def refused(book: Book) -> dict[str, list[str]]:
    """The instructions that are refused by name, by the reason."""
    _path, text = book.file(f"{SOURCES}/table.cpp")
    reasons = dict(_REASON.findall(text))
    found: dict[str, list[str]] = {}
    for name, constant, words in _REFUSED.findall(text):
        if constant and constant not in reasons:
            raise Lost(f"no reason {constant} in {SOURCES}/table.cpp")
        found.setdefault(words or reasons[constant], []).append(name)
    if not found:
        raise Lost(f"no refused instruction in {SOURCES}/table.cpp")
    return found


def refused_functions(book: Book) -> list[str]:
    """The runtime's functions that are refused by name, as a program's author calls them."""
    _path, text = book.file(f"{RUNTIME}/refused.inc")
    names = [name for name in _FUNCTION.findall(text) if not _VARIANT.search(name)]
    if not names:
        raise Lost(f"no refused function in {RUNTIME}/refused.inc")
    return names


def _named(names: list[str]) -> list[nodes.Node]:
    cell: list[nodes.Node] = []
    for name in names:
        cell += [nodes.literal("", name), nodes.Text(" ")]
    return cell


class Refused(LookupDirective):
    """``.. refused::``: the instructions and functions that the embedded device refuses."""

    required_arguments = 0

    def show(self, book: Book) -> list[nodes.Node]:
        columns = [Column(_("not here")), Column(_("instructions"))]
        rows: list[list[Cell]] = [
            [reason, _named(sorted(names))] for reason, names in sorted(refused(book).items())
        ]
        names = refused_functions(book)
        label = _("The {count} functions of the runtime that are refused").format(count=len(names))
        listed = nodes.paragraph("", "", *_named(names))
        return [table(columns, rows, "instructions"), fold(label, [listed])]


class Corpus(LookupDirective):
    """``.. corpus:: FOLDER``: the programs of a folder, by the comment that each opens with."""

    def show(self, book: Book) -> list[nodes.Node]:
        (folder,) = self.words("FOLDER")
        rows: list[list[Cell]] = []
        for path in [*book.files(folder, "*.cu"), *book.files(folder, "*/main.cu")]:
            opening = _OPENING.match(path.read_text(encoding="utf-8"))
            if not opening:
                raise Lost(f"{path.name} does not say what it is")
            words = " ".join(line.strip("/ ") for line in opening.group().splitlines())
            words = words.removesuffix(".")
            name = path.parent.name if path.name == "main.cu" else path.stem
            rows.append([[nodes.literal("", name)], words])
        if not rows:
            raise Lost(f"no program in {folder}")
        return [table([Column(_("program")), Column(_("has"))], rows, "corpus")]


def setup(app: Sphinx) -> None:
    app.add_directive("instructions", Instructions)
    app.add_directive("refused", Refused)
    app.add_directive("corpus", Corpus)
