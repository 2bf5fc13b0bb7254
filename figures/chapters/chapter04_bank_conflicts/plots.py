"""Chapter 4's times, above what their passes through shared memory take."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from common.records.recordings import RecordedRun, counter_of
from common.records.schema import CountedRun
from common.records.sets import NoSuchRun
from figures.chapters.chapter04_bank_conflicts.kernels import WALK_ROUNDS
from figures.kit import style
from figures.kit.axes import bar_chart, explain_marks, heading, letters_for_a_box
from figures.kit.pictures import (
    Picture,
    Table,
    View,
    leaders,
    leaders_text,
    name_of,
    rate_of,
    time_of,
)
from figures.kit.style import Theme
from figures.kit.words import size, time_text, times_text

NAME = "chapter04_bank_conflicts"
#: Rows, and threads per block, of the matrix products.
PRODUCT = (2048, 1024)


def _passes(counted: RecordedRun[CountedRun], found: RecordedRun) -> float:
    """Passes through shared memory of a run, counted at its size or in blocks that do as much."""
    total = sum(counter_of(counted, f"shared_{kind}_wavefronts") for kind in ("load", "store"))
    if counted.run["n"] == found.run["n"]:
        return total
    grid = math.prod(counted.run["launches"][0]["grid"])
    if counted.run["n"] * found.run["grid"] != found.run["n"] * grid:
        raise NoSuchRun(f"the passes of {name_of(found)} are counted at no size of use here")
    return total / grid * int(found.run["grid"])


def _pass_floor(view: View, passes: float) -> float:
    """Microseconds that so many passes take at least: an SM makes one per cycle."""
    return passes / float(view.device["sm_count"] * view.device["sm_clock_khz"] / 1000)


def stride_sweep(view: View) -> Picture:
    """Time of a walk through shared memory against the distance between neighbouring lanes."""
    runs = [run for run in view.runs(NAME) if "stride" in run["params"]]
    if len(runs) < 3:
        raise NoSuchRun(f"{NAME}'s strides are not recorded in {view.known.name}")
    found_of = {
        int(run["params"]["stride"]): view.find(NAME, run["variant"], run["n"], run["block"])
        for run in runs
    }
    strides = sorted(found_of)
    founds = [found_of[stride] for stride in strides]
    n = founds[0].run["n"]
    counted = [view.counters(NAME, name_of(found)) for found in founds]
    floors = [
        _pass_floor(view, _passes(count, found))
        for count, found in zip(counted, founds, strict=True)
    ]
    requests = [
        counter_of(count, "shared_load_wavefronts") - counter_of(count, "shared_load_conflicts")
        for count in counted
    ]
    ways = [
        counter_of(count, "shared_load_wavefronts") / request
        for count, request in zip(counted, requests, strict=True)
    ]
    first, last = found_of[strides[0]], max(founds, key=time_of)
    worst = next(stride for stride, found in found_of.items() if found is last)

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        times = [time_of(found) for found in founds]
        milli = max(times) >= 1000
        unit = 1000 if milli else 1
        axes.set_yscale("log", base=2)
        axes.vlines(strides, min(floors) / unit / 1.4, [f / unit for f in floors], lw=6,
                    color=theme.drawn("sky"), zorder=2)  # fmt: skip
        axes.plot(strides, [time / unit for time in times], ls="none", marker="D", zorder=4,
                  color=theme.drawn("vermillion"), mec=theme.background, mew=0.8)  # fmt: skip
        axes.set_ylim(min(floors) / unit / 1.4, max(times) / unit * 2.2)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(lambda value, _place: f"{value:g}")
        axes.set_xlim(0, strides[-1] + 1)
        axes.set_xticks([stride for stride in strides if stride == 1 or stride % 8 == 0])
        axes.set_xlabel("stride, words between neighbouring lanes")
        axes.grid(axis="y")
        explain_marks(
            axes,
            theme,
            (
                ("◆ measured", "vermillion", 0.97),
                ("▮ its passes, one per cycle", "sky", 0.89),
            ),
            side="left",
        )
        heading(axes, f"Time, {'ms' if milli else 'µs'}, n = {size(n)}")
        letters_for_a_box(axes)
        return figure

    most = max(
        found_of[stride].run["median_us"] / floor
        for stride, floor in zip(strides, floors, strict=True)
    )
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, time of a walk through shared memory by {size(n)} threads, by "
            f"stride. Stride {strides[0]} takes {time_text(time_of(first))}, and the odd strides "
            f"are within {_spread_pct([found_of[s] for s in strides if s % 2])} % of each other. "
            f"Stride {worst} takes longest, {time_text(time_of(last))}: "
            f"{times_text(time_of(last) / time_of(first))} as long for {times_text(max(ways))} the "
            f"passes. No stride takes more than {times_text(most)} what its passes need at one per "
            "cycle per SM."
        ),
        caption=(
            f"{size(n)} threads make {WALK_ROUNDS} loads each from shared memory. Bars: the time "
            "that the counted passes need, at one per cycle per SM. Diamonds: the time measured."
        ),
        table=Table(
            ["stride", "passes per load, counted", "floor µs", "median µs", "times stride 1"],
            [
                [
                    stride,
                    round(way, 3),
                    round(floor, 1),
                    time_of(found),
                    round(time_of(found) / time_of(first), 2),
                ]
                for stride, way, floor, found in zip(strides, ways, floors, founds, strict=True)
            ],
        ),
        runs=[*founds, *counted],
    )


def _spread_pct(founds: Sequence[RecordedRun]) -> str:
    """By how many per cent the slowest of these takes longer than the fastest, rounded up."""
    times = [time_of(found) for found in founds]
    return str(math.ceil(100 * (max(times) / min(times) - 1)))


def tile_times(view: View) -> Picture:
    """Time of a matrix times its transpose, layout by layout, above what the passes take."""
    n = 2048
    names = [
        run["variant"]
        for run in view.runs(NAME)
        if run["variant"].startswith("tile") and run["n"] == n
    ]
    if len(names) < 2:
        raise NoSuchRun(f"{NAME}'s tiles are not recorded in {view.known.name}")
    founds = [view.find(NAME, name, n) for name in names]
    counted = [view.counters(NAME, name, n) for name in names]
    floors = [
        _pass_floor(view, _passes(count, found))
        for count, found in zip(counted, founds, strict=True)
    ]
    lead = [name_of(found) for found in leaders(founds)]
    slowest, fastest = max(founds, key=time_of), min(founds, key=time_of)

    def draw(theme: Theme) -> Figure:
        rows = [
            (
                name_of(found).replace("_as_written", ",\nas written"),
                time_of(found),
                time_text(time_of(found)),
                name_of(found) in lead,
            )
            for found in founds
        ]
        return bar_chart(theme, rows, f"Time for {n} rows: less is better", floors,
                         "◇ its passes, one per cycle per SM")  # fmt: skip

    flop = 2 * n**3
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, C = A · Aᵀ of {n} rows: {leaders_text(founds)} of "
            f"{len(founds)} forms, with {time_text(time_of(fastest))}; {name_of(slowest)} takes "
            f"{time_text(time_of(slowest))}, {times_text(time_of(slowest) / time_of(fastest))} as "
            "long. Their passes through shared memory alone need "
            f"{time_text(min(floors))} to {time_text(max(floors))}."
        ),
        caption=(
            f"C = A · Aᵀ for {n} rows of {n} numbers, in tiles of 32×32. Diamonds: the passes that "
            "the hardware counted, at one per cycle per SM."
        ),
        table=Table(
            ["kernel", "passes", "conflicts", "floor µs", "median µs", "GFLOP/s", "useful GB/s"],
            [
                [
                    name_of(found),
                    int(_passes(count, found)),
                    int(counter_of(count, "shared_load_conflicts")),
                    round(floor, 1),
                    time_of(found),
                    round(flop / time_of(found) / 1e3, 0),
                    round(rate_of(found), 1),
                ]
                for found, count, floor in zip(founds, counted, floors, strict=True)
            ],
        ),
        runs=[*founds, *counted],
    )
