"""Chapter NN: what it is about."""

from __future__ import annotations

from matplotlib.figure import Figure

from figures.kit.canvas import canvas
from figures.kit.chapter import Chapter
from figures.kit.pictures import Picture, Table
from figures.kit.style import Theme


def block_at_work() -> Picture:
    """One thread at work, and the others idle."""

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(4, 1, 1.2)
        axes.text(2, 0.5, "one thread adds", ha="center", va="center", color=theme.ink)
        return figure

    return Picture(
        draw=draw,
        alt="The first thread of a block adds all of the block's elements. The others are idle.",
        caption="One thread works for its block.",
        table=Table(["threads that add"], [[1]]),
    )


CHAPTER = Chapter("chapterNN_name", diagrams={"chapterNN_block": block_at_work})
