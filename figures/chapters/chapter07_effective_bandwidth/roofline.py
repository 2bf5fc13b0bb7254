"""The roofline in instructions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from common.records.naming import DEFAULT_BLOCK, DEFAULT_N
from common.records.rates import issue_rate
from common.records.recordings import RecordedRun, counter_of
from common.records.sets import NoSuchRun
from figures.chapters.chapter04_bank_conflicts.plots import PRODUCT
from figures.chapters.chapter07_effective_bandwidth.kernels import BLOCK, METHODS, NAME, ROOFS
from figures.kit import style
from figures.kit.axes import note
from figures.kit.pictures import Picture, Table, View, name_of, time_of
from figures.kit.style import Theme
from figures.kit.words import listed, significant, size

LABELLED = (*METHODS, *ROOFS)


def _counted(view: View) -> list[tuple[str, RecordedRun, float, float]]:
    """Chapter, run, warp instructions and bytes to and from DRAM, of each kernel at 2^24.

    Matrix products are at 2048 rows, the size at which they are timed and counted.
    """
    rows = []
    for run in view.known.counters["runs"] if view.known.counters else []:
        chapter, variant = run["chapter"], run["variant"]
        blocks = (BLOCK, DEFAULT_BLOCK) if chapter == NAME else (DEFAULT_BLOCK,)
        usual = run["n"] == DEFAULT_N and run["block"] in blocks
        if not usual and (run["n"], run["block"]) != PRODUCT:
            continue
        try:
            found = view.find(chapter, variant, run["n"], run["block"])
            counts = view.recordings.counters(
                chapter, variant, run["n"], run["block"], run["params"], only=view.known.name
            )
            work = counter_of(counts, "instructions")
            moved = counter_of(counts, "dram_read_bytes")
            moved += counter_of(counts, "dram_write_bytes")
        except NoSuchRun:
            continue  # a faulty form or another block, which were not timed; or not counted
        # A kernel that an earlier chapter teaches is shown there; chapter 7's methods here, too.
        own = chapter == NAME or found.run["from"] == chapter
        if own and found.run["bytes_read"]:
            rows.append((chapter, found, work, moved))
    missing = {*METHODS, *ROOFS} - {name_of(row[1]) for row in rows if row[0] == NAME}
    if missing:
        raise NoSuchRun(f"{listed(sorted(missing))} are not counted in {view.known.name}")
    return rows


@dataclass(frozen=True)
class _Roofline:
    """The kernels by instructions per byte and 10⁹ instructions per second, under both roofs."""

    peak: float
    issue: float
    points: dict[tuple[str, str], tuple[float, float]]

    @property
    def ridge(self) -> float:
        return self.issue / self.peak

    def roof(self, x: float) -> float:
        return min(self.issue, x * self.peak)

    @property
    def frame(self) -> tuple[float, float, float, float]:
        """Around the marked ones; a kernel that waits for something else altogether may lie
        outside."""
        marked = [self.points[NAME, name] for name in LABELLED]
        low, high = min(x for x, _ in marked) / 2, 20 * max(x for x, _ in marked)
        return low, high, min(y for _, y in marked) / 6, self.issue * 1.8

    def inside(self, x: float, y: float) -> bool:
        low, high, floor, top = self.frame
        return low <= x <= high and floor <= y <= top


def _draw(made: _Roofline, theme: Theme) -> Figure:
    low, high, floor, top = made.frame
    figure, axes = style.new_figure(5.0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.minorticks_off()
    roof = [low * made.peak, made.issue, made.issue]
    axes.plot([low, made.ridge, high], roof, color=theme.muted, lw=2, zorder=2)
    note(axes, theme, f"issue: {made.issue:.0f}", (high, made.issue), (-4, 4), side="right")
    note(axes, theme, f"memory:\n{made.peak:.0f} GB/s", (low, made.issue), (6, -4), over=False)
    _draw_points(axes, made, theme)
    ticks = [tick for tick in (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    heights = [height for height in (1, 3, 10, 30, 100, 300, 1000) if floor <= height <= top]
    axes.set_yticks(heights, [f"{height:g}" for height in heights])
    axes.set_xlim(low, high)
    axes.set_ylim(floor, top)
    axes.set_xlabel("warp instructions a byte of DRAM traffic")
    axes.set_title("10⁹ warp instructions per second", loc="left", pad=10)
    axes.grid()
    return figure


def _draw_points(axes: Axes, made: _Roofline, theme: Theme) -> None:
    for (chapter, name), (x, y) in made.points.items():
        if not made.inside(x, y):
            continue
        own = name in LABELLED and chapter == NAME
        axes.plot(
            x,
            y,
            ls="none",
            marker="o" if own else ".",
            markersize=7 if own else 6,
            color=theme.drawn("vermillion" if name in METHODS else "green")
            if own
            else theme.tint("blue", 0.3),
            zorder=4 if own else 3,
        )
    right, crowded = math.inf, False  # of the method before
    for name in METHODS:
        x, y = made.points[NAME, name]
        crowded = right < (2.1 if crowded else 1.5) * x  # a label on the left takes room, too
        right = x
        axes.annotate(
            name.removeprefix("reduce"),
            xy=(x, y),
            xytext=(-8 if crowded else 8, 0),
            textcoords="offset points",
            ha="right" if crowded else "left",
            va="center",
            color=theme.written("vermillion"),
            weight="bold",
        )
    left = [made.points[NAME, name] for name in ROOFS]
    axes.annotate(
        ", ".join(ROOFS),
        xy=(min(x for x, _ in left), min(y for _, y in left)),
        xytext=(-6, -12),
        textcoords="offset points",
        va="top",
        color=theme.written("green"),
        weight="bold",
    )


def roofline(view: View) -> Picture:
    """Warp instructions per second against warp instructions per byte, and the two roofs."""
    rows = _counted(view)

    def at(row: tuple[str, RecordedRun, float, float]) -> tuple[float, float]:
        _, found, work, moved = row
        return work / moved, work / (time_of(found) * 1e3)

    points = {(row[0], name_of(row[1])): at(row) for row in rows}
    made = _Roofline(view.device["peak_gb_per_s"], issue_rate(view.device) / 1e9, points)
    outside = sum(not made.inside(x, y) for x, y in points.values())

    def share(name: str) -> float:
        x, y = points[NAME, name]
        return 100 * y / made.roof(x)

    first, last = METHODS[0], METHODS[-1]
    right = sum(x > made.ridge for x, _ in points.values())
    return Picture(
        draw=partial(_draw, made),
        alt=(
            f"A roofline of {len(points)} kernels on {view.device_name}, n = "
            f"{size(DEFAULT_N)}, matrix products of {PRODUCT[0]} rows. The roofs meet "
            f"at {significant(made.ridge, 2)} warp instructions per byte; {right} kernels lie to "
            f"the right of that, where the instructions and not the bytes are the limit. {first}, "
            f"with {significant(points[NAME, first][0], 2)} per byte, is at {share(first):.0f} % "
            f"of the roof above it; {last}, with {significant(points[NAME, last][0], 2)}, at "
            f"{share(last):.0f} %."
        ),
        caption=(
            "The roofline in instructions: each kernel's warp instructions for each byte between "
            "the L2 and DRAM, and how many it executes in a second; both axes logarithmic. The "
            "numbers are the seven methods, the small dots all others of the book's kernels that "
            "read the memory and that hardware has counted. The slope is the theoretical peak, the "
            "level line what all schedulers can issue."
            + (f" {outside} of the others lie outside the picture." if outside else "")
        ),
        table=Table(
            [
                "chapter",
                "kernel",
                "n",
                "warp instructions",
                "DRAM bytes",
                "instructions per byte",
                "10⁹ instructions/s",
                "% of roof",
            ],
            [
                [
                    row[0],
                    name_of(row[1]),
                    size(row[1].run["n"]),
                    int(row[2]),
                    int(row[3]),
                    round(at(row)[0], 4),
                    round(at(row)[1], 1),
                    round(100 * at(row)[1] / made.roof(at(row)[0]), 1),
                ]
                for row in rows
            ],
        ),
        runs=[row[1] for row in rows],
    )
