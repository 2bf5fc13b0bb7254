"""Where on the ladder a chapter stands: one rung per chapter, as many as have been climbed.

The picture at the top of every chapter's page. Its rungs are the chapters' own, in the order of
the book and not of speed: from the kernel that the chapter's last row begins with to the one that
it ends in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import chapters
from figures.kit import style
from figures.kit.chapter import Rung, number_of
from figures.kit.pictures import (
    LARGE_N,
    MissingData,
    Picture,
    Table,
    View,
    name_of,
    rate_of,
    time_of,
)
from figures.kit.style import SERIES, Theme
from figures.kit.words import rate_text, size, times_text
from figures.records.recordings import RecordedRun


@dataclass(frozen=True)
class Climbed:
    """A chapter's rung, with its runs."""

    number: int
    before: RecordedRun
    after: RecordedRun

    @property
    def gain(self) -> float:
        return time_of(self.before) / time_of(self.after)


def last_rung() -> int:
    """The ladder is Part I; the chapters after it stand beside it."""
    return max(chapter.number for chapter in chapters.rungs().values())


def _sizes(view: View, chapter: str, rung: Rung) -> set[int]:
    """The sizes at which both of a rung's kernels are recorded; none where the chapter is not."""
    if chapter not in view.known.chapters:
        return set()
    runs = [run for run in view.runs(chapter) if run["block"] == rung.block and run["n"] <= LARGE_N]
    sizes = (
        {run["n"] for run in runs if run["variant"] == name} for name in (rung.before, rung.after)
    )
    return set.intersection(*sizes)


def _rungs(view: View) -> list[Climbed]:
    """The rungs that are recorded, from the lowest chapter to the highest, all at one size."""
    rungs = {name: chapter.rung for name, chapter in chapters.rungs().items() if chapter.rung}
    sizes = {name: found for name, rung in rungs.items() if (found := _sizes(view, name, rung))}
    shared = set.intersection(*sizes.values()) if sizes else set()
    if not shared:
        raise MissingData(f"the chapters in {view.known.name} share no large size")
    n = max(shared)
    climbed = []
    for name in sizes:
        rung = rungs[name]
        sides = (view.find(name, kernel, n, rung.block) for kernel in (rung.before, rung.after))
        climbed.append(Climbed(number_of(name), *sides))
    return climbed


def _words(rung: Climbed) -> str:
    before, after = (
        f"{name_of(found)}, {rate_text(rate_of(found))}," for found in (rung.before, rung.after)
    )
    return f"chapter {rung.number} goes from {before} to {after} {times_text(rung.gain)} as fast"


def _row(rung: Climbed, peak: float) -> list[str | int | float]:
    before, after = rate_of(rung.before), rate_of(rung.after)
    return [
        rung.number,
        rung.after.run["block"],
        name_of(rung.before),
        round(before, 1),
        name_of(rung.after),
        round(after, 1),
        round(100 * after / peak, 1),
        round(rung.gain, 2),
    ]


def _label(axes: Axes, text: str, x: float, place: float, offset: float, **how: Any) -> None:
    axes.annotate(
        text,
        xy=(x, place),
        xytext=(offset, 0),
        textcoords="offset points",
        va="center_baseline",
        zorder=5,
        **how,
    )


def climb(view: View, here: str = "") -> Picture:
    """The ladder up to the chapter *here*, which is marked; without one, all of it."""
    rungs = _rungs(view)
    at = number_of(here) if here else last_rung()
    climbed = [rung for rung in rungs if rung.number <= at]
    n = rungs[0].after.run["n"]
    peak = view.device["peak_gb_per_s"]
    # On the ground, or beside the ladder: a place of its own, beneath the rungs.
    standing = bool(here) and at not in [rung.number for rung in rungs]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(0.55 + 0.3 * (len(rungs) + standing))
        foot, head = -0.6 - standing, len(rungs) - 0.35
        for x, width in ((0, 4), (peak, 1.6)):
            axes.plot([x, x], [-0.6, head], color=theme.muted, lw=width, zorder=2)
        for place, rung in enumerate(rungs):
            hue = SERIES[(rung.number - 1) % len(SERIES)]
            reached = rung in climbed
            colour = theme.written(hue) if reached else theme.muted
            if rung.number != at:
                axes.plot([0, peak], [place, place], color=theme.grid, lw=1.5, zorder=1)
            axes.plot(0, place, "o", ms=16, color=theme.background, mec=colour, mew=2,
                      clip_on=False, zorder=4)  # fmt: skip
            _label(axes, str(rung.number), 0, place, 0, ha="center", color=colour, weight="bold")
            if not reached:
                continue
            weight = "bold" if rung.number == at else "normal"
            before, after = rate_of(rung.before), rate_of(rung.after)
            axes.barh(place, after, height=0.6, color=colour, lw=0, zorder=3)
            axes.plot(before, place, "D", ms=6, color=theme.background, mec=theme.ink, mew=1.4,
                      zorder=4)  # fmt: skip
            _label(axes, name_of(rung.after), 0, place, -14, ha="right", color=theme.ink,
                   weight=weight)  # fmt: skip
            if here and rung.number == at:
                end = max(before, after)
                if end < 0.6 * peak:
                    _label(axes, "◀ you are here", end, place, 7, ha="left", color=theme.ink,
                           weight="bold")  # fmt: skip
                else:  # no room behind it
                    _label(axes, "you are here", 0, place, 14, ha="left", color=theme.background,
                           weight="bold")  # fmt: skip
        if standing:
            where = "on the ground" if at == 0 else "beside the ladder"
            _label(axes, f"you are here, {where}", 0, -1, -14, ha="left", color=theme.ink,
                   weight="bold")  # fmt: skip
        axes.set_xlim(-0.02 * peak, 1.02 * peak)
        axes.set_ylim(foot, head)
        axes.axis("off")
        axes.set_title(
            f"GB/s for {size(n)} integers, up to the peak of {peak:.0f}", loc="left", pad=4
        )
        return figure

    if not here:
        place = "Its rungs"
    elif at == 0:
        place = "You are on the ground. The rungs to come"
    elif standing:
        place = f"You are in chapter {at}, beside it. Its rungs"
    else:
        place = f"You are on the rung of chapter {at}. The rungs so far"
    shown = climbed or rungs
    return Picture(
        draw=draw,
        alt=(
            f"The book's ladder on {view.device_name}, one rung per chapter, at n = {size(n)}. "
            f"{place}: {'; '.join(map(_words, shown))}."
        ),
        caption=(
            "The ladder, a rung per chapter, in the order of the book. A diamond is the speed that "
            "its rung starts from. Blocks have 256 threads, or as many as the table says."
        ),
        table=Table(
            ["chapter", "block", "from", "GB/s before", "to", "GB/s", "% of peak", "times as fast"],
            [_row(rung, peak) for rung in shown],
        ),
        runs=[found for rung in shown for found in (rung.before, rung.after)],
    )
