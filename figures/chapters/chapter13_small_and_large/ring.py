"""A ring of bulk copies: which of its stages are on their way, and where in memory they begin."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from common.records.other_libraries import rings_of
from common.records.sets import NoSuchRun
from figures.chapters.chapter13_small_and_large.plots import NAME, STAGE_KIB, with_times
from figures.kit import style
from figures.kit.axes import heading
from figures.kit.canvas import GLOBAL_HUE, canvas
from figures.kit.pictures import Picture, Table, View
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import listed, significant

#: Where a copy may begin, and what its place is told from: a line of shared memory, all banks.
VECTOR, LINE = 16, 128

#: How long a piece is on its way, and how long it takes to add it up.
TRIP, ADDS = 5.0, 1.25
END = 20.0
LETTERS_PT = 13.2


@dataclass(frozen=True)
class Piece:
    """One piece of the array: the stage it lies in, and when things happen to it."""

    number: int
    stage: int
    asked: float
    there: float
    begun: float  #: to be added up
    done: float


def pieces(stages: int, until: float = END, trip: float = TRIP, adds: float = ADDS) -> list[Piece]:
    """The pieces of a ring, as far as they are asked for in that time: a stage is asked for again
    as soon as it has been added up, and one is added up at a time, in order."""
    found: list[Piece] = []
    free = [0.0] * stages
    last = 0.0
    while True:
        stage = len(found) % stages
        asked = free[stage]
        if asked >= until:
            return found
        there = asked + trip
        begun = max(there, last)
        last = free[stage] = begun + adds
        found.append(Piece(len(found), stage, asked, there, begun, last))


def idle(found: list[Piece], after: float = TRIP) -> float:
    """The share of the time after the first trip that nothing is added up in."""
    ends = max(piece.done for piece in found)
    busy = sum(piece.done - piece.begun for piece in found)
    return 1 - busy / (ends - after)


def _panel(axes: Axes, theme: Theme, stages: int, top: float) -> None:
    axes.text(0, top + 0.62, f"{stages} stages", va="bottom", weight="bold", fontsize=LETTERS_PT)
    for piece in pieces(stages):
        y = top - 1.05 * piece.stage
        for begin, end, text, hue in (
            (piece.asked, piece.there, "on its way", GLOBAL_HUE),
            (piece.begun, piece.done, "+", "green"),
        ):
            if begin >= END:
                continue
            width = min(end, END) - begin
            axes.add_patch(Rectangle((begin, y - 0.42), width, 0.84,
                                     facecolor=theme.tint(hue, 0.75),
                                     edgecolor=theme.drawn(hue), linewidth=1.3))  # fmt: skip
            if width > 0.9:
                shown = text if text == "+" or width > 4 else ""
                axes.text(begin + width / 2, y, shown, ha="center", va="center",
                          fontsize=LETTERS_PT)  # fmt: skip


def ring_of_copies() -> Picture:
    """Two stages, and five: with two the adding waits."""
    few, enough = 2, 5

    def draw(theme: Theme) -> Figure:
        height = 1.05 * (few + enough) + 3.2
        figure, axes = canvas(END, height, 5.2)
        _panel(axes, theme, few, height - 1.4)
        _panel(axes, theme, enough, height - 1.4 - 1.05 * few - 1.2)
        axes.annotate("", xy=(END, 0.25), xytext=(0, 0.25),
                      arrowprops={"arrowstyle": "-|>", "color": theme.muted})  # fmt: skip
        axes.text(END, 0.4, "time", ha="right", va="bottom", color=theme.muted,
                  fontsize=LETTERS_PT)  # fmt: skip
        return figure

    shares = {stages: idle(pieces(stages)) for stages in (few, enough)}
    assert shares[enough] < 0.01
    return Picture(
        draw=draw,
        alt=(
            f"Two rings of bulk copies in time. A piece is on its way for {TRIP:g} units and added "
            f"up in {ADDS:g}. With {few} stages nothing is added up {100 * shares[few]:.0f} % of "
            f"the time. With {enough} a piece is always there."
        ),
        caption=(
            f"The idea, with made-up times: here a copy takes {TRIP / ADDS:g} times as long as the "
            "adding. Each row is a stage of the ring: a piece is on its way, the warps add it up, "
            "and the stage fetches its next piece. With two stages, most of the time both pieces "
            f"are on their way, and the warps have nothing to add. With {enough}, the next piece "
            "is always there when the warps need it."
        ),
        table=Table(
            ["stages", "piece", "stage", "asked for", "there", "added up from", "to"],
            [
                [stages, p.number, p.stage, f"{p.asked:g}", f"{p.there:g}", f"{p.begun:g}",
                 f"{p.done:g}"]
                for stages in (few, enough)
                for p in pieces(stages)
            ],
        ),
    )  # fmt: skip


def where_stages_lie(view: View) -> Picture:
    """The time of rings over where in shared memory their stages begin."""
    view = with_times(view, rings_of)
    rings = rings_of(view.recordings.root, NAME, view.known.name)
    moved = sorted({one.stages for one in rings if one.past})
    places = range(0, LINE, VECTOR)
    shown = {
        stages: {one.past: one for one in rings if one.stages == stages and one.order == "turns"}
        for stages in moved
    }
    if not moved or any(list(by_place) != list(places) for by_place in shown.values()):
        raise NoSuchRun(f"{NAME} has no rings at every place in {view.known.name}")

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(3.9)
        for at, (stages, by_place) in enumerate(shown.items()):
            times = [one.median_us for one in by_place.values()]
            axes.plot(list(by_place), times, marker=MARKERS[at], markersize=6,
                      color=theme.drawn(SERIES[at]), label=f"{stages} stages")  # fmt: skip
        axes.set_ylim(0, 1.1 * max(one.median_us for by in shown.values() for one in by.values()))
        axes.set_xticks(list(places))
        axes.set_xlabel(f"bytes from a multiple of {LINE} to the first stage")
        heading(axes, "µs")
        axes.legend(loc="lower center", ncols=2)
        return figure

    told = "; ".join(
        f"{stages} stages take {significant(by_place[0].median_us)} µs at a multiple of {LINE}, "
        f"and {significant(min(past))} to {significant(max(past))} µs elsewhere"
        for stages, by_place in shown.items()
        if (past := [one.median_us for place, one in by_place.items() if place])
    )
    orders = {"turns": "in turn", "tickets": "by tickets"}
    return Picture(
        draw=draw,
        alt=f"On {view.device_name}, 2²⁸ elements by rings of 16 KiB a stage: {told}.",
        caption=(
            f"The same rings of {listed([str(stages) for stages in moved])} stages of {STAGE_KIB} "
            "KiB, moved through shared memory in steps of 16 bytes; 2²⁸ elements."
        ),
        table=Table(
            ["stages", f"bytes past a multiple of {LINE}", "pieces", "µs",
             "first block ends at (% of the last)", "pieces per block"],
            [
                [str(one.stages), str(one.past), orders[one.order],
                 significant(one.median_us, 4), str(one.first_end),
                 f"{one.fewest} to {one.most}"]
                for one in rings
            ],
        ),
        runs=[],
    )  # fmt: skip
