"""The embedded device beside hardware: rows under a table's counters, and both compared in all."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx

from common.records import comparison
from common.records.comparison import Compared, Reason, Tally
from common.records.counters import NCU
from common.records.naming import REFERENCE
from common.records.reading import DataError
from common.records.recordings import RecordedRun, Recordings
from common.records.schema import CountedRun, EmbeddedRun
from common.records.sets import NoSuchRun

from . import units
from .book import Book, Lost, NotYet, nearest
from .directive import LookupDirective
from .numbers import RecordedRole
from .strings import _
from .table import Cell, Column, table

#: Why hardware counted otherwise, in the order of their marks.
REASONS = {
    Reason.ARBITRATION: _(
        "On hardware warps got in each other\u2019s way in shared memory: each wavefront more than "
        "the accesses have was counted as a bank conflict, and without those the two are equal. "
        "The embedded device has no such crowding."
    ),
    Reason.MERGED: _(
        "The assembler may merge neighbouring accesses to shared memory into wider ones: hardware "
        "then counts fewer than the program as written has."
    ),
    Reason.EARLIER_FORM: _(
        "Hardware counted an earlier form of this kernel; the embedded device counted the one "
        "shown here."
    ),
    Reason.UNKNOWN: _("No reason is known for this difference."),
}
MARKS = dict(zip(REASONS, "ab\u2020?", strict=True))  # a dagger is an earlier form's everywhere
SIGN = {True: "+", False: "\u2212"}


def signed(difference: int) -> str:
    if difference == 0:
        return "±0"
    return SIGN[difference > 0] + units.group(str(abs(difference)))


def difference(one: Compared) -> nodes.Node:
    """A difference: quiet where there is none, with its reason's mark where there is."""
    shown = nodes.inline("", signed(one.difference), classes=["difference"])
    if one.reason is None:
        shown["classes"].append("none")
    else:
        shown += nodes.superscript("", MARKS[one.reason])
    return shown


Pair = tuple[RecordedRun[CountedRun], RecordedRun[EmbeddedRun] | None]


def pair(book: Book, hardware: RecordedRun[CountedRun]) -> Pair:
    """A recorded count and the embedded device's; that one passes for the reference's GPU."""
    return hardware, None if hardware.is_local else book.embedded(hardware)


def row(metric: str, pairs: Sequence[Pair]) -> tuple[list[Cell], list[Reason]] | None:
    """The cells beneath one metric's; None where the embedded device doesn't count it."""
    cells: list[Cell] = []
    reasons: list[Reason] = []
    counted = False
    for hardware, embedded in pairs:
        one = comparison.compare(hardware, embedded, metric) if embedded else None
        if one is None:
            cells.append("")
            continue
        counted = True
        cells.append([nodes.Text(units.count(one.embedded) + " "), difference(one)])
        reasons += [one.reason] if one.reason else []
    return (cells, reasons) if counted else None


def reasons_list(reasons: Sequence[Reason]) -> list[nodes.Node]:
    """What the marks mean."""
    return [
        nodes.paragraph(
            "",
            "",
            nodes.superscript("", MARKS[reason]),
            nodes.Text(f" {words}"),
            classes=["reason"],
        )
        for reason, words in REASONS.items()
        if reason in reasons
    ]


# ------------------------------------------------------------------------------------ in all

KINDS: dict[str, Callable[[Recordings], list[Tally]]] = {
    "probes": comparison.probes,
    "chapters": comparison.chapters,
}


def tallies(book: Book, kind: str) -> list[Tally]:
    if kind not in KINDS:
        raise Lost(f"no comparison '{kind}'{nearest(kind, KINDS)}")
    recordings = book.comparisons()
    if not recordings.embedded_set.counters:
        raise NotYet
    try:
        return KINDS[kind](recordings)
    except (NoSuchRun, DataError) as error:
        raise Lost(str(error)) from None


#: What can be said of a comparison in all.
SUMS: dict[str, Callable[[Tally], int]] = {
    "launches": lambda tally: tally.launches,
    "counters": lambda tally: tally.counters,
    "equal": lambda tally: tally.counters - tally.differing,
    "differences": lambda tally: tally.differing,
    "arbitration": lambda tally: tally.reasons.get(Reason.ARBITRATION, 0),
    "earlier": lambda tally: tally.reasons.get(Reason.EARLIER_FORM, 0),
    "unexplained": lambda tally: tally.reasons.get(Reason.UNKNOWN, 0),
}
HEADINGS = {
    "launches": _("launches"),
    "counters": _("counters compared"),
    "equal": _("equal"),
    "differences": _("differences"),
    "arbitration": _("hardware has more conflicts"),
    "earlier": _("kernel edited since"),
    "unexplained": _("unexplained"),
}


class Comparison(LookupDirective):
    """``.. comparison:: probes`` (or ``chapters``): all launches, family by family."""

    columns: ClassVar = {
        "probes": ("launches", "counters", "differences"),
        "chapters": ("counters", "equal", "arbitration", "earlier", "unexplained"),
    }

    def show(self, book: Book) -> list[nodes.Node]:
        (kind,) = self.words("probes|chapters")
        found = tallies(book, kind)
        names = self.columns[kind]
        columns = [Column(_("probes") if kind == "probes" else _("chapter"))]
        columns += [Column(str(HEADINGS[name]), True) for name in names]
        rows: list[list[Cell]] = [
            [
                tally.name if kind == "probes" else [nodes.literal("", tally.name)],
                *(units.count(SUMS[name](tally)) for name in names),
            ]
            for tally in found
        ]
        sums = [units.count(sum(SUMS[name](tally) for tally in found)) for name in names]
        rows.append([_("together"), *sums])
        kinds = [""] * len(found) + ["total"]
        return [table(columns, rows, "comparison", row_classes=kinds)]


#: Small launches of the chapters' kernels, as chapters/tests/record wrote them.
SMALL = f"chapters/tests/{REFERENCE}.csv"
SMALL_SUMS: dict[str, Callable[[dict[str, str]], bool]] = {
    "launches": lambda row: True,
    # Hardware counted otherwise in its second pass.
    "unsteady": lambda row: bool(row["differed"]),
}


def small(book: Book, wanted: str) -> int:
    """How many of the small launches are of that kind."""
    _path, text = book.file(SMALL)
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return sum(SMALL_SUMS[wanted](row) for row in rows)


class ComparedRole(RecordedRole):
    """``:compared:`probes launches```: one of a comparison's sums, or ``small launches``."""

    def find(self, book: Book) -> nodes.Node:
        kind, _space, wanted = self.text.partition(" ")
        sums = SMALL_SUMS if kind == "small" else SUMS
        if wanted not in sums:
            raise Lost(f"no sum '{wanted}'{nearest(wanted, sums)}")
        if kind == "small":
            total = small(book, wanted)
        else:
            total = sum(SUMS[wanted](tally) for tally in tallies(book, kind))
        return nodes.inline("", units.count(total), classes=["measured"])


class Probes(LookupDirective):
    """``.. probes:: METRIC...``: chosen probes, a line each in the body, beside hardware."""

    has_content = True

    def show(self, book: Book) -> list[nodes.Node]:
        metrics = self.arguments[0].split()
        data = book.comparisons().embedded_set.probes
        if not data:
            raise NotYet
        for metric in metrics:
            if NCU.get(metric) not in data["metrics"]:
                raise Lost(f"no counter '{metric}'{nearest(metric, NCU)}")
        columns = [Column(_("probe"))]
        for metric in metrics:
            columns.append(Column(metric.replace("_", " "), True))
            columns.append(Column(_("hardware"), True))
        rows: list[list[Cell]] = []
        for name in filter(None, (line.strip() for line in self.content)):
            runs = [run for run in data["runs"] if run["probe"] == name]
            if not runs:
                raise Lost(f"no probe '{name}'{nearest(name, (r['probe'] for r in data['runs']))}")
            cells: list[Cell] = [name]
            for metric in metrics:
                at = data["metrics"].index(NCU[metric])
                cells += [units.count(runs[0][side][at]) for side in ("embedded", "hardware")]
            rows.append(cells)
        device, _profiler, day, *_rest = (part.strip() for part in data["hardware"].split(";"))
        where = _("Hardware: {device}, {day}").format(device=device.split(",")[0], day=day)
        return [
            table(columns, rows, "probes"),
            nodes.paragraph("", where, classes=["origin"]),
        ]


def setup(app: Sphinx) -> None:
    app.add_directive("comparison", Comparison)
    app.add_directive("probes", Probes)
    app.add_role("compared", ComparedRole())
