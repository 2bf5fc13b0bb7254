"""The row that every rung ends in, collected into the summary; the chapters as cards."""

from __future__ import annotations

import copy
import re
import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from common.records.recordings import Counted, RecordedRun, counter_of
from common.records.verdict import ratios, timed

from . import report, units
from .book import Book, Both, Lost, NotYet
from .climbing import climbs, strip
from .directive import LookupDirective
from .gathering import FORMS, Gather, link, title
from .names import parse
from .numbers import counter_text
from .provenance import run_words, short_device, stamp
from .strings import _

Cell = list[nodes.Node]


@dataclass
class Rung:
    """What a rung's row shows, ready to be placed."""

    chapter: str
    predicted: Cell
    gained: Cell
    counter: Cell
    time: Cell

    def cell(self, name: str) -> Cell:
        cells: dict[str, Cell] = {
            "predicted": self.predicted,
            "gained": self.gained,
            "counter": self.counter,
            "time": self.time,
        }
        return copy.deepcopy(cells[name])

    def cells(self) -> list[nodes.Node]:
        """What was gained, in one sentence, and what it rests on."""
        items = nodes.definition_list(classes=["rung-cells"])
        for label, name in (
            (_("Predicted"), "predicted"),
            (_("The counter that moved"), "counter"),
            (_("Time before and after"), "time"),
        ):
            if not self.cell(name):
                continue  # no counter of it is recorded anywhere
            cell = nodes.paragraph("", "", *self.cell(name))
            items += nodes.definition_list_item(
                "", nodes.term("", label), nodes.definition("", cell)
            )
        return [nodes.paragraph("", "", *self.cell("gained"), classes=["gained"]), items]


def _rungs(env: BuildEnvironment) -> dict[str, list[Rung]]:
    if not hasattr(env, "ladder_rungs"):
        env.ladder_rungs = {}  # type: ignore[attr-defined]
    return env.ladder_rungs  # type: ignore[attr-defined, no-any-return]


def _kernel_and_time(found: RecordedRun) -> Cell:
    """The median of the passes: with fewer digits, two times could contradict their ratio."""
    words = run_words(found)
    return [
        nodes.literal("", found.run["variant"]),
        nodes.Text(units.NO_BREAK),
        stamp(units.time(statistics.median(timed(found.repeats).medians_us)), words, found),
    ]


class RungRow(LookupDirective):
    """``.. rung:: CHAPTER``: predicted, gained, the counter that moved, time before and after.

    Options: ``:before:`` and ``:after:`` (``CHAPTER VARIANT [n=] [block=]``), ``:predicted:`` (what
    one expected, in words), ``:gained:`` (what came of it, in one sentence), ``:counter:`` (the
    counter that moved) and, where other runs than these two were counted, ``:counted: RUN -> RUN``.
    The body, if any, says why the rung gained what it did. A chapter of the climb has it above the
    row, as far as it has come.
    """

    has_content = True
    option_spec: ClassVar = {
        "before": directives.unchanged_required,
        "after": directives.unchanged_required,
        "predicted": directives.unchanged_required,
        "gained": directives.unchanged_required,
        "counter": directives.unchanged_required,
        "counted": directives.unchanged_required,
    }
    optional: ClassVar = ("counter", "counted")

    def show(self, book: Book) -> list[nodes.Node]:
        missing = [one for one in self.option_spec if one not in (*self.options, *self.optional)]
        if missing:
            raise Lost(f"needs :{missing[0]}:")
        (chapter,) = self.words("CHAPTER")
        time = self._try(lambda: self._time(book))
        counter = self._try(lambda: self._counter(book)) if "counter" in self.options else []
        predicted, gained = (self.inline(self.options[said]) for said in ("predicted", "gained"))
        rung = Rung(chapter, predicted, gained, counter, time)
        _rungs(self.env).setdefault(self.env.docname, []).append(rung)
        shown: list[nodes.Node] = [self._row(rung)]
        if climbs(chapter):
            with suppress(Lost, NotYet):  # no set has the whole climb
                shown.insert(0, strip(book, here=chapter, form="reached"))
        return shown

    def _try(self, find: Callable[[], Cell]) -> Cell:
        """Each cell stands for itself: times may be recorded where counters are not yet."""
        try:
            return find()
        except NotYet:
            asked = f"{self.name}:: {self.arguments[0]}"
            return [report.not_yet(self.env, asked, self.get_location())]

    def _sides(self, book: Book) -> list[Both]:
        return [book.run(parse(self.options[side])[0]) for side in ("before", "after")]

    def _time(self, book: Book) -> Cell:
        before, after = self._sides(book)
        time: Cell = []
        for first, second in ((before.local, after.local), (before.reference, after.reference)):
            if not (first and second):
                continue
            gain = units.ratio(*ratios(second.repeats, first.repeats))
            what = _("gain: {after} against {before}").format(
                after=run_words(second), before=run_words(first)
            )
            # Two pieces that stay whole; a line may end between them.
            one: Cell = [
                nodes.inline("", "", *_kernel_and_time(first), classes=["whole"]),
                nodes.Text(" "),
                nodes.inline(
                    "",
                    "",
                    nodes.Text("\u2192 "),
                    *_kernel_and_time(second),
                    nodes.Text(" ("),
                    nodes.strong("", "", stamp(gain, what, first, second)),
                    nodes.Text(")"),
                    classes=["whole"],
                ),
            ]
            if book.has_local():
                one.insert(0, nodes.Text(f"{short_device(first.device_name)}: "))
            time += [nodes.Text("; "), *one] if time else one
        if not time:
            raise Lost(f"no one device has both '{self.options['before']}' and its :after:")
        return time

    def _counter(self, book: Book) -> Cell:
        metric = self.options["counter"]
        sides = [self.options[side] for side in ("before", "after")]
        if counted := self.options.get("counted"):
            sides = [side.strip() for side in counted.split("->")]
            if len(sides) != 2:
                raise Lost(f":counted: '{counted}' should read RUN -> RUN")
        names = [parse(side)[0] for side in sides]
        label = metric.replace("_", " ").removesuffix(" pct")
        try:
            both = [book.counters(name) for name in names]
        except Lost:  # the hardware's are not recorded
            founds: Sequence[Counted | None] = [book.counters_on_embedded(n) for n in names]
            label = _("{counter} on the embedded device").format(counter=label)
        else:
            # Counts of one device only: two devices' counts side by side would explain nothing.
            own = [side.local for side in both]
            founds = own if all(own) else [side.reference for side in both]
        there = [found for found in founds if found]
        if len(there) != len(names):
            raise Lost(f"no one device has counted both '{self.options['before']}' and its :after:")
        size = there[0].run["n"]  # often another than that of the times beside it
        shown: Cell = [nodes.Text(_("{counter} at {n}:").format(counter=label, n=units.size(size)))]
        for arrow, found in zip(("", "\u2192 "), there, strict=True):
            text = counter_text(metric, counter_of(found, metric))
            number = stamp(text, f"{metric} \u2013 {run_words(found)}", found)
            shown.append(nodes.Text(" "))
            shown.append(nodes.inline("", "", nodes.Text(arrow), number, classes=["whole"]))
        return shown

    def _row(self, rung: Rung) -> nodes.container:
        row = nodes.container(classes=["rung"], ids=[f"rung-{rung.chapter}"])
        row += rung.cells()
        row += self.parse_content_to_nodes()
        return row


class LadderSummary(Gather):
    """``.. ladder-summary::``: every rung's row, one beneath the other."""

    form = "summary"


class LadderCards(Gather):
    """``.. ladder-cards:: FIRST-LAST``, or ``FIRST-``: these chapters as cards.

    The pages are those under ``chapters/``. A card's texts are the page's ``:question:`` and
    ``:summary:`` fields; it tells no result, which the reader is to guess.
    """

    form = "cards"
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if not re.fullmatch(r"\d+-\d*", self.arguments[0]):
            raise self.error(f"{self.name}: '{self.arguments[0]}' should read FIRST-LAST")
        return super().run()


def _chapters(env: BuildEnvironment) -> list[str]:
    return sorted(page for page in env.found_docs if page.startswith("chapters/"))


def _among(span: str, page: str) -> bool:
    """Whether a chapter's number lies in ``FIRST-LAST``, or is ``FIRST`` at least."""
    first, last = span.split("-")
    found = re.match(r"chapters/chapter(\d+)", page)
    number = int(found[1]) if found else -1
    return int(first) <= number and (not last or number <= int(last))


def _summary(app: Sphinx, page: str, span: str) -> list[nodes.Node]:
    summary = nodes.container(classes=["ladder-summary"])
    for chapter in _chapters(app.env):
        for rung in _rungs(app.env).get(chapter, []):
            to = link(app, page, chapter, title(app.env, chapter))
            row = nodes.container(classes=["rung"])
            row += nodes.paragraph("", "", to, classes=["rung-title"])
            row += rung.cells()
            summary += row
    return [summary]


def _cards(app: Sphinx, page: str, span: str) -> list[nodes.Node]:
    cards = nodes.bullet_list(classes=["cards"])
    for chapter in _chapters(app.env):
        if not _among(span, chapter):
            continue
        card = nodes.list_item(classes=["card"])
        to = link(app, page, chapter, title(app.env, chapter))
        card += nodes.paragraph("", "", to, classes=["card-title"])
        for field in ("question", "summary"):
            if text := app.env.metadata[chapter].get(field):
                card += nodes.paragraph("", text, classes=[f"card-{field}"])
        cards += card
    return [cards]


def _purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _rungs(env).pop(docname, None)


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment
) -> None:
    theirs = _rungs(other)
    _rungs(env).update({page: theirs[page] for page in docnames if page in theirs})


def setup(app: Sphinx) -> None:
    FORMS["summary"] = _summary
    FORMS["cards"] = _cards
    app.add_directive("rung", RungRow)
    app.add_directive("ladder-summary", LadderSummary)
    app.add_directive("ladder-cards", LadderCards)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
