"""What plots are made of: axes, curves with their names, and bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import NullLocator

from common.records.recordings import RecordedRun
from figures.kit import style
from figures.kit.pictures import View, rate_of
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import short_size

#: Points, where a plot is narrower than the page.
BOX_PT = 13.6


def heading(axes: Axes, text: str) -> None:
    """What the vertical axis shows, written level where an eye looks first."""
    axes.set_title(text, loc="left", pad=10)


def letters_for_a_box(axes: Axes) -> None:
    """Larger letters, for a plot that a page shows inside a box: on a phone it is narrow there."""
    for text in axes.findobj(Text):
        text.set_fontsize(BOX_PT)
    axes.tick_params(labelsize=BOX_PT)


def sizes_axis(
    axes: Axes,
    values: Sequence[int],
    label: str = "n, the number of elements",
    *,
    step: int = 1,
    name: Callable[[int], str] = short_size,
) -> None:
    """A logarithmic axis from the first of the values to the last; every *step*-th is named."""
    axes.set_xscale("log", base=2)
    ticks = values[::step]
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(ticks, [name(value) for value in ticks])
    axes.set_xlim(values[0], values[-1])
    axes.set_xlabel(label)


def _moved_apart(heights: Sequence[float], gap: float) -> list[float]:
    """The heights moved apart as little as keeps them in order, *gap* apart and within 0…1."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    placed: list[float] = []
    for place in order:
        placed.append(max(heights[place], placed[-1] + gap if placed else 0.0))
    ceiling = 1.0
    for rank in reversed(range(len(placed))):
        placed[rank] = min(placed[rank], ceiling)
        ceiling = placed[rank] - gap
    result = [0.0] * len(heights)
    for rank, place in enumerate(order):
        result[place] = placed[rank]
    return result


Ends = Sequence[tuple[str, str, float, float]]  # label, hue, x and y of a curve's right end


def label_ends(axes: Axes, theme: Theme, ends: Ends) -> None:
    """Writes each curve's name at its right end, moved up or down where they would collide."""
    to_axes = axes.transAxes.inverted()
    heights = [to_axes.transform(axes.transData.transform((x, y)))[1] for _, _, x, y in ends]
    gap = 1.35 * style.FONT_PT / (axes.bbox.height * 72 / axes.figure.dpi)
    for (label, hue, x, y), height in zip(ends, _moved_apart(heights, gap), strict=True):
        axes.annotate(
            label,
            xy=(x, y),
            xytext=(1.06, height),
            textcoords="axes fraction",
            color=theme.written(hue),
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": theme.muted, "lw": 0.8, "shrinkB": 4,
                        "relpos": (0, 0.5)},  # to a name's beginning: across no other name
        )  # fmt: skip


def draw_curves(
    axes: Axes, theme: Theme, series: Sequence[tuple[str, Sequence[tuple[float, float]]]]
) -> Ends:
    ends = []
    for place, (label, points) in enumerate(series):
        hue = SERIES[place % len(SERIES)]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        axes.plot(
            xs,
            ys,
            color=theme.drawn(hue),
            marker=MARKERS[place % len(MARKERS)],
            markersize=5,
            clip_on=False,
            zorder=3,
        )
        ends.append((label, hue, xs[-1], ys[-1]))
    return ends


def roof_lines(axes: Axes, theme: Theme, view: View, roof: RecordedRun | None) -> None:
    """The data sheet's line, and the line that a kernel has reached."""
    peak = view.device["peak_gb_per_s"]
    lines = [(peak, "peak", "bottom", "--")]
    if roof:
        lines.append((rate_of(roof), "read roof", "top", ":"))
    for height, label, side, dash in lines:
        axes.axhline(height, color=theme.muted, lw=1.2, ls=dash, zorder=1)
        axes.annotate(
            f"{label} {height:.0f}",
            xy=(0, height),
            xycoords=("axes fraction", "data"),
            xytext=(4, 4 if side == "bottom" else -4),
            textcoords="offset points",
            va=side,
            color=theme.muted,
        )
    axes.set_ylim(0, peak * 1.13)


def l2_line(axes: Axes, theme: Theme, x: float, text: str, *, top: bool = False) -> None:
    axes.axvline(x, color=theme.muted, lw=1.2, ls=(0, (1, 2)), zorder=1)
    axes.annotate(
        text,
        xy=(x, 1 if top else 0),
        xycoords=("data", "axes fraction"),
        xytext=(-4, -2 if top else 5),
        textcoords="offset points",
        ha="right",
        va="top" if top else "bottom",
        color=theme.muted,
    )


def note(
    axes: Axes,
    theme: Theme,
    text: str,
    at: tuple[float, float],
    shift: tuple[float, float],
    *,
    side: str = "left",
    over: bool = True,
) -> None:
    """Muted words beside a line."""
    axes.annotate(
        text,
        xy=at,
        xytext=shift,
        textcoords="offset points",
        ha=side,
        va="bottom" if over else "top",
        color=theme.muted,
    )


def explain_marks(
    axes: Axes, theme: Theme, entries: Sequence[tuple[str, str, float]], *, side: str = "right"
) -> None:
    """What marks are, each in its hue and at its height, on one side within the axes."""
    for text, hue, height in entries:
        axes.annotate(
            text,
            xy=(0.98 if side == "right" else 0.02, height),
            xycoords="axes fraction",
            ha=side,
            va="center",
            color=theme.written(hue),
        )


def bar_chart(
    theme: Theme,
    rows: Sequence[tuple[str, float, str, bool]],
    title: str,
    marks: Sequence[float | None] = (),
    mark_label: str = "",
) -> Figure:
    """Level bars from the top down: name, value, what to write behind it, whether it is stressed.

    *marks* are a second value a row, drawn as a diamond upon the bar.
    """
    figure, axes = style.new_figure(0.75 + 0.38 * len(rows) + (0.3 if mark_label else 0))
    values = [value for _, value, _, _ in rows]
    behind = []
    for place, (_, value, text, stressed) in enumerate(rows):
        hue = "vermillion" if stressed else "blue"
        axes.barh(
            place,
            value,
            height=0.62,
            color=theme.drawn(hue) if stressed else theme.tint(hue, 0.55),
            edgecolor=theme.drawn(hue),
            hatch=None if stressed else "////",
            linewidth=1.0,
        )
        reach = max(value, marks[place] or 0 if marks else 0)
        note = axes.annotate(
            text,
            xy=(reach, place),
            xytext=(9 if marks else 6, 0),
            textcoords="offset points",
            va="center",
            weight="bold" if stressed else "normal",
        )
        behind.append((reach, note))
    shown = [(mark, place) for place, mark in enumerate(marks) if mark is not None]
    if shown:
        axes.plot(
            [mark for mark, _ in shown],
            [place for _, place in shown],
            ls="none",
            marker="D",
            markersize=8,
            color=theme.background,
            markeredgecolor=theme.ink,
            markeredgewidth=1.6,
            clip_on=False,
            zorder=4,
        )
    axes.set_yticks(range(len(rows)), [name for name, _, _, _ in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, max(values) * 1.42)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    heading(axes, title)
    if mark_label:
        axes.annotate(
            mark_label,
            xy=(0, 0),
            xycoords="axes fraction",
            xytext=(0, -4),
            textcoords="offset points",
            va="top",
            color=theme.muted,
        )
    _make_room(axes, behind)
    return figure


def _make_room(axes: Axes, behind: Sequence[tuple[float, Text]]) -> None:
    """Shortens the bars where what is written behind one would leave the figure."""
    figure = axes.get_figure(root=True)
    assert figure
    figure.draw_without_rendering()  # lays it out: long names leave less to the bars
    width, most = axes.bbox.width, axes.get_xlim()[1]
    shown = most
    for reach, text in behind:
        over = text.get_window_extent().x1 - figure.bbox.x1
        if over > 0:  # so far to the left the bar's end has to go
            shown = max(shown, reach * width / (width * reach / most - over - 2))
    axes.set_xlim(0, shown)
