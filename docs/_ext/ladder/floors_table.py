"""What a kernel cannot be faster than: floors beneath a recorded time, and bytes in flight.

By Little's law, memory of bandwidth B and latency L is kept busy by B x L bytes in flight.
"""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx

from common.records.floors import EMPTY_BLOCKS, Floors, floors
from common.records.rates import issue_rate, schedulers
from common.records.recordings import RecordedRun, Run
from common.records.schema import CountedRun
from common.records.verdict import timed

from . import units
from .book import Book, Both, Lost
from .directive import LookupDirective
from .folded import fold
from .names import BadName, RunName, whole
from .numbers import RecordedRole
from .provenance import short_device
from .strings import _
from .table import Cell, Column, table
from .tables import sizes, words

#: One load after the other: the latency of memory.
CHASE = ("chapter00_timing", "pointer_chase")


def _side(both: Both[Run], kind: str) -> RecordedRun[Run] | None:
    return both.local if kind == "local" else both.reference


class FloorsTable(LookupDirective):
    """``.. floors:: CHAPTER`` with ``:variants:``, ``:n:`` and ``:block:`` (one size of each).

    One row per variant: the three floors, the greatest in bold, and the time that was measured.
    """

    option_spec: ClassVar = {"variants": words, "n": whole, "block": sizes}

    def show(self, book: Book) -> list[nodes.Node]:
        (chapter,) = self.words("CHAPTER")
        variants = self.options.get("variants") or book.variants(chapter)
        n, blocks = self.options.get("n"), self.options.get("block", [None])
        by_device = book.has_local()
        rows: list[list[Cell]] = []
        shown: list[RecordedRun] = []
        empties: dict[str, list[RecordedRun]] = {}
        for block in blocks:
            chapter00, variant00, n00 = EMPTY_BLOCKS
            empty = book.run(RunName(chapter00, variant00, n00, block))
            for variant in variants:
                name = RunName(chapter, variant, n, block)
                run, counted = book.run(name), self._counted(book, name)
                for kind in ("local", "reference"):
                    found = _side(run, kind)
                    if not found:
                        continue
                    starting = _side(empty, kind)
                    if starting:
                        empties.setdefault(kind, []).append(starting)
                    counts = _side(counted, kind)
                    made = floors(
                        found.run,
                        found.provenance.gpu,
                        counts.run if counts else None,
                        starting.run["median_us"] / starting.run["grid"] if starting else None,
                    )
                    row: list[Cell] = [[nodes.literal("", variant)]]
                    row += [short_device(found.device_name)] if by_device else []
                    row += [str(found.run["block"])] if len(blocks) > 1 else []
                    rows.append(row + self._cells(made, found))
                    shown.append(found)
        columns = [Column(_("variant"))]
        columns += [Column(_("device"))] if by_device else []
        columns += [Column(_("threads per block"), True)] if len(blocks) > 1 else []
        columns += [
            Column(_("issue, µs"), True),
            Column(_("block starts, µs"), True),
            Column(_("bytes, µs"), True),
            Column(_("measured, µs"), True),
            Column(_("highest floor, %"), True),
        ]
        first = shown[0].run
        caption = f"n{units.NO_BREAK}={units.NO_BREAK}{units.size(first['n'])}"
        if len(blocks) == 1:
            caption += ", " + _("{block} threads per block").format(block=first["block"])
        places = "; ".join(dict.fromkeys(found.provenance.text for found in shown))
        origin = nodes.paragraph("", _("Recorded on {origin}").format(origin=places))
        origin["classes"].append("origin")
        made_table = table(columns, rows, "floors", caption=caption)
        return [made_table, origin, self._formulas(shown, empties)]

    @staticmethod
    def _counted(book: Book, name: RunName) -> Both[CountedRun]:
        """Counted at the size itself, or else at the book's usual one; for each set by itself."""
        usual = book.counters(name.at(None, name.block))
        try:
            here = book.counters(name)
        except Lost:
            return usual
        return Both(here.reference or usual.reference, here.local or usual.local)

    @staticmethod
    def _cells(made: Floors, found: RecordedRun) -> list[Cell]:
        cells: list[Cell] = []
        for floor in (made.issue, made.starts, made.move):
            text = units.DASH if floor is None else units.digits(floor)
            cells.append([nodes.strong("", text)] if floor == made.highest else text)
        measured = found.run["median_us"]
        cells.append(units.steady(*timed(found.repeats).medians_us))
        cells.append(units.digits(100 * made.highest / measured, places=2))
        return cells

    @staticmethod
    def _formulas(shown: list[RecordedRun], empties: dict[str, list[RecordedRun]]) -> nodes.Node:
        items = nodes.bullet_list()
        share = _("The last column is the highest floor over the measured time.")
        items += nodes.list_item("", nodes.paragraph("", share))
        for found in {found.set_name: found for found in shown}.values():
            device = found.provenance.gpu
            name = short_device(found.device_name)
            starting = empties.get("local" if found.is_local else "reference", [])
            rates = dict.fromkeys(
                _("{rate} blocks per nanosecond at {block} threads").format(
                    rate=units.digits(one.run["grid"] / one.run["median_us"] / 1e3),
                    block=one.run["block"],
                )
                for one in starting
            )
            lines = [
                _(
                    "{device}, issue: warp instructions over {sms} SMs × {schedulers} schedulers "
                    "× {clock} MHz, {rate} instructions per nanosecond."
                ).format(
                    device=name,
                    sms=device["sm_count"],
                    schedulers=schedulers(device["compute_capability"]),
                    clock=f"{device['sm_clock_khz'] / 1000:.0f}",
                    rate=units.digits(issue_rate(device) / 1e9),
                ),
                _(
                    "{device}, block starts: blocks over {rates}, measured with empty blocks."
                ).format(device=name, rates=", ".join(rates))
                if rates
                else _("{device}, block starts: not measured.").format(device=name),
                _("{device}, bytes: useful bytes over the theoretical peak, {peak}.").format(
                    device=name, peak=units.rate(device["peak_gb_per_s"])
                ),
            ]
            items += [nodes.list_item("", nodes.paragraph("", line)) for line in lines]
        note = _(
            "Where we counted at another n, we multiply one block\u2019s instructions by the "
            "number of blocks. A dash means that a block\u2019s work differs between the two sizes."
        )
        items += nodes.list_item("", nodes.paragraph("", note))
        return fold(_("How the floors are computed"), [items], "data")


class InFlight(RecordedRole):
    """``:in-flight:`device``` or ``sm``: bytes in flight that keep the memory at its peak."""

    def find(self, book: Book) -> list[nodes.Node]:
        if self.text not in ("device", "sm"):
            raise BadName(f"'{self.text}' should read device or sm")
        both = book.run(RunName(*CHASE))

        def written(found: RecordedRun) -> str:
            device = found.provenance.gpu
            # GB/s are 1000 bytes per microsecond.
            needed = 1000 * device["peak_gb_per_s"] * found.value("latency")
            return units.decimal_bytes(
                needed if self.text == "device" else needed / device["sm_count"]
            )

        what = _("theoretical peak × latency")
        if self.text == "sm":
            what = _("theoretical peak × latency / SMs")
        return self.show(both, book, what, written)


def setup(app: Sphinx) -> None:
    app.add_directive("floors", FloorsTable)
    app.add_role("in-flight", InFlight())
