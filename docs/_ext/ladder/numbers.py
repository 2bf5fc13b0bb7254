"""Roles that put a recorded number into a sentence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from docutils import nodes
from docutils.nodes import system_message
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxRole

from common.records import schema
from common.records.counters import CYCLES, unit_of
from common.records.naming import REFERENCE, SECOND
from common.records.recordings import RecordedRun, Run, counter_of
from common.records.schema import CountedRun
from common.records.sets import NoSuchRun
from common.records.verdict import ratios, timed

from . import pairs, report, units
from .book import Book, Both, Lost, NotYet, nearest
from .names import BadName, parse
from .provenance import run_words, short_device, stamp
from .strings import _

Write = Callable[[RecordedRun], str]


def of_passes(name: str, write: Callable[..., str]) -> Write:
    """Writes a quantity of a run, as far as all of its passes agree on it."""
    return lambda found: write(*found.values(name))


def spread(found: RecordedRun) -> str:
    """From the lowest end of the passes' intervals to the highest."""
    whole = timed(found.repeats).spread_us
    return units.interval(whole.low, whole.high)


#: What :measured: can show of a run: the field's name in words, and how it is written.
FIELDS: dict[str, tuple[str, Write]] = {
    "ci": (_("spread over the passes"), spread),
    "min": (_("shortest time"), lambda found: units.time(found.run["min_us"])),
    "samples": (_("samples"), lambda found: units.count(len(found.run["samples_us"]))),
    "passes": (_("passes"), lambda found: units.count(len(found.repeats))),
} | {
    name: (words, of_passes(name, write))
    for name, words, write in (
        ("median", _("median time"), units.time),
        ("p25", _("lower quartile"), units.time),
        ("p75", _("upper quartile"), units.time),
        ("gbps", _("effective bandwidth"), units.rate),
        ("peak", _("of peak bandwidth"), units.percent),
        ("registers", _("registers per thread"), units.count),
        ("local", _("local memory per thread"), units.plain_bytes),
        ("grid", _("blocks"), units.count),
        ("shared", _("shared memory per block"), units.plain_bytes),
        ("resident", _("blocks that fit an SM"), units.count),
        ("occupancy", _("occupancy predicted"), units.percent),
        ("stay", _("a block's stay"), units.time),
        ("error", _("error of the sum"), units.error),
    )
}

#: How a counter is written, by its unit; a plain count has none.
COUNTER_UNITS: dict[str, Callable[[float], str]] = {
    "bytes": units.decimal_bytes,
    "binary bytes": units.binary_bytes,
    "%": units.percent,
    CYCLES: lambda value: _("{count} cycles per instruction").format(count=units.digits(value)),
}


def counter_text(name: str, value: float) -> str:
    return COUNTER_UNITS.get(unit_of(name), units.count)(value)


def stall_unit(name: str) -> str:
    """What a table's row says once, in place of its cells."""
    return _(", cycles per instruction") if unit_of(name) == CYCLES else ""


def counter_cell(name: str, value: float) -> str:
    """A counter in a table, where the row has the unit of a stall reason."""
    return units.digits(value) if unit_of(name) == CYCLES else counter_text(name, value)


DEVICE_FIELDS: dict[str, Callable[[schema.Device], str]] = {
    "name": lambda device: str(device["name"]),
    "compute_capability": lambda device: str(device["compute_capability"]),
    "sm_count": lambda device: units.count(device["sm_count"]),
    "sm_clock": lambda device: f"{device['sm_clock_khz'] / 1000:.0f}{units.NO_BREAK}MHz",
    "l2": lambda device: units.binary_bytes(device["l2_bytes"]),
    "memory": lambda device: units.binary_bytes(device["global_bytes"]),
    "shared_block": lambda device: f"{device['shared_per_block'] / 1024:g}{units.NO_BREAK}KiB",
    "shared_optin": lambda device: f"{device['shared_optin'] / 1024:g}{units.NO_BREAK}KiB",
    "shared_reserved": lambda device: f"{device['shared_reserved'] / 1024:g}{units.NO_BREAK}KiB",
    "shared_sm": lambda device: f"{device['shared_per_sm'] / 1024:g}{units.NO_BREAK}KiB",
    "peak": lambda device: units.rate(device["peak_gb_per_s"]),
}
PROVENANCE_FIELDS = ("driver", "toolkit")


def book_of(env: BuildEnvironment, card: str) -> Book:
    """The book's recordings, or those of a second *card* that is named; the reference is one to a
    page that another card's recordings tell."""
    cards = (REFERENCE, *SECOND)
    if card and card not in cards:
        raise Lost(f"there is no second card '{card}'{nearest(card, cards)}")
    if card and not any(known.name == card for known in Book(env).everything().sets(card)):
        raise Lost(f"nothing is recorded on {card}")
    return Book(env, card)


class RecordedRole(SphinxRole):
    """Looks something up, and says so where it is not there; behind ``on nvidia-h100`` on that
    card."""

    def run(self) -> tuple[list[nodes.Node], list[system_message]]:
        self.text = " ".join(self.text.split())  # a role may run over the end of a line
        self.text, _on, card = self.text.partition(" on ")
        shown: nodes.Node | list[nodes.Node]
        try:
            shown = self.find(book_of(self.env, card))
        except NotYet:
            shown = report.not_yet(self.env, self.text, self.get_location())
        except (Lost, BadName, NoSuchRun) as error:
            message = f"{self.name}: {error}"
            shown = report.lost(self.env, self.rawtext, message, self.get_location())
        found = shown if isinstance(shown, list) else [shown]
        return [nodes.inline("", "", *found, classes=["value"])], []

    @abstractmethod
    def find(self, book: Book) -> nodes.Node | list[nodes.Node]:
        """The number, with where it comes from."""

    def show(
        self, both: Both[Run], book: Book, what: str, write: Callable[[RecordedRun[Run]], str]
    ) -> list[nodes.Node]:
        """The reader's own number and ours; each labelled where two sets exist."""
        words = f"{what} \u2013 {run_words(both.first)}"
        if not both.local:
            assert both.reference
            shown: list[nodes.Node] = [stamp(write(both.reference), words, both.reference)]
            if book.has_local():
                shown += [nodes.Text(f" ({short_device(both.reference.device_name)})")]
            return shown
        own = stamp(write(both.local), words, both.local)
        if not both.reference:
            return [own]
        ours = stamp(write(both.reference), words, both.reference)
        theirs, our = (short_device(one.device_name) for one in (both.local, both.reference))
        return [pairs.make(own, theirs, ours, our)]


class Measured(RecordedRole):
    """``:measured:`CHAPTER VARIANT [n=] [block=] [param=] FIELD```"""

    def find(self, book: Book) -> list[nodes.Node]:
        name, (wanted,) = parse(self.text, "FIELD")
        if wanted not in FIELDS:
            raise Lost(f"no field '{wanted}'{nearest(wanted, FIELDS)}")
        what, write = FIELDS[wanted]
        return self.show(book.run(name), book, str(what), write)


class Latency(RecordedRole):
    """``:latency:`CHAPTER VARIANT```: nanoseconds a hop of a pointer chase."""

    def find(self, book: Book) -> list[nodes.Node]:
        name, _none = parse(self.text)
        both = book.run(name)
        if not both.first.run["params"].get("hops"):
            raise Lost(f"{name.chapter} {name.variant} is not a pointer chase: it has no 'hops'")

        def written(found: RecordedRun) -> str:
            ns = units.digits(*(1000 * us for us in found.values("latency")))
            return f"{ns}{units.NO_BREAK}ns"

        return self.show(both, book, _("latency of one load"), written)


class Counter(RecordedRole):
    """``:counter:`CHAPTER VARIANT [n=] [block=] NAME```"""

    def find(self, book: Book) -> list[nodes.Node]:
        name, (metric,) = parse(self.text, "COUNTER")

        def written(found: RecordedRun[CountedRun]) -> str:
            return counter_text(metric, counter_of(found, metric))

        return self.show(book.counters(name), book, metric, written)


class Comparison(RecordedRole):
    """Two runs on one device, between them a sign.

    A sentence around a comparison compares, so the reference stays first and the reader's own
    stands beside it.
    """

    sign: ClassVar[str]
    words: ClassVar[str]

    @abstractmethod
    def text_of(self, first: RecordedRun, second: RecordedRun) -> str:
        """What is shown of the two, as far as the passes settle it."""

    def find(self, book: Book) -> list[nodes.Node]:
        before, sign, after = self.text.partition(f" {self.sign} ")
        if not sign:
            raise BadName(
                f"'{self.text}' should read CHAPTER VARIANT [...] {self.sign} CHAPTER VARIANT [...]"
            )
        slow, fast = (book.run(parse(side)[0]) for side in (before, after))
        shown: list[nodes.Node] = []
        for first, second in ((slow.reference, fast.reference), (slow.local, fast.local)):
            if not (first and second):
                continue
            words = str(self.words).format(after=run_words(second), before=run_words(first))
            text = self.text_of(first, second)
            one = stamp(text, words, first, second)
            device = short_device(first.device_name)
            if shown:
                shown += [nodes.Text(f"; {device}: "), one]
            else:
                shown = [one, nodes.Text(f" ({device}")]
        if not shown:
            raise Lost(f"no one device has both sides of '{self.text}'")
        return [*shown, nodes.Text(")")] if book.has_local() else shown[:1]


class Ratio(Comparison):
    """``:ratio:`RUN / RUN```: how many times as fast the second is."""

    sign = "/"
    words = _("times as fast: {after} against {before}")

    def text_of(self, first: RecordedRun, second: RecordedRun) -> str:
        return units.ratio(*ratios(second.repeats, first.repeats))


class Difference(Comparison):
    """``:difference:`RUN - RUN```: how much longer the first takes."""

    sign = "-"
    words = _("time longer: {before} less {after}")

    def text_of(self, first: RecordedRun, second: RecordedRun) -> str:
        pairs = zip(timed(first.repeats).medians_us, timed(second.repeats).medians_us, strict=False)
        return units.time_difference(*(longer - shorter for longer, shorter in pairs))


class Device(RecordedRole):
    """``:device:`FIELD``` of the device that the reference was recorded on."""

    def find(self, book: Book) -> nodes.Node:
        known = [*DEVICE_FIELDS, *PROVENANCE_FIELDS]
        if self.text not in known:
            raise Lost(f"no field '{self.text}'{nearest(self.text, known)}")
        reference = book.reference()
        if self.text in PROVENANCE_FIELDS:
            record = next(iter(reference.chapters.values()))
            return nodes.inline("", getattr(record.provenance, self.text))
        try:
            return nodes.inline("", DEVICE_FIELDS[self.text](reference.device))
        except KeyError:
            raise Lost(
                f"'{self.text}' is not in the recording of {reference.device_name}"
            ) from None


def setup(app: Sphinx) -> None:
    app.add_role("measured", Measured())
    app.add_role("latency", Latency())
    app.add_role("counter", Counter())
    app.add_role("ratio", Ratio())
    app.add_role("difference", Difference())
    app.add_role("device", Device())
