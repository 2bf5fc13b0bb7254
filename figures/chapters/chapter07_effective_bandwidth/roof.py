"""The climb under the memory's roof."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures.chapters.chapter07_effective_bandwidth.kernels import NAME
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
from figures.kit.style import Theme
from figures.kit.words import card, rate_text, size
from figures.spine import climb

#: So that letters are large enough on a telephone.
LETTERS_PT = 13.2


#: A chapter, what it changes, and the run of its rung.
Step = tuple[str, str, RecordedRun]


def climbed(view: View) -> list[Step]:
    """The climb's rungs as far as this chapter: what comes later is not given away."""
    so_far = [rung for rung in climb(view) if number_of(rung[0]) <= number_of(NAME)]
    if not so_far:
        raise NoSuchRun(f"no rung of the climb is recorded in {view.known.name}")
    return so_far


def places(steps: list[Step]) -> list[str]:
    """A rung's chapter, with a letter where the chapter has several."""
    numbers = [number_of(name) for name, _, _ in steps]
    return [
        f"{number}{chr(ord('a') + numbers[:k].count(number))}"
        if numbers.count(number) > 1
        else str(number)
        for k, number in enumerate(numbers)
    ]


def _draw_rungs(axes: Axes, steps: list[Step], high: float, theme: Theme) -> None:
    for place, (name, _, found) in enumerate(steps):
        rate = rate_of(found)
        colour = theme.chapter(number_of(name))
        under_words = place < 5 and rate < 0.8 * high
        axes.plot([place, place], [rate, high - (420 if under_words else 0)],
                  color=theme.muted, lw=1.2, ls=":", zorder=1)  # fmt: skip
        axes.plot([place, place], [0, rate], color=colour, lw=9, solid_capstyle="butt")
        axes.plot(place, rate, "o", ms=21, color=theme.background, mec=colour, mew=2, zorder=4)
        share = f"{100 * rate / high:.0f}"
        axes.text(place, rate, share, ha="center", va="center_baseline", zorder=5,
                  fontsize=LETTERS_PT, weight="bold", color=colour)  # fmt: skip


def _draw_beside(
    axes: Axes, other: str, theirs: list[Step], their_best: RecordedRun, theme: Theme
) -> None:
    """Another card's rungs and roof."""
    letters: dict[str, Any] = {"fontsize": LETTERS_PT, "ha": "left"}
    axes.axhline(rate_of(their_best), color=theme.muted, lw=1.4, ls=(0, (4, 2)), zorder=1)
    words = f"◆ {other}, read roof: {rate_of(their_best):.0f}"
    axes.text(-0.55, rate_of(their_best) + 60, words, va="bottom", color=theme.muted,
              bbox={"facecolor": theme.background, "lw": 0, "pad": 1},
              **letters)  # fmt: skip
    axes.plot([place + 0.46 for place in range(len(theirs))],
              [rate_of(found) for _, _, found in theirs], ls="none", marker="D", ms=5,
              color=theme.muted, zorder=3)  # fmt: skip


def roof(view: View) -> Picture:
    """Each rung's bandwidth, and how far it is from the best that reading has reached."""
    steps = climbed(view)
    best = view.read_roof()
    peak, high = view.device["peak_gb_per_s"], rate_of(best)
    rates = [rate_of(found) for _, _, found in steps]
    shares = [100 * rate / high for rate in rates]
    beside = view.beside(lambda other: (climbed(other), other.read_roof()))

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.4)
        right = len(steps) - 0.4
        axes.fill_between([-0.6, right], high, peak, color=theme.tint("orange", 0.6), lw=0)
        axes.plot([-0.6, right], [peak, peak], color=theme.muted, lw=1.4, ls="--")
        axes.plot([-0.6, right], [high, high], color=theme.ink, lw=3.2)
        letters: dict[str, Any] = {"fontsize": LETTERS_PT, "ha": "left"}
        axes.text(-0.55, peak + 70, f"theoretical peak: {peak:.0f} GB/s", va="bottom",
                  color=theme.muted, **letters)  # fmt: skip
        read = f"read roof: {high:.0f} GB/s, n = {size(best.run['n'])}"
        axes.text(-0.55, high - 90, read, va="top", weight="bold", color=theme.ink, **letters)
        _draw_rungs(axes, steps, high, theme)
        if beside:
            other, _, (theirs, their_best) = beside
            _draw_beside(axes, other, theirs, their_best, theme)
        axes.set_xticks(range(len(steps)), places(steps), fontsize=LETTERS_PT)
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel("the climb, rung by rung: chapter", fontsize=LETTERS_PT)
        axes.set_xlim(-0.6, right)
        axes.set_ylim(0, peak * 1.09)
        axes.yaxis.set_visible(False)
        axes.spines["left"].set_visible(False)
        axes.set_title("% of the read roof", loc="left", pad=8, fontsize=LETTERS_PT)
        return figure

    first, last = steps[0][2], steps[-1][2]
    theirs_said, theirs_shown = "", ""
    rows = [
        (view, place, change, found, best)
        for place, (_, change, found) in zip(places(steps), steps, strict=True)
    ]
    runs = [*(found for _, _, found in steps), best]
    if beside:
        _, other_view, (theirs, their_best) = beside
        start, end = (rate_of(founds[2]) for founds in (theirs[0], theirs[-1]))
        their_high = rate_of(their_best)
        theirs_said = (
            f" On {other_view.device_name}, drawn beside it, the read roof is "
            f"{rate_text(their_high)}, and the same climb goes from {rate_text(start)} or "
            f"{100 * start / their_high:.0f} % of that to {rate_text(end)} or "
            f"{100 * end / their_high:.0f} %."
        )
        theirs_shown = (
            f" Diamonds are the same rungs on {other_view.device_name}, and the dashed line below "
            "is its read roof."
        )
        rows += [
            (other_view, place, change, found, their_best)
            for place, (_, change, found) in zip(places(theirs), theirs, strict=True)
        ]
        runs += [*(found for _, _, found in theirs), their_best]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, whose memory has a theoretical peak of {rate_text(peak)} "
            f"and a read roof of {rate_text(high)}, the climb's finished sums of "
            f"{size(LARGE_N)} integers go from {rate_text(rate_of(first))} or {shares[0]:.0f} % of "
            f"that roof ({name_of(first)}) to {rate_text(rate_of(last))} or {shares[-1]:.0f} % "
            f"({name_of(last)}).{theirs_said}"
        ),
        caption=(
            f"The climb so far under the memory's roof: finished sums of {size(LARGE_N)} integers. "
            "A circle says how many per cent of the read roof a rung reaches, and the dotted line "
            f"above it is what is left to gain. The read roof is {name_of(best)} at "
            f"n = {size(best.run['n'])}; the band above it reaches up to the theoretical peak."
            f"{theirs_shown}"
        ),
        table=Table(
            ["card", "rung", "change", *run_columns(), "% of the read roof"],
            [
                [
                    card(of.device_name),
                    place,
                    change,
                    *run_row(found, of.device),
                    round(100 * rate_of(found) / rate_of(most), 1),
                ]
                for of, place, change, found, most in rows
            ],
        ),
        runs=runs,
    )
