"""The figures of a chapter that a test adds."""

from __future__ import annotations

from matplotlib.figure import Figure

from figures.kit.canvas import canvas
from figures.kit.chapter import Chapter
from figures.kit.pictures import Picture, Table
from figures.kit.style import Theme


def planted_block() -> Picture:
    """One thread at work, and the others idle."""

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(4, 1, 1.2)
        axes.text(2, 0.5, "one thread adds", ha="center", va="center", color=theme.ink)
        return figure

    return Picture(
        draw=draw,
        alt="One thread of a block adds all of its elements.",
        caption="The others are idle.",
        table=Table(["threads that add"], [[1]]),
    )


CHAPTER = Chapter("chapter19_planted", usual=False, diagrams={"planted_block": planted_block})
