"""The climb on the cover: finished sums, one change per rung, in the order of the book."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from common.records.naming import DEFAULT_BLOCK
from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures import chapters
from figures.kit import style
from figures.kit.chapter import number_of
from figures.kit.pictures import (
    LARGE_N,
    Picture,
    Table,
    View,
    rate_of,
    run_columns,
    run_row,
    time_of,
)
from figures.kit.style import Theme
from figures.kit.words import rate_text, size, times_text

#: Points per character of a label, and what its number takes before it.
_LETTER, _NUMBER = 6.0, 44
_AXES_PT = 5.1 * 72  # about as wide as the axes are


def climb(view: View) -> list[tuple[str, str, RecordedRun]]:
    """Chapter, what changed, and the finished sum after it."""
    return [
        (name, change, view.find(name, variant, LARGE_N, DEFAULT_BLOCK))
        for name, chapter in chapters.known().items()
        for variant, change in chapter.spine.items()
    ]


def library(view: View) -> RecordedRun:
    for name, chapter in chapters.known().items():
        if chapter.library:
            return view.find(name, chapter.library, LARGE_N, DEFAULT_BLOCK)
    raise NoSuchRun("no chapter names a library's sum")


def spine(view: View) -> Picture:
    """Every rung of the climb as a bar as long as its bandwidth, with CUB and the read roof."""
    climbed = climb(view)
    founds = [found for _, _, found in climbed]
    theirs, roof = library(view), view.read_roof()
    peak = view.device["peak_gb_per_s"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.35 + 0.4 * len(climbed))
        wall, below = peak * 1.03, len(climbed) - 0.35
        for found, words, dashes, low in (
            (roof, "read roof", ":", -1.5),
            (theirs, "CUB's sum", "--", -0.95),
        ):
            rate = rate_of(found)
            axes.plot(
                [rate, rate], [low + 0.2, below], color=theme.ink, lw=1.2, ls=dashes, zorder=1
            )
            text = f"{words}, {rate_text(rate)}"
            axes.annotate(text, xy=(rate, low), ha="right", va="center", color=theme.ink)
        for place, (name, change, found) in enumerate(climbed):
            colour = theme.chapter(number_of(name))
            rate = rate_of(found)
            axes.barh(place, rate, height=0.66, color=colour, lw=0, zorder=3)
            axes.plot(0, place, "o", ms=17, color=theme.background, mec=colour, mew=2,
                      clip_on=False, zorder=4)  # fmt: skip
            inside = _AXES_PT * rate / wall
            number_in = inside > 12 + _NUMBER
            words_in = inside > 12 + _NUMBER + _LETTER * len(change)
            number_at = (0, 13) if number_in else (rate, 14 if rate < 0.03 * peak else 5)
            words_at = (0, 12 + _NUMBER) if words_in else (rate, 6 if number_in else 5 + 32)
            how: dict[str, Any] = {
                "textcoords": "offset points",
                "va": "center_baseline",
                "zorder": 5,
            }
            for text, (x, offset), within, weight in (
                (f"{rate:.0f}", number_at, number_in, "bold"),
                (change, words_at, words_in, "normal"),
            ):
                colour_of_text = theme.background if within else theme.ink
                axes.annotate(text, xy=(x, place), xytext=(offset, 0), ha="left", weight=weight,
                              color=colour_of_text, **how)  # fmt: skip
            axes.annotate(str(number_of(name)), xy=(0, place), xytext=(0, 0), ha="center",
                          color=colour, weight="bold", **how)  # fmt: skip
        axes.set_xlim(-0.035 * peak, wall)
        axes.set_ylim(below, -1.85)
        axes.axis("off")
        axes.set_title(f"GB/s, adding up {size(LARGE_N)} integers", loc="left", pad=4)
        return figure

    first, last = founds[0], founds[-1]
    gain = times_text(time_of(first) / time_of(last))
    steps = "; ".join(f"{change}, {rate_text(rate_of(found))}" for _, change, found in climbed)
    return Picture(
        draw=draw,
        alt=(
            f"The climb on {view.device_name}: {len(climbed)} kernels that add up "
            f"{size(LARGE_N)} integers to one value, each with one change to the one before. "
            f"{steps[0].upper()}{steps[1:]}. The last has {gain} "
            f"the bandwidth of the first. CUB's sum reaches {rate_text(rate_of(theirs))}."
        ),
        caption=(
            f"The climb: finished sums of {size(LARGE_N)} integers, one change per rung, "
            f"{DEFAULT_BLOCK} threads per block. The circled numbers are the chapters. Lines mark "
            "CUB's sum and the read roof of the same recording."
        ),
        table=Table(
            ["chapter", "change", *run_columns()],
            [[name, change, *run_row(found, view.device)] for name, change, found in climbed],
        ),
        runs=[*founds, theirs, roof],
    )
