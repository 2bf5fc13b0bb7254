"""Chapter 12's plots: who takes a row, from floors and from the clock; and a softmax's time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from common.records.other_libraries import Table as Asked
from common.records.other_libraries import recorded
from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures.chapters.chapter12_rows.row_floors import METHODS, among_lowest, card_of, floors_of
from figures.kit import style
from figures.kit.axes import draw_curves, heading, label_ends, sizes_axis
from figures.kit.pictures import Picture, Table, View, time_of
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import listed, short_size, significant, size

NAME = "chapter12_rows"

#: As the program has them.
COLUMNS = (1, 2, 4, 16, 32, 256, 1024, 4096, 8192, 32768, 50257, 131072, 2**20)
SIZES = (2**20, 2**24, 2**28)
#: Where the methods' names stand above the map: in shares of its width.
KEY = (0.14, 0.335, 0.495, 0.66, 0.83)


def runs_of(view: View, method: str, n: int) -> dict[int, RecordedRun]:
    """The runs of a method, by the rows' length; lengths that it doesn't take are left out."""
    found = {}
    for columns in COLUMNS:
        try:
            found[columns] = view.find(NAME, f"{method}_{columns}", n)
        except NoSuchRun:
            continue
    if not found:
        raise NoSuchRun(f"{NAME} has no runs of {method} at n = {n}")
    return found


def length_text(columns: int) -> str:
    return short_size(columns) if columns >= 1024 else str(columns)


Tables = dict[tuple[int, int], dict[str, RecordedRun]]


def tables_of(view: View, methods: Sequence[str] = METHODS) -> Tables:
    """The sums of each table, n and columns, by method."""
    found: Tables = {}
    for n in SIZES:
        for method in methods:
            for columns, run in runs_of(view, f"sum_{method}", n).items():
                found.setdefault((n, columns), {})[method] = run
    return found


def fastest_of(runs: dict[str, RecordedRun]) -> str:
    return min(runs, key=lambda method: time_of(runs[method]))


def floor_name(floors: dict[str, float]) -> str:
    """The highest of them."""
    return max(floors, key=lambda name: floors[name])


@dataclass(frozen=True)
class _Map:
    """Each table's runs by method, the floors beneath them, and who is fastest there."""

    tables: dict[tuple[int, int], dict[str, RecordedRun]]
    floors: dict[tuple[int, int], dict[str, dict[str, float]]]

    @cached_property
    def best(self) -> dict[tuple[int, int], str]:
        return {table: fastest_of(runs) for table, runs in self.tables.items()}

    @cached_property
    def left(self) -> dict[tuple[int, int], Collection[str]]:
        """The methods whose highest floors are among the lowest."""
        return {
            table: among_lowest({method: max(each.values()) for method, each in of.items()})
            for table, of in self.floors.items()
        }

    @cached_property
    def foreseen(self) -> dict[tuple[int, int], bool]:
        return {table: self.best[table] in self.left[table] for table in self.tables}


def _draw_map(made: _Map, theme: Theme) -> Figure:
    figure, axes = style.new_figure(4.8)
    for n in SIZES:
        line = [(columns, n // columns) for columns in COLUMNS if (n, columns) in made.tables]
        axes.plot(*zip(*line, strict=True), color=theme.grid, lw=1.2, zorder=1)
        axes.annotate(f"n = {size(n)}", xy=line[-1], xytext=(12, 0),
                      textcoords="offset points", va="center", color=theme.muted,
                      annotation_clip=False)  # fmt: skip
    _draw_fastest(axes, made, theme)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xticks(NAMED, [column_text(one) for one in NAMED])
    heights = (1, 2**4, 2**8, 2**12, 2**16, 2**20, 2**24)
    axes.set_yticks(heights, [short_size(one) for one in heights])
    axes.set_xlabel("columns, the length of a row")
    heading(axes, "rows")
    for place, (method, left_edge) in enumerate(zip(METHODS, KEY, strict=True)):
        axes.annotate(
            method, xy=(left_edge + 0.02, 1.06), xycoords="axes fraction", va="bottom",
            color=theme.written(SERIES[place]), weight="bold",
        )  # fmt: skip
        axes.plot([left_edge], [1.085], marker=MARKERS[place], markersize=8,
                  color=theme.drawn(SERIES[place]), transform=axes.transAxes,
                  clip_on=False)  # fmt: skip
    return figure


def _draw_fastest(axes: Axes, made: _Map, theme: Theme) -> None:
    for place, method in enumerate(METHODS):
        hue = theme.drawn(SERIES[place])
        for told in (True, False):
            points = [
                (c, n // c)
                for (n, c), who in made.best.items()
                if who == method and made.foreseen[n, c] == told
            ]
            if points:
                axes.plot(*zip(*points, strict=True), ls="none", marker=MARKERS[place],
                          markersize=8, color=hue, mfc=hue if told else theme.background,
                          zorder=3, clip_on=False)  # fmt: skip
    for (n, columns), who in made.best.items():
        below = columns == 50257  # its neighbour is near
        share = max(made.floors[n, columns][who].values()) / time_of(made.tables[n, columns][who])
        axes.annotate(f"{100 * share:.0f}", xy=(columns, n // columns),
                      xytext=(0, -7 if below else 7), textcoords="offset points",
                      ha="center", va="top" if below else "bottom",
                      color=theme.muted, zorder=4,
                      annotation_clip=False)  # fmt: skip


def map_of_rows(view: View) -> Picture:
    """Rows against their length: which method is fastest there, and whether floors leave it."""
    card, tables = card_of(view), tables_of(view)
    floors = {
        table: {method: floors_of(card, method, run) for method, run in runs.items()}
        for table, runs in tables.items()
    }
    made = _Map(tables, floors)
    best, left, foreseen = made.best, made.left, made.foreseen
    alone = [table for table in tables if len(left[table]) == 1]
    spans = []
    for method in METHODS:
        lengths = [c for (_n, c), who in best.items() if who == method]
        if lengths:
            ends = dict.fromkeys(length_text(one) for one in (min(lengths), max(lengths)))
            spans.append(f"{method} at {' to '.join(ends)} columns")
    right = sum(foreseen.values())
    missed = [
        f"{length_text(c)} columns at {short_size(n)}"
        for (n, c), told in foreseen.items()
        if not told
    ]
    outcome = (
        f"At {len(alone)} of {len(tables)} tables one method's floor is the lowest by more than a "
        "tenth. Elsewhere several are within a tenth. The fastest has one of the lowest at "
        f"{'all of them' if right == len(tables) else right}"
        + (f", and not at {listed(missed)}." if missed else ".")
    )
    return Picture(
        draw=partial(_draw_map, made),
        alt=(
            f"On {view.device_name}, tables of {listed([short_size(n) for n in SIZES])} elements, "
            f"by rows and columns. The fastest sum along the rows is: {'; '.join(spans)}. {outcome}"
        ),
        caption=(
            "Each mark is a table, and its shape is the method that was fastest there. The number "
            "says how much of its time the highest floor explains, in per cent. "
            + ("A hollow mark's floor isn't among the lowest. " if missed else "")
            + outcome
        ),
        table=Table(
            ["n", "columns", "rows", "lowest floors", "fastest", "µs", "floor, µs", "which"],
            [
                [short_size(n), columns, n // columns,
                 " ".join(method for method in METHODS if method in left[n, columns]), who,
                 significant(time_of(tables[n, columns][who])),
                 significant(max(floors[n, columns][who].values())),
                 floor_name(floors[n, columns][who])]
                for (n, columns), who in sorted(best.items())
            ],
        ),
        runs=[tables[table][who] for table, who in best.items()],
    )  # fmt: skip


NAMED = (1, 4, 32, 256, 1024, 8192, 50257, 2**20)


def column_text(columns: int) -> str:
    return "50 257" if columns == 50257 else length_text(columns)


def floors_over_columns(view: View, n: int) -> Picture:
    """Each method's time over the length of rows, and the highest of its floors."""
    card = card_of(view)
    found = {method: runs_of(view, f"sum_{method}", n) for method in METHODS}
    floors = {
        method: {columns: floors_of(card, method, run) for columns, run in runs.items()}
        for method, runs in found.items()
    }
    columns_here = sorted({columns for runs in found.values() for columns in runs})

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        for place, method in enumerate(METHODS):
            heights = [max(of.values()) for of in floors[method].values()]
            axes.plot(list(floors[method]), heights, lw=1.2, ls=(0, (4, 3)), zorder=2,
                      color=theme.drawn(SERIES[place]))  # fmt: skip
        ends = draw_curves(axes, theme, [
            (method, [(columns, time_of(run)) for columns, run in runs.items()])
            for method, runs in found.items()
        ])  # fmt: skip
        named = [one for one in NAMED if columns_here[0] <= one <= columns_here[-1]]
        sizes_axis(axes, named, "columns, the length of a row", name=column_text)
        axes.set_xlim(columns_here[0], columns_here[-1])
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        ticks = [
            of * 10**power
            for power in range(5)
            for of in (1, 2, 3, 5, 7)
            if low <= of * 10**power <= high
        ]
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_yticks(ticks, [str(tick) for tick in ticks])
        heading(axes, f"µs at n = {size(n)}, and floors (dashed)")
        label_ends(axes, theme, ends)
        return figure

    nearest = [
        (time_of(found[method][columns]) / max(of.values()), method, columns, floor_name(of))
        for method, each in floors.items()
        for columns, of in each.items()
    ]
    close = [
        f"{method} at {length_text(columns)} columns ({name}, {ratio:.2f})"
        for ratio, method, columns, name in nearest
        if ratio < 1.06
    ]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, sums along rows of n = {short_size(n)} floats by five "
            f"methods, and the highest floor under each. Times are {min(nearest)[0]:.2f} to "
            f"{max(nearest)[0]:.2f} times their floor"
            + (f"; nearest: {listed(close)}." if close else ".")
        ),
        caption=(
            "Points are measured times. Each dashed line is the highest of a method's five floors: "
            "no point lies below it, and a point near it is explained by it."
        ),
        table=Table(
            ["method", "columns", "rows", "µs", "floor, µs", "which"],
            [
                [method, columns, n // columns, significant(time_of(run)),
                 significant(max(floors[method][columns].values())),
                 floor_name(floors[method][columns])]
                for method, runs in found.items()
                for columns, run in runs.items()
            ],
        ),
        runs=[run for runs in found.values() for run in runs.values()],
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
        named = [one for one in NAMED if one >= 4]
        sizes_axis(axes, named, "columns, the length of a row", name=column_text)
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
        f" PyTorch's softmax, timed in the same sitting, takes {min(times):.2f} to "
        f"{max(times):.2f} times as long as our fastest."
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
            "A row of up to 32K columns fits into the registers of a warp or a block (*lanes*, "
            "*block*), and its softmax takes as long as the copy, dashed. Longer rows don't fit: "
            "*online* reads them twice, and *blocks* spreads each over several blocks."
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


#: What PyTorch was asked for, and what it is called in a picture.
BESIDE = {
    "sum": "sum",
    "softmax": "softmax",
    "layer_norm": "layer norm",
    "column_sum": "sum of columns",
}
#: Asked for as well, at two lengths of rows: in the table alone.
BESIDE_TOO = {"maximum": "maximum", "argmax": "argmax", "moments": "mean and variance"}
WAYS = ("thread", "wide", "lanes", "block", "blocks", "online")
TOP_RATIO = 8.0


def _fastest(view: View, work: str, columns: int, n: int) -> float | None:
    """Our fastest way to do it: microseconds."""
    names = (
        [f"{work}_{columns}"]
        if work == "column_sum"
        else [f"{work}_{way}_{columns}" for way in WAYS]
    )
    times = []
    for name in names:
        try:
            times.append(time_of(view.find(NAME, name, n)))
        except NoSuchRun:
            continue
    return min(times, default=None)


def beside_pytorch(view: View, n: int) -> Picture:
    """PyTorch's times divided by our fastest's, over the length of rows, for four kinds of work."""
    known = recorded(view.recordings.root, NAME, view.known.name)
    rows = []  # work, n, columns, ours, theirs
    for work in BESIDE | BESIDE_TOO:
        for count in (2**24, n):
            for columns in COLUMNS:
                theirs = known.get(Asked("torch", work, count // columns, columns))
                ours = _fastest(view, work, columns, count)
                if theirs is not None and ours is not None:
                    rows.append((work, count, columns, ours, theirs))
    if not rows:
        raise NoSuchRun(f"{NAME} has no times of PyTorch in {view.known.name}")

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.4)
        ends = draw_curves(axes, theme, [
            (label, [(columns, min(theirs / ours, TOP_RATIO))
                     for what, count, columns, ours, theirs in rows if (what, count) == (work, n)])
            for work, label in BESIDE.items()
        ])  # fmt: skip
        axes.axhline(1, color=theme.ink, lw=1.2, zorder=1)
        lengths = sorted({columns for _work, count, columns, _ours, _theirs in rows if count == n})
        named = [one for one in NAMED if lengths[0] <= one <= lengths[-1]]
        sizes_axis(axes, named, "columns, the length of a row", name=column_text)
        axes.set_xlim(lengths[0], lengths[-1])
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_yticks([1, 2, 4, TOP_RATIO], ["ours", "2×", "4×", "8× or more"])
        axes.set_ylim(0.8, TOP_RATIO)
        heading(axes, "PyTorch's time, as a multiple of our fastest's")
        label_ends(axes, theme, ends)
        return figure

    spans, ahead = [], []
    for work, label in (BESIDE | BESIDE_TOO).items():
        times = [theirs / ours for what, _count, _columns, ours, theirs in rows if what == work]
        if times:
            spans.append(f"{label} {min(times):.2f} to {max(times):.2f}")
        lost = [
            f"{length_text(columns)} columns at n = {short_size(count)} ({theirs / ours:.2f})"
            for what, count, columns, ours, theirs in rows
            if what == work and theirs < ours
        ]
        if lost:
            ahead.append(f"{label}: {listed(lost)}")
    leads = f"PyTorch leads here: {'; '.join(ahead)}." if ahead else "PyTorch leads nowhere."
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, PyTorch's times as multiples of our fastest method's at the "
            f"same table: {'; '.join(spans)}. {leads}"
        ),
        caption=(
            f"Tables of n = {short_size(n)} floats, timed alike in one sitting. The table below "
            f"has n = {short_size(2**24)} too. {leads}"
        ),
        table=Table(
            ["work", "n", "columns", "ours, µs", "PyTorch, µs", "ratio"],
            [
                [work, short_size(count), columns, significant(ours), significant(theirs),
                 f"{theirs / ours:.2f}"]
                for work, count, columns, ours, theirs in rows
            ],
        ),
        runs=[],
    )  # fmt: skip
