"""What runs on the embedded device, feature by feature, from what was recorded beside the cases."""

from __future__ import annotations

from dataclasses import dataclass

from docutils import nodes
from sphinx.application import Sphinx

from common.records import cases

from .book import Book, Lost
from .directive import LookupDirective
from .strings import _
from .table import Cell, Column, table

FOLDER = "tools/emulator/tests/features"
#: The features' groups, in the order of the page.
GROUPS = {
    "language": _("C++ in kernels"),
    "warps": _("Warps"),
    "shared": _("Shared memory, and copies into it"),
    "atomics": _("Atomics"),
    "groups": _("Cooperative groups and clusters"),
    "matrices": _("Matrix instructions"),
    "images": _("Textures, surfaces and arrays"),
    "memory": _("Memory, as the host asks for it"),
    "streams": _("Streams, events and graphs"),
    "queries": _("Device queries"),
}


@dataclass(frozen=True)
class Feature:
    group: str
    name: str
    title: str
    outcome: str
    missing: str


def features(book: Book, name: str) -> list[Feature]:
    """What was recorded on a device."""
    _path, text = book.file(f"{FOLDER}/{name}.csv")
    _device, digests, rows = cases.read(text)
    if digests.get("cases") != cases.digest(book.files(FOLDER, "*.cu*")):
        raise Lost(f"{name}.csv is of other cases: record it again with {FOLDER}/record")
    return [Feature(**row) for row in rows]


def _here(feature: Feature) -> Cell:
    if feature.outcome == "works":
        return [nodes.strong("", _("works"))]
    if feature.outcome != "refused":
        raise Lost(f"{feature.name} is {feature.outcome}: a page can't show that as a result")
    return [nodes.Text(_("refused: ")), nodes.literal("", feature.missing)]


class Features(LookupDirective):
    """``.. features:: DEVICE CARD``: a table per group, and how many work; right on CARD, too."""

    def show(self, book: Book) -> list[nodes.Node]:
        ours, theirs = (features(book, name) for name in self.words("DEVICE", "CARD"))
        if wrong := [each.name for each in theirs if each.outcome == "wrong"]:
            raise Lost(f"{wrong[0]} is wrong on hardware: mend the feature's program")
        if unknown := {each.group for each in ours} - set(GROUPS):
            raise Lost(f"no words for the group {sorted(unknown)[0]}")
        works = sum(each.outcome == "works" for each in ours)
        sentence = _("{works} of {all} features work. The others are refused, by name.")
        made: list[nodes.Node] = [nodes.paragraph("", sentence.format(works=works, all=len(ours)))]
        columns = [Column(_("feature")), Column(_("on the embedded device"))]
        for group, words in GROUPS.items():
            rows = [[each.title, _here(each)] for each in ours if each.group == group]
            made.append(table(columns, rows, "features", caption=str(words)))
        return made


def setup(app: Sphinx) -> None:
    app.add_directive("features", Features)
