"""Sectors per request and bandwidth, over strides, offsets and widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from common.records.recordings import Counted, RecordedRun, counter_of
from common.records.sets import NoSuchRun
from figures.kit import patterns, style
from figures.kit.axes import bar_chart, explain_marks, heading, sizes_axis
from figures.kit.pictures import (
    Picture,
    Table,
    View,
    leaders,
    leaders_text,
    name_of,
    rate_of,
    run_columns,
    run_row,
)
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import card, listed, rate_text, significant, size, times_text

NAME = "chapter10_coalescing"


def _swept(view: View, region: str, param: str) -> dict[int, RecordedRun]:
    """One kernel's runs at the large size, by the value of what is swept."""
    n = view.large_n(NAME)
    found_of = {
        int(run["params"][param]): view.find(NAME, run["variant"], n)
        for run in view.runs(NAME)
        if run["region"] == region
    }
    if len(found_of) < 3:
        raise NoSuchRun(f"{region} is recorded at {len(found_of)} values in {view.known.name}")
    return dict(sorted(found_of.items()))


def _counted(view: View, sweep: dict[int, RecordedRun]) -> tuple[Sequence[Counted], str]:
    """The counters of these variants, and who counted: the hardware, or where that is not recorded
    the embedded device."""
    names = [name_of(found) for found in sweep.values()]
    try:
        return [view.counters(NAME, name) for name in names], "the hardware"
    except NoSuchRun:
        pass
    runs = [view.find(NAME, name).run for name in names]
    return [view.recordings.embedded(run, NAME) for run in runs], "the embedded device"


def _sectors_a_request(found: Counted, kind: str) -> float:
    """As counted."""
    sectors = counter_of(found, f"global_{kind}_sectors")
    return sectors / counter_of(found, f"global_{kind}_requests")


def _law(stride: int, offset: int) -> int:
    """Sectors of a full warp whose lanes load ints so far apart, from so far on."""
    touched = (offset + lane * stride for lane in range(patterns.WARP))
    return len({place * patterns.INT_BYTES // patterns.SECTOR_BYTES for place in touched})


def _agree(counted: Sequence[float], derived: Sequence[int]) -> str:
    same = all(abs(got - want) < 0.005 for got, want in zip(counted, derived, strict=True))
    return "as derived" if same else "other than derived"


def strides(view: View) -> Picture:
    """Sectors per request, and bandwidth, against the stride of a load and of a store."""
    loads = _swept(view, "load-stride", "stride")
    stores = _swept(view, "store-stride", "stride")
    n = next(iter(loads.values())).run["n"]
    counted, by = _counted(view, loads)
    per_request = [_sectors_a_request(found, "load") for found in counted]
    law = [_law(stride, 0) for stride in loads]

    def of_the_same(other: View) -> tuple[dict[int, RecordedRun], dict[int, RecordedRun]]:
        theirs = _swept(other, "load-stride", "stride"), _swept(other, "store-stride", "stride")
        if theirs[0].keys() != loads.keys():
            raise NoSuchRun(f"{other.known.name} has other strides")
        return theirs

    beside = view.beside(of_the_same)

    def draw(theme: Theme) -> Figure:
        figure, (left, right) = style.new_panels(2, shared=False)
        fine = [1 + step / 8 for step in range(8 * max(loads) - 7)]
        left.plot(fine, [min(4 * x, patterns.WARP) for x in fine], color=theme.drawn("blue"),
                  lw=1.6, zorder=2)  # fmt: skip
        left.plot(list(loads), per_request, ls="none", marker="D", color=theme.drawn("vermillion"),
                  clip_on=False, zorder=3)  # fmt: skip
        left.set_ylim(0, 36)
        explain_marks(left, theme, (("derived", "blue", 0.2), ("◆ counted", "vermillion", 0.09)))
        heading(left, "Sectors per request")
        for place, (label, sweep) in enumerate((("load", loads), ("store", stores))):
            hue = SERIES[place]
            right.plot(list(sweep), [rate_of(found) for found in sweep.values()],
                       color=theme.drawn(hue), marker=MARKERS[place], markersize=5, clip_on=False,
                       zorder=3)  # fmt: skip
            right.annotate(f"{'●■'[place]} {label}", xy=(0.98, 0.93 - 0.11 * place),
                           xycoords="axes fraction", ha="right", va="center",
                           color=theme.written(hue))  # fmt: skip
        if beside:
            other, _, theirs = beside
            for dashes, sweep in zip((":", "--"), theirs, strict=True):
                right.plot(list(sweep), [rate_of(found) for found in sweep.values()],
                           color=theme.muted, lw=1.2, ls=dashes, zorder=2)  # fmt: skip
            right.annotate(f"··· {other}", xy=(0.98, 0.71), xycoords="axes fraction",
                           ha="right", va="center", color=theme.muted)  # fmt: skip
        right.set_ylim(0, max(rate_of(found) for found in loads.values()) * 1.08)
        heading(right, f"GB/s, n = {size(n)}")
        for axes in (left, right):
            sizes_axis(axes, [x for x in loads if x & (x - 1) == 0], "stride", name=str)
            axes.grid(axis="y")
        return figure

    first, last = next(iter(loads.values())), loads[max(loads)]
    eight = loads.get(8, last)
    theirs_said, theirs_shown = "", ""
    runs: list[RecordedRun[Any]] = [*loads.values(), *stores.values(), *counted]
    rows = _stride_rows(view, loads, stores, per_request)
    if beside:
        _, their_view, (their_loads, their_stores) = beside
        start, end = their_loads[min(loads)], their_loads[8 if 8 in loads else max(loads)]
        theirs_said = (
            f" On {their_view.device_name}, drawn beside it, loads go from "
            f"{rate_text(rate_of(start))} to {rate_text(rate_of(end))} at these two strides."
        )
        theirs_shown = (
            f" The dotted and the dashed line are the loads and stores of {their_view.device_name}."
        )
        rows += _stride_rows(their_view, their_loads, their_stores, [None] * len(their_loads))
        runs += [*their_loads.values(), *their_stores.values()]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, sectors per load request, counted by {by} "
            f"{_agree(per_request, law)}: "
            f"{significant(per_request[0])} at stride 1 and {significant(per_request[-1])} at "
            f"stride {max(loads)}. Useful bandwidth at n = {size(n)} goes from "
            f"{rate_text(rate_of(first))} at stride 1 to {rate_text(rate_of(eight))} at stride "
            f"{eight.run['params']['stride']} and {rate_text(rate_of(last))} at stride "
            f"{max(loads)}; for stores it ends at {rate_text(rate_of(stores[max(stores)]))}."
            f"{theirs_said}"
        ),
        caption=(
            "Left: the sectors that a warp's load touches, against its stride, derived (line) and "
            f"counted by {by} (diamonds, n = {size(counted[0].run['n'])}). Right: useful bytes "
            f"over time, n = {size(n)}, with strided loads (dots) and strided stores (squares)."
            f"{theirs_shown}"
        ),
        table=Table(
            ["card", "kernel", "stride", "sectors derived", "sectors counted", *run_columns()[1:]],
            rows,
        ),
        runs=runs,
    )


def _stride_rows(
    view: View,
    loads: dict[int, RecordedRun],
    stores: dict[int, RecordedRun],
    per_request: Sequence[float | None],
) -> list[list[Any]]:
    """Of the loads with the sectors that were counted, where they were."""
    counts = [*per_request, *[None] * len(stores)]
    return [
        [card(view.device_name), name_of(found), stride, _law(stride, 0),
         None if count is None else round(count, 2), *run_row(found, view.device)[1:]]
        for (stride, found), count in zip([*loads.items(), *stores.items()], counts, strict=True)
    ]  # fmt: skip


def offsets(view: View) -> Picture:
    """Sectors per request, and bandwidth, against the offset at which a load begins."""
    sweep = _swept(view, "load-offset", "offset")
    founds = list(sweep.values())
    n = founds[0].run["n"]
    counted, by = _counted(view, sweep)
    per_request = [_sectors_a_request(found, "load") for found in counted]
    law = [_law(1, offset) for offset in sweep]

    def draw(theme: Theme) -> Figure:
        figure, (left, right) = style.new_panels(2, 3.6, shared=False)
        fine = list(range(max(sweep) + 1))
        left.step(fine, [_law(1, x) for x in fine], where="mid", color=theme.drawn("blue"),
                  lw=1.4, zorder=2)  # fmt: skip
        left.plot(list(sweep), per_request, ls="none", marker="D", color=theme.drawn("vermillion"),
                  clip_on=False, zorder=3)  # fmt: skip
        left.set_ylim(0, 6)
        explain_marks(left, theme, (("derived", "blue", 0.2), ("◆ counted", "vermillion", 0.08)))
        heading(left, "Sectors per request")
        rates = [rate_of(found) for found in founds]
        right.plot(list(sweep), rates, color=theme.drawn("vermillion"), marker="o", markersize=5,
                   clip_on=False, zorder=3)  # fmt: skip
        right.set_ylim(0, max(rates) * 1.15)
        heading(right, f"GB/s, n = {size(n)}")
        for axes in (left, right):
            axes.set_xlim(0, max(sweep))
            axes.set_xticks([x for x in fine if x % 8 == 0])
            axes.set_xlabel("offset")
            axes.grid(axis="y")
        return figure

    worst, best = min(founds, key=rate_of), max(founds, key=rate_of)
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, a load that begins at a multiple of 8 ints touches "
            f"{significant(per_request[0])} sectors per request, and one that begins elsewhere up "
            f"to {significant(max(per_request))}, counted by {by} {_agree(per_request, law)}. "
            f"Bandwidth at n = {size(n)} lies between {rate_text(rate_of(worst))} (offset "
            f"{worst.run['params']['offset']}) and {rate_text(rate_of(best))} (offset "
            f"{best.run['params']['offset']})."
        ),
        caption=(
            "Sectors per request and useful bandwidth against the offset of the load, in ints from "
            f"the beginning of an allocation. Counts are by {by}, at "
            f"n = {size(counted[0].run['n'])}."
        ),
        table=Table(
            ["kernel", "offset", "sectors derived", "sectors counted", *run_columns()[1:]],
            [
                [name_of(found), offset, want, round(got, 2), *run_row(found, view.device)[1:]]
                for (offset, found), want, got in zip(sweep.items(), law, per_request, strict=True)
            ],
        ),
        runs=[*founds, *counted],
    )


def widths(view: View) -> Picture:
    """A copy in words of several sizes: bandwidth, and sectors per request."""
    sweep = _swept(view, "copy-words", "width")
    founds = list(sweep.values())
    n = founds[0].run["n"]
    counted, by = _counted(view, sweep)
    per_request = [_sectors_a_request(found, "load") for found in counted]
    lead = [name_of(found) for found in leaders(founds)]

    def draw(theme: Theme) -> Figure:
        rows = [
            (
                f"{width} byte{'s'[: width != 1]}",
                rate_of(found),
                f"{rate_of(found):.0f}, {round(sectors, 1):g} per request",
                name_of(found) in lead,
            )
            for (width, found), sectors in zip(sweep.items(), per_request, strict=True)
        ]
        return bar_chart(theme, rows, "GB/s, and sectors per request, by word")

    first, best = founds[0], max(founds, key=rate_of)
    words = [
        f"{width} byte{'s'[: width != 1]} {rate_text(rate_of(found))}"
        for width, found in sweep.items()
    ]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, copying {size(n)} ints, by the bytes of a thread's word: "
            f"{listed(words)}; {leaders_text(founds)}. {name_of(best)} is "
            f"{times_text(rate_of(best) / rate_of(first))} as fast as {name_of(first)}."
        ),
        caption=(
            f"A copy of n = {size(n)} ints, {founds[0].run['block']} threads per block, one word "
            "per thread. All four move the same sectors. A wider word packs more of them into each "
            f"request (counted by {by})."
        ),
        table=Table(
            ["kernel", "bytes per word", "sectors per request", *run_columns()[1:]],
            [
                [name_of(found), width, round(sectors, 2), *run_row(found, view.device)[1:]]
                for (width, found), sectors in zip(sweep.items(), per_request, strict=True)
            ],
        ),
        runs=[*founds, *counted],
    )
