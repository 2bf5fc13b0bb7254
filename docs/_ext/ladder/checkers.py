"""How many of the planted races each checker finds, from what was recorded beside the cases."""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass

from docutils import nodes
from sphinx.application import Sphinx

from .book import Book, Lost
from .directive import LookupDirective
from .folded import fold
from .strings import _
from .table import Cell, Column, table

FOLDER = "tools/emulator/tests/races"
#: The cases' classes, in the order of the table.
CLASSES = {
    "blocks": _("blocks that meet at an item"),
    "flags": _("flags: a value handed on"),
    "locks": _("locks"),
    "tickets": _("tickets: who is last"),
    "atomics": _("atomics beside plain accesses"),
    "barriers": _("barriers, of block and warp"),
    "groups": _("cooperative groups, the grid's barrier"),
    "mbarriers": _("mbarriers"),
    "copies": _("asynchronous copies"),
}


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    space: str
    planted: bool
    found: bool


def cases(book: Book, name: str) -> tuple[str, list[Case]]:
    """What was recorded with a checker: its heading, and each case."""
    _path, text = book.file(f"{FOLDER}/{name}.csv")
    head, *lines = text.splitlines()
    heading, _cases, digest = (
        head.removeprefix("# ").split("; written by")[0].rpartition("; cases ")
    )
    if digest != _digest(book):
        raise Lost(f"{name}.csv is of other cases: record it again with {FOLDER}/record")
    return heading, [
        Case(row["name"], row["class"], row["space"], row["planted"] == "1", row["found"] == "1")
        for row in csv.DictReader(lines)
    ]


def _digest(book: Book) -> str:
    content = b"".join(path.read_bytes() for path in book.files(FOLDER, "*.cu*"))
    return hashlib.sha256(content).hexdigest()[:16]


def _counts(those: list[Case]) -> list[Cell]:
    planted = [case for case in those if case.planted]
    clean = [case for case in those if not case.planted]
    return [
        _("{found} of {all}").format(found=sum(c.found for c in planted), all=len(planted)),
        str(sum(c.found for c in clean)),
    ]


class Races(LookupDirective):
    """``.. race-cases:: CHECKER CHECKER``: faults found and clean twins accused, by class."""

    def show(self, book: Book) -> list[nodes.Node]:
        ours, theirs = (cases(book, name) for name in self.words("CHECKER", "CHECKER"))
        columns = [Column(_("kind of race"))]
        for heading in (_("embedded device"), _("racecheck")):
            columns += [
                Column(_("{checker}: found").format(checker=heading), numeric=True),
                Column(_("accused wrongly"), numeric=True),
            ]
        kinds = {case.kind for case in ours[1]}
        if unknown := kinds - set(CLASSES):
            raise Lost(f"no words for the class {sorted(unknown)[0]}")
        rows: list[list[Cell]] = []
        for kind in CLASSES:
            those = [[c for c in each if c.kind == kind] for each in (ours[1], theirs[1])]
            rows.append([str(CLASSES[kind]), *_counts(those[0]), *_counts(those[1])])
        for space, words in (("shared", _("in shared memory")), ("global", _("in global memory"))):
            those = [[c for c in each if c.space == space] for each in (ours[1], theirs[1])]
            rows.append([str(words), *_counts(those[0]), *_counts(those[1])])
        rows.append([str(_("all")), *_counts(ours[1]), *_counts(theirs[1])])
        caption = _("The embedded device's race check, and {theirs}").format(theirs=theirs[0])
        return [table(columns, rows, "race-cases", caption=caption), *_missed(theirs[1])]


def _missed(those: list[Case]) -> list[nodes.Node]:
    """A fold with what racecheck did not find, and whom it accused."""
    lists = (
        (_("not found"), [case.name for case in those if case.planted and not case.found]),
        (_("accused, and clean"), [case.name for case in those if not case.planted and case.found]),
    )
    rows: list[list[Cell]] = []
    for words, names in lists:
        cell: list[nodes.Node] = []
        for name in names:
            cell += [nodes.literal("", name.rpartition(".")[0]), nodes.Text(" ")]
        rows.append([str(words), cell or "–"])
    columns = [Column(""), Column(_("cases"))]
    return [fold(_("racecheck, case by case"), [table(columns, rows)])]


def setup(app: Sphinx) -> None:
    app.add_directive("race-cases", Races)
