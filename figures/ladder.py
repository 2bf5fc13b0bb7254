"""The README's picture: every kernel of the ladder as a rung as long as its bandwidth."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

from matplotlib.figure import Figure

from figures import chapters
from figures.kit import patterns, style
from figures.kit.chapter import Chapter, number_of
from figures.kit.pictures import (
    MissingData,
    Picture,
    Table,
    View,
    leaders_text,
    name_of,
    rate_of,
    run_columns,
    run_row,
    time_of,
)
from figures.kit.style import SERIES, Theme
from figures.kit.words import rate_text, size, times_text
from figures.records.recordings import RecordedRun


def _is_rung(chapter: Chapter, found: RecordedRun) -> bool:
    """Whether a kernel reads n integers and leaves one for each block; others climb no ladder."""
    run = found.run
    useful = (patterns.INT_BYTES * run["n"], patterns.INT_BYTES * run["grid"])
    return (run["bytes_read"], run["bytes_written"]) == useful and not any(
        fnmatch(name_of(found), pattern) for pattern in chapter.no_rungs
    )


def _rungs(view: View) -> list[tuple[str, RecordedRun]]:
    """The ladder's kernels from the slowest to the fastest, each with its chapter.

    Where a chapter sweeps one template, the one that the chapter is named after stands for all.
    The fastest of the whole book ends the ladder in any case.
    """
    rungs: list[tuple[str, RecordedRun]] = []
    everything: list[tuple[str, RecordedRun]] = []
    for chapter, facts in chapters.rungs().items():
        if chapter not in view.known.chapters:
            continue
        n = view.large_n(chapter)
        there = dict.fromkeys(r["variant"] for r in view.runs(chapter) if r["n"] == n)
        found_here = [view.find(chapter, variant, n) for variant in there]
        own = [
            found for found in found_here if found.run["from"] == chapter and _is_rung(facts, found)
        ]
        everything += [(chapter, found) for found in own]
        by_region: dict[str, list[RecordedRun]] = {}
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
    shown = sorted({chapter for chapter, _ in rungs})

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
            hue = SERIES[shown.index(chapter) % len(SERIES)]
            number = number_of(chapter)
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
            f"{founds[0].run['block']} threads per block, from the slowest to the fastest. It "
            "leans on the device's theoretical peak. The circled numbers are the chapters."
        ),
        table=Table(
            ["chapter", *run_columns()],
            [[chapter, *run_row(found, view.device)] for chapter, found in rungs],
        ),
        runs=founds,
    )
