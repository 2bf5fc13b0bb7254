"""The pictures of recorded runs.

Each function takes a view of one set and gives a :class:`Picture`, or raises :class:`MissingData`.
What a picture says of its data, it computes from them: no number and no comparison is typed here.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from figures import bandwidth, patterns, recorded, style
from figures.climb import climb
from figures.histogram import histogram_methods
from figures.kit.words import (
    bytes_text,
    listed,
    rate_text,
    short_size,
    significant,
    size,
    time_text,
    times_text,
)
from figures.picture import (
    MissingData,
    Picture,
    Table,
    View,
    leaders,
    leaders_text,
    name_of,
    rate_of,
    run_columns,
    run_row,
    time_of,
)
from figures.recorded import Found
from figures.style import DASHES, MARKERS, SERIES, Theme

# ------------------------------------------------------------------------------ drawing tools


def _heading(axes: Axes, text: str) -> None:
    """What the vertical axis shows, written level where an eye looks first."""
    axes.set_title(text, loc="left", pad=10)


def _sizes_axis(
    axes: Axes, values: Sequence[int], label: str, *, step: int = 1, name: Callable[[int], str]
) -> None:
    axes.set_xscale("log", base=2)
    ticks = values[::step]
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(ticks, [name(value) for value in ticks])
    axes.set_xlabel(label)


def _spread(heights: Sequence[float], gap: float) -> list[float]:
    """The heights moved apart as little as keeps them in order, *gap* apart and within 0…1."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    placed: list[float] = []
    for place in order:
        placed.append(max(heights[place], placed[-1] + gap if placed else 0.0))
    ceiling = 1.0
    for rank in reversed(range(len(placed))):
        placed[rank] = min(placed[rank], ceiling)
        ceiling = placed[rank] - gap
    result = [0.0] * len(heights)
    for rank, place in enumerate(order):
        result[place] = placed[rank]
    return result


Ends = Sequence[tuple[str, str, float, float]]  # label, hue, x and y of a curve's right end


def _label_ends(axes: Axes, theme: Theme, ends: Ends) -> None:
    """Writes each curve's name at its right end, moved up or down where they would collide."""
    to_axes = axes.transAxes.inverted()
    heights = [to_axes.transform(axes.transData.transform((x, y)))[1] for _, _, x, y in ends]
    gap = 1.35 * style.FONT_PT / (axes.bbox.height * 72 / axes.figure.dpi)
    for (label, hue, x, y), height in zip(ends, _spread(heights, gap), strict=True):
        axes.annotate(
            label,
            xy=(x, y),
            xytext=(1.06, height),
            textcoords="axes fraction",
            color=theme.written(hue),
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": theme.muted, "lw": 0.8, "shrinkB": 4},
        )


def _curves(
    axes: Axes, theme: Theme, series: Sequence[tuple[str, Sequence[tuple[float, float]]]]
) -> Ends:
    ends = []
    for place, (label, points) in enumerate(series):
        hue = SERIES[place % len(SERIES)]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        axes.plot(
            xs,
            ys,
            color=theme.drawn(hue),
            marker=MARKERS[place % len(MARKERS)],
            markersize=5,
            clip_on=False,
            zorder=3,
        )
        ends.append((label, hue, xs[-1], ys[-1]))
    return ends


def _roofs(axes: Axes, theme: Theme, view: View, roof: Found | None) -> None:
    """The data sheet's line, and the line that a kernel has reached."""
    peak = view.device["peak_gb_per_s"]
    lines = [(peak, "peak", "bottom", "--")]
    if roof:
        lines.append((rate_of(roof), "best read", "top", ":"))
    for height, label, side, dash in lines:
        axes.axhline(height, color=theme.muted, lw=1.2, ls=dash, zorder=1)
        axes.annotate(
            f"{label} {height:.0f}",
            xy=(0, height),
            xycoords=("axes fraction", "data"),
            xytext=(4, 4 if side == "bottom" else -4),
            textcoords="offset points",
            va=side,
            color=theme.muted,
        )
    axes.set_ylim(0, peak * 1.13)


def _l2_line(axes: Axes, theme: Theme, x: float, text: str, *, top: bool = False) -> None:
    axes.axvline(x, color=theme.muted, lw=1.2, ls=(0, (1, 2)), zorder=1)
    axes.annotate(
        text,
        xy=(x, 1 if top else 0),
        xycoords=("data", "axes fraction"),
        xytext=(-4, -2 if top else 5),
        textcoords="offset points",
        ha="right",
        va="top" if top else "bottom",
        color=theme.muted,
    )


def _bars(
    theme: Theme,
    rows: Sequence[tuple[str, float, str, bool]],
    heading: str,
    marks: Sequence[float | None] = (),
    mark_label: str = "",
) -> Figure:
    """Level bars from the top down: name, value, what to write behind it, whether it is stressed.

    *marks* are a second value a row, drawn as a diamond upon the bar.
    """
    figure, axes = style.new_figure(0.75 + 0.38 * len(rows) + (0.3 if mark_label else 0))
    values = [value for _, value, _, _ in rows]
    for place, (_, value, text, stressed) in enumerate(rows):
        hue = "vermillion" if stressed else "blue"
        axes.barh(
            place,
            value,
            height=0.62,
            color=theme.drawn(hue) if stressed else theme.tint(hue, 0.55),
            edgecolor=theme.drawn(hue),
            hatch=None if stressed else "////",
            linewidth=1.0,
        )
        reach = max(value, marks[place] or 0 if marks else 0)
        axes.annotate(
            text,
            xy=(reach, place),
            xytext=(9 if marks else 6, 0),
            textcoords="offset points",
            va="center",
            weight="bold" if stressed else "normal",
        )
    shown = [(mark, place) for place, mark in enumerate(marks) if mark is not None]
    if shown:
        axes.plot(
            [mark for mark, _ in shown],
            [place for _, place in shown],
            ls="none",
            marker="D",
            markersize=8,
            color=theme.background,
            markeredgecolor=theme.ink,
            markeredgewidth=1.6,
            clip_on=False,
            zorder=4,
        )
    axes.set_yticks(range(len(rows)), [name for name, _, _, _ in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, max(values) * 1.42)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    _heading(axes, heading)
    if mark_label:
        axes.annotate(
            mark_label,
            xy=(0, 0),
            xycoords="axes fraction",
            xytext=(0, -4),
            textcoords="offset points",
            va="top",
            color=theme.muted,
        )
    return figure


# ------------------------------------------------------------------------- any chapter's plots


def chapter_time(view: View, chapter: str, shown: Sequence[str] = ()) -> Picture:
    """The time of each of a chapter's kernels, or of those *shown*, at one large size."""
    n = view.large_n(chapter)
    variants = [name for name in view.variants(chapter) if not shown or name in shown]
    founds = [view.find(chapter, variant, n) for variant in variants]
    lead = [name_of(found) for found in leaders(founds)]
    slowest, fastest = max(founds, key=time_of), min(founds, key=time_of)

    def draw(theme: Theme) -> Figure:
        rows = [
            (name_of(found), time_of(found), time_text(time_of(found)), name_of(found) in lead)
            for found in founds
        ]
        return _bars(theme, rows, f"Time for n = {size(n)}: less is better")

    alt = (
        f"On {view.device_name}, at n = {size(n)}, {leaders_text(founds)} of {len(founds)} "
        f"kernels. The shortest median is {name_of(fastest)}'s, {time_text(time_of(fastest))}; the "
        f"longest is {name_of(slowest)}'s, {time_text(time_of(slowest))}, "
        f"{times_text(time_of(slowest) / time_of(fastest))} as long."
    )
    return Picture(
        draw=draw,
        alt=alt,
        caption=f"Median time of each kernel for n = {size(n)}, "
        f"{founds[0].run['block']} threads a block.",
        table=Table(run_columns(), [run_row(found, view.device) for found in founds]),
        runs=founds,
    )


def chapter_bandwidth(view: View, chapter: str, shown: Sequence[str] = ()) -> Picture:
    """Useful bytes over time against the size, with the quartiles, the L2 and the roofs.

    *shown* picks kernels where all of a chapter's would be too many to follow.
    """
    variants = [name for name in view.variants(chapter) if not shown or name in shown]
    sweeps = [view.over_n(chapter, variant) for variant in variants]
    roof = view.read_roof()
    sizes = sorted({found.run["n"] for sweep in sweeps for found in sweep})
    largest = sweeps[0][-1].run
    in_l2 = view.device["l2_bytes"] * largest["n"] / largest["bytes_read"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        _sizes_axis(axes, sizes, "n, the number of elements", step=4, name=short_size)
        axes.set_xlim(sizes[0], sizes[-1])
        _roofs(axes, theme, view, roof)
        _l2_line(axes, theme, in_l2, "input = L2", top=True)
        for place, sweep in enumerate(sweeps):
            runs = [found.run for found in sweep]
            useful = [run["bytes_read"] + run["bytes_written"] for run in runs]
            axes.fill_between(
                [run["n"] for run in runs],
                [b / run["p75_us"] * 1e-3 for b, run in zip(useful, runs, strict=True)],
                [b / run["p25_us"] * 1e-3 for b, run in zip(useful, runs, strict=True)],
                color=theme.drawn(SERIES[place % len(SERIES)]),
                alpha=0.25,
                lw=0,
            )
        curves = [
            (name_of(sweep[0]), [(found.run["n"], rate_of(found)) for found in sweep])
            for sweep in sweeps
        ]
        _label_ends(axes, theme, _curves(axes, theme, curves))
        _heading(axes, "GB/s, useful bytes over time")
        return figure

    best = [max(sweep, key=rate_of) for sweep in sweeps]
    first, last = min(best, key=rate_of), max(best, key=rate_of)
    peak = view.device["peak_gb_per_s"]
    alt = (
        f"On {view.device_name}, bandwidth against n for {listed(variants)}. "
        f"{name_of(last)} comes highest, {rate_text(rate_of(last))} at n = "
        f"{size(last.run['n'])}, {100 * rate_of(last) / peak:.0f} % of the theoretical peak"
    )
    if name_of(first) != name_of(last):
        alt += (
            f"; {name_of(first)} never passes {rate_text(rate_of(first))}, "
            f"{100 * rate_of(first) / peak:.0f} %"
        )
    for one, other in combinations(sweeps, 2):
        rates = [{found.run["n"]: rate_of(found) for found in sweep} for sweep in (one, other)]
        if rates[0].keys() == rates[1].keys() and all(
            abs(rate / rates[1][n] - 1) <= 0.01 for n, rate in rates[0].items()
        ):
            names = f"{name_of(one[0])} and {name_of(other[0])}"
            alt += f"; {names} are within 1 % of each other at every n"
    return Picture(
        draw=draw,
        alt=alt + ".",
        caption=(
            "Effective bandwidth against n: medians, with a band from the lower to the upper "
            "quartile. The vertical line marks the input that just fills the L2 cache; the "
            f"level ones are the theoretical peak and the fastest read measured "
            f"({name_of(roof)} at n = {size(roof.run['n'])})."
        ),
        table=Table(
            run_columns(), [run_row(found, view.device) for sweep in sweeps for found in sweep]
        ),
        runs=[*(found for sweep in sweeps for found in sweep), roof],
    )


def chapter_blocks(view: View, chapter: str, shown: Sequence[str] = ()) -> Picture:
    """Bandwidth against the block size, at one large size."""
    n = view.large_n(chapter)
    variants = [name for name in view.variants(chapter) if not shown or name in shown]
    sweeps = [sweep for sweep in (view.over_block(chapter, v, n) for v in variants) if sweep]
    if not any(len(sweep) > 1 for sweep in sweeps):
        raise MissingData(f"{chapter} is recorded at one block size only in {view.known.name}")
    roof = view.read_roof()
    blocks = sorted({found.run["block"] for sweep in sweeps for found in sweep})

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        _sizes_axis(axes, blocks, "threads a block", name=str)
        axes.set_xlim(blocks[0], blocks[-1])
        _roofs(axes, theme, view, roof)
        curves = [
            (name_of(sweep[0]), [(found.run["block"], rate_of(found)) for found in sweep])
            for sweep in sweeps
        ]
        _label_ends(axes, theme, _curves(axes, theme, curves))
        _heading(axes, f"GB/s at n = {size(n)}")
        return figure

    words = []
    for sweep in sweeps:
        names = [str(found.run["block"]) for found in leaders(sweep)]
        worst, best = min(sweep, key=rate_of), max(sweep, key=rate_of)
        words.append(
            f"{name_of(best)} does best with {listed(names)} "
            f"({rate_text(rate_of(best))}) and worst with {worst.run['block']} "
            f"({rate_text(rate_of(worst))})"
        )
    return Picture(
        draw=draw,
        alt=f"On {view.device_name}, bandwidth against threads a block at n = {size(n)}: "
        f"{'; '.join(words)}.",
        caption=f"Effective bandwidth against the block size, n = {size(n)}.",
        table=Table(
            run_columns(), [run_row(found, view.device) for sweep in sweeps for found in sweep]
        ),
        runs=[*(found for sweep in sweeps for found in sweep), roof],
    )


def chapter_counters(view: View, chapter: str, shown: Sequence[str] = ()) -> Picture:
    """Sectors that each kernel moved, beside the count derived from its access pattern."""
    variants = [name for name in view.variants(chapter) if not shown or name in shown]
    founds = [view.counters(chapter, variant) for variant in variants]

    def measured(found: Found) -> float:
        names = ("global_load_sectors", "global_store_sectors")
        try:
            return sum(recorded.counter(found, name) for name in names)
        except recorded.NoSuchRun as error:
            raise MissingData(str(error)) from None

    def derived(found: Found) -> int | None:
        run = found.run
        grid = run["launches"][0]["grid"][0]
        counts = patterns.derived_counts(run["variant"], run["n"], run["block"], grid)
        if counts is None:
            return None
        return counts.global_load_sectors + counts.global_store_sectors

    pairs = [(found, measured(found), derived(found)) for found in founds]
    run = founds[0].run
    least, most = min(pairs, key=lambda p: p[1]), max(pairs, key=lambda p: p[1])

    def draw(theme: Theme) -> Figure:
        rows = [
            (name_of(found), count / 1e6, f"{significant(count / 1e6)} M", count == least[1])
            for found, count, _ in pairs
        ]
        marks = [None if count is None else count / 1e6 for _, _, count in pairs]
        heading = f"Global sectors of 32 bytes, n = {size(run['n'])}"
        return _bars(theme, rows, heading, marks, "◇ derived from the access pattern")

    off = [name_of(found) for found, count, expected in pairs if expected not in (None, count)]
    checked = sum(expected is not None for _, _, expected in pairs)
    if off:
        verdict = f"The derived count differs from the measured one for {listed(off)}."
    elif checked:
        verdict = "Every derived count equals the measured one exactly."
    else:
        verdict = "No count is derived for these kernels."
    words = f"On {view.device_name}, at n = {size(run['n'])}, "
    if most[1] == least[1]:
        words += f"{listed([name_of(found) for found in founds])} move the same "
        words += f"{significant(most[1] / 1e6)} million sectors to and from global memory."
    else:
        words += (
            f"{name_of(most[0])} moves {significant(most[1] / 1e6)} million sectors to and from "
            f"global memory, {times_text(most[1] / least[1])} the "
            f"{significant(least[1] / 1e6)} million of {name_of(least[0])}."
        )
    return Picture(
        draw=draw,
        alt=f"{words} {verdict}",
        caption=(
            f"Sectors loaded and stored in global memory by one launch, n = {size(run['n'])}, "
            f"{run['block']} threads a block: counted by the hardware (bars) and derived from "
            "the access pattern (diamonds)."
        ),
        table=Table(
            ["kernel", "n", "block", "sectors measured", "sectors derived"],
            [
                [name_of(found), found.run["n"], found.run["block"], int(count), expected]
                for found, count, expected in pairs
            ],
        ),
        runs=founds,
    )


# --------------------------------------------------------------------------- chapter 0's plots

METHODS = {
    "first_launch": "first launch",
    "debug_build": "built with -G",
    "host_clock": "host clock",
    "after_write": "L2 emptied by writing",
    "after_read": "L2 emptied by reading",
    "warm": "L2 left warm",
    "empty_launch": "an empty launch",
}
REFERENCE_METHOD = "after_read"


def kernel(found: Found) -> str:
    """The kernel that a variant of chapter 0 runs, by its name where it is taught."""
    name = {"smem-loop": "smem", "unroll-factor": "unroll8"}[found.run["region"]]
    return f"{name} of chapter {bandwidth.chapter_number(found.run['from'])}"


def _power_text(power: int) -> str:
    """10^power microseconds."""
    return f"{10**power} µs" if power < 3 else f"{10 ** (power - 3)} ms"


def timing_methods(view: View) -> Picture:
    """One kernel, timed in every way, right and wrong."""
    chapter = "chapter00_timing"
    founds = [view.find(chapter, variant) for variant in METHODS]
    right = next(found for found in founds if name_of(found) == REFERENCE_METHOD)
    n = right.run["n"]
    same_kernel = [found for found in founds if name_of(found) != "empty_launch"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.3 + 0.4 * len(founds))
        for place, found in enumerate(founds):
            stressed = found is right
            hue = "vermillion" if stressed else "blue"
            axes.plot(
                found.run["samples_us"],
                [place] * len(found.run["samples_us"]),
                ls="none",
                marker="|",
                markersize=20,
                color=theme.drawn(hue),
                alpha=0.35,
            )
            axes.plot(
                time_of(found),
                place,
                marker="D" if stressed else "o",
                markersize=5,
                color=theme.drawn(hue),
            )
            axes.annotate(
                time_text(time_of(found)),
                xy=(max(found.run["samples_us"]), place),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                weight="bold" if stressed else "normal",
            )
        axes.axvline(time_of(right), color=theme.muted, lw=1.0, ls=":", zorder=1)
        axes.set_xscale("log")
        low, high = min(map(time_of, founds)), max(max(f.run["samples_us"]) for f in founds)
        shortest, longest = low / 1.6, high * (high / low) ** 0.34
        axes.set_xlim(shortest, longest)
        powers = range(max(math.ceil(math.log10(shortest)), 0), math.floor(math.log10(longest)) + 1)
        axes.set_xticks([10.0**p for p in powers], [_power_text(p) for p in powers])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_yticks(range(len(founds)), [METHODS[name_of(found)] for found in founds])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        _heading(axes, f"One kernel, one input (n = {size(n)})")
        return figure

    worst = max(same_kernel, key=time_of)
    least = min(same_kernel, key=time_of)
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, the same kernel with the same {size(n)} elements seems to "
            f"take from {time_text(time_of(least))} ({METHODS[name_of(least)]}) to "
            f"{time_text(time_of(worst))} ({METHODS[name_of(worst)]}), according to how it is "
            f"timed. The book's way, {METHODS[REFERENCE_METHOD]}, gives "
            f"{time_text(time_of(right))}."
        ),
        caption=(
            f"One kernel ({kernel(right)}), n = {size(n)}, timed in different ways, and an empty "
            "launch for comparison. Strokes are single samples, marks their medians; the time "
            "axis is logarithmic."
        ),
        table=Table(
            ["method", "variant", "median µs", "samples", "times the time after a read"],
            [
                [
                    METHODS[name_of(found)],
                    name_of(found),
                    time_of(found),
                    len(found.run["samples_us"]),
                    round(time_of(found) / time_of(right), 2),
                ]
                for found in founds
            ],
        ),
        runs=founds,
    )


def timing_l2(view: View) -> Picture:
    """What the L2's state does to the time of a slow and of a fast kernel, against n."""
    chapter = "chapter00_timing"
    kernels = {"slow": "", "fast": "fast_"}
    states = {"emptied by writing": "after_write", "left warm": "warm"}
    sweeps = {
        prefix + state: {found.run["n"]: found for found in view.over_n(chapter, prefix + state)}
        for prefix in kernels.values()
        for state in (REFERENCE_METHOD, *states.values())
    }

    def ratios(kernel: str, state: str) -> list[tuple[int, float]]:
        one = sweeps[kernels[kernel] + states[state]]
        base = sweeps[kernels[kernel] + REFERENCE_METHOD]
        return [(n, time_of(one[n]) / time_of(base[n])) for n in sorted(set(one) & set(base))]

    curves = {kernel: {state: ratios(kernel, state) for state in states} for kernel in kernels}
    sizes = sorted({n for two in curves.values() for points in two.values() for n, _ in points})
    in_l2 = view.device["l2_bytes"] / patterns.INT_BYTES

    def farthest(points: list[tuple[int, float]]) -> tuple[int, float]:
        return max(points, key=lambda point: abs(point[1] - 1))

    def draw(theme: Theme) -> Figure:
        figure, panels = style.new_panels(len(kernels))
        everywhere = [y for two in curves.values() for points in two.values() for _, y in points]
        low, high = min(everywhere), max(everywhere)
        for axes, (kernel, two) in zip(panels, curves.items(), strict=True):
            _sizes_axis(axes, sizes, "n", step=10, name=short_size)
            axes.set_xlim(sizes[0], sizes[-1])
            axes.set_ylim(low - 0.3 * (high - low), high + 0.2 * (high - low))
            axes.axhline(1, color=theme.muted, lw=1.2, ls="--", zorder=1)
            _l2_line(axes, theme, in_l2, "input = L2")
            _curves(axes, theme, list(two.items()))
            for place, (state, points) in enumerate(two.items()):
                above = farthest(points)[1] > 1
                choose = max if above else min
                axes.annotate(
                    state,
                    xy=(0.5, choose(y for _, y in points)),
                    xycoords=("axes fraction", "data"),
                    xytext=(0, 8 if above else -8),
                    textcoords="offset points",
                    ha="center",
                    va="bottom" if above else "top",
                    color=theme.written(SERIES[place]),
                )
            _heading(axes, f"{kernel} kernel")
        panels[0].set_ylabel("time, where 1 is emptied by reading")
        return figure

    def words(kernel: str, state: str) -> str:
        n, ratio = farthest(curves[kernel][state])
        side = "longer" if ratio > 1 else "shorter"
        return f"the {kernel} kernel's up to {100 * abs(ratio - 1):.0f} % {side} (n = {size(n)})"

    def both(state: str) -> str:
        return listed([words(kernel, state) for kernel in kernels])

    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, times measured with the L2 emptied by writing differ from "
            f"those with the L2 emptied by reading: {both('emptied by writing')}. With the L2 "
            f"left warm, {both('left warm')}."
        ),
        caption=(
            "Time with the L2 emptied by writing, or left warm, over the time with the L2 emptied "
            f"by reading, for a slow kernel ({kernel(sweeps['after_read'][sizes[0]])}) and a fast "
            f"one ({kernel(sweeps['fast_after_read'][sizes[0]])})."
        ),
        table=Table(
            ["n", *(f"{name} µs" for name in sweeps)],
            [
                [n, *(time_of(sweep[n]) if n in sweep else None for sweep in sweeps.values())]
                for n in sizes
            ],
        ),
        runs=[found for sweep in sweeps.values() for found in sweep.values()],
    )


CHASES = {"pointer_chase": "L2 emptied", "pointer_chase_l2": "L2 warm"}


def hop_ns(found: Found) -> float:
    """The latency of one load of a pointer chase."""
    return time_of(found) * 1000 / float(found.run["params"]["hops"])


def timing_latency(view: View) -> Picture:
    """How long one load takes from start to end, against the memory that the chase covers."""
    chapter = "chapter00_timing"
    sweeps = {label: view.over_n(chapter, variant) for variant, label in CHASES.items()}
    sizes = sorted({found.run["n"] for sweep in sweeps.values() for found in sweep})
    l2 = view.device["l2_bytes"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        footprints = [n * patterns.INT_BYTES for n in sizes]
        _sizes_axis(axes, footprints, "bytes that the chase covers", step=5, name=bytes_text)
        axes.set_xlim(footprints[0], footprints[-1])
        curves = [
            (label, [(f.run["n"] * patterns.INT_BYTES, hop_ns(f)) for f in sweep])
            for label, sweep in sweeps.items()
        ]
        axes.set_ylim(0, 1.1 * max(y for _, points in curves for _, y in points))
        _l2_line(axes, theme, l2, "L2")
        _label_ends(axes, theme, _curves(axes, theme, curves))
        axes.grid(axis="y")
        _heading(axes, "Nanoseconds a load")
        return figure

    cold, warm = (sweeps[label][-1] for label in CHASES.values())
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, one load of a pointer chase over "
            f"{bytes_text(cold.run['n'] * patterns.INT_BYTES)} takes {hop_ns(cold):.0f} ns after "
            f"the L2 was emptied, and {hop_ns(warm):.0f} ns over "
            f"{bytes_text(warm.run['n'] * patterns.INT_BYTES)} with the L2 warm."
        ),
        caption=(
            "Latency of one load, by a chain in which each address is the value loaded before, "
            f"against the memory that the chain is spread over. The L2 holds {bytes_text(l2)}."
        ),
        table=Table(
            ["cache", "bytes covered", "hops", "ns a load"],
            [
                [
                    label,
                    found.run["n"] * patterns.INT_BYTES,
                    found.run["params"]["hops"],
                    round(hop_ns(found), 1),
                ]
                for label, sweep in sweeps.items()
                for found in sweep
            ],
        ),
        runs=[found for sweep in sweeps.values() for found in sweep],
    )


# ---------------------------------------------------------------------------- chapter 3's paths


def paths_sweep(view: View) -> Picture:
    """Time against the paths that a warp's lanes take, and the same work dealt out by warps."""
    chapter = "chapter03_divergence"
    n = view.large_n(chapter)
    found_of = {
        (run["region"], int(run["params"]["paths"])): view.find(chapter, run["variant"], n)
        for run in view.runs(chapter)
        if "paths" in run["params"]
    }
    mixed = {paths: one for (region, paths), one in found_of.items() if region == "mixed-paths"}
    by_warp = {paths: one for (region, paths), one in found_of.items() if region == "sorted-paths"}
    if len(mixed) < 2 or not by_warp:
        raise MissingData(f"{chapter}'s paths are not recorded in {view.known.name}")
    counts = sorted(mixed)
    founds = [mixed[paths] for paths in counts]
    apart = by_warp[max(by_warp)]
    first, last = founds[0], founds[-1]
    each = (time_of(last) - time_of(first)) / (counts[-1] - counts[0])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        series = (
            ("mixed", "vermillion", "o", list(zip(counts, founds, strict=True))),
            (name_of(apart), "blue", "s", [(max(by_warp), apart)]),
        )
        for label, hue, marker, points in series:
            axes.plot(
                [x for x, _ in points],
                [time_of(found) / 1e3 for _, found in points],
                color=theme.drawn(hue),
                marker=marker,
                clip_on=False,
                zorder=3,
            )
            x, found = points[-1]
            axes.annotate(
                f"{label}\n{time_text(time_of(found))}",
                xy=(x, time_of(found) / 1e3),
                xytext=(-10, 0),
                textcoords="offset points",
                ha="right",
                va="center" if hue == "blue" else "bottom",
                color=theme.written(hue),
                weight="bold",
            )
        axes.set_xlim(0, counts[-1])
        axes.set_ylim(0, time_of(last) / 1e3 * 1.16)
        axes.set_xticks([paths for paths in counts if paths in (1, counts[-1]) or paths % 8 == 0])
        axes.set_xlabel("kinds of work")
        axes.grid(axis="y")
        _heading(axes, f"Milliseconds at n = {size(n)}")
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, at n = {size(n)}, a kernel whose lanes all take one path "
            f"takes {time_text(time_of(first))}, and with {counts[-1]} paths in every warp "
            f"{time_text(time_of(last))}, {times_text(time_of(last) / time_of(first))} as long: "
            f"{time_text(each)} more for each path. {name_of(apart)}, with as much of each of "
            f"{max(by_warp)} kinds of work but one kind a warp, takes "
            f"{time_text(time_of(apart))}."
        ),
        caption=(
            f"Work of several kinds at n = {size(n)}, {first.run['block']} threads a block: dealt "
            f"out lane by lane (mixed) and warp by warp ({name_of(apart)})."
        ),
        table=Table(
            ["kernel", "kinds of work", "paths a warp", *run_columns()[1:]],
            [
                [*row[:2], row[1] if row[2] else 1, *run_row(found, view.device)[1:]]
                for row, found in [
                    *(((name_of(one), paths, True), one) for paths, one in mixed.items()),
                    *(((name_of(one), paths, False), one) for paths, one in by_warp.items()),
                ]
            ],
        ),
        runs=[*founds, apart],
    )


# --------------------------------------------------------------------------- chapter 5's sweep


def _one_load_at_a_time(view: View, n: int) -> Found | None:
    """Chapter 2's grid-stride kernel, where the set has it at this size."""
    try:
        return view.find("chapter02_smem", "smem_stride", n)
    except MissingData:
        return None


def unroll_sweep(view: View) -> Picture:
    """Bandwidth against the loads that each thread has under way, and what Little's law allows."""
    chapter = "chapter05_unroll4"
    n = view.large_n(chapter)
    found_of = {
        int(run["params"]["unroll"]): view.find(chapter, run["variant"], n)
        for run in view.runs(chapter)
        if "unroll" in run["params"]
    }
    if len(found_of) < 2:
        raise MissingData(f"{chapter}'s unroll sweep is not recorded in {view.known.name}")
    factors = sorted(found_of)
    founds = [found_of[factor] for factor in factors]
    chase = view.find("chapter00_timing", "pointer_chase")
    latency_ns = hop_ns(chase)
    threads = view.device["max_threads_per_sm"]
    in_flight = {factor: threads * factor * patterns.INT_BYTES for factor in factors}
    # Little's law: bytes under way = bandwidth × latency. Bytes a nanosecond are GB/s.
    allowed = {
        factor: in_flight[factor] * view.device["sm_count"] / latency_ns for factor in factors
    }
    peak = view.device["peak_gb_per_s"]
    stride = _one_load_at_a_time(view, n) if 1 in found_of else None
    rows = [*zip(factors, founds, strict=True), *([(1, stride)] if stride else [])]

    def under_way(found: Found) -> float:
        """The same law the other way round: bytes under way on average, in each SM."""
        return rate_of(found) * latency_ns / float(view.device["sm_count"])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        _sizes_axis(
            axes,
            factors,
            "loads a thread, and bytes possible an SM",
            name=lambda factor: f"{factor}\n{bytes_text(in_flight[factor])}",
        )
        axes.set_xlim(factors[0], factors[-1])
        _roofs(axes, theme, view, None)
        # The bound is a straight line in the factor, so a curve on this axis.
        fine = [factors[0] * (factors[-1] / factors[0]) ** (i / 100) for i in range(101)]
        slope = allowed[factors[0]] / factors[0]
        bound = [(f, slope * f) for f in fine if slope * f <= peak]
        axes.plot(
            [f for f, _ in bound],
            [y for _, y in bound],
            color=theme.drawn("blue"),
            ls=DASHES[1],
            zorder=2,
        )
        if bound:
            # To the left of the curve where there is room, else between it and the measured one.
            left = bound[0][1] < 0.45 * peak
            middle = min(bound, key=lambda point: abs(point[1] - 0.66 * peak))
            axes.annotate(
                "what the\nlatency\nallows",
                xy=middle if left else bound[-1],
                xytext=(-8, 2) if left else (8, -6),
                textcoords="offset points",
                ha="right" if left else "left",
                va="bottom" if left else "top",
                color=theme.written("blue"),
            )
        points = [(factor, rate_of(found_of[factor])) for factor in factors]
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=theme.drawn("vermillion"),
            marker="o",
            clip_on=False,
            zorder=3,
        )
        for x, y in points:
            axes.annotate(
                significant(y, 3),
                xy=(x, y),
                xytext=(0, -18),
                textcoords="offset points",
                ha="right" if x == factors[-1] else "left" if x == factors[0] else "center",
                color=theme.written("vermillion"),
                weight="bold",
            )
        if stride:
            axes.plot(1, rate_of(stride), marker=MARKERS[1], color=theme.drawn("green"),
                      markersize=8, clip_on=False, zorder=3)  # fmt: skip
            axes.annotate(
                f"{name_of(stride)} {significant(rate_of(stride), 3)}",
                xy=(1, rate_of(stride)),
                xytext=(9, 1),
                textcoords="offset points",
                va="bottom",
                color=theme.written("green"),
                weight="bold",
            )
        _heading(axes, f"GB/s at n = {size(n)}")
        return figure

    first, last = factors[0], factors[-1]
    words = (
        f"On {view.device_name}, bandwidth goes from {rate_text(rate_of(founds[0]))} with {first} "
        f"load a thread to {rate_text(rate_of(founds[-1]))} with {last}; of the sweep, "
        f"{leaders_text(founds)}. A load takes {latency_ns:.0f} ns, so by Little's law "
        f"{bytes_text(under_way(founds[0]))} and {bytes_text(under_way(founds[-1]))} were "
        "under way in each SM on "
        f"average, where all its threads together can have {bytes_text(in_flight[first])} and "
        f"{bytes_text(in_flight[last])}."
    )
    beside = ""
    if stride:
        words += (
            f" {name_of(stride)}, with one load a thread and few blocks, reaches "
            f"{rate_text(rate_of(stride))}."
        )
        beside = (
            f" The square is {name_of(stride)} of chapter 2, each of whose threads has one load "
            "under way and hardly ever a tree."
        )
    return Picture(
        draw=draw,
        alt=words,
        caption=(
            f"The unroll sweep at n = {size(n)}, {founds[0].run['block']} threads a block. The "
            "dashed curve is the most that Little's law allows: the bytes that all threads an SM "
            "has room for can have under way, over the latency of one load as the pointer chase "
            f"has it. A thread that has its values and is in the tree has none under way.{beside}"
        ),
        table=Table(
            [
                "kernel",
                "loads a thread",
                "median µs",
                "GB/s",
                "bytes under way an SM",
                "bytes possible an SM",
                "GB/s allowed",
            ],
            [
                [
                    name_of(found),
                    loads,
                    time_of(found),
                    round(rate_of(found), 1),
                    round(under_way(found)),
                    in_flight[loads],
                    round(allowed[loads]),
                ]
                for loads, found in rows
            ],
        ),
        runs=[*founds, chase, *([stride] if stride else [])],
    )


# --------------------------------------------------------------- chapter 6's bytes and blocks

#: Shared memory is given out in pieces of this size from compute capability 8.0 on.
SHARED_PIECE = 128


def blocks_that_fit(device: dict[str, Any], block: int, shared_bytes: int) -> int:
    """Blocks an SM has room for by its threads and its shared memory, each the driver's share too.

    The 32 blocks that an SM takes at most, and registers, are left out: at this chapter's block
    size and with its kernels neither is ever the least.
    """
    pieces = -(-shared_bytes // SHARED_PIECE) * SHARED_PIECE
    by_shared = device["shared_per_sm"] // (pieces + device["shared_reserved"])
    return int(min(device["max_threads_per_sm"] // block, by_shared))


def _asked(view: View) -> list[Found]:
    """dynamic_unroll4 and the launches that ask for more than it, by bytes a block."""
    chapter = "chapter06_dynamic_smem"
    n = view.large_n(chapter)
    names = {run["variant"] for run in view.runs(chapter) if "shared_kib" in run["params"]}
    founds = [view.find(chapter, name, n) for name in (*names, "dynamic_unroll4")]
    if len(founds) < 3:
        raise MissingData(f"{chapter}'s sweep of shared bytes is not recorded in {view.known.name}")
    if "shared_reserved" not in view.device or "blocks_per_sm" not in founds[0].run:
        raise MissingData(f"{view.known.name} does not say how many blocks fit an SM")
    return sorted(founds, key=lambda found: int(found.run["shared_bytes"]))


def _kib(found: Found) -> float:
    return int(found.run["shared_bytes"]) / 1024


def shared_fit(view: View) -> Picture:
    """An SM's shared memory, and the blocks that it is divided among."""
    founds = _asked(view)
    device = view.device
    whole = device["shared_per_sm"] / 1024
    reserved = device["shared_reserved"] / 1024
    block = founds[0].run["block"]
    by_threads = device["max_threads_per_sm"] // block

    def fit(found: Found) -> int:
        return int(found.run["blocks_per_sm"])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.0 + 0.42 * len(founds))
        for place, found in enumerate(founds):
            each = _kib(found) + reserved
            for number in range(fit(found)):
                axes.barh(
                    place,
                    each,
                    left=number * each,
                    height=0.66,
                    color=theme.tint("blue", 0.6),
                    edgecolor=theme.drawn("blue"),
                    linewidth=1.2,
                )
            rest = whole - fit(found) * each
            axes.barh(place, rest, left=whole - rest, height=0.66, color="none", hatch="////",
                      edgecolor=theme.grid, linewidth=1.0)  # fmt: skip
            axes.annotate(
                str(fit(found)),
                xy=(whole, place),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                weight="bold",
            )
        axes.set_yticks(
            range(len(founds)), [bytes_text(int(f.run["shared_bytes"])) for f in founds]
        )
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, whole)
        ticks = [0, 64, 128, 192] if whole > 192 else [0, 32, 64, 96]
        axes.set_xticks([tick for tick in ticks if tick < whole])
        axes.set_xlabel(f"KiB of the {whole:.0f} that an SM has")
        axes.spines["left"].set_visible(False)
        axes.set_title("asked for, a block", loc="left", pad=10)
        axes.set_title("blocks that fit", loc="right", pad=10)
        return figure

    words = [f"{fit(f)} with {bytes_text(int(f.run['shared_bytes']))}" for f in founds]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, whose SMs have {whole:.0f} KiB of shared memory for blocks, "
            f"the number of blocks of {block} threads that fit an SM is {listed(words)} asked for "
            f"by each. More than {by_threads} never fit: that is all the threads that an SM holds."
        ),
        caption=(
            f"An SM's shared memory, divided among blocks of {block} threads. Each box is what one "
            f"block has asked for and the {reserved:.0f} KiB that the driver adds; what is hatched "
            "stays unused. The number of blocks is the occupancy calculator's."
        ),
        table=Table(
            ["variant", "shared bytes a block", "blocks an SM", "KiB unused"],
            [
                [
                    name_of(found),
                    found.run["shared_bytes"],
                    fit(found),
                    round(whole - fit(found) * (_kib(found) + reserved), 1),
                ]
                for found in founds
            ],
        ),
        runs=founds,
    )


def shared_occupancy(view: View) -> Picture:
    """Occupancy, predicted and counted, and time, against the bytes that each block asks for."""
    chapter = "chapter06_dynamic_smem"
    founds = _asked(view)
    counted = [view.counters(chapter, name_of(found)) for found in founds]
    device, block = view.device, founds[0].run["block"]
    warps, room = block // patterns.WARP, device["max_threads_per_sm"] // patterns.WARP
    n = founds[0].run["n"]
    sizes = [int(found.run["shared_bytes"]) for found in founds]

    def occupancy(blocks: int) -> float:
        return 100 * blocks * warps / room

    predicted = [occupancy(found.run["blocks_per_sm"]) for found in founds]
    try:
        measured = [recorded.counter(found, "occupancy_pct") for found in counted]
    except recorded.NoSuchRun as error:
        raise MissingData(str(error)) from None
    # The stairs between the points are drawn where the rule gives the calculator's own numbers.
    known = all(
        blocks_that_fit(device, block, size) == found.run["blocks_per_sm"]
        for size, found in zip(sizes, founds, strict=True)
    )
    fine = [1024 * k for k in range(1, sizes[-1] // 1024 + 1)]
    stairs = [(b, occupancy(blocks_that_fit(device, block, b))) for b in fine] if known else []

    def draw(theme: Theme) -> Figure:
        figure, panels = style.new_panels(2, shared=False)
        for axes in panels:
            axes.set_xlim(0, sizes[-1] * 1.02)
            marks = [b for b in (0, 48, 96, 227) if b * 1024 <= sizes[-1]]
            axes.set_xticks([1024 * mark for mark in marks], [str(mark) for mark in marks])
            axes.set_xlabel("KiB a block")
            axes.grid(axis="y")
        left, right = panels
        if stairs:
            left.step([x for x, _ in stairs], [y for _, y in stairs], where="post",
                      color=theme.drawn("blue"), lw=1.4, zorder=2)  # fmt: skip
        left.plot(sizes, predicted, ls="none", marker="o", markersize=9, color=theme.background,
                  markeredgecolor=theme.drawn("blue"), markeredgewidth=1.8, zorder=3,
                  clip_on=False)  # fmt: skip
        left.plot(sizes, measured, ls="none", marker="D", markersize=5.5,
                  color=theme.drawn("vermillion"), zorder=4, clip_on=False)  # fmt: skip
        left.set_ylim(0, 105)
        for text, hue, height in (("○ predicted", "blue", 0.93), ("◆ counted", "vermillion", 0.82)):
            left.annotate(text, xy=(0.98, height), xycoords="axes fraction", ha="right",
                          va="center", color=theme.written(hue))  # fmt: skip
        _heading(left, "Occupancy, %")
        times = [time_of(found) for found in founds]
        # A line for the eye alone: what lies between the points comes in steps, as at the left.
        right.plot(sizes, times, color=theme.muted, lw=1.2, ls=":", zorder=2)
        right.plot(sizes, times, ls="none", marker="s", markersize=7, zorder=3, clip_on=False,
                   color=theme.drawn("vermillion"))  # fmt: skip
        right.set_ylim(0, max(times) * 1.12)
        milli = max(times) >= 1000
        right.yaxis.set_major_formatter(
            lambda value, _place: significant(value / 1000, 2) if milli else f"{value:.0f}"
        )
        _heading(right, f"Time, {'ms' if milli else 'µs'}, n = {size(n)}")
        return figure

    first, last = founds[0], founds[-1]
    steps = [
        f"{bytes_text(size_)}: {want:.0f} % predicted and {got:.0f} % counted, "
        f"{time_text(time_of(found))}"
        for size_, want, got, found in zip(sizes, predicted, measured, founds, strict=True)
    ]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, occupancy and time of one kernel at n = {size(n)}, by the "
            f"shared memory that each block of {block} threads asks for: {'; '.join(steps)}. The "
            f"last takes {times_text(time_of(last) / time_of(first))} as long as the first."
        ),
        caption=(
            "Left: occupancy as the occupancy calculator predicts it (circles) and as the hardware "
            f"counts it (diamonds, n = {size(counted[0].run['n'])}). Right: the kernel's time. "
            f"{block} threads a block; the kernel uses {bytes_text(sizes[0])} of what it asks for."
        ),
        table=Table(
            [
                "variant",
                "shared bytes a block",
                "blocks an SM",
                "occupancy predicted, %",
                "occupancy counted, %",
                "median µs",
                "times as long",
            ],
            [
                [
                    name_of(found),
                    size_,
                    found.run["blocks_per_sm"],
                    round(want, 1),
                    round(got, 1),
                    time_of(found),
                    round(time_of(found) / time_of(first), 2),
                ]
                for found, size_, want, got in zip(founds, sizes, predicted, measured, strict=True)
            ],
        ),
        runs=[*founds, *counted],
    )


# ---------------------------------------------------------------------------------- chapter 4

BANKS_CHAPTER = "chapter04_bank_conflicts"


def _passes(counted: Found, found: Found) -> float:
    """Passes through shared memory of a run, counted at its size or in blocks that do as much."""
    total = sum(
        recorded.counter(counted, f"shared_{kind}_wavefronts") for kind in ("load", "store")
    )
    if counted.run["n"] == found.run["n"]:
        return total
    grid = math.prod(counted.run["launches"][0]["grid"])
    if counted.run["n"] * found.run["grid"] != found.run["n"] * grid:
        raise MissingData(f"the passes of {name_of(found)} are counted at no size of use here")
    return total / grid * found.run["grid"]


def _pass_floor(view: View, passes: float) -> float:
    """Microseconds that so many passes take at least: an SM makes one a cycle."""
    return passes / (view.device["sm_count"] * view.device["sm_clock_khz"] / 1000)


def stride_sweep(view: View) -> Picture:
    """Time of a walk through shared memory against the distance between neighbouring lanes."""
    runs = [run for run in view.runs(BANKS_CHAPTER) if "stride" in run["params"]]
    if len(runs) < 3:
        raise MissingData(f"{BANKS_CHAPTER}'s strides are not recorded in {view.known.name}")
    found_of = {
        int(run["params"]["stride"]): view.find(
            BANKS_CHAPTER, run["variant"], run["n"], run["block"]
        )
        for run in runs
    }
    strides = sorted(found_of)
    founds = [found_of[stride] for stride in strides]
    n = founds[0].run["n"]
    counted = [view.counters(BANKS_CHAPTER, name_of(found)) for found in founds]
    floors = [
        _pass_floor(view, _passes(count, found))
        for count, found in zip(counted, founds, strict=True)
    ]
    requests = [
        recorded.counter(count, "shared_load_wavefronts")
        - recorded.counter(count, "shared_load_conflicts")
        for count in counted
    ]
    ways = [
        recorded.counter(count, "shared_load_wavefronts") / request
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
        axes.vlines(strides, min(floors) / unit / 1.4, [f / unit for f in floors], lw=5,
                    color=theme.tint("blue", 0.6), zorder=2)  # fmt: skip
        axes.plot(strides, [f / unit for f in floors], ls="none", marker="_", markersize=9,
                  markeredgewidth=2, color=theme.drawn("blue"), zorder=3)  # fmt: skip
        axes.plot(strides, [time / unit for time in times], ls="none", marker="D", markersize=5,
                  color=theme.drawn("vermillion"), zorder=4)  # fmt: skip
        axes.set_ylim(min(floors) / unit / 1.4, max(times) / unit * 2.2)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(lambda value, _place: f"{value:g}")
        axes.set_xlim(0, strides[-1] + 1)
        axes.set_xticks([stride for stride in strides if stride == 1 or stride % 8 == 0])
        axes.set_xlabel("stride, words between neighbouring lanes")
        axes.grid(axis="y")
        for text, hue, height in (
            ("◆ measured", "vermillion", 0.97),
            ("– one pass a cycle", "blue", 0.89),
        ):
            axes.annotate(text, xy=(0.02, height), xycoords="axes fraction", va="center",
                          color=theme.written(hue))  # fmt: skip
        _heading(axes, f"Time, {'ms' if milli else 'µs'}, n = {size(n)}")
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
            f"Stride {worst} takes longest, {time_text(time_of(last))}, "
            f"{times_text(time_of(last) / time_of(first))} as long for {times_text(max(ways))} the "
            f"passes. No stride takes more than {times_text(most)} what its passes need at one a "
            "cycle in every SM."
        ),
        caption=(
            f"{size(n)} threads, each {patterns.WALK_ROUNDS} loads from shared memory. Bars: the "
            "least time that the passes counted by the hardware can take, at one a cycle and "
            "SM. Diamonds: the time measured."
        ),
        table=Table(
            ["stride", "passes a load, counted", "floor µs", "median µs", "times stride 1"],
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


def _spread_pct(founds: Sequence[Found]) -> str:
    """By how many per cent the slowest of these takes longer than the fastest, rounded up."""
    times = [time_of(found) for found in founds]
    return str(math.ceil(100 * (max(times) / min(times) - 1)))


def tile_times(view: View) -> Picture:
    """Time of a matrix times its transpose, layout by layout, above what the passes take."""
    n = 2048
    names = [
        run["variant"]
        for run in view.runs(BANKS_CHAPTER)
        if run["variant"].startswith("tile") and run["n"] == n
    ]
    if len(names) < 2:
        raise MissingData(f"{BANKS_CHAPTER}'s tiles are not recorded in {view.known.name}")
    founds = [view.find(BANKS_CHAPTER, name, n) for name in names]
    counted = [view.counters(BANKS_CHAPTER, name, n) for name in names]
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
        return _bars(theme, rows, f"Time for {n} rows: less is better", floors,
                     "◇ passes at one a cycle and SM")  # fmt: skip

    flop = 2 * n**3
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, C = A · Aᵀ of {n} rows: {leaders_text(founds)} of "
            f"{len(founds)} forms, with {time_text(time_of(fastest))}; the longest is "
            f"{name_of(slowest)}'s, {time_text(time_of(slowest))}, "
            f"{times_text(time_of(slowest) / time_of(fastest))} as long. The passes through shared "
            f"memory alone need {time_text(min(floors))} to {time_text(max(floors))}."
        ),
        caption=(
            f"C = A · Aᵀ for {n} rows of {n} numbers, in tiles of 32×32. Diamonds: the least time "
            "that the passes counted by the hardware can take, at one a cycle and SM."
        ),
        table=Table(
            ["kernel", "passes", "conflicts", "floor µs", "median µs", "GFLOP/s", "useful GB/s"],
            [
                [
                    name_of(found),
                    int(_passes(count, found)),
                    int(recorded.counter(count, "shared_load_conflicts")),
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


# ------------------------------------------------------- chapter 10's strides, offsets and widths

COALESCING = "chapter10_coalescing"


def _swept(view: View, region: str, param: str) -> dict[int, Found]:
    """One kernel's runs at the large size, by the value of what is swept."""
    n = view.large_n(COALESCING)
    found_of = {
        int(run["params"][param]): view.find(COALESCING, run["variant"], n)
        for run in view.runs(COALESCING)
        if run["region"] == region
    }
    if len(found_of) < 3:
        raise MissingData(f"{region} is recorded at {len(found_of)} values in {view.known.name}")
    return dict(sorted(found_of.items()))


def _counted(view: View, sweep: dict[int, Found]) -> tuple[list[Found], str]:
    """The counters of these variants, and who counted: the hardware, or where that is not recorded
    the embedded device."""
    names = [name_of(found) for found in sweep.values()]
    try:
        return [view.counters(COALESCING, name) for name in names], "the hardware"
    except MissingData:
        pass
    runs = [{**view.find(COALESCING, name).run, "chapter": COALESCING} for name in names]
    try:
        return [view.books.embedded(run) for run in runs], "the embedded device"
    except recorded.NoSuchRun as error:
        raise MissingData(str(error)) from None


def _sectors_a_request(found: Found, kind: str) -> float:
    """As counted."""
    try:
        sectors = recorded.counter(found, f"global_{kind}_sectors")
        return sectors / recorded.counter(found, f"global_{kind}_requests")
    except recorded.NoSuchRun as error:
        raise MissingData(str(error)) from None


def _law(stride: int, offset: int) -> int:
    """Sectors of a full warp whose lanes load ints so far apart, from so far on."""
    touched = (offset + lane * stride for lane in range(patterns.WARP))
    return len({place * patterns.INT_BYTES // patterns.SECTOR_BYTES for place in touched})


def _agree(counted: Sequence[float], derived: Sequence[int]) -> str:
    same = all(abs(got - want) < 0.005 for got, want in zip(counted, derived, strict=True))
    return "as derived" if same else "other than derived"


def strides(view: View) -> Picture:
    """Sectors a request, and bandwidth, against the stride of a load and of a store."""
    loads = _swept(view, "load-stride", "stride")
    stores = _swept(view, "store-stride", "stride")
    n = next(iter(loads.values())).run["n"]
    counted, by = _counted(view, loads)
    per_request = [_sectors_a_request(found, "load") for found in counted]
    law = [_law(stride, 0) for stride in loads]

    def draw(theme: Theme) -> Figure:
        figure, (left, right) = style.new_panels(2, shared=False)
        fine = [1 + step / 8 for step in range(8 * max(loads) - 7)]
        left.plot(fine, [min(4 * x, patterns.WARP) for x in fine], color=theme.drawn("blue"),
                  lw=1.6, zorder=2)  # fmt: skip
        left.plot(list(loads), per_request, ls="none", marker="D", color=theme.drawn("vermillion"),
                  clip_on=False, zorder=3)  # fmt: skip
        left.set_ylim(0, 36)
        for text, hue, height in (("derived", "blue", 0.2), ("◆ counted", "vermillion", 0.09)):
            left.annotate(text, xy=(0.98, height), xycoords="axes fraction", ha="right",
                          va="center", color=theme.written(hue))  # fmt: skip
        _heading(left, "Sectors a request")
        for place, (label, sweep) in enumerate((("load", loads), ("store", stores))):
            hue = SERIES[place]
            right.plot(list(sweep), [rate_of(found) for found in sweep.values()],
                       color=theme.drawn(hue), marker=MARKERS[place], markersize=5, clip_on=False,
                       zorder=3)  # fmt: skip
            right.annotate(f"{'●■'[place]} {label}", xy=(0.98, 0.93 - 0.11 * place),
                           xycoords="axes fraction", ha="right", va="center",
                           color=theme.written(hue))  # fmt: skip
        right.set_ylim(0, max(rate_of(found) for found in loads.values()) * 1.08)
        _heading(right, f"GB/s, n = {size(n)}")
        for axes in (left, right):
            _sizes_axis(axes, [x for x in loads if x & (x - 1) == 0], "stride", name=str)
            axes.set_xlim(1, max(loads))
            axes.grid(axis="y")
        return figure

    first, last = next(iter(loads.values())), loads[max(loads)]
    eight = loads.get(8, last)
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, sectors a load request, counted by {by} "
            f"{_agree(per_request, law)}: "
            f"{significant(per_request[0])} at stride 1 and {significant(per_request[-1])} at "
            f"stride {max(loads)}. Useful bandwidth at n = {size(n)} goes from "
            f"{rate_text(rate_of(first))} at stride 1 to {rate_text(rate_of(eight))} at stride "
            f"{eight.run['params']['stride']} and {rate_text(rate_of(last))} at stride "
            f"{max(loads)}; for stores it ends at {rate_text(rate_of(stores[max(stores)]))}."
        ),
        caption=(
            "Left: sectors that a warp's request touches, against the stride of its load: derived "
            f"(line) and counted by {by} (diamonds, n = {size(counted[0].run['n'])}). "
            f"Right: useful bytes over time, n = {size(n)}, with the stride on the side of the "
            "load and on that of the store."
        ),
        table=Table(
            ["kernel", "stride", "sectors derived", "sectors counted", *run_columns()[1:]],
            [
                *(
                    [name_of(found), stride, want, round(got, 2), *run_row(found, view.device)[1:]]
                    for (stride, found), want, got in zip(
                        loads.items(), law, per_request, strict=True
                    )
                ),
                *(
                    [
                        name_of(found),
                        stride,
                        _law(stride, 0),
                        None,
                        *run_row(found, view.device)[1:],
                    ]
                    for stride, found in stores.items()
                ),
            ],
        ),
        runs=[*loads.values(), *stores.values(), *counted],
    )


def offsets(view: View) -> Picture:
    """Sectors a request, and bandwidth, against the offset at which a load begins."""
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
        for text, hue, height in (("derived", "blue", 0.2), ("◆ counted", "vermillion", 0.08)):
            left.annotate(text, xy=(0.98, height), xycoords="axes fraction", ha="right",
                          va="center", color=theme.written(hue))  # fmt: skip
        _heading(left, "Sectors a request")
        rates = [rate_of(found) for found in founds]
        right.plot(list(sweep), rates, color=theme.drawn("vermillion"), marker="o", markersize=5,
                   clip_on=False, zorder=3)  # fmt: skip
        right.set_ylim(0, max(rates) * 1.15)
        _heading(right, f"GB/s, n = {size(n)}")
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
            f"{significant(per_request[0])} sectors a request, and one that begins elsewhere up to "
            f"{significant(max(per_request))}, counted by {by} {_agree(per_request, law)}. "
            f"Bandwidth at n = {size(n)} lies between {rate_text(rate_of(worst))} (offset "
            f"{worst.run['params']['offset']}) and {rate_text(rate_of(best))} (offset "
            f"{best.run['params']['offset']})."
        ),
        caption=(
            "The same against the offset, in ints, from the beginning of an allocation. Counts are "
            f"by {by}, at n = {size(counted[0].run['n'])}."
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
    """A copy in words of several sizes: bandwidth, and sectors a request."""
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
                f"{rate_of(found):.0f}, {round(sectors, 1):g} a request",
                name_of(found) in lead,
            )
            for (width, found), sectors in zip(sweep.items(), per_request, strict=True)
        ]
        return _bars(theme, rows, "GB/s, and sectors a request, by word")

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
            f"A copy of n = {size(n)} ints, {founds[0].run['block']} threads a block, each thread "
            "one word. All move the same sectors; the wider the word, the fewer the requests "
            f"(counted by {by})."
        ),
        table=Table(
            ["kernel", "bytes a word", "sectors a request", *run_columns()[1:]],
            [
                [name_of(found), width, round(sectors, 2), *run_row(found, view.device)[1:]]
                for (width, found), sectors in zip(sweep.items(), per_request, strict=True)
            ],
        ),
        runs=[*founds, *counted],
    )


# -------------------------------------------------------------------------- the book's picture


def _is_rung(found: Found) -> bool:
    """Whether a kernel reads n integers and leaves one for each block; others climb no ladder."""
    run = found.run
    if "paths" in run["params"]:  # it does other work besides
        return False
    useful = (patterns.INT_BYTES * run["n"], patterns.INT_BYTES * run["grid"])
    return (run["bytes_read"], run["bytes_written"]) == useful and name_of(found) not in NO_RUNGS


def _rungs(view: View) -> list[tuple[str, Found]]:
    """The ladder's kernels from the slowest to the fastest, each with its chapter.

    Where a chapter sweeps one template, the one that the chapter is named after stands for all.
    The fastest of the whole book ends the ladder in any case.
    """
    chapters = sorted(c for c in view.known.chapters if "chapter01" <= c < "chapter08")
    rungs: list[tuple[str, Found]] = []
    everything: list[tuple[str, Found]] = []
    for chapter in chapters:
        n = view.large_n(chapter)
        there = dict.fromkeys(r["variant"] for r in view.runs(chapter) if r["n"] == n)
        found_here = [view.find(chapter, variant, n) for variant in there]
        own = [found for found in found_here if found.run["from"] == chapter and _is_rung(found)]
        everything += [(chapter, found) for found in own]
        by_region: dict[str, list[Found]] = {}
        for found in own:
            by_region.setdefault(found.run["region"] or name_of(found), []).append(found)
        for alike in by_region.values():
            named = [found for found in alike if name_of(found) == chapter.partition("_")[2]]
            plain = [found for found in alike if not found.run["params"]]
            rungs.append((chapter, (named or plain or [min(alike, key=time_of)])[0]))
    if len(rungs) < 2:
        raise MissingData(f"too few kernels for a ladder are recorded in {view.known.name}")
    if len({found.run["n"] for _, found in rungs}) > 1:
        raise MissingData(f"the chapters in {view.known.name} share no large size")
    best = min(everything, key=lambda rung: time_of(rung[1]))
    if name_of(best[1]) not in {name_of(found) for _, found in rungs}:
        rungs.append(best)
    return sorted(rungs, key=lambda rung: rate_of(rung[1]))


def ladder(view: View) -> Picture:
    """Every kernel of the book as a rung as long as its bandwidth, leaning on the peak."""
    rungs = _rungs(view)
    founds = [found for _, found in rungs]
    n = founds[0].run["n"]
    peak = view.device["peak_gb_per_s"]
    chapters = sorted({chapter for chapter, _ in rungs})

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.2 + 0.4 * len(rungs))
        top = len(rungs) - 1
        foot, head, wall = -0.75, top + 0.75, peak * 1.07
        axes.axvspan(
            peak, wall, facecolor=theme.tint("sky", 0.8), edgecolor=theme.grid, hatch="////", lw=0
        )
        axes.axvline(peak, color=theme.muted, lw=1.6)
        axes.annotate(
            f"theoretical peak, {peak:.0f} GB/s",
            xy=(peak, foot),
            xytext=(-6, 0),
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="bottom",
            color=theme.muted,
        )
        rates = [rate_of(found) for found in founds]
        rail: dict[str, Any] = {
            "color": theme.muted,
            "lw": 5,
            "solid_capstyle": "round",
            "zorder": 2,
        }
        axes.plot([0, 0], [foot, head], **rail)
        # The right-hand rail goes through the rungs' ends, and on a little at both ends.
        axes.plot([rates[0], *rates, rates[-1]], [foot, *range(top + 1), head], **rail)
        for place, ((chapter, found), rate) in enumerate(zip(rungs, rates, strict=True)):
            hue = SERIES[chapters.index(chapter) % len(SERIES)]
            number = int(re.findall(r"\d+", chapter)[0])
            axes.barh(place, rate, height=0.6, color=theme.written(hue), lw=0, zorder=3)
            axes.plot(0, place, "o", ms=17, color=theme.background, mec=theme.written(hue), mew=2,
                      clip_on=False, zorder=4)  # fmt: skip
            # A rate stands on its rung, or behind the rail where the rung is too short for it.
            on = rate > 0.13 * peak
            written = (0, 11, theme.background) if on else (rate, 14, theme.ink)
            for text, x, offset, side, colour, bold in (
                (str(number), 0, 0, "center", theme.written(hue), True),
                (f"{rate:.0f}", *written[:2], "left", written[2], True),
                (name_of(found), 0, -15, "right", theme.ink, place == top),
            ):
                axes.annotate(
                    text,
                    xy=(x, place),
                    xytext=(offset, 0),
                    textcoords="offset points",
                    ha=side,
                    va="center_baseline",
                    color=colour,
                    weight="bold" if bold else "normal",
                    zorder=5,
                )
        axes.set_xlim(-0.02 * peak, wall)
        axes.set_ylim(foot - 0.15, head + 0.15)
        axes.axis("off")
        axes.set_title(f"GB/s, adding up {size(n)} integers", loc="left", pad=4)
        return figure

    slowest, fastest = max(founds, key=time_of), min(founds, key=time_of)
    return Picture(
        draw=draw,
        alt=(
            f"A ladder of {len(rungs)} kernels that add up {size(n)} integers on "
            f"{view.device_name}, each rung as long as its bandwidth. The lowest rung, "
            f"{name_of(slowest)}, reaches {rate_text(rate_of(slowest))}. "
            f"The highest, {name_of(fastest)}, reaches {rate_text(rate_of(fastest))}: "
            f"{100 * rate_of(fastest) / peak:.0f} % of the theoretical peak, and "
            f"{times_text(time_of(slowest) / time_of(fastest))} as fast as the lowest; "
            f"{leaders_text(founds)}."
        ),
        caption=(
            f"The ladder: effective bandwidth of every rung at n = {size(n)}, "
            f"{founds[0].run['block']} threads a block, from the slowest to the fastest. It leans "
            "on the device's theoretical peak. The circled numbers are the chapters."
        ),
        table=Table(
            ["chapter", *run_columns()],
            [[chapter, *run_row(found, view.device)] for chapter, found in rungs],
        ),
        runs=founds,
    )


# ------------------------------------------------------------------------------ chapter08, sums

WHOLE = "chapter08_multi_pass"
#: The forms that can be told apart in a picture; the page's table has all.
FORMS = ("passes", "grid_sync", "last_block", "one_word", "whole", "cub")
SMALL_N = 2**20


def whole_times(view: View) -> Picture:
    """The time of a finished sum against n, where a launch's own cost is most of it."""
    sweeps = [
        [found for found in view.over_n(WHOLE, name) if found.run["n"] <= SMALL_N] for name in FORMS
    ]
    floor = view.find("chapter00_timing", "empty_launch")
    sizes = sorted({found.run["n"] for sweep in sweeps for found in sweep})

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        _sizes_axis(axes, sizes, "n, the number of elements", step=2, name=short_size)
        axes.set_xlim(sizes[0], sizes[-1])
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
        axes.set_ylim(0, 1.05 * max(y for _, points in curves for _, y in points))
        _label_ends(axes, theme, _curves(axes, theme, curves))
        _heading(axes, "µs until the sum is there: less is better")
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
            "Median time until the whole sum is in memory, 64-bit, cold, against n. The dashed "
            "line is an empty launch, below which no form can be."
        ),
        table=Table(
            run_columns(), [run_row(found, view.device) for sweep in sweeps for found in sweep]
        ),
        runs=[*(found for sweep in sweeps for found in sweep), floor],
    )


def _won(pairs: Sequence[tuple[Found, Found]], against: str) -> str:
    """'faster than cub at every n but 2³⁰, and slower nowhere', from (ours, CUB's) by size."""
    sizes = [ours.run["n"] for ours, _ in pairs]
    ahead = [ours.run["n"] for ours, theirs in pairs if recorded.faster(ours, theirs)]
    behind = [ours.run["n"] for ours, theirs in pairs if recorded.faster(theirs, ours)]

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
    pairs: dict[str, list[tuple[Found, Found]]] = {}
    for label, (ours, theirs) in kinds.items():
        mine = {found.run["n"]: found for found in view.over_n(WHOLE, ours)}
        cubs = {found.run["n"]: found for found in view.over_n(WHOLE, theirs)}
        pairs[label] = [(mine[n], cubs[n]) for n in sorted(mine.keys() & cubs.keys())]
    sizes = sorted({ours.run["n"] for each in pairs.values() for ours, _ in each})
    in_l2 = view.device["l2_bytes"] / patterns.INT_BYTES

    def ratio(pair: tuple[Found, Found]) -> float:
        return time_of(pair[1]) / time_of(pair[0])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        _sizes_axis(axes, sizes, "n, the number of elements", step=4, name=short_size)
        axes.set_xlim(sizes[0], sizes[-1])
        axes.axhline(1, color=theme.muted, lw=1.2, ls="--", zorder=1)
        _l2_line(axes, theme, in_l2, "input = L2", top=True)
        curves = [
            (label, [(pair[0].run["n"], ratio(pair)) for pair in each])
            for label, each in pairs.items()
        ]
        low = min(y for _, points in curves for _, y in points)
        high = max(y for _, points in curves for _, y in points)
        axes.set_ylim(min(0.9, low - 0.05), max(1.1, high + 0.08))
        _label_ends(axes, theme, _curves(axes, theme, curves))
        _heading(axes, "CUB's time over ours: above 1 ours is faster")
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
            "CUB's cub::DeviceReduce::Sum over this chapter's kernel: medians, cold, one sum to "
            "its end, storage allocated beforehand, with the same types in, between and out."
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
                    "yes" if recorded.faster(ours, theirs) else "no",
                ]
                for label, each in pairs.items()
                for ours, theirs in each
            ],
        ),
        runs=[found for each in pairs.values() for pair in each for found in pair],
    )


# ------------------------------------------------------------------------------------ registry

#: Chapters with more kernels than curves that can be followed: those that tell the story.
SHOWN = {
    "chapter03_divergence": ("interleaved", "interleaved_mask", "strided", "smem"),
    BANKS_CHAPTER: ("strided", "strided_padded", "smem"),
    "chapter05_unroll4": ("smem", "first_add", "unroll4", "unroll8", "complete"),
    "chapter06_dynamic_smem": ("smem", "dynamic_smem", "unroll4", "dynamic_unroll4"),
    WHOLE: FORMS,
    "chapter09_histogram": ("lanes_uniform", "cub_uniform", "lanes_equal", "cub_equal", "read"),
    COALESCING: ("vec3_packed", "vec3_aligned", "vec3_arrays", "vec3_staged"),
}
#: Chapters with kernels that others are not to be compared with: those that are.
COMPARED = {
    "chapter03_divergence": SHOWN["chapter03_divergence"],
    WHOLE: (*FORMS, "atomic_thread", "atomic_block"),
    BANKS_CHAPTER: SHOWN[BANKS_CHAPTER],
    COALESCING: SHOWN[COALESCING],
}
#: Kernels that are another's twin, in another type.
NO_RUNGS = ("typed_int", "typed_long")


def plots(chapters: Sequence[str]) -> dict[str, Callable[[View], Picture]]:
    """All plots by name, for the chapters of that name (chapterNN_…)."""
    named: dict[str, Callable[[View], Picture]] = {
        "ladder": ladder,
        "climb": climb,
        "chapter00_methods": timing_methods,
        "chapter00_l2": timing_l2,
        "chapter00_latency": timing_latency,
    }
    for chapter in chapters:
        short = chapter.partition("_")[0]
        named[f"{short}_here"] = functools.partial(climb, here=chapter)
        if chapter in ("chapter00_timing", bandwidth.CHAPTER):  # they have their own alone
            continue

        def of_chapter(
            make: Callable[..., Picture], chapter: str = chapter, **more: Sequence[str]
        ) -> Callable[[View], Picture]:
            return lambda view: make(view, chapter, **more)

        shown = SHOWN.get(chapter, ())
        named[f"{short}_time"] = of_chapter(chapter_time, shown=COMPARED.get(chapter, ()))
        named[f"{short}_bandwidth"] = of_chapter(chapter_bandwidth, shown=shown)
        named[f"{short}_blocks"] = of_chapter(chapter_blocks, shown=shown)
        # What has sizes of its own is not to be compared with what has the book's.
        mixed = shown if chapter == BANKS_CHAPTER else ()
        named[f"{short}_counters"] = of_chapter(chapter_counters, shown=mixed)
    if bandwidth.CHAPTER in chapters:
        named |= bandwidth.PLOTS
    named["chapter03_paths"] = paths_sweep
    named["chapter04_strides"] = stride_sweep
    named["chapter04_tiles"] = tile_times
    named["chapter05_unroll"] = unroll_sweep
    named["chapter06_fit"] = shared_fit
    named["chapter06_occupancy"] = shared_occupancy
    named["chapter08_small"] = whole_times
    named["chapter08_ratio"] = cub_ratio
    named["chapter09_methods"] = functools.partial(histogram_methods, n=2**24)
    named["chapter09_shared"] = functools.partial(histogram_methods, n=2**28)
    named["chapter10_strides"] = strides
    named["chapter10_offsets"] = offsets
    named["chapter10_widths"] = widths
    return named
