"""What became of the changes made to the kernels: the numbers and tables of one page."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import ndiff
from functools import lru_cache

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from common.records import mutants
from common.records.mutants import Mistake, Mutants, Survivor

from . import faults, report
from .book import Book, Lost, NotYet
from .directive import LookupDirective
from .faults import Classic
from .folded import fold
from .names import BadName
from .strings import _
from .table import Cell, Column, table

_read = lru_cache(maxsize=1)(mutants.read)  # a page asks for many numbers


def _recorded(book: Book) -> tuple[Mutants, list[Survivor]]:
    _path, text = book.file(mutants.FILE)
    try:
        found = _read(text)
    except mutants.BadMutants as error:
        raise Lost(str(error)) from error
    book.files("chapters", f"*/{mutants.TOLD}")
    return found, mutants.survivors(found, book.root)


def _percent(share: float) -> str:
    # Never rounded up to all of them.
    return f"{int(share * 1000) / 10:.1f} %"


_NUMBERS: dict[str, Callable[[Mutants, list[Survivor]], str]] = {
    "tried": lambda m, s: str(_("all")) if len(m.changes) == m.listed else f"{len(m.changes)}",
    "listed": lambda m, _: f"{m.listed}",
    "files": lambda m, _: f"{len(m.sources)}",
    "refused": lambda m, _: f"{m.count('refused')}",
    "same": lambda m, _: f"{m.count('same')}",
    "distinct": lambda m, _: f"{len(m.distinct)}",
    "caught": lambda m, _: f"{len(m.caught)}",
    "passed": lambda m, _: f"{len(m.passed)}",
    "harmless": lambda _, s: f"{sum(bool(each.reason) for each in s)}",
    "open": lambda _, s: f"{sum(not each.reason for each in s)}",
    "score": lambda m, s: _percent(mutants.score(m, s)),
    "beyond-result": lambda m, _: (
        f"{sum(not {'result', 'stopped'} & set(each.by) for each in m.caught)}"
    ),
    "date": lambda m, _: m.date,
    "mistakes": lambda m, _: f"{len(m.mistakes)}",
}


class Number(SphinxRole):
    """``:mutants:`score```: a number of the recorded run; see ``_NUMBERS``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            if self.text not in _NUMBERS:
                raise BadName(f"'{self.text}' is none of {', '.join(_NUMBERS)}")
            text = _NUMBERS[self.text](*_recorded(Book(self.env)))
            return [nodes.inline("", text, classes=["num"])], []
        except NotYet:
            return [report.not_yet(self.env, self.text, self.get_location())], []
        except (Lost, BadName) as error:
            return [report.lost(self.env, self.text, f"mutants: {error}", self.get_location())], []


class Earlier(LookupDirective):
    """``.. mutant-sources:: all``: which files have changed since the run, or no run has tried."""

    def show(self, book: Book) -> list[nodes.Node]:
        self.words("all")
        found, _survivors = _recorded(book)
        for file in found.sources:
            book.file(file)  # an edit of it redoes the page
        told = {
            _("The run was of earlier forms of what has changed since, and so is this page: "): (
                mutants.earlier(found, book.root)
            ),
            _("No run has tried the changes to these files yet: "): (
                mutants.untried(found, book.root)
            ),
        }
        return [self._note(said, files) for said, files in told.items() if files]

    @staticmethod
    def _note(said: object, files: list[str]) -> nodes.note:
        text: list[nodes.Node] = [nodes.Text(str(said))]
        for file in files:
            text += [nodes.literal("", file), nodes.Text(", ")]
        return nodes.note("", nodes.paragraph("", "", *text[:-1], nodes.Text(".")))


class Operators(LookupDirective):
    """``.. mutant-table:: operators``: made, caught and let through, by operator or by file."""

    def show(self, book: Book) -> list[nodes.Node]:
        (by,) = self.words("operators|files")
        found, survivors = _recorded(book)
        harmless = {id(each.change) for each in survivors if each.reason}
        names: dict[str, Cell]
        if by == "operators":
            key = "operator"
            names = {name: str(_(words)) for name, words in mutants.OPERATORS.items()}
        elif by == "files":
            key = "file"
            names = {file: nodes.literal("", file.split("/", 1)[1]) for file in found.sources}
        else:
            raise BadName(f"'{by}' is neither operators nor files")
        rows: list[list[Cell]] = []
        for name, words in names.items():
            those = [each for each in found.distinct if getattr(each, key) == name]
            caught = sum(each.state == "caught" for each in those)
            none = sum(id(each) in harmless for each in those)
            cells: list[Cell] = [name, words] if key == "operator" else [words]
            faults = [str(len(those)), str(none), str(caught), str(len(those) - caught - none)]
            rows.append([*cells, *faults])
        columns = [Column(_("kind")), Column(_("what changes"))]
        if key == "file":
            columns = [Column(_("file"))]
        for heading in (_("changes"), _("no fault"), _("caught"), _("missed")):
            columns.append(Column(str(heading), numeric=True))
        said = _("Changes that compile to other code, each code once; {date}, {toolkit}")
        caption = said.format(date=found.date, toolkit=found.toolkit)
        return [table(columns, rows, "mutants", caption=caption)]


class Survivors(LookupDirective):
    """``.. mutant-survivors:: all``: each change that every net lets through, with the reason."""

    def show(self, book: Book) -> list[nodes.Node]:
        self.words("all")
        _found, survivors = _recorded(book)
        columns = [Column(_("function")), Column(_("as the change leaves it")), Column(_("why"))]
        made: list[nodes.Node] = []
        alike: dict[tuple[str, str, str], list[str]] = {}
        for each in survivors:
            key = (each.change.chapter, each.change.function, each.reason)
            alike.setdefault(key, []).append(each.change.leaves)
        for chapter in dict.fromkeys(chapter for chapter, _function, _why in alike):
            rows: list[list[Cell]] = []
            count = 0
            for (of, function, why), lines in alike.items():
                if of == chapter:
                    count += len(lines)
                    name = nodes.literal("", function or "–")
                    rows.append([name, _lines(lines), why or str(_("open"))])
            label = _("{chapter}: {count}").format(chapter=chapter, count=count)
            made.append(fold(label, [table(columns, rows, "mutants", "survivors")]))
        return made or [nodes.paragraph("", _("None."))]


def _lines(lines: list[str]) -> list[nodes.Node]:
    """Lines of code for a cell, one below the other."""
    return [_line("", line) for line in lines]


class Mistakes(LookupDirective):
    """``.. mutant-mistakes:: all``: those made by hand, and what rejects each."""

    def show(self, book: Book) -> list[nodes.Node]:
        self.words("all")
        found, _survivors = _recorded(book)
        columns = [Column(_("mistake")), Column(_("rejected by")), Column(_("which says"))]
        rows: list[list[Cell]] = [
            [
                [nodes.Text(f"{each.what}: "), nodes.literal("", each.region)],
                str(_(mutants.NETS[each.net])),
                _first(each.how),
            ]
            for each in found.mistakes
        ]
        return [table(columns, rows, "mutants", "survivors", "mistakes")]


def _first(how: str) -> str:
    """The first thing that is said; a row has no room for more. A program's shape is said once."""
    first = how.split(";")[0].split(", l1tex")[0]
    return re.sub(r"^(n = \d+, block \d+): (?=WRONG RESULT: \w+, \1:)", "", first)


class Classics(LookupDirective):
    """``.. classic-faults:: all``: the chapters' faulty forms, and what rejects each."""

    def show(self, book: Book) -> list[nodes.Node]:
        self.words("all")
        for pattern in (faults.EXPECTED, "*.cu*"):
            book.files("chapters", f"*/{pattern}")
        try:
            found = faults.classics(book.root, book.all_regions())
        except faults.BadFaults as error:
            raise Lost(str(error)) from error
        columns = [Column(_("form")), Column(_("what is wrong")), Column(_("what rejects it"))]
        place = str(_("chapter\N{NO-BREAK SPACE}{number}"))
        rows: list[list[Cell]] = [
            [
                [_name(each.variant), nodes.Text(" "), self.chapter_link(each.chapter, place)],
                [_line(f"// {fault.words}", fault.code) for fault in each.faults],
                [_line(said) for said in _rejections(each)],
            ]
            for each in found
        ]
        return [table(columns, rows, "mutants", "survivors", "classics")]


def _rejections(classic: Classic) -> list[str]:
    """Each net in words, with what it reports."""
    said = ((str(_(mutants.NETS[each.net])), ", ".join(each.says)) for each in classic.by)
    return [f"{net}: {what}" if what else net for net, what in said]


def _name(name: str) -> nodes.literal:
    """A name for a narrow column: it breaks behind an underscore, and copies as it is."""
    made = nodes.literal()
    for number, part in enumerate(re.split(r"(?<=_)", name)):
        if number:
            made += nodes.raw("", "<wbr>", format="html")
        made += nodes.Text(part)
    return made


def _line(words: str, code: str = "") -> nodes.Node:
    """A line of its own in a cell: words, behind code where there is some."""
    shown: list[nodes.Node] = [nodes.literal("", code)] if code else []
    if words:
        shown.append(nodes.Text(f" {words}" if code else words))
    return nodes.inline("", "", *shown, classes=["code-line"])


class Told(LookupDirective):
    """``.. mutant-told:: CHAPTER NAME``: one mistake as a diff, and the message that rejects it."""

    def show(self, book: Book) -> list[nodes.Node]:
        chapter, name = self.words("CHAPTER", "NAME")
        found, _survivors = _recorded(book)
        for each in found.mistakes:
            if (each.chapter, each.name) == (chapter, name):
                return _told(each)
        raise BadName(f"no mistake {name} of {chapter} is recorded")


def _told(mistake: Mistake) -> list[nodes.Node]:
    lines = ndiff(mistake.before.splitlines(), mistake.after.splitlines())
    text = "\n".join(line for line in lines if not line.startswith("?"))
    message = f"{mutants.NETS[mistake.net]}: {_first(mistake.how)}"
    return [
        nodes.literal_block(text, text, language="diff"),
        nodes.literal_block(message, message, language="text"),
    ]


def setup(app: Sphinx) -> None:
    app.add_role("mutants", Number())
    app.add_directive("mutant-sources", Earlier)
    app.add_directive("mutant-table", Operators)
    app.add_directive("mutant-survivors", Survivors)
    app.add_directive("mutant-mistakes", Mistakes)
    app.add_directive("classic-faults", Classics)
    app.add_directive("mutant-told", Told)
