"""How many of the planted races each checker finds, from what was recorded beside the cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from common.records import races
from common.records.cases import digest
from common.records.races import Case, Recording

from .book import Book, Lost
from .directive import LookupDirective
from .folded import fold
from .strings import _
from .table import Cell, Column, table

#: The cases' classes, by set, in the order of the table.
CLASSES = {
    "cases": {
        "blocks": _("blocks that meet at an item"),
        "flags": _("flags: a value handed on"),
        "locks": _("locks"),
        "tickets": _("tickets: who is last"),
        "atomics": _("atomics beside plain accesses"),
        "barriers": _("barriers, of block and warp"),
        "groups": _("cooperative groups, the grid's barrier"),
        "mbarriers": _("mbarriers"),
        "copies": _("asynchronous copies"),
    },
    "streams": {
        "events": _("streams, events, waiting"),
        "defaults": _("default streams"),
        "host": _("pinned, pageable and managed memory"),
        "frees": _("memory freed or given by a pool"),
        "graphs": _("graphs"),
    },
}
ALL = {"cases": _("all within a kernel"), "streams": _("all between streams")}


def recording(book: Book, name: str) -> Recording:
    """What was recorded with a checker."""
    _path, text = book.file(f"{races.FOLDER}/{name}.csv")
    found = races.read(text)
    for name_of_set, value in found.digests.items():
        below, pattern = races.SETS[name_of_set]
        if value != digest(book.files(str(Path(races.FOLDER) / below), pattern)):
            raise Lost(f"{name}.csv is of other cases: record it again with {races.FOLDER}/record")
    return found


def _of_kind(kind: str, case: Case) -> bool:
    return case.kind == kind


def _counts(recording: Recording, those: list[Case], of_set: str) -> list[Cell]:
    """Found and accused; a set that was not recorded with this checker says so."""
    if of_set not in recording.digests:
        return [_("not recorded"), "–"]
    planted = [case for case in those if case.planted]
    clean = [case for case in those if not case.planted]
    return [_found_of(planted), str(sum(c.found for c in clean))]


class Races(LookupDirective):
    """``.. race-cases:: CHECKER CHECKER``: faults found and clean twins accused, by class."""

    def show(self, book: Book) -> list[nodes.Node]:
        ours, theirs = (recording(book, name) for name in self.words("CHECKER", "CHECKER"))
        columns = [Column(_("kind of race"))]
        for heading in (_("embedded device"), _("racecheck")):
            columns += [
                Column(_("{checker}: found").format(checker=heading), numeric=True),
                Column(_("accused wrongly"), numeric=True),
            ]
        if unknown := {case.kind for case in ours.cases} - set().union(*CLASSES.values()):
            raise Lost(f"no words for the class {sorted(unknown)[0]}")
        rows: list[list[Cell]] = []

        def row(words: object, of_set: str, wanted: Callable[[Case], bool]) -> None:
            cells: list[Cell] = [str(words)]
            for each in (ours, theirs):
                those = [case for case in each.cases if case.set == of_set and wanted(case)]
                cells += _counts(each, those, of_set)
            rows.append(cells)

        for of_set, kinds in CLASSES.items():
            for kind, words in kinds.items():
                row(words, of_set, partial(_of_kind, kind))
            if of_set == "cases":
                row(_("in shared memory"), of_set, lambda case: case.space == "shared")
                row(_("in global memory"), of_set, lambda case: case.space == "global")
            row(ALL[of_set], of_set, lambda _case: True)
        caption = _("The embedded device's race check, and {theirs}").format(theirs=theirs.heading)
        return [table(columns, rows, "race-cases", caption=caption), *_missed(theirs.cases)]


def _missed(those: Sequence[Case]) -> list[nodes.Node]:
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


class Tools(LookupDirective):
    """``.. race-tools:: RECORDING…``: what each of a sanitizer's tools found, a row each."""

    def show(self, book: Book) -> list[nodes.Node]:
        columns = [Column(_("tool"))]
        columns += [Column(str(words), numeric=True) for words in ALL.values()]
        columns.append(Column(_("accused wrongly"), numeric=True))
        rows: list[list[Cell]] = []
        headings = []
        for name in self.arguments[0].split():
            found = recording(book, name)
            heading, _comma, tool = found.heading.rpartition(", ")
            headings.append(heading)
            cells: list[Cell] = [tool]
            accused = 0
            for of_set in ALL:
                those = [case for case in found.cases if case.set == of_set]
                planted = [case for case in those if case.planted]
                cells.append(_found_of(planted))
                accused += sum(case.found for case in those if not case.planted)
            rows.append([*cells, str(accused)])
        if len(set(headings)) != 1:
            raise Lost(f"recorded by several versions: {', '.join(sorted(set(headings)))}")
        return [table(columns, rows, "race-tools", caption=headings[0])]


def _found_of(planted: Sequence[Case]) -> str:
    said = _("{found} of {all}")
    return said.format(found=sum(case.found for case in planted), all=len(planted))


def setup(app: Sphinx) -> None:
    app.add_directive("race-tools", Tools)
    app.add_directive("race-cases", Races)
