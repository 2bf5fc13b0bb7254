"""Diagrams of a tree over a few values: its steps, what stands where, and who adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from matplotlib.axes import Axes

from figures.kit import patterns
from figures.kit.canvas import GLOBAL_HUE, arrow, cell
from figures.kit.patterns import LOAD, STORE, Access
from figures.kit.style import Theme

#: What the small examples add up: short enough to check in the head.
EXAMPLE = (3, 1, 4, 1, 5, 9, 2, 6)


def by_level(accesses: Iterable[Access]) -> list[list[Access]]:
    return [list(group) for _, group in groupby(accesses, key=lambda access: access.level)]


def values_after(levels: Sequence[list[Access]], arrays: dict[str, list[int]]) -> list[list[int]]:
    """What stands in the array that the tree works on, after each level."""
    rows = []
    for level in levels:
        patterns.follow(level, arrays)
        rows.append(list(arrays["tile" if "tile" in arrays else "data"]))
    return rows


def loads_and_stores(level: Iterable[Access]) -> tuple[int, int]:
    """Loads and stores of single lanes."""
    kinds = [access.kind for access in level]
    return kinds.count(LOAD), kinds.count(STORE)


def tally_text(level: Iterable[Access]) -> str:
    """'2 loads,' over '1 store'; what there is none of is not named."""
    named = zip(loads_and_stores(level), ("load", "store"), strict=True)
    return ",\n".join(f"{count} {kind}{'s'[: count != 1]}" for count, kind in named if count)


def draw_steps(axes: Axes, theme: Theme, levels: Sequence[list[Access]], rows: Sequence[list[int]],
                hue: str, top: float, pitch: float) -> None:  # fmt: skip
    """The tree from its first level down, one row of cells for each; the first row is drawn."""
    for step, (level, values) in enumerate(zip(levels, rows, strict=True), start=1):
        y = top - step * pitch
        written = {access.index for access in level if access.kind == STORE}
        for index, value in enumerate(values):
            cell(axes, theme, index + 0.5, y, str(value), hue if index in written else None)
        loads: dict[int, list[int]] = {}
        for access in level:
            if access.kind == LOAD:
                loads.setdefault(access.thread, []).append(access.index)
        for access in level:
            if access.kind == STORE:
                for source in loads[access.thread]:
                    arrow(
                        axes,
                        theme,
                        (source + 0.5, y + pitch - 0.42),
                        (access.index + 0.5, y + 0.42),
                        theme.drawn(hue),
                    )


def margin_note(axes: Axes, theme: Theme, y: float, text: str, hue: str | None = None) -> None:
    axes.text(8.35, y, text, va="center", color=theme.written(hue) if hue else theme.muted,
              linespacing=1.2)  # fmt: skip


def draw_result(
    axes: Axes, theme: Theme, bottom: float, pitch: float, total: int, accesses: str
) -> None:
    """The store of the block's sum, below the tree's last row."""
    y = bottom - pitch * 0.86
    arrow(axes, theme, (0.5, bottom - 0.42), (0.5, y + 0.42), theme.drawn(GLOBAL_HUE))
    cell(axes, theme, 0.5, y, str(total), GLOBAL_HUE)
    axes.text(1.1, y, "partial, in global memory", va="center", color=theme.written(GLOBAL_HUE))
    margin_note(axes, theme, (bottom + y) / 2, accesses, GLOBAL_HUE)
