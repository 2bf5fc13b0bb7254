"""Ways to finish a sum, timed, and ours beside CUB's."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from common.records.recordings import RecordedRun, is_faster
from figures.kit import patterns, style
from figures.kit.axes import draw_curves, heading, l2_line, label_ends, sizes_axis
from figures.kit.pictures import Picture, Table, View, name_of, run_columns, run_row, time_of
from figures.kit.style import Theme
from figures.kit.words import listed, size, time_text

NAME = "chapter08_multi_pass"


#: The forms that can be told apart in a picture; the page's table has all.
FORMS = ("passes", "grid_sync", "last_block", "one_word", "whole", "cub")


SMALL_N = 2**20


def whole_times(view: View) -> Picture:
    """The time of a finished sum against n, where a launch's own cost is most of it."""
    sweeps = [
        [found for found in view.over_n(NAME, name) if found.run["n"] <= SMALL_N] for name in FORMS
    ]
    floor = view.find("chapter00_timing", "empty_launch")
    sizes = sorted({found.run["n"] for sweep in sweeps for found in sweep})

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(axes, sizes, step=2)
        axes.axhline(time_of(floor), color=theme.muted, lw=1.2, ls="--", zorder=1)
        axes.annotate(
            f"an empty launch, {time_text(time_of(floor))}",
            xy=(0, time_of(floor)),
            xycoords=("axes fraction", "data"),
            xytext=(4, -4),
            textcoords="offset points",
            va="top",
            color=theme.muted,
        )
        curves = [
            (name_of(sweep[0]), [(found.run["n"], time_of(found)) for found in sweep])
            for sweep in sweeps
        ]
        # Room above the topmost label: on a telephone a button lies in that corner.
        axes.set_ylim(0, 1.2 * max(y for _, points in curves for _, y in points))
        label_ends(axes, theme, draw_curves(axes, theme, curves))
        heading(axes, "µs for a finished sum: less is better")
        return figure

    words = []
    for n in (sizes[0], sizes[-1]):
        here = {
            name_of(found): time_of(found) for s in sweeps for found in s if found.run["n"] == n
        }
        order = sorted(here, key=lambda name: here[name])
        times = [f"{name} {time_text(here[name])}" for name in order]
        words.append(f"At n = {size(n)}, from the fastest: {', '.join(times)}.")
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, time against n for {listed(FORMS)}, and an empty launch, "
            f"which takes {time_text(time_of(floor))}. {' '.join(words)}"
        ),
        caption=(
            "Median time of a finished 64-bit sum against n, with a cold L2. The dashed line is an "
            "empty launch: no form can be below it."
        ),
        table=Table(
            run_columns(), [run_row(found, view.device) for sweep in sweeps for found in sweep]
        ),
        runs=[*(found for sweep in sweeps for found in sweep), floor],
    )


def _won(pairs: Sequence[tuple[RecordedRun, RecordedRun]], against: str) -> str:
    """'faster than cub at every n but 2³⁰, and slower nowhere', from (ours, CUB's) by size."""
    sizes = [ours.run["n"] for ours, _ in pairs]
    ahead = [ours.run["n"] for ours, theirs in pairs if is_faster(ours, theirs)]
    behind = [ours.run["n"] for ours, theirs in pairs if is_faster(theirs, ours)]

    def where(names: Sequence[int]) -> str:
        if not names:
            return "nowhere"
        rest = [size(n) for n in sizes if n not in names]
        if len(rest) < len(names):
            return "at every n" + (f" but {listed(rest)}" if rest else "")
        return f"at n = {listed([size(n) for n in names])}"

    return f"faster than {against} {where(ahead)}, and slower {where(behind)}"


def cub_ratio(view: View) -> Picture:
    """How many times as fast as CUB's sum ours is, size by size."""
    kinds = {"64-bit sum": ("whole", "cub"), "32-bit sum": ("whole32", "cub32")}
    pairs: dict[str, list[tuple[RecordedRun, RecordedRun]]] = {}
    for label, (ours, theirs) in kinds.items():
        mine = {found.run["n"]: found for found in view.over_n(NAME, ours)}
        cubs = {found.run["n"]: found for found in view.over_n(NAME, theirs)}
        pairs[label] = [(mine[n], cubs[n]) for n in sorted(mine.keys() & cubs.keys())]
    sizes = sorted({ours.run["n"] for each in pairs.values() for ours, _ in each})
    in_l2 = view.device["l2_bytes"] / patterns.INT_BYTES

    def ratio(pair: tuple[RecordedRun, RecordedRun]) -> float:
        return time_of(pair[1]) / time_of(pair[0])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(axes, sizes, step=4)
        axes.axhline(1, color=theme.muted, lw=1.2, ls="--", zorder=1)
        l2_line(axes, theme, in_l2, "input = L2", top=True)
        curves = [
            (label, [(pair[0].run["n"], ratio(pair)) for pair in each])
            for label, each in pairs.items()
        ]
        low = min(y for _, points in curves for _, y in points)
        high = max(y for _, points in curves for _, y in points)
        axes.set_ylim(min(0.9, low - 0.05), max(1.1, high + 0.08))
        label_ends(axes, theme, draw_curves(axes, theme, curves))
        heading(axes, "CUB's time over ours: above 1 ours is faster")
        return figure

    words = []
    for label, each in pairs.items():
        best, worst = max(each, key=ratio), min(each, key=ratio)
        words.append(
            f"For the {label}, {name_of(best[0])} is {_won(each, name_of(best[1]))}; the ratio is "
            f"{ratio(best):.2f} at best, at n = {size(best[0].run['n'])}, and {ratio(worst):.2f} "
            f"at worst, at n = {size(worst[0].run['n'])}"
        )
    return Picture(
        draw=draw,
        alt=f"On {view.device_name}, CUB's time over ours against n. {'. '.join(words)}.",
        caption=(
            "The time of cub::DeviceReduce::Sum over that of our last kernel: medians of "
            "finished sums with a cold L2, storage allocated beforehand, the same types for "
            "input, accumulator and result."
        ),
        table=Table(
            ["sum", "n", "ours, µs", "CUB, µs", "ratio", "ours faster"],
            [
                [
                    label,
                    ours.run["n"],
                    time_of(ours),
                    time_of(theirs),
                    round(ratio((ours, theirs)), 3),
                    "yes" if is_faster(ours, theirs) else "no",
                ]
                for label, each in pairs.items()
                for ours, theirs in each
            ],
        ),
        runs=[found for each in pairs.values() for pair in each for found in pair],
    )
