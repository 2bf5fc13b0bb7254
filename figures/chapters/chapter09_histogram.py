"""Chapter 9: where atomics meet, and how each kernel copes with each kind of data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial as bind

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from common.input import SEED, input_value
from common.records.naming import DEFAULT_BLOCK
from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures.kit import style
from figures.kit.canvas import canvas
from figures.kit.chapter import Chapter
from figures.kit.patterns import BANKS, WARP
from figures.kit.pictures import Picture, Table, View, run_columns, run_row, time_of
from figures.kit.style import DASHES, MARKERS, Theme
from figures.kit.words import size, time_text

NAME = "chapter09_histogram"


LOAD_BYTES = 16


def first_bytes() -> list[int]:
    """The first byte that each lane of the first warp counts, of uniform data."""
    return [input_value(SEED, LOAD_BYTES * lane) for lane in range(WARP)]


Layout = Callable[[int, int], int]


#: Which word of shared memory a lane's atomic goes to, by lane and value.
LAYOUTS: dict[str, Layout] = {
    "a copy of the bins per warp": lambda _lane, value: value,
    "a copy of the bins per lane": lambda lane, value: WARP * value + lane,
}


def by_bank(layout: Layout, values: Sequence[int]) -> list[set[int]]:
    """The distinct words that one atomic of a warp wants of each bank."""
    banks: list[set[int]] = [set() for _ in range(BANKS)]
    for lane, value in enumerate(values):
        word = layout(lane, value)
        banks[word % BANKS].add(word)
    return banks


LEFT, RIGHT = 6.0, 1.0
#: Of one layout's panel, in cells: the title, the lanes, the way down to the banks.
TITLE, LANES, WAY = 1.7, 1.2, 2.6


def _panel(axes: Axes, theme: Theme, layout: Layout, values: Sequence[int], top: float) -> None:
    """Lanes above, and in the column of each bank the words that it has to serve, pass by pass."""
    banks = by_bank(layout, values)
    ground = top - LANES - WAY
    axes.text(LEFT - 0.7, top - LANES / 2, "lanes", ha="right", va="center", color=theme.muted)
    for lane, value in enumerate(values):
        bank = layout(lane, value) % BANKS
        waits = len(banks[bank]) > 1
        hue = "vermillion" if waits else "blue"
        axes.plot([LEFT + lane + 0.5, LEFT + bank + 0.5], [top - LANES + 0.2, ground + 0.15],
                  color=theme.drawn(hue), lw=1.0)  # fmt: skip
        axes.plot([LEFT + lane + 0.5], [top - LANES / 2], ls="none", marker="o", markersize=7,
                  color=theme.drawn(hue), mew=1.4,
                  mfc=theme.background if waits else theme.drawn(hue))  # fmt: skip
    for bank in range(BANKS):
        axes.add_patch(Rectangle((LEFT + bank + 0.06, ground - 1), 0.88, 0.94, lw=0.8,
                                 facecolor="none", edgecolor=theme.grid))  # fmt: skip
        for turn in range(len(banks[bank])):
            hue = "vermillion" if turn else "blue"
            axes.add_patch(
                Rectangle((LEFT + bank + 0.06, ground - turn - 1), 0.88, 0.94, lw=1.0,
                          facecolor=theme.tint(hue, 0.45), edgecolor=theme.drawn(hue))
            )  # fmt: skip
    for turn in range(max(map(len, banks))):
        name = f"wavefront {turn + 1}"
        axes.text(LEFT - 0.7, ground - turn - 0.5, name, ha="right", va="center_baseline",
                  color=theme.muted)  # fmt: skip


def copies_in_banks() -> Picture:
    """Where the lanes of one warp meet, with one copy of the bins and with one for each lane."""
    values = first_bytes()
    rows = {name: by_bank(layout, values) for name, layout in LAYOUTS.items()}
    most = {name: max(map(len, banks)) for name, banks in rows.items()}
    empty = {name: sum(not bank for bank in banks) for name, banks in rows.items()}

    def draw(theme: Theme) -> Figure:
        height = sum(TITLE + LANES + WAY + turns + 0.6 for turns in most.values())
        figure, axes = canvas(LEFT + BANKS + RIGHT, height, 0.21 * height)
        top = height
        for name, layout in LAYOUTS.items():
            axes.text(0, top - TITLE / 2, name[0].upper() + name[1:], va="center", weight="bold")
            _panel(axes, theme, layout, values, top - TITLE)
            top -= TITLE + LANES + WAY + most[name] + 0.6
        return figure

    first, last = rows
    assert most[last] == 1
    return Picture(
        draw=draw,
        alt=(
            f"The {WARP} lanes of one warp add 1 to the bins of {WARP} uniform values. With "
            f"{first}, {empty[first]} of the {BANKS} banks have nothing to do and one has to serve "
            f"{most[first]} words, one after the other. With {last}, every bank serves one word."
        ),
        caption=(
            "One atomic instruction of a warp: each lane adds 1 to the bin of its byte, and each "
            f"column is one of the {BANKS} banks. The words of the first row are served in the "
            "first wavefront. Those below wait: their bank is busy with another word. Hollow "
            "lanes share their bank with a lane that wants another word. These are the first "
            "bytes that the first warp counts of the uniform data."
        ),
        table=Table(
            ["bank", *(f"words: {name.removeprefix('a copy of the bins ')}" for name in rows)],
            [[bank, *(len(banks[bank]) for banks in rows.values())] for bank in range(BANKS)],
        ),
    )


#: Kinds of data, in the order of a page that goes from many values to one.
DATA = ("uniform", "bell", "mostly", "equal")


#: Ways to count, in the order of the page, however a recording has them; CUB's comes last.
METHODS = ("global", "merged", "shared", "wide", "warps", "lanes", "cub")


DATA_HUES = ("blue", "green", "orange", "vermillion")


#: Between the marks of one method, so that equal times don't hide each other.
APART = 0.21


def histogram_methods(view: View, n: int) -> Picture:
    """Time of each way to count bytes, on each kind of data, in the order of the page."""
    chapter = "chapter09_histogram"
    found_of: dict[str, dict[str, RecordedRun]] = {}
    for run in view.runs(chapter):
        data = run["params"].get("data")
        if run["n"] == n and data in DATA and run["block"] == DEFAULT_BLOCK:
            found = view.find(chapter, run["variant"], n, run["block"])
            found_of.setdefault(str(run["params"]["method"]), {})[str(data)] = found
    methods = {
        method: found_of[method] for method in METHODS if set(found_of.get(method, {})) == set(DATA)
    }
    if len(methods) < 2:
        raise NoSuchRun(f"{chapter} at n = {size(n)} is not recorded in {view.known.name}")
    read = view.find(chapter, "read", n)
    founds = [methods[method][data] for method in methods for data in DATA]
    times = [time_of(found) for found in founds]
    wide = max(times) > 20 * min(times)

    def unit(us: float) -> float:
        return us / 1000 if wide else us

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.1 + 0.6 * len(methods))
        for place, method in enumerate(methods):
            row = [unit(time_of(methods[method][data])) for data in DATA]
            axes.plot([min(row), max(row)], [place, place], color=theme.grid, lw=5, zorder=1)
            for turn, (hue, marker, x) in enumerate(zip(DATA_HUES, MARKERS, row, strict=False)):
                axes.plot([x], [place + APART * (turn - 1.5)], ls="none", color=theme.drawn(hue),
                          marker=marker, markersize=6, zorder=3, clip_on=False)  # fmt: skip
        axes.axvline(unit(time_of(read)), color=theme.muted, lw=1.2, ls=DASHES[1], zorder=0)
        axes.annotate(
            "reading alone",
            xy=(unit(time_of(read)), 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            color=theme.muted,
            va="top",
        )
        axes.set_yticks(range(len(methods)), list(methods))
        axes.set_ylim(len(methods) - 0.4, -0.9)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        if wide:
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(lambda value, _place: f"{value:g}")
        else:
            axes.set_xlim(0, max(times) * 1.04)
        axes.set_xlabel("milliseconds" if wide else "microseconds")
        for place, (data, hue, symbol) in enumerate(
            zip(DATA, DATA_HUES, ("●", "■", "▲", "◆"), strict=True)
        ):
            axes.annotate(
                f"{symbol} {data}",
                xy=(0.01 + 0.24 * place, 1.02),
                xycoords="axes fraction",
                color=theme.written(hue),
                va="bottom",
            )
        return figure

    def span(method: str) -> str:
        row = sorted(methods[method].items(), key=lambda item: time_of(item[1]))
        (low, first), (high, last) = row[0], row[-1]
        return (
            f"{method} takes from {time_text(time_of(first))} ({low}) to "
            f"{time_text(time_of(last))} ({high})"
        )

    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, counting n = {size(n)} bytes, by kind of data: "
            f"{'; '.join(span(method) for method in methods)}. Reading the bytes alone takes "
            f"{time_text(time_of(read))}."
        ),
        caption=(
            f"n = {size(n)} bytes, {read.run['block']} threads per block. Each mark is the median "
            "on one kind of data: with bins per block (shared, and wide with wide loads), with a "
            "copy per warp, with a copy per lane, and CUB's. A short bar behind the marks means "
            "that the method hardly cares about its data. The dashed line is a kernel that reads "
            "the same bytes and only adds them up."
        ),
        table=Table(
            ["method", "data", *run_columns()[1:]],
            [
                [method, data, *run_row(methods[method][data], view.device)[1:]]
                for method in methods
                for data in DATA
            ],
        ),
        runs=[*founds, read],
    )


CHAPTER = Chapter(
    NAME,
    swept=("lanes_uniform", "cub_uniform", "lanes_equal", "cub_equal", "read"),
    plots={
        "chapter09_methods": bind(histogram_methods, n=2**24),
        "chapter09_shared": bind(histogram_methods, n=2**28),
    },
    diagrams={"copies_in_banks": copies_in_banks},
)
