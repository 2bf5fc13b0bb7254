"""What each step of the first tree fetches from global memory and brings back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from figures.chapters.chapter01_gmem.kernels import gmem_interleaved
from figures.kit.canvas import GLOBAL_HUE, canvas, rounded_box
from figures.kit.costs import sectors
from figures.kit.patterns import (
    INT_BYTES,
    LOAD,
    SECTOR_BYTES,
    STORE,
    by_request,
)
from figures.kit.pictures import (
    Picture,
    Table,
)
from figures.kit.style import Theme
from figures.kit.trees import (
    by_level,
    loads_and_stores,
)


@dataclass(frozen=True)
class Walk:
    """One step of a block's tree: its additions, and the sectors that go to and fro for them."""

    additions: int
    loaded: int
    stored: int


def walks(block: int) -> list[Walk]:
    """The steps of gmem_interleaved's tree, and as the last one its result, which adds nothing."""
    found = []
    for level in by_level(list(gmem_interleaved(block, block, 0))):
        moved = {
            kind: sum(
                sectors(request) for request in by_request(a for a in level if a.kind == kind)
            )
            for kind in (LOAD, STORE)
        }
        found.append(Walk(loads_and_stores(level)[1], moved[LOAD], moved[STORE]))
    return [*found[:-1], replace(found[-1], additions=0)]


def _wide_arrow(
    axes: Axes, x: float, start: float, end: float, width: float, face: str, edge: str
) -> None:
    """An arrow as wide as what it carries."""
    head = 0.45 if end > start else -0.45
    half, flare = width / 2, width / 2 + 0.09
    axes.add_patch(
        Polygon(
            [(x - half, start), (x - half, end - head), (x - flare, end - head), (x, end),
             (x + flare, end - head), (x + half, end - head), (x + half, start)],
            facecolor=face, edgecolor=edge, lw=1.0,
        )
    )  # fmt: skip


def tree_walks() -> Picture:
    """What each step of the tree fetches from global memory, and brings back."""
    block = 256
    *steps, result = walks(block)
    carried = sum(step.loaded + step.stored for step in (*steps, result))

    def draw(theme: Theme) -> Figure:
        pitch, left, size = 1.5, 0.1, 13
        figure, axes = canvas(left + pitch * len(steps) + 0.1, 9.4, 4.2)
        wide: dict[str, Any] = {"ha": "center", "va": "center", "size": size}
        across = pitch * len(steps)
        axes.text(left, 9.0, "additions, in rounds 1 to 8", size=size, va="center")
        rounded_box(axes, theme, left, 7.35, across, 1.1, "", "purple")
        rounded_box(axes, theme, left, 0.95, across, 1.1, "", GLOBAL_HUE)
        axes.text(left, 0.4, "sectors of global memory: loaded, and stored", size=size, va="center")
        unit = 0.6 / max(step.loaded for step in steps)
        for place, step in enumerate(steps):
            x = left + pitch * (place + 0.5)
            axes.text(x, 7.9, str(step.additions), **wide)
            axes.text(x, 1.77, str(step.loaded), **wide)
            axes.text(x, 1.23, f"+ {step.stored}", **wide)
            up, down = unit * step.loaded, unit * step.stored
            gap = 0.16 + 0.1 * (up + down)
            colour = theme.drawn(GLOBAL_HUE)
            light = theme.tint(GLOBAL_HUE, 0.6)
            _wide_arrow(axes, x - (down + gap) / 2, 2.15, 7.25, up, colour, colour)
            _wide_arrow(axes, x + (up + gap) / 2, 7.25, 2.15, down, light, colour)
        return figure

    first, third = steps[0], steps[2]
    return Picture(
        draw=draw,
        alt=(
            f"A block of {block} threads at work on its tree in global memory, round by round. The "
            f"additions halve each time, from {first.additions} down to {steps[-1].additions}. "
            "Every round loads from global memory and stores to it again. The first three move "
            f"the same {third.loaded + third.stored} sectors, although the third round has only "
            f"{third.additions} additions left. After that the sectors halve too, down to "
            f"{steps[-1].loaded + steps[-1].stored}. With {result.loaded} loaded and "
            f"{result.stored} stored for the result, which is not drawn, the block moves {carried} "
            f"sectors, and its elements fill {block * INT_BYTES // SECTOR_BYTES}."
        ),
        caption=(
            f"One block of {block} threads of gmem_interleaved. Upward arrows are loads, pale "
            "downward arrows stores. The more sectors a round moves, the wider its arrow. The "
            "additions halve from the start. For three rounds, the traffic doesn't. Not drawn: the "
            "block's result, one sector loaded and one stored."
        ),
        table=Table(
            ["round", "additions", "sectors loaded", "sectors stored"],
            [
                [number, step.additions, step.loaded, step.stored]
                for number, step in enumerate(steps, 1)
            ]
            + [["result", result.additions, result.loaded, result.stored]],
        ),
    )
