"""The climb as a strip of bars: under each chapter's title, on the home page, and on its own page.

A bar is blank until its rung's guess is locked in. On the page of a chapter the chapter's own bars
are; on the home page all of them. Only ``ladder-play.js`` fills them: without it they stay blank,
and the strip at the chapter's end, beside its ``rung``, shows them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

from common.records.naming import DEFAULT_BLOCK
from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures import chapters, spine
from figures.kit import style
from figures.kit.chapter import number_of
from figures.kit.pictures import LARGE_N, View, rate_of

from . import units
from .book import Book, Lost, NotYet
from .directive import LookupDirective
from .provenance import short_device, stamp
from .strings import _

#: What a strip shows, by its directive's argument: nothing before it is guessed, or all.
FORMS = ("blank", "all")


@dataclass(frozen=True)
class Bar:
    chapter: str
    change: str
    found: RecordedRun

    @property
    def rung(self) -> str:
        return f"{self.chapter}/{self.found.run['variant']}"


def _climb(book: Book) -> tuple[View, list[Bar], RecordedRun, RecordedRun]:
    """The bars, the library's sum and the read roof: of the reader's card where it has them all."""
    recordings = book.everything()
    missing: NoSuchRun | None = None
    for known in (recordings.local, recordings.reference):
        if known is None:
            continue
        view = View(recordings, known)
        try:
            bars = [Bar(*each) for each in spine.climb(view)]
            return view, bars, spine.library(view), view.read_roof()
        except NoSuchRun as error:
            missing = error
    raise Lost(str(missing))


class rung_bar(nodes.list_item):  # docutils names its node classes in lower case
    """One bar; ``share`` of the way to the roof, its ``rung``, its chapter's ``number``."""


class named(nodes.inline):
    """Stands beside a blank bar: what its chapter, of that ``page``, is about, or its own text."""


class climb_strip(nodes.container):
    """The bars with what is said of them; ``device`` is what they were recorded on."""


def _bar(words: str, found: RecordedRun, wall: float, *, number: int | None = None) -> rung_bar:
    item = rung_bar("", classes=["climb-bar"], share=rate_of(found) / wall, rung="", number=number)
    item += nodes.inline("", "" if number is None else str(number), classes=["climb-chapter"])
    item += nodes.inline("", words, classes=["climb-change"])
    rate = units.steady(*(one["gb_per_s"] for one in found.repeats))
    shown = stamp(rate, _("finished sum, GB/s"), found)
    item += nodes.inline("", "", shown, classes=["climb-rate"])
    return item


def strip(book: Book, here: str = "", form: str = "") -> nodes.container:
    """The climb up to chapter *here*, with its own bars blank; or the whole, ``blank`` or ``all``.

    With ``form`` "reached" the chapter's own bars are shown, where there are no scripts to ask for
    the guess first.
    """
    view, bars, library, roof = _climb(book)
    wall = max(rate_of(roof), *(rate_of(bar.found) for bar in bars), rate_of(library))
    if here:
        bars = [bar for bar in bars if bar.chapter <= here]
    items = nodes.bullet_list(classes=["climb"])
    nth: Counter[str] = Counter()
    for bar in bars:
        item = _bar(bar.change, bar.found, wall, number=number_of(bar.chapter))
        item["rung"] = bar.rung
        if form == "blank" or bar.chapter == here:
            item["classes"] += ["asked"] if form == "reached" else ["asked", "blank"]
        if form == "blank":  # a chapter's first bar says what that is about
            beside = named(classes=["climb-named"], page="")
            nth[bar.chapter] += 1
            if nth[bar.chapter] == 1:
                beside["page"] = f"chapters/{bar.chapter}"
            else:
                of = sum(one.chapter == bar.chapter for one in bars)
                beside += nodes.Text(_("change {nth} of {of}").format(nth=nth[bar.chapter], of=of))
            item.insert(1, beside)
        items += item
    for words, found in ((_("CUB\u2019s sum"), library), (_("read roof"), roof)):
        item = _bar(words, found, wall)
        item["classes"].append("climb-beside")
        items += item
    kind = ["climb-strip", *(["climb-reached"] if form == "reached" else [])]
    made = climb_strip(classes=kind, device=short_device(view.device_name))
    made += nodes.paragraph("", _("GB/s, finished sums"), classes=["climb-title"])
    made += items
    said = ""
    if form == "blank":
        said = _(
            "The first row is where we start, and each further row is one change. Guess a change "
            "in its chapter, and its row shows what it was and how fast the sum is with it."
        )
        said += " "
    said += _(
        "Each bar is a finished sum: {n} integers in, one value out, on the {device}."
    ).format(n=units.size(LARGE_N), device=short_device(view.device_name))
    said += " " + _(
        "CUB is NVIDIA\u2019s own library. The read roof is the fastest that any of our kernels "
        "has read this memory."
    )
    for number in without_a_bar([bar.chapter for bar in bars]):
        why = (
            _("Chapter {number} has no bar here, and its page says why.")
            if form == "blank"
            else _("Chapter {number} has no bar: it is a landing, and gains no speed.")
        )
        said += " " + why.format(number=number)
    if here and here != bars[0].chapter:  # the first chapter has yet to explain the words
        said += " " + _(
            "Unless the text says otherwise, times in this chapter are of finished sums with "
            "{block} threads per block. Counters are of a first pass, which stops at one partial "
            "sum per block."
        ).format(block=DEFAULT_BLOCK)
    made += nodes.paragraph("", said, classes=["climb-said"])
    return made


class Climb(LookupDirective):
    """``.. climb:: blank`` or ``.. climb:: all``: the whole climb."""

    def show(self, book: Book) -> list[nodes.Node]:
        (form,) = self.words("blank|all")
        if form not in FORMS:
            raise Lost(f"'{form}' should be one of {', '.join(FORMS)}")
        return [strip(book, form=form)]


class Here(SphinxTransform):
    """Puts the climb so far under the title of a chapter's page."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        folder, _slash, chapter = self.env.docname.partition("/")
        title = next(iter(self.document.findall(nodes.title)), None)
        if folder != "chapters" or title is None or not climbs(chapter):
            return
        try:
            made = strip(Book(self.env), here=chapter)
        except (Lost, NotYet):  # no set has the whole climb: the page does without
            return
        made["ids"].append("you-are-here")
        title.parent.insert(title.parent.index(title) + 1, made)


def without_a_bar(shown: Sequence[str]) -> list[int]:
    """The numbers of the chapters between those with a bar that have none."""
    return [
        number_of(name)
        for name, known in chapters.known().items()
        if not known.spine and min(shown) < name < max(shown)
    ]


def climbs(chapter: str) -> bool:
    """Whether a chapter is one of the climb: from the first that has a rung to the last."""
    rungs = [name for name, known in chapters.known().items() if known.spine]
    return bool(rungs) and rungs[0] <= chapter <= rungs[-1]


def _visit(self: HTML5Translator, node: nodes.Element) -> None:
    styles = [f"--share: {node['share']:.4f}"]
    if node["number"] is not None:
        light, dark = (theme.chapter(node["number"]) for theme in style.THEMES)
        styles.append(f"--chapter: light-dark({light}, {dark})")
    more: Any = {"style": "; ".join(styles)}
    if node["rung"]:
        more["data-rung"] = node["rung"]
    self.body.append(self.starttag(node, "li", "", **more))


def _depart(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</li>\n")


def _visit_named(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "span", ""))
    if node["page"]:
        title = self.builder.env.titles[node["page"]].astext()
        here = self.builder.current_docname
        there = self.builder.get_relative_uri(here, node["page"])
        self.body.append(
            self.starttag(nodes.reference(), "a", "", CLASS="reference internal", href=there)
        )
        self.body.append(self.encode(re.sub(r"^Chapter \d+\. ", "", title)) + "</a>")


def _depart_named(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</span>")


def _visit_strip(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "div", "\n", **{"data-device": node["device"]}))


def _depart_strip(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    app.add_node(climb_strip, html=(_visit_strip, _depart_strip))
    app.add_node(rung_bar, html=(_visit, _depart))
    app.add_node(named, html=(_visit_named, _depart_named))
    app.add_directive("climb", Climb)
    app.add_transform(Here)
