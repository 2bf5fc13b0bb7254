"""Nine sizes, seven methods, and finished sums against the library's."""

from __future__ import annotations

from matplotlib.figure import Figure

from common.records.recordings import RecordedRun, is_faster
from figures.chapters.chapter07_effective_bandwidth.kernels import BLOCK, METHODS, NAME
from figures.kit import style
from figures.kit.axes import note, sizes_axis
from figures.kit.pictures import (
    LARGE_N,
    Picture,
    Table,
    View,
    name_of,
    run_columns,
    run_row,
    time_of,
)
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import listed, size, time_text, times_text

NINE = tuple(2**power for power in range(17, 26))


def _nine_by_seven(view: View) -> dict[int, list[RecordedRun]]:
    return {n: [view.find(NAME, method, n, BLOCK) for method in METHODS] for n in NINE}


def methods(view: View) -> Picture:
    """How many times as fast as the first each method is, at each of the nine sizes."""
    by_size = _nine_by_seven(view)

    def gains(n: int) -> list[float]:
        founds = by_size[n]
        return [time_of(founds[0]) / time_of(found) for found in founds]

    def wins(place: int) -> int:
        """At how many sizes a method is faster than the one before it."""
        return sum(is_faster(by_size[n][place], by_size[n][place - 1]) for n in NINE)

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        places = range(1, len(METHODS) + 1)
        for rank, n in enumerate(NINE):
            ends = n in (NINE[0], NINE[-1])
            axes.plot(
                places,
                gains(n),
                color=theme.drawn("vermillion" if n == NINE[-1] else "blue")
                if ends
                else theme.tint("blue", 0.65 - 0.05 * rank),
                lw=2.2 if ends else 1.3,
                marker="o" if ends else None,
                markersize=5,
                clip_on=False,
                zorder=4 if ends else 3,
            )
        for n, hue in ((NINE[0], "blue"), (NINE[-1], "vermillion")):
            axes.annotate(
                f"n = {size(n)}",
                xy=(len(METHODS), gains(n)[-1]),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                color=theme.written(hue),
                annotation_clip=False,
                weight="bold",
            )
        axes.set_xticks(list(places))
        axes.set_xlim(1, len(METHODS) + 1.35)
        axes.spines["bottom"].set_bounds(1, len(METHODS))
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        axes.set_xlabel("method")
        axes.set_title("times as fast as method 1", loc="left", pad=10)
        return figure

    most = gains(NINE[-1])[-1]
    least = gains(NINE[0])[-1]
    steps = listed([f"{METHODS[i]} at {wins(i)}" for i in range(1, len(METHODS))])
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, with {BLOCK} threads per block, the seventh method is "
            f"{times_text(least)} as fast as the first at n = {size(NINE[0])} and "
            f"{times_text(most)} at n = {size(NINE[-1])}. Of the nine sizes, a method is faster "
            f"than the one before it: {steps}."
        ),
        caption=(
            f"First passes of the seven methods, {BLOCK} threads per block: how many times as fast "
            "as the first each one is. There is one line per classic size, and the largest and the "
            "smallest have marks."
        ),
        table=Table(
            ["n", *(f"{method} µs" for method in METHODS), *(f"{m} gain" for m in METHODS[1:])],
            [
                [
                    n,
                    *(time_of(found) for found in founds),
                    *(
                        round(time_of(founds[i - 1]) / time_of(founds[i]), 2)
                        for i in range(1, len(METHODS))
                    ),
                ]
                for n, founds in by_size.items()
            ],
        ),
        runs=[found for founds in by_size.values() for found in founds],
    )


# ----------------------------------------------------------------------------------- Finished sums


FINISHED = ("sum3", "sum4", "sum5", "sum6", "sum7")


def finished(view: View) -> Picture:
    """Finished sums against CUB's: how many times its time they take."""
    library = {found.run["n"]: found for found in view.over_n(NAME, "sum_cub")}
    sweeps = {name: view.over_n(NAME, name) for name in FINISHED}
    sizes = sorted(library)

    def ratio(found: RecordedRun) -> float:
        return time_of(found) / time_of(library[found.run["n"]])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(axes, sizes, step=3)
        axes.axhline(1, color=theme.muted, lw=1.6, zorder=2)
        note(axes, theme, "CUB", (sizes[0], 1), (4, -4), over=False)
        for place, (name, sweep) in enumerate(sweeps.items()):
            hue = SERIES[place]
            axes.plot(
                [found.run["n"] for found in sweep],
                [ratio(found) for found in sweep],
                color=theme.drawn(hue),
                marker=MARKERS[place],
                markersize=5,
                clip_on=False,
                zorder=3,
                label=name,
            )
        axes.set_ylim(0, max(ratio(found) for sweep in sweeps.values() for found in sweep) * 1.08)
        axes.legend(frameon=False, loc="upper left", ncols=2)
        axes.set_title("time of a finished sum, over CUB's", loc="left", pad=10)
        return figure

    def at(n: int) -> tuple[RecordedRun, float]:
        best = min((found for s in sweeps.values() for found in s if found.run["n"] == n),
                   key=time_of)  # fmt: skip
        return best, ratio(best)

    small, large = at(sizes[0]), at(LARGE_N if LARGE_N in library else sizes[-1])
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, finished sums in 64 bits against CUB's: at "
            f"n = {size(small[0].run['n'])} the best of the ladder, {name_of(small[0])}, takes "
            f"{small[1]:.2f} times CUB's time, {time_text(time_of(small[0]))} against "
            f"{time_text(time_of(library[sizes[0]]))}; at n = {size(large[0].run['n'])} "
            f"{name_of(large[0])} takes {large[1]:.2f} times CUB's."
        ),
        caption=(
            f"Finished sums, {BLOCK} threads per block: the time of a method's kernel and of the "
            "finishing kernel that all share, over that of cub::DeviceReduce::Sum with the same "
            "input and 64-bit result, its memory allocated beforehand. Below 1 is faster than CUB."
        ),
        table=Table(
            [*run_columns(), "times CUB's time"],
            [
                [*run_row(found, view.device), round(ratio(found), 3)]
                for sweep in [*sweeps.values(), list(library.values())]
                for found in sweep
            ],
        ),
        runs=[*(found for sweep in sweeps.values() for found in sweep), *library.values()],
    )
