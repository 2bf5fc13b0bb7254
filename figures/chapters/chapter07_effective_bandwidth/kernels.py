"""Every kernel of the book against what the memory can give."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from common.records.naming import DEFAULT_BLOCK
from common.records.recordings import RecordedRun
from common.records.schema import TimedRun
from common.records.sets import NoSuchRun
from figures.kit import style
from figures.kit.chapter import number_of
from figures.kit.pictures import (
    LARGE_N,
    Picture,
    Table,
    View,
    name_of,
    rate_of,
    run_columns,
    run_row,
)
from figures.kit.style import DASHES, MARKERS, SERIES, Theme
from figures.kit.words import listed, rate_text, times_text

NAME = "chapter07_effective_bandwidth"


#: The classic programs' block and sizes.
BLOCK = 128


METHODS = tuple(f"reduce{number}" for number in range(1, 8))


ROOFS = ("read", "copy", "triad")


#: n numbers of 8 bytes are as many bytes as twice n integers.
LARGE_DOUBLES = LARGE_N // 2


def roofs(view: View) -> list[RecordedRun]:
    """What reading, copying and the triad reach with as many bytes an array as the book's sums."""
    return [view.find(NAME, roof, LARGE_DOUBLES) for roof in ROOFS]


def _chosen(runs: Sequence[TimedRun]) -> TimedRun:
    """Of one variant's runs the largest up to the book's large size, at the book's block."""
    n = max([run["n"] for run in runs if run["n"] <= LARGE_N] or [min(run["n"] for run in runs)])
    here = [run for run in runs if run["n"] == n]
    return next((run for run in here if run["block"] == DEFAULT_BLOCK), here[0])


def every_kernel(view: View) -> list[tuple[str, RecordedRun]]:
    """Each kernel in the chapter that it is from, at one large size, the L2 emptied.

    A single thread is timed for its latency, and the roofs are what the others are held against.
    """
    kernels = []
    for chapter in sorted(view.known.chapters):
        by_variant: dict[str, list[TimedRun]] = {}
        for run in view.runs(chapter):
            a_roof = chapter == NAME and run["variant"] in ROOFS
            alone = run["block"] == 1
            own = run["from"] == chapter and not a_roof and not alone
            if own and run["cache"] == "cold" and run["clock"] == "events" and run["bytes_read"]:
                by_variant.setdefault(run["variant"], []).append(run)
        for variant, runs in by_variant.items():
            run = _chosen(runs)
            kernels.append((chapter, view.find(chapter, variant, run["n"], run["block"])))
    if not kernels:
        raise NoSuchRun(f"no kernel's bytes are recorded in {view.known.name}")
    return kernels


def _fastest_of_each(kernels: Sequence[tuple[str, RecordedRun]]) -> list[tuple[str, RecordedRun]]:
    """Of the kernels that share a listing one, the best of those that no parameter sets apart."""
    alike: dict[tuple[str, str], list[RecordedRun]] = {}
    for chapter, found in kernels:
        alike.setdefault((chapter, found.run["region"] or name_of(found)), []).append(found)
    best = []
    for (chapter, _), founds in alike.items():
        plain = [found for found in founds if not found.run["params"]]
        best.append((chapter, max(plain or founds, key=rate_of)))
    return best


def _hues(chapters: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A hue and a marker for each chapter."""
    return {
        chapter: (SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)])
        for place, chapter in enumerate(sorted(set(chapters)))
    }


def kernels_and_roofs(view: View) -> Picture:
    """GB/s of every kernel of the book, and how far that is from the roofs."""
    kernels = every_kernel(view)
    shown = _fastest_of_each(kernels)
    above = roofs(view)
    peak = view.device["peak_gb_per_s"]
    hues = _hues([chapter for chapter, _ in shown])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.5 + 0.27 * len(shown))
        for place, height in enumerate([peak, *map(rate_of, above)]):
            axes.axvline(height, color=theme.muted, lw=1.2, ls=DASHES[place], zorder=1)
        for place, (chapter, found) in enumerate(shown):
            hue, marker = hues[chapter]
            rate = rate_of(found)
            axes.plot([0, rate], [place, place], color=theme.grid, lw=1.5, zorder=1)
            axes.plot(rate, place, marker=marker, color=theme.drawn(hue), ls="none", zorder=3)
            axes.annotate(
                f"{rate:.0f}",
                xy=(1, place),
                xycoords=("axes fraction", "data"),
                xytext=(38, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                color=theme.written(hue),
                annotation_clip=False,
            )
        names = [f"{name_of(found)}  {number_of(chapter)}" for chapter, found in shown]
        axes.set_yticks(range(len(shown)), names)
        for letters, (chapter, _) in zip(axes.get_yticklabels(), shown, strict=True):
            letters.set_color(theme.written(hues[chapter][0]))
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlim(0, peak * 1.02)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("GB/s, useful bytes over time")
        axes.set_title("kernel, and its chapter", loc="left", pad=10)
        axes.spines["left"].set_visible(False)
        return figure

    fastest = max(shown, key=lambda kernel: rate_of(kernel[1]))[1]
    slowest = min(shown, key=lambda kernel: rate_of(kernel[1]))[1]
    half = sum(rate_of(found) > peak / 2 for _, found in shown)
    levels = listed([f"{name_of(roof)} {rate_text(rate_of(roof))}" for roof in above])
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, whose theoretical peak is {rate_text(peak)}, the memory gives "
            f"{levels}. Of {len(shown)} kernels of the book {half} pass half of the peak; the "
            f"fastest, {name_of(fastest)}, reaches {rate_text(rate_of(fastest))}, "
            f"{100 * rate_of(fastest) / peak:.0f} % of the peak and "
            f"{times_text(rate_of(fastest) / rate_of(above[0]))} what the plain read reaches; "
            f"the slowest, {name_of(slowest)}, {rate_text(rate_of(slowest))}."
        ),
        caption=(
            "Effective bandwidth of every kernel. The number behind its name is its chapter. Of "
            "variants that share a listing the best is shown. The vertical lines are the "
            "theoretical peak (solid) and what reading (dashed), copying (dashes and dots) and the "
            "triad (dotted) reach. The data have every variant."
        ),
        table=Table(
            ["chapter", *run_columns(), "% of read"],
            [
                [
                    chapter,
                    *run_row(found, view.device),
                    round(100 * rate_of(found) / rate_of(above[0]), 1),
                ]
                for chapter, found in [*kernels, *((NAME, roof) for roof in above)]
            ],
        ),
        runs=[*(found for _, found in kernels), *above],
    )
