"""Tables of recorded numbers: times, counters, what compute-sanitizer found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from common.records.comparison import Reason
from common.records.counters import COUNTERS, NCU, ncu_name
from common.records.naming import EMBEDDED
from common.records.recordings import RecordedRun, counter_of, is_stale
from common.records.schema import CheckedRun, CountedRun, EmbeddedRun, TimedRun
from common.records.sets import NoSuchRun
from common.records.verdict import ratios, timed

from . import compared, units
from .blocks import block, printed
from .book import Book, Both, Lost, nearest
from .directive import LookupDirective
from .folded import fold
from .names import BadName, RunName, whole
from .numbers import Write, counter_cell, counter_text, of_passes, stall_unit
from .provenance import dagger, short_device
from .strings import _
from .table import Cell, Column, table

#: What the embedded device counts as hardware does.
_EXACT = [name for name, each in COUNTERS.items() if each.embedded == "exact"]


def _microseconds(*values: float) -> str:
    return units.steady(*values, places=4)


def _spread(found: RecordedRun) -> str:
    spread = timed(found.repeats).spread_us
    return f"{_microseconds(spread.low)}{units.DASH}{_microseconds(spread.high)}"


def _or_dash(name: str, write: Callable[..., str]) -> Write:
    """A dash where the run doesn't tell: only sums of floats have an error, and so on."""

    def written(found: RecordedRun) -> str:
        try:
            return str(write(*found.values(name)))
        except NoSuchRun:
            return units.DASH

    return written


def _blocks(found: RecordedRun) -> str:
    """A dash for a library's own grid."""
    return units.count(found.run["grid"]) if found.run["grid"] else units.DASH


#: Columns of ``numbers``, the unit in the heading.
COLUMNS: dict[str, tuple[str, Write]] = {
    "median": (_("median, µs"), of_passes("median", _microseconds)),
    "ci": (_("spread, µs"), _spread),
    "p25": (_("lower quartile, µs"), of_passes("p25", _microseconds)),
    "p75": (_("upper quartile, µs"), of_passes("p75", _microseconds)),
    "min": (_("shortest, µs"), lambda found: _microseconds(found.run["min_us"])),
    "gbps": (_("GB/s"), of_passes("gbps", units.steady)),
    "peak": (_("% of peak"), _or_dash("peak", units.steady)),
    "samples": (_("samples"), lambda found: units.count(len(found.run["samples_us"]))),
    "grid": (_("blocks"), _blocks),
    "shared": (_("shared memory, B"), _or_dash("shared", units.count)),
    "resident": (_("blocks per SM"), _or_dash("resident", units.count)),
    "occupancy": (_("occupancy predicted, %"), _or_dash("occupancy", units.steady)),
    "stay": (_("a block\u2019s stay, µs"), _or_dash("stay", units.steady)),
    "registers": (_("registers"), _or_dash("registers", units.count)),
    "local": (_("local memory, B"), _or_dash("local", units.count)),
    "error": (_("off by"), _or_dash("error", units.error)),
}
#: Against the first row of the same size and device; not a field of a run.
GAIN = "gain"
DEFAULT_COLUMNS = "median ci gbps peak"


def words(text: str | None) -> list[str]:
    return directives.unchanged_required(text or "").replace(",", " ").split()


def sizes(text: str | None) -> list[int]:
    try:
        return [whole(word) for word in words(text)]
    except BadName as error:
        raise ValueError(str(error)) from None


def _name(run: TimedRun, stale: bool) -> list[nodes.Node]:
    named: list[nodes.Node] = [nodes.literal("", run["variant"])]
    return [*named, dagger()] if stale else named


def _device_of(found: RecordedRun[Any]) -> str:
    return short_device(found.device_name).replace(" ", units.NO_BREAK)


def _recorded_on(founds: Iterable[RecordedRun[Any]]) -> nodes.paragraph:
    places = "; ".join(dict.fromkeys(found.provenance.text for found in founds))
    return nodes.paragraph("", _("Recorded on {origin}").format(origin=places), classes=["origin"])


class Numbers(LookupDirective):
    """``.. numbers:: CHAPTER`` with ``:variants:``, ``:n:``, ``:block:``, ``:columns:``.

    ``:n:`` and ``:block:`` take several values; a row is made for each.
    """

    option_spec: ClassVar = {
        "variants": words,
        "n": sizes,
        "block": sizes,
        "columns": words,
        "params": words,
    }

    def show(self, book: Book) -> list[nodes.Node]:
        (chapter,) = self.words("CHAPTER")
        variants = self.options.get("variants") or book.variants(chapter)
        wanted = self.options.get("columns") or words(DEFAULT_COLUMNS)
        known = [*COLUMNS, GAIN]
        for column in wanted:
            if column not in known:
                raise Lost(f"no column '{column}'{nearest(column, known)}")
        params = dict(word.split("=", 1) for word in self.options.get("params", []))

        asked = [
            RunName(chapter, variant, n, block_size, params)
            for n in self.options.get("n", [None])
            for block_size in self.options.get("block", [None])
            for variant in variants
        ]
        rows = [book.run(name) for name in asked]
        founds = [one for row in rows for one in (row.local, row.reference) if one]
        shapes = {(found.run["n"], found.run["block"]) for found in founds}
        vary_n = len({n for n, _block in shapes}) > 1
        vary_block = len({block_size for _n, block_size in shapes}) > 1
        columns = [Column(_("variant"))]
        columns += [Column(_("n"), True)] if vary_n else []
        columns += [Column(_("threads per block"), True)] if vary_block else []
        cells: list[list[Cell]] = []
        for row in rows:
            run = row.first.run
            cells.append([_name(run, any(is_stale(one) for one in row if one))])
            cells[-1] += [units.size(run["n"])] if vary_n else []
            cells[-1] += [str(run["block"])] if vary_block else []
        for name in wanted:
            for heading, values in _columns(name, rows):
                columns.append(Column(heading, True))
                for cell, value in zip(cells, values, strict=True):
                    cell.append(value)
        caption = _caption(founds[0].run, vary_n, vary_block)
        return [table(columns, cells, caption=caption), _recorded_on(founds)]


def _columns(name: str, rows: Sequence[Both[TimedRun]]) -> Iterator[tuple[str, list[str]]]:
    """A column, or where the reader's device says something else, theirs and then ours."""
    heading = _("gain") if name == GAIN else str(COLUMNS[name][0])
    write = _gain(rows) if name == GAIN else COLUMNS[name][1]
    sides = list(zip(*rows, strict=True))[::-1]  # the reader's first
    there = [[one and write(one) for one in side] for side in sides]
    theirs, ours = there
    same = all(
        one is None or other is None or one == other for one, other in zip(*there, strict=True)
    )
    if same:
        yield heading, [one or other or units.DASH for one, other in zip(*there, strict=True)]
        return
    for side, values in zip(sides, (theirs, ours), strict=True):
        device = _device_of(next(one for one in side if one))
        yield f"{heading}, {device}", [value or units.DASH for value in values]


def _gain(rows: Sequence[Both[TimedRun]]) -> Write:
    """Against the first row of the same size and device."""
    base: dict[tuple[str, int, int], RecordedRun] = {}
    for found in (one for row in rows for one in row if one):
        base.setdefault((found.set_name, found.run["n"], found.run["block"]), found)

    def write(found: RecordedRun) -> str:
        first = base[found.set_name, found.run["n"], found.run["block"]]
        return units.steady(*ratios(found.repeats, first.repeats)) + units.TIMES

    return write


def _caption(run: TimedRun | CountedRun | EmbeddedRun, vary_n: bool, vary_block: bool) -> str:
    shape = []
    if not vary_n:
        shape.append(f"n{units.NO_BREAK}={units.NO_BREAK}{units.size(run['n'])}")
    if not vary_block:
        shape.append(_("{block} threads per block").format(block=run["block"]))
    return ", ".join(shape)


def _command(found: RecordedRun[CountedRun], metrics: list[str]) -> str:
    """The command that counted, asking for these metrics and this variant alone: a table shows a
    few metrics, and one run counts a chapter's variants one after the other."""
    command = re.sub(r"--metrics \S+", f"--metrics {','.join(metrics)}", found.run["command"])
    return re.sub(r"--variant \w+( \w+)*", f"--variant {found.run['variant']}", command)


class Counters(LookupDirective):
    """``.. counters:: CHAPTER`` with ``:variants:``, ``:n:``, ``:block:``, ``:metrics:``.

    One row per metric, one column per variant; beneath a metric that the embedded device counts
    too, its count and the difference. Then the commands that count them, to copy. With
    ``:on: embedded`` that device's counts alone.
    """

    option_spec: ClassVar = {
        "variants": words,
        "n": whole,
        "block": whole,
        "metrics": words,
        "on": lambda text: directives.choice(text, (EMBEDDED,)),
    }

    def show(self, book: Book) -> list[nodes.Node]:
        (chapter,) = self.words("CHAPTER")
        variants = self.options.get("variants") or book.variants(chapter)
        if "on" in self.options:
            return self._on_embedded(book, chapter, variants)
        founds: list[RecordedRun[CountedRun]] = []
        for variant in variants:
            name = RunName(chapter, variant, self.options.get("n"), self.options.get("block"))
            both = book.counters(name)
            founds += _told_apart(both, self.options.get("metrics"))
        metrics = self.options.get("metrics") or [
            alias
            for alias, metric in NCU.items()
            if all(metric in launch["metrics"] for f in founds for launch in f.run["launches"])
        ]
        by_device = book.has_local()
        columns = [Column(_("counter"))]
        for found in founds:
            heading: list[nodes.Node] = [nodes.Text(found.run["variant"])]
            heading += [nodes.Text(f" ({_device_of(found)})")] if by_device else []
            heading += [dagger()] if is_stale(found) else []
            columns.append(Column(heading, True))
        pairs = [compared.pair(book, found) for found in founds]
        own = any(embedded and book.is_own(embedded) for _hardware, embedded in pairs)
        ours = _("embedded device, your build") if own else _("embedded device")
        kinds: list[str] = []
        reasons: list[Reason] = []
        rows: list[list[Cell]] = []
        for metric in metrics:
            unit = stall_unit(metric)
            row: list[Cell] = [metric.replace("_", " ").removesuffix(" pct") + unit]
            row += [counter_cell(metric, counter_of(found, metric)) for found in founds]
            rows.append(row)
            kinds.append("")
            if beneath := compared.row(metric, pairs):
                rows.append([[nodes.Text(ours)], *beneath[0]])
                kinds.append("embedded")
                reasons += beneath[1]
        caption = _caption(founds[0].run, False, False)
        made = table(columns, rows, "counters", caption=caption, row_classes=kinds)
        names = [ncu_name(metric) for metric in metrics]
        command = _command(founds[-1], names)
        on_hardware = block(f"$ {command}", "printed", [nodes.Text(_("With a GPU"))], "command")
        embedded = pairs[-1][1]
        if "embedded" in kinds and embedded:
            command = str(embedded.run["command"])
            without = [block(f"$ {command}", "printed", [nodes.Text(_("Without"))], "command")]
        else:
            without = []
        why = compared.reasons_list(reasons)
        to_copy = fold(_("To count for yourself"), [on_hardware, *without], "data")
        return [made, *why, _recorded_on(founds), self._names(metrics), to_copy]

    def _on_embedded(self, book: Book, chapter: str, variants: list[str]) -> list[nodes.Node]:
        size = self.options.get("n"), self.options.get("block")
        founds = [book.counters_on_embedded(RunName(chapter, name, *size)) for name in variants]
        metrics = self.options.get("metrics") or _EXACT
        columns = [Column(_("counter")), *(Column(found.run["variant"], True) for found in founds)]
        rows: list[list[Cell]] = [
            [
                metric.replace("_", " "),
                *(counter_text(metric, counter_of(found, metric)) for found in founds),
            ]
            for metric in metrics
        ]
        made = table(columns, rows, "counters", caption=_caption(founds[0].run, False, False))
        label = nodes.Text(_("To count for yourself without a GPU"))
        command = block(f"$ {founds[-1].run['command']}", "printed", [label], "command")
        return [made, _recorded_on(founds), self._names(metrics), command]

    def _names(self, metrics: list[str]) -> nodes.Node:
        rows: list[list[Cell]] = [
            [
                metric.replace("_", " ").removesuffix(" pct"),
                [nodes.literal("", ncu_name(metric))],
            ]
            for metric in metrics
        ]
        return fold(
            _("NVIDIA\u2019s names of these counters"),
            [table([Column(_("counter")), Column(_("metric"))], rows)],
            "data",
        )


def _told_apart(both: Both[CountedRun], metrics: list[str] | None) -> list[RecordedRun[CountedRun]]:
    """The reader's counts and ours, or the reader's alone where the two are equal."""
    founds = [one for one in (both.local, both.reference) if one]
    if len(founds) < 2:
        return founds
    try:
        texts = [
            [counter_text(metric, counter_of(one, metric)) for metric in metrics or NCU]
            for one in founds
        ]
    except NoSuchRun:
        return founds
    return founds[:1] if texts[0] == texts[1] else founds


class Sanitizer(LookupDirective):
    """``.. sanitizer:: CHAPTER VARIANT...``: what compute-sanitizer said, and the commands."""

    def show(self, book: Book) -> list[nodes.Node]:
        chapter, *variants = self.arguments[0].split()
        if not variants:
            raise BadName(f"'{self.arguments[0]}' should read CHAPTER VARIANT...")
        founds = [found for variant in variants for found in book.sanitizer(chapter, variant)]
        rows: list[list[Cell]] = []
        for found in founds:
            run = found.run
            if run["findings"] is None:
                # 3: the program's own word for a CUDA error.
                finding = _("the kernel was stopped") if run["exit"] == 3 else _("not run")
            else:
                finding = units.count(run["findings"]) if run["findings"] else _("nothing")
                if run["exit"] == 1:  # the program's own check
                    finding = _("{findings}, and a wrong result").format(findings=finding)
            rows.append([[nodes.literal("", run["variant"])], run["tool"], finding])
        columns = [Column(_("variant")), Column(_("tool")), Column(_("findings"))]
        made: list[nodes.Node] = [table(columns, rows, "sanitizer"), _recorded_on(founds)]
        # A kernel that is stopped ends alike under every tool: what is the same is shown once.
        alike: dict[tuple[str, ...], list[CheckedRun]] = {}
        for found in founds:
            if found.run["messages"]:
                key = (found.run["variant"], *found.run["messages"])
                alike.setdefault(key, []).append(found.run)
        for (variant, *messages), runs in alike.items():
            text = "\n".join([f"$ {runs[0]['command']}", *messages])
            label = _("What {tool} says of {variant}").format(tool=runs[0]["tool"], variant=variant)
            if runs[1:]:
                others = ", ".join(run["tool"] for run in runs[1:])
                label += _(" (the same from {others})").format(others=others)
            made.append(printed(text, label))
        return made


def setup(app: Sphinx) -> None:
    app.add_directive("numbers", Numbers)
    app.add_directive("counters", Counters)
    app.add_directive("sanitizer", Sanitizer)
