"""What diagrams are made of: a sheet in the diagram's own units, cells, arrows and boxes."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from figures.kit import style
from figures.kit.style import Theme

GLOBAL_HUE = "vermillion"


SHARED_HUE = "blue"


def canvas(width: float, height: float, inches: float) -> tuple[Figure, Axes]:
    """Axes in the diagram's own units, from (0, 0) at the bottom left."""
    figure, axes = style.new_figure(inches)
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return figure, axes


def cell(
    axes: Axes, theme: Theme, x: float, y: float, text: str, hue: str | None, *,
    size: float = 0.8, hollow: bool = False,
) -> None:  # fmt: skip
    """One element, centred at (x, y); without a hue it is there and takes no part."""
    axes.add_patch(
        Rectangle(
            (x - size / 2, y - size / 2),
            size,
            size,
            facecolor="none" if hollow or hue is None else theme.tint(hue, 0.75),
            edgecolor=theme.drawn(hue) if hue else theme.grid,
            linewidth=1.6 if hue else 1.0,
            linestyle=":" if hollow else "-",
        )
    )
    axes.text(
        x, y, text, ha="center", va="center", color=theme.ink if hue else theme.muted
    )  # fmt: skip


def arrow(axes: Axes, theme: Theme, start: tuple[float, float], end: tuple[float, float],
          colour: str = "", width: float = 1.3) -> None:  # fmt: skip
    axes.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": "-|>,head_length=0.35,head_width=0.18",
            "color": colour or theme.muted,
            "lw": width,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )


def rounded_box(
    axes: Axes, theme: Theme, x: float, y: float, width: float, height: float, text: str,
    hue: str | None = None, *, top: bool = False,
) -> None:  # fmt: skip
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=theme.tint(hue, 0.82) if hue else "none",
            edgecolor=theme.drawn(hue) if hue else theme.muted,
            linewidth=1.4,
        )
    )
    axes.text(
        x + width / 2,
        y + (height - 0.14 if top else height / 2),
        text,
        ha="center",
        va="top" if top else "center",
        linespacing=1.25,
    )
