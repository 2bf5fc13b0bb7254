"""Tables in which methods stand side by side: over sizes, and in part beside in full."""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from common.records.naming import DEFAULT_N
from common.records.recordings import RecordedRun, is_faster, is_stale
from common.records.verdict import ratios, timed

from . import units
from .book import Book
from .directive import LookupDirective
from .names import BadName, RunName, whole
from .provenance import dagger, short_device
from .strings import _
from .table import Cell, Column, table
from .tables import sizes, words

#: After a time that is not less than its left neighbour's.
NO_FASTER, SLOWER = "=", "!"


def _recorded_on(founds: list[RecordedRun]) -> nodes.paragraph:
    places = "; ".join(dict.fromkeys(found.provenance.text for found in founds))
    return nodes.paragraph("", _("Recorded on {origin}").format(origin=places), classes=["origin"])


def _one_device(book: Book, names: list[RunName]) -> list[RecordedRun]:
    """The reader's own runs where they are all there, else the reference's."""
    both = [book.run(name) for name in names]
    local = [one.local for one in both if one.local]
    if len(local) == len(both):
        return local
    return [one.reference or one.first for one in both]


def _us(found: RecordedRun) -> str:
    return units.steady(*timed(found.repeats).medians_us)


def _rate(found: RecordedRun) -> str:
    return units.steady(*(run["gb_per_s"] for run in found.repeats))


def mark(found: RecordedRun, left: RecordedRun | None) -> str:
    """What is said of a time beside that of the method to its left."""
    if left is None or is_faster(found, left):
        return ""
    return SLOWER if is_faster(left, found) else NO_FASTER


class Matrix(LookupDirective):
    """``.. matrix:: CHAPTER`` with ``:variants:``, ``:n:`` and ``:block:``, several of one of them.

    A row per shape, a column per variant: medians in microseconds. One that is not faster than its
    left neighbour is marked.
    """

    option_spec: ClassVar = {
        "variants": words,
        "n": sizes,
        "block": sizes,
    }

    def show(self, book: Book) -> list[nodes.Node]:
        (chapter,) = self.words("CHAPTER")
        variants = self.options.get("variants") or book.variants(chapter)
        blocks = self.options.get("block") or [None]
        all_n = self.options.get("n") or [DEFAULT_N]
        if len(blocks) > 1 and len(all_n) > 1:
            raise BadName("several sizes or several blocks, not both")
        shapes = [(n, block) for n in all_n for block in blocks]
        names = [RunName(chapter, variant, *shape) for shape in shapes for variant in variants]
        founds = _one_device(book, names)
        by_block = len(blocks) > 1
        columns = [Column(_("threads per block") if by_block else _("n"), by_block)]
        for place, variant in enumerate(variants):
            stale = any(map(is_stale, founds[place :: len(variants)]))
            heading: list[nodes.Node] = [nodes.Text(variant)]
            columns.append(Column([*heading, dagger()] if stale else heading, True))
        rows: list[list[Cell]] = []
        used: set[str] = set()
        for number, (n, block) in enumerate(shapes):
            here = founds[number * len(variants) : (number + 1) * len(variants)]
            row: list[Cell] = [str(block) if by_block else units.size(n)]
            for left, found in zip([None, *here], here, strict=False):
                said = mark(found, left)
                used.add(said)
                text: list[nodes.Node] = [nodes.Text(_us(found))]
                row.append([*text, nodes.superscript("", said)] if said else text)
            rows.append(row)
        run = founds[0].run
        shape = (
            f"n = {units.size(run['n'])}"
            if by_block
            else _("{block} threads per block").format(block=run["block"])
        )
        caption = _("Median times in µs, {shape}, on {device}").format(
            shape=shape, device=short_device(founds[0].device_name)
        )
        legend = {
            NO_FASTER: _("not faster than the method to its left"),
            SLOWER: _("slower than it"),
        }
        why = "; ".join(f"{sign} {text}" for sign, text in legend.items() if sign in used)
        under = [nodes.paragraph("", f"{why}.", classes=["origin"])] if why else []
        return [table(columns, rows, caption=caption), *under, _recorded_on(founds)]


class Finished(LookupDirective):
    """``.. finished:: CHAPTER`` with ``:partial:``, ``:finished:``, ``:library:`` and the shape.

    A row per method: its kernel alone, its finished sum, and what that is of the library's time.
    The library stands in the last row, with no part of its own.
    """

    option_spec: ClassVar = {
        "partial": words,
        "finished": words,
        "library": directives.unchanged_required,
        "n": whole,
        "block": whole,
    }

    def show(self, book: Book) -> list[nodes.Node]:
        (chapter,) = self.words("CHAPTER")
        try:
            parts, wholes = self.options["partial"], self.options["finished"]
            library = self.options["library"]
        except KeyError as missing:
            raise BadName(f"option {missing} is needed") from None
        if len(parts) != len(wholes):
            raise BadName(f"{len(parts)} parts beside {len(wholes)} finished sums")
        n, block = self.options.get("n"), self.options.get("block")
        names = [RunName(chapter, variant, n, block) for variant in [*parts, *wholes, library]]
        founds = _one_device(book, names)
        last = founds[-1]

        def against(found: RecordedRun) -> str:
            return units.steady(*ratios(last.repeats, found.repeats)) + units.TIMES

        rows: list[list[Cell]] = []
        for part, finished in zip(founds, founds[len(parts) : -1], strict=False):
            label: list[nodes.Node] = [nodes.literal("", part.run["variant"])]
            label += [dagger()] if is_stale(part) or is_stale(finished) else []
            rows.append(
                [
                    label,
                    units.count(part.run["grid"]),
                    _us(part),
                    _us(finished),
                    _rate(finished),
                    against(finished),
                ]
            )
        name: list[nodes.Node] = [nodes.literal("", last.run["variant"])]
        bare = units.DASH
        rows.append([name, bare, bare, _us(last), _rate(last), against(last)])
        columns = [
            Column(_("method")),
            Column(_("partial sums"), True),
            Column(_("partial, µs"), True),
            Column(_("finished, µs"), True),
            Column(_("finished, GB/s"), True),
            Column(_("of {library}\u2019s time").format(library=library), True),
        ]
        caption = _("n = {n}, {block} threads per block, on {device}").format(
            n=units.size(last.run["n"]),
            block=founds[0].run["block"],
            device=short_device(last.device_name),
        )
        return [table(columns, rows, caption=caption), _recorded_on(founds)]


def setup(app: Sphinx) -> None:
    app.add_directive("matrix", Matrix)
    app.add_directive("finished", Finished)
