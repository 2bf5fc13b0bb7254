"""Chapter 12: which threads take a row, and what a softmax costs beside a copy."""

from __future__ import annotations

import math
from functools import partial as bind

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from figures.kit import style
from figures.kit.axes import draw_curves, heading, label_ends, sizes_axis
from figures.kit.chapter import Chapter
from figures.kit.pictures import MissingData, Picture, Table, View, rate_of, time_of
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import listed, power, short_size, significant
from figures.records.libraries import Table as Asked
from figures.records.libraries import recorded
from figures.records.recordings import RecordedRun

NAME = "chapter12_rows"

#: As the program has them.
COLUMNS = (4, 16, 32, 256, 1024, 4096, 8192, 32768, 50257, 131072, 2**20)
SIZES = (2**20, 2**24, 2**28)
#: Who takes a row, from few threads to many.
METHODS = ("thread", "lanes", "block", "blocks")


def runs_of(view: View, method: str, n: int) -> dict[int, RecordedRun]:
    """The runs of a method, by the rows' length; lengths that it doesn't take are left out."""
    found = {}
    for columns in COLUMNS:
        try:
            found[columns] = view.find(NAME, f"{method}_{columns}", n)
        except MissingData:
            continue
    if not found:
        raise MissingData(f"{NAME} has no runs of {method} at n = {n}")
    return found


def length_text(columns: int) -> str:
    return short_size(columns) if columns >= 1024 else str(columns)


def map_of_rows(view: View) -> Picture:
    """Rows against their length: which method is fastest there, and at which share of the peak."""
    found = {
        (method, n): runs_of(view, f"sum_{method}", n) for method in METHODS for n in SIZES
    }  # fmt: skip
    best: dict[tuple[int, int], tuple[str, RecordedRun]] = {}
    for (method, n), runs in found.items():
        for columns, run in runs.items():
            there = best.get((n, columns))
            if there is None or time_of(run) < time_of(there[1]):
                best[n, columns] = (method, run)
    peak = view.device["peak_gb_per_s"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        for n in SIZES:
            line = [(columns, n // columns) for columns in COLUMNS if n >= columns]
            axes.plot(*zip(*line, strict=True), color=theme.grid, lw=1.2, zorder=1)
            axes.annotate(f"n = {power(2, int(math.log2(n)))}", xy=line[-1], xytext=(12, 0),
                          textcoords="offset points", va="center", color=theme.muted,
                          annotation_clip=False)  # fmt: skip
        for place, method in enumerate(METHODS):
            hue = SERIES[place]
            points = [(c, n // c) for (n, c), (who, _run) in best.items() if who == method]
            if not points:
                continue
            axes.plot(*zip(*points, strict=True), ls="none", marker=MARKERS[place], markersize=8,
                      color=theme.drawn(hue), zorder=3, clip_on=False)  # fmt: skip
        for (n, columns), (_method, run) in best.items():
            below = columns == 50257  # its neighbour is near
            axes.annotate(f"{100 * rate_of(run) / peak:.0f}", xy=(columns, n // columns),
                          xytext=(0, -7 if below else 7), textcoords="offset points",
                          ha="center", va="top" if below else "bottom",
                          color=theme.muted, zorder=4,
                          annotation_clip=False)  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        named = (4, 32, 256, 1024, 8192, 50257, 2**20)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xticks(named, [length_text(one) if one != 50257 else "50 257" for one in named])
        heights = (1, 2**4, 2**8, 2**12, 2**16, 2**20, 2**24)
        axes.set_yticks(heights, [short_size(one) for one in heights])
        axes.set_xlabel("columns, the length of a row")
        heading(axes, "rows")
        for place, method in enumerate(METHODS):
            axes.annotate(
                method, xy=(0.22 + 0.21 * place, 1.06), xycoords="axes fraction", va="bottom",
                color=theme.written(SERIES[place]), weight="bold",
            )  # fmt: skip
            axes.plot([0.2 + 0.21 * place], [1.085], marker=MARKERS[place], markersize=8,
                      color=theme.drawn(SERIES[place]), transform=axes.transAxes,
                      clip_on=False)  # fmt: skip
        return figure

    spans = []
    for method in METHODS:
        lengths = [c for (_n, c), (who, _run) in best.items() if who == method]
        if lengths:
            spans.append(
                f"{method} at {length_text(min(lengths))} to {length_text(max(lengths))} columns"
            )
    low = 100 * min(rate_of(run) for _who, run in best.values() if True) / peak
    high = 100 * max(rate_of(run) for _who, run in best.values()) / peak
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, tables of {listed([short_size(n) for n in SIZES])} elements, "
            f"by rows and columns. The fastest sum along the rows is: {'; '.join(spans)}. It "
            f"reaches {low:.0f} to {high:.0f} % of the memory's peak."
        ),
        caption=(
            "Each mark is a table, and its shape says which threads add up rows fastest there: one "
            "thread, a team of lanes, a block or several blocks. The number is the share of the "
            "memory's peak, in per cent. Grey lines join tables of one size: short rows are many, "
            "and long ones few."
        ),
        table=Table(
            ["n", "columns", "rows", "fastest", "µs", "% of peak"],
            [
                [short_size(n), columns, n // columns, who, significant(time_of(run)),
                 f"{100 * rate_of(run) / peak:.0f}"]
                for (n, columns), (who, run) in sorted(best.items())
            ],
        ),
        runs=[run for _who, run in best.values()],
    )  # fmt: skip


SOFTMAX = ("lanes", "block", "online", "blocks")


def softmax_over_columns(view: View, n: int) -> Picture:
    """A softmax's time over the length of rows, beside a copy's."""
    found = {method: runs_of(view, f"softmax_{method}", n) for method in SOFTMAX}
    copy = view.find(NAME, "copy_rows_32", n)
    known = recorded(view.recordings.root, NAME, view.known.name)
    theirs = {
        columns: known[asked]
        for columns in COLUMNS
        if (asked := Asked("torch", "softmax", n // columns, columns)) in known
    }

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.0)
        if theirs:
            axes.plot(list(theirs), list(theirs.values()), color=theme.muted, lw=1.2, marker=".",
                      zorder=2)  # fmt: skip
            worst = max(theirs, key=lambda columns: theirs[columns])
            axes.annotate("PyTorch", xy=(worst, theirs[worst]), xytext=(0, 6), ha="center",
                          textcoords="offset points", color=theme.muted)  # fmt: skip
        ends = draw_curves(axes, theme, [
            (method, [(columns, time_of(run)) for columns, run in runs.items()])
            for method, runs in found.items()
        ])  # fmt: skip
        axes.axhline(time_of(copy), color=theme.muted, lw=1.2, ls=(0, (4, 3)), zorder=1)
        axes.annotate("a plain copy", xy=(COLUMNS[0], time_of(copy)), xytext=(4, 6),
                      textcoords="offset points", color=theme.muted)  # fmt: skip
        named = [4, 32, 256, 1024, 8192, 50257, 2**20]
        sizes_axis(axes, named, "columns, the length of a row",
                   name=lambda one: "50 257" if one == 50257 else length_text(one))  # fmt: skip
        ours = [time_of(run) for runs in found.values() for run in runs.values()]
        axes.set_ylim(0, 1.1 * max(*ours, *theirs.values()))
        heading(axes, "µs")
        label_ends(axes, theme, ends)
        return figure

    near = [
        f"{length_text(columns)} ({method})"
        for method in ("lanes", "block")
        for columns, run in found[method].items()
        if time_of(run) <= 1.02 * time_of(copy)
    ]
    slow = max(time_of(run) for run in found["online"].values())
    fastest = {
        columns: min(time_of(runs[columns]) for runs in found.values() if columns in runs)
        for columns in theirs
    }
    times = [us / fastest[columns] for columns, us in theirs.items()]
    beside = (
        f" PyTorch's takes {min(times):.2f} to {max(times):.2f} times as long as our fastest."
        if theirs
        else ""
    )
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, softmax along rows of n = {short_size(n)} floats by four "
            f"methods. A copy takes {significant(time_of(copy))} µs. Within 2 % of it, or faster: "
            f"{listed(near)}. Online, which reads rows twice, takes up to {significant(slow)} µs."
            + (f" PyTorch takes up to {significant(max(theirs.values()))} µs." if theirs else "")
        ),
        caption=(
            "A row of up to 32K columns fits into registers, and its softmax takes as long as a "
            "copy. Longer rows are read twice."
            + beside
        ),
        table=Table(
            ["method", "columns", "rows", "µs", "times a copy"],
            [
                [method, columns, n // columns, significant(time_of(run)),
                 f"{time_of(run) / time_of(copy):.2f}"]
                for method, runs in found.items()
                for columns, run in runs.items()
            ]
            + [
                ["PyTorch", columns, n // columns, significant(us), f"{us / time_of(copy):.2f}"]
                for columns, us in theirs.items()
            ],
        ),
        runs=[copy, *(run for runs in found.values() for run in runs.values())],
    )  # fmt: skip


SHOWN = ("sum_thread_32", "sum_lanes_32", "sum_block_4096", "softmax_block_4096")

CHAPTER = Chapter(
    NAME,
    usual=False,
    plots={
        "chapter12_map": map_of_rows,
        "chapter12_softmax": bind(softmax_over_columns, n=2**28),
    },
)
