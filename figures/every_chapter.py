"""The plots that every chapter has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial as bind
from itertools import combinations

from matplotlib.figure import Figure

from common.records.derived import gb_per_s
from common.records.recordings import RecordedRun, counter_of
from common.records.schema import CountedRun
from common.records.sets import NoSuchRun
from common.records.verdict import TIE, ratios, timed
from figures.chapters import derived_counts
from figures.kit import style
from figures.kit.axes import (
    bar_chart,
    draw_curves,
    heading,
    l2_line,
    label_ends,
    roof_lines,
    sizes_axis,
)
from figures.kit.chapter import Chapter, Plot
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
    time_of,
)
from figures.kit.style import SERIES, Theme
from figures.kit.words import listed, rate_text, significant, size, time_text, times_text


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
        return bar_chart(theme, rows, f"Time for n = {size(n)}: less is better")

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
        f"{founds[0].run['block']} threads per block.",
        table=Table(run_columns(), [run_row(found, view.device) for found in founds]),
        runs=founds,
    )


def chapter_bandwidth(view: View, chapter: str, shown: Sequence[str] = ()) -> Picture:
    """Useful bytes over time against the size, with their spread, the L2 and the roofs.

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
        sizes_axis(axes, sizes, step=4)
        roof_lines(axes, theme, view, roof)
        l2_line(axes, theme, in_l2, "input = L2", top=True)
        for place, sweep in enumerate(sweeps):
            runs = [found.run for found in sweep]
            spreads = [timed(found.repeats).spread_us for found in sweep]
            axes.fill_between(
                [run["n"] for run in runs],
                [gb_per_s(run, spread.high) for run, spread in zip(runs, spreads, strict=True)],
                [gb_per_s(run, spread.low) for run, spread in zip(runs, spreads, strict=True)],
                color=theme.drawn(SERIES[place % len(SERIES)]),
                alpha=0.25,
                lw=0,
            )
        curves = [
            (name_of(sweep[0]), [(found.run["n"], rate_of(found)) for found in sweep])
            for sweep in sweeps
        ]
        label_ends(axes, theme, draw_curves(axes, theme, curves))
        heading(axes, "GB/s, useful bytes over time")
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
        passes = [{found.run["n"]: found.repeats for found in sweep} for sweep in (one, other)]
        if passes[0].keys() == passes[1].keys() and all(
            abs(ratio - 1) <= TIE
            for n, ours in passes[0].items()
            for ratio in ratios(ours, passes[1][n])
        ):
            names = f"{name_of(one[0])} and {name_of(other[0])}"
            alt += f"; {names} are within 1 % of each other at every n"
    return Picture(
        draw=draw,
        alt=alt + ".",
        caption=(
            "Effective bandwidth against n: medians, with a band over the spread of all "
            "passes. The vertical line marks the input that just fills the L2 cache; the "
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
    sweeps = [sweep for v in variants if len(sweep := view.over_block(chapter, v, n)) > 1]
    if not sweeps:
        raise NoSuchRun(f"{chapter} is recorded at one block size only in {view.known.name}")
    roof = view.read_roof()
    blocks = sorted({found.run["block"] for sweep in sweeps for found in sweep})

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(axes, blocks, "threads per block", name=str)
        roof_lines(axes, theme, view, roof)
        curves = [
            (name_of(sweep[0]), [(found.run["block"], rate_of(found)) for found in sweep])
            for sweep in sweeps
        ]
        label_ends(axes, theme, draw_curves(axes, theme, curves))
        heading(axes, f"GB/s at n = {size(n)}")
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
        alt=f"On {view.device_name}, bandwidth against threads per block at n = {size(n)}: "
        f"{'; '.join(words)}.",
        caption=f"Effective bandwidth against the block size, n = {size(n)}.",
        table=Table(
            run_columns(), [run_row(found, view.device) for sweep in sweeps for found in sweep]
        ),
        runs=[*(found for sweep in sweeps for found in sweep), roof],
    )


def _sectors(count: float, million: str = "million") -> str:
    """In millions, where it isn't a handful."""
    return f"{significant(count / 1e6)} {million}" if count >= 1e4 else f"{count:.0f}"


def chapter_counters(view: View, chapter: str, shown: Sequence[str] = ()) -> Picture:
    """Sectors that each kernel moved, beside the count derived from its access pattern."""
    variants = [name for name in view.variants(chapter) if not shown or name in shown]
    founds = [view.counters(chapter, variant) for variant in variants]

    def measured(found: RecordedRun[CountedRun]) -> float:
        names = ("global_load_sectors", "global_store_sectors")
        return sum(counter_of(found, name) for name in names)

    def derived(found: RecordedRun[CountedRun]) -> int | None:
        run = found.run
        grid = run["launches"][0]["grid"][0]
        origin = view.origin(chapter, run["variant"])
        counts = derived_counts(origin, run["variant"], run["n"], run["block"], grid)
        if counts is None:
            return None
        return counts.global_load_sectors + counts.global_store_sectors

    pairs = [(found, measured(found), derived(found)) for found in founds]
    run = founds[0].run
    least, most = min(pairs, key=lambda p: p[1]), max(pairs, key=lambda p: p[1])

    def draw(theme: Theme) -> Figure:
        rows = [
            (name_of(found), count / 1e6, _sectors(count, "M"), count == least[1])
            for found, count, _ in pairs
        ]
        marks = [None if count is None else count / 1e6 for _, _, count in pairs]
        heading = f"Global sectors of 32 bytes, n = {size(run['n'])}"
        return bar_chart(theme, rows, heading, marks, "◇ derived from the access pattern")

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
        words += f"{_sectors(most[1])} sectors to and from global memory."
    else:
        words += (
            f"{name_of(most[0])} moves {_sectors(most[1])} sectors to and from "
            f"global memory, {times_text(most[1] / least[1])} the "
            f"{_sectors(least[1])} of {name_of(least[0])}."
        )
    return Picture(
        draw=draw,
        alt=f"{words} {verdict}",
        caption=(
            f"Sectors loaded and stored in global memory by one launch, n = {size(run['n'])}, "
            f"{run['block']} threads per block: counted by the hardware (bars) and derived from "
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


def usual_plots(chapter: Chapter) -> dict[str, Plot]:
    """The plots of one chapter, by name."""
    makers: dict[str, tuple[Callable[..., Picture], tuple[str, ...]]] = {
        "time": (chapter_time, chapter.timed),
        "bandwidth": (chapter_bandwidth, chapter.swept),
        "blocks": (chapter_blocks, chapter.swept),
        "counters": (chapter_counters, chapter.counted),
    }
    return {
        f"{chapter.short}_{kind}": bind(make, chapter=chapter.name, shown=shown)
        for kind, (make, shown) in makers.items()
    }
