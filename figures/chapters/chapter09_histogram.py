"""Chapter 9: where atomics meet, and what a kind of data makes of each way to count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial as bind

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from figures.kit import style
from figures.kit.chapter import Chapter
from figures.kit.patterns import BANKS, WARP
from figures.kit.pictures import MissingData, Picture, Table, View, run_columns, run_row, time_of
from figures.kit.style import DASHES, MARKERS, Theme
from figures.kit.words import size, time_text
from figures.records.naming import DEFAULT_BLOCK
from figures.records.recordings import RecordedRun

NAME = "chapter09_histogram"


SEED = 2018  # what a program takes that is given none


LOAD_BYTES = 16


def input_value(seed: int, position: int) -> int:
    """The value at a position, as common/include/book/input.hpp makes it."""
    mask = 2**64 - 1
    z = (seed + (position + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return (z ^ (z >> 31)) >> 56


def first_bytes() -> list[int]:
    """Of each lane of the first warp, the first byte that it counts: uniform data."""
    return [input_value(SEED, LOAD_BYTES * lane) for lane in range(WARP)]


Layout = Callable[[int, int], int]


#: Which word of shared memory a lane's atomic goes to, by lane and value.
LAYOUTS: dict[str, Layout] = {
    "a copy of the bins for each warp": lambda _lane, value: value,
    "a copy of the bins for each lane": lambda lane, value: WARP * value + lane,
}


def by_bank(layout: Layout, values: Sequence[int]) -> list[set[int]]:
    """The distinct words that one atomic of a warp wants of each bank."""
    banks: list[set[int]] = [set() for _ in range(BANKS)]
    for lane, value in enumerate(values):
        word = layout(lane, value)
        banks[word % BANKS].add(word)
    return banks


def copies_in_banks() -> Picture:
    """Where the lanes of one warp meet, with one copy of the bins and with one for each lane."""
    values = first_bytes()
    rows = {name: by_bank(layout, values) for name, layout in LAYOUTS.items()}
    most = {name: max(map(len, banks)) for name, banks in rows.items()}
    empty = {name: sum(not bank for bank in banks) for name, banks in rows.items()}

    def draw(theme: Theme) -> Figure:
        figure, panels = style.new_panels(2, shared=False)
        for axes, (name, banks) in zip(panels, rows.items(), strict=True):
            for bank, words in enumerate(banks):
                hue = "vermillion" if len(words) > 1 else "blue"
                for level in range(len(words)):
                    axes.add_patch(
                        Rectangle((bank + 0.08, level + 0.08), 0.84, 0.84, lw=1.0,
                                  facecolor=theme.tint(hue, 0.7), edgecolor=theme.drawn(hue))
                    )  # fmt: skip
            axes.set_xlim(0, BANKS)
            axes.set_ylim(0, max(most.values()) + 0.5)
            axes.set_xticks([0.5, 8.5, 16.5, 24.5, 31.5], ["0", "8", "16", "24", "31"])
            axes.set_xlabel("bank")
            axes.set_yticks(range(max(most.values()) + 1))
            axes.set_title(
                f"words, a copy {name.removeprefix('a copy of the bins ')}", loc="left", pad=10
            )
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
            "The words that one atomic instruction wants of each bank: the first warp's first "
            "bytes, of uniform data. Left, the copies lie one behind the other; right, side by "
            "side, bin by bin."
        ),
        table=Table(
            ["bank", *(f"words: {name.removeprefix('a copy of the bins ')}" for name in rows)],
            [[bank, *(len(banks[bank]) for banks in rows.values())] for bank in range(BANKS)],
        ),
    )


#: Kinds of data, in the order of a page that goes from many values to one.
DATA = ("uniform", "bell", "mostly", "equal")


DATA_HUES = ("blue", "green", "orange", "vermillion")


def histogram_methods(view: View, n: int) -> Picture:
    """Time of each way to count bytes, on each kind of data, in the order of the page."""
    chapter = "chapter09_histogram"
    found_of: dict[str, dict[str, RecordedRun]] = {}
    for run in view.runs(chapter):
        data = run["params"].get("data")
        if run["n"] == n and data in DATA and run["block"] == DEFAULT_BLOCK:
            found = view.find(chapter, run["variant"], n, run["block"])
            found_of.setdefault(str(run["params"]["method"]), {})[str(data)] = found
    methods = {method: found for method, found in found_of.items() if set(found) == set(DATA)}
    if len(methods) < 2:
        raise MissingData(f"{chapter} at n = {size(n)} is not recorded in {view.known.name}")
    read = view.find(chapter, "read", n)
    founds = [methods[method][data] for method in methods for data in DATA]
    times = [time_of(found) for found in founds]
    wide = max(times) > 20 * min(times)

    def unit(us: float) -> float:
        return us / 1000 if wide else us

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.1 + 0.42 * len(methods))
        for place, method in enumerate(methods):
            row = [unit(time_of(methods[method][data])) for data in DATA]
            axes.plot([min(row), max(row)], [place, place], color=theme.grid, lw=5, zorder=1)
            for hue, marker, x in zip(DATA_HUES, MARKERS, row, strict=False):
                axes.plot([x], [place], ls="none", color=theme.drawn(hue), marker=marker,
                          markersize=7, zorder=3, clip_on=False)  # fmt: skip
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
            f"n = {size(n)} bytes, {read.run['block']} threads per block; a mark is the median on "
            "one kind of data, the bar behind them what the kind of data makes of the method. The "
            "dashed line is the time to read the bytes and add them up."
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
