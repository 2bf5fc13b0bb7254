"""The museum: mistakes as pairs of programs, each with what every tool says of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx

from common.records import cases, museum
from common.records.museum import FOLDER, Recording, Run
from tools.measuring.profilers import SANITIZERS

from .blocks import block, numbered, printed
from .book import Book, Lost
from .directive import LookupDirective
from .folded import fold, summary
from .names import BadName
from .strings import _
from .table import Cell, Column, table

CARD = "nvidia-h200"
CONTEXT = 3  # lines around those that differ
#: The page's sections, as stories speak of them.
KINDS = {
    "host": _("mistakes of the host"),
    "guards": _("mistakes with guards, sizes and first values"),
    "barriers": _("mistakes with barriers"),
    "warps": _("mistakes within a warp"),
    "blocks": _("mistakes between blocks"),
    "arithmetic": _("mistakes in arithmetic"),
    "libraries": _("mistakes with libraries"),
}


def recording(book: Book, name: str) -> Recording | None:
    """None where there is none yet, or only one of other exhibits."""
    paths = book.files(FOLDER, museum.SOURCES)
    book.files(FOLDER, "*.json")  # one that comes later
    if not (book.root / FOLDER / f"{name}.json").is_file():
        return None
    found = museum.read(book.file(f"{FOLDER}/{name}.json")[1])
    return found if found.digest == cases.digest(paths) else None


class Exhibit(LookupDirective):
    """``.. exhibit:: NAME`` and what to write instead."""

    has_content: ClassVar[bool] = True

    def show(self, book: Book) -> list[nodes.Node]:
        (name,) = self.words("NAME")
        path, source = book.file(f"{FOLDER}/{name}.cu")
        ours, card = recording(book, "embedded"), recording(book, CARD)
        if ours is None:
            raise Lost(f"embedded.json is of other exhibits: run {FOLDER}/record embedded")
        wrong, right = (museum.form(source, fixed) for fixed in (False, True))
        title = wrong[0].removeprefix("// ")
        said = _said(ours, card, name)
        lines = source.splitlines()
        body: list[nodes.Node] = [
            block(
                _difference(wrong, right),
                "diff",
                [nodes.Text(_("\N{MINUS SIGN} wrong, + right"))],
                "changed",
            ),
            self._when_run(ours, card, name),
            _table(said, name, lines, bool(card)),
            *self._instead(),
        ]
        if (check := ours.of(name, "wrong", "check")) and "\n" in check.text:
            text = f"$ tools/emulate --check all,sum ./{name}\n{check.text}"
            body.append(fold(_("All that our checks say"), [printed(text, path.name)]))
        whole = block(_unmarked(source), "cuda", [nodes.Text(path.name)], "listing")
        body.append(fold(_("The whole program, both forms"), [numbered(whole, 1)]))
        made = fold("", body, "exhibit")
        made["ids"] = [f"exhibit-{name.replace('_', '-')}"]
        made.children[0] = self._summary(title, said)
        return [made]

    def _summary(self, title: str, said: dict[str, list[Run]]) -> summary:
        by = [words for words, runs in said.items() if any(run.found for run in runs)]
        found = _("found by {tools}").format(tools=", ".join(by)) if by else _("found by no tool")
        line = summary("", "", *_title(title))
        line += nodes.Text(" ")
        line += nodes.inline("", str(found), classes=["found" if by else "missed"])
        return line

    def _instead(self) -> list[nodes.Node]:
        self.assert_has_content()
        body = self.parse_content_to_nodes()
        if body and isinstance(body[0], nodes.paragraph):
            body[0][:0] = [nodes.strong("", _("Instead:")), nodes.Text(" ")]
        return body

    def _when_run(self, ours: Recording, card: Recording | None, name: str) -> nodes.paragraph:
        line = nodes.paragraph("", "", nodes.strong("", _("It prints:")), nodes.Text(" "))
        line += _printed(ours.of(name, "wrong", "run"), _("on the embedded device"))
        line += nodes.Text(_("; "))
        if card is None:
            line += nodes.Text(_("on an H200, not recorded yet."))
        else:
            line += [*_printed(card.of(name, "wrong", "run"), _("on an H200")), nodes.Text(".")]
        return line


def _title(title: str) -> Iterable[nodes.Node]:
    """A title from a comment: names of code as code."""
    for number, part in enumerate(re.split(r"(\b\w+\(\)|\+=|volatile)", title)):
        if part:
            yield nodes.literal("", part) if number % 2 else nodes.Text(part)


def _printed(run: Run | None, where: object) -> list[nodes.Node]:
    if run is None:
        raise Lost("an exhibit was not run: record it again")
    text = run.text or _("nothing")
    return [nodes.literal("", str(text)), nodes.Text(f" {where}")]


def _difference(wrong: list[str], right: list[str]) -> str:
    """What differs, with the lines around it; a gap between two places is a line of dots."""
    lines = difflib.unified_diff(wrong, right, lineterm="", n=CONTEXT)
    hunks = [" …" if line.startswith("@@") else line for line in list(lines)[2:]]
    if not hunks:
        raise Lost("the wrong form is the right one")
    return "\n".join(hunks[1:])


def _said(ours: Recording, card: Recording | None, name: str) -> dict[str, list[Run]]:
    """What was recorded of the wrong form, by the tools' names."""
    said = {
        str(_("our checks")): [ours.of(name, "wrong", "check")],
        str(_("the compiler")): [ours.of(name, "wrong", "nvcc")],
    }
    if card:
        for tool in SANITIZERS:
            said[tool] = [card.of(name, "wrong", tool)]
    return {words: [run for run in runs if run] for words, runs in said.items()}


def _table(said: dict[str, list[Run]], name: str, lines: list[str], has_card: bool) -> nodes.table:
    columns = [Column(_("tool")), Column(_("says of the wrong form"))]
    rows: list[list[Cell]] = [
        [words, _cell(runs[0] if runs else None, name, lines)] for words, runs in said.items()
    ]
    if not has_card:
        rows.append(["compute-sanitizer", [_quiet(_("not recorded yet"))]])
    return table(columns, rows, "exhibit")


def _cell(run: Run | None, name: str, lines: list[str]) -> list[nodes.Node]:
    if run is None or run.found is None:
        return [_quiet(run.text if run and run.text else _("could not do its work"))]
    if not run.text:
        return [_quiet(_("nothing"))]
    made: list[nodes.Node] = []
    quoted: set[int] = set()
    blocks = re.split(r"\n(?=\S)", run.text)
    for said in _first_of_each(blocks):
        first = re.sub(rf"^{name}\.cu\((\d+)\): ", "", said.partition("\n")[0])
        made.append(nodes.inline("", first, classes=["code-line"]))
        at = list(dict.fromkeys(int(line) for line in re.findall(rf"{name}\.cu[:(](\d+)", said)))
        for number in at[:2]:
            code = museum.unmarked(lines[number - 1]).strip()
            if number not in quoted and code != "}":
                where = nodes.Text(_("line {number}: ").format(number=number))
                made.append(nodes.inline("", "", where, nodes.literal("", code), classes=["at"]))
            quoted.add(number)
    if not run.found:
        made.insert(0, _quiet(_("no finding, but a word on the sum:")))
    return [piece for each in made for piece in (each, nodes.Text(" "))]


def _first_of_each(blocks: list[str]) -> Iterable[str]:
    """One finding per check: further ones are consequences more often than not."""
    kinds: set[str] = set()
    for said in blocks:
        kind = said.partition(": ")[0]
        if kind not in kinds:
            kinds.add(kind)
            yield said


def _quiet(words: object) -> nodes.inline:
    return nodes.inline("", str(words), classes=["code-line", "quiet"])


def _unmarked(source: str) -> str:
    return "\n".join(map(museum.unmarked, source.splitlines()))


class Tally(LookupDirective):
    """``.. museum-tally:: all``: how many of the exhibits each tool finds, and accuses wrongly."""

    def show(self, book: Book) -> list[nodes.Node]:
        self.words("all")
        rows: list[list[Cell]] = []
        headings = []
        tools = {"embedded": ("check", "nvcc"), CARD: SANITIZERS}
        names = {"check": _("our checks"), "nvcc": _("the compiler")}
        for recorded, of in tools.items():
            found = recording(book, recorded)
            if found:
                headings.append(found.heading)
            for tool in of:
                if not found:
                    rows.append([tool, str(_("not recorded yet")), "–"])
                    continue
                those = [run for run in found.runs if run.tool == tool and run.found is not None]
                wrong = [bool(run.found) for run in those if run.form == "wrong"]
                right = sum(bool(run.found) for run in those if run.form == "right")
                said = _("{found} of {all}").format(found=sum(wrong), all=len(wrong))
                rows.append([str(names.get(tool, tool)), said, str(right)])
        columns = [Column(_("tool")), Column(_("finds"), numeric=True)]
        columns.append(Column(_("accuses a right form"), numeric=True))
        return [table(columns, rows, "exhibits", caption="; ".join(headings))]


class Link(LookupDirective):
    """``.. museum-link:: barriers``: a line that leads to the exhibits of a kind."""

    def show(self, book: Book) -> list[nodes.Node]:
        (kind,) = self.words("KIND")
        if kind not in KINDS:
            raise BadName(f"'{kind}' is none of {', '.join(KINDS)}")
        link = self.link("ref", f"museum-{kind}", str(KINDS[kind]))
        before, after = _("In the museum: "), _(", and which tool finds them.")
        return [nodes.paragraph("", "", nodes.Text(before), link, nodes.Text(after))]


def setup(app: Sphinx) -> None:
    app.add_directive("exhibit", Exhibit)
    app.add_directive("museum-tally", Tally)
    app.add_directive("museum-link", Link)
