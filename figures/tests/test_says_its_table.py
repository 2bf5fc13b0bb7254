"""A plot draws what its own table says, and the table says what was recorded.

The marks are read from Matplotlib's artists: bars, the points of lines, labels with a number and a
unit, and the names beside the bars. What a plot computes from its table, a ratio or a share, is in
no column: `COMPUTED` names these plots, and nobody may add one whose marks a column has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from common.records.recordings import Recordings
from common.records.verdict import timed
from figures import catalogue
from figures.draw import ROOT
from figures.kit import style
from figures.kit.pictures import Picture, Table, View

pytestmark = pytest.mark.all

#: Ratios to another mark, which the table leaves to the reader.
COMPUTED = {"cards_shares", "chapter00_l2", "chapter00_methods", "chapter07_methods",
            "chapter12_pytorch", "chapter13_rivals"}  # fmt: skip
#: What a column counts in, and the marks may be drawn in.
_SCALES = (1.0, 1e-3, 1e3, 1e-6, 1e6)
_KEYS = {"n", "block", "chapter", "kernel", "variant", "card", "samples"}
_ENDS = ("lowest", "highest")
_SAID = re.compile(r"(?P<number>\d[\d\u202f.]*)[ \u00a0](?P<unit>µs|ms|GB/s|%)")
_PER = {"µs": ("µs", 1.0), "ms": ("µs", 1e-3), "GB/s": ("GB/s", 1.0), "%": ("%", 1.0)}


@dataclass(frozen=True)
class Marks:
    """Values that belong together, and the names that stand beside them."""

    kind: str
    values: tuple[float, ...]
    names: tuple[str, ...] = ()


@cache
def _recordings() -> Recordings:
    return Recordings(ROOT)


@cache
def drawn(name: str) -> tuple[Picture, Figure]:
    """A plot from the reference's recordings."""
    chapter, make = catalogue.plots_by_chapter(ROOT)[name]
    recordings = _recordings().of(chapter)
    second = next(iter(recordings.second.values()), None)
    picture = make(View(recordings, recordings.reference, second))
    return picture, picture.draw(style.LIGHT)


def _names(axes: Axes, places: Sequence[float], is_flat: bool) -> tuple[str, ...]:
    axis = axes.yaxis if is_flat else axes.xaxis
    ticks = dict(zip(axis.get_ticklocs(), (one.get_text() for one in axis.get_ticklabels()),
                     strict=False))  # fmt: skip
    return tuple(ticks.get(place, "") for place in places)


def marks(figure: Figure) -> Iterator[Marks]:
    for axes in figure.axes:
        for bars in (one for one in axes.containers if isinstance(one, BarContainer)):
            is_flat = bars.orientation == "horizontal"
            values = [one.get_width() if is_flat else one.get_height() for one in bars.patches]
            places = [
                one.get_y() + one.get_height() / 2 if is_flat else one.get_x() + one.get_width() / 2
                for one in bars.patches
            ]
            yield Marks("bars", tuple(map(float, values)), _names(axes, places, is_flat))
        for line in axes.lines:
            points = np.asarray(line.get_ydata(), float)
            if len(points) <= 2 or line.get_marker() in (None, "None", ""):
                continue
            rows = _names(axes, points.tolist(), is_flat=True)
            if all(re.search("[A-Za-z]", row) for row in rows):  # a row of a table for each
                across = np.asarray(line.get_xdata(), float)
                yield Marks("points", tuple(map(float, across)), rows)
            else:
                yield Marks("line", tuple(map(float, points)))


@dataclass(frozen=True)
class Column:
    """The numbers of a column, row by row, and by how much they are rounded."""

    heading: str
    cells: tuple[float | None, ...]

    @classmethod
    def of(cls, table: Table, at: int) -> Column:
        return cls(table.columns[at], tuple(_number(row[at]) for row in table.rows))

    @property
    def half(self) -> float:
        """Half of the last digit that any of them has; none where they stand as measured."""
        known = [cell for cell in self.cells if cell is not None]
        for places in (0, 1, 2, 3):
            if known and all(round(cell, places) == cell for cell in known):
                return 0.501 * 10.0**-places
        return 0.0

    def has(self, value: float, cells: Sequence[float | None] | None = None) -> bool:
        return any(
            abs(cell - value) <= max(self.half, 1e-6 * abs(cell), _digits_of(cell))
            for cell in (self.cells if cells is None else cells)
            if cell is not None
        )


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool) or cell is None:
        return None
    try:
        return float(str(cell).replace("\u202f", ""))
    except ValueError:
        return None


def _digits_of(cell: float) -> float:
    """Half of the last digit of a cell that is rounded by itself: to three digits, or to one."""
    if abs(cell) >= 100 and cell == int(cell):
        return 0.501
    if cell == 0 or float(f"{cell:.3g}") != cell:
        return 0.0
    return float(0.501 * 10.0 ** (np.floor(np.log10(abs(cell))) - 2))


def columns(picture: Picture, one: Marks) -> list[Column]:
    """The columns that have all the values of marks, in one unit."""
    table = picture.table
    every = [Column.of(table, at) for at in range(len(table.columns))]
    return [
        column
        for column in every
        if column.heading not in _KEYS
        and any(all(column.has(value * scale) for value in one.values) for scale in _SCALES)
    ]


def _misnamed(picture: Picture, one: Marks, told: Sequence[Column]) -> Iterator[str]:
    """Names beside values that their row of the table hasn't, in any column that is drawn."""
    for name, value in zip(one.names, one.values, strict=False):
        rows = [at for at, row in enumerate(picture.table.rows) if name and name in map(str, row)]
        cells = [column.cells[at] for column in told for at in rows]
        if any(cell is not None for cell in cells) and not any(
            column.has(value * scale, [column.cells[at] for at in rows])
            for column in told
            for scale in _SCALES
        ):
            yield f"'{name}' is {cells}, and drawn as {value}"


def _untold(picture: Picture, figure: Figure) -> Iterator[str]:
    """Labels whose number and unit no column has."""
    table = picture.table
    roofs = [
        float(end)
        for axes in figure.axes
        for line in axes.lines
        if np.size(line.get_ydata()) == 2
        for end in np.ravel([line.get_xdata(), line.get_ydata()])
    ]
    for text in (text for axes in figure.axes for text in axes.texts):
        for said in _SAID.finditer(text.get_text()):
            unit, scale = _PER[said["unit"]]
            digits = said["number"].replace("\u202f", "").rstrip(".")
            places = len(digits.partition(".")[2])
            half = 0.51 * 10.0**-places
            cells = [
                cell * scale
                for at, heading in enumerate(table.columns)
                if unit in heading
                for cell in Column.of(table, at).cells
                if cell is not None
            ]
            known = [*cells, *roofs]
            if cells and not any(abs(one - float(digits)) <= half for one in known):
                yield f"'{said[0]}' is in no column of {unit}"


def faults(picture: Picture, figure: Figure) -> list[str]:
    """Where a plot's marks and labels differ from its table, and the table from the runs."""
    found = []
    for one in marks(figure):
        told = columns(picture, one)
        if not told:
            found.append(f"{one.kind} {one.values[:3]} are of no column")
        elif all(column.heading.startswith(_ENDS) for column in told):
            found.append(f"{one.kind} are of '{told[0].heading}', and not of the median")
        else:
            found += _misnamed(picture, one, told)
    return [*found, *_untold(picture, figure), *unrecorded(picture)]


def unrecorded(picture: Picture) -> Iterator[str]:
    """Rows of a table of runs whose median no run has."""
    table = picture.table
    if not {"kernel", "median µs", "n"} <= set(table.columns):
        return
    where = {heading: table.columns.index(heading) for heading in ("kernel", "median µs", "n")}
    half = Column.of(table, where["median µs"]).half
    medians: dict[tuple[Any, Any], list[float]] = {}
    for run in picture.runs:
        if "samples_us" in run.run:
            key = run.run["variant"], run.run["n"]
            medians.setdefault(key, []).append(timed(run.repeats).median_us)
    for row in table.rows:
        known = medians.get((row[where["kernel"]], row[where["n"]]), [])
        said = row[where["median µs"]]
        if known and not any(abs(one - float(said)) <= max(half, 1e-6 * one) for one in known):
            yield f"{row[where['kernel']]}: {said} µs in the table, {known} recorded"


#: The plots that the guide shows.
NAMES = sorted(
    {
        name
        for page in (ROOT / "docs").rglob("*.rst")
        for name in re.findall(r"^ *\.\. plot:: +(\w+)$", page.read_text("utf-8"), re.MULTILINE)
    }
)


@pytest.mark.parametrize("name", NAMES)
def test_a_plot_draws_what_its_table_says(name: str) -> None:
    picture, figure = drawn(name)
    assert bool(faults(picture, figure)) == (name in COMPUTED), faults(picture, figure)


# ---------------------------------------------------------------------------- planted


def _copied(name: str) -> tuple[Picture, Figure]:
    picture, figure = drawn(name)
    assert faults(picture, figure) == []
    return picture, picture.draw(style.LIGHT)


def _bars(figure: Figure) -> list[Any]:
    return [
        patch
        for axes in figure.axes
        for bars in axes.containers
        if isinstance(bars, BarContainer)
        for patch in bars.patches
    ]


def test_the_wrong_column_is_seen() -> None:
    picture, figure = _copied("chapter02_time")
    table = picture.table
    medians = Column.of(table, table.columns.index("median µs"))
    highest = Column.of(table, table.columns.index("highest µs"))
    for bar in _bars(figure):
        at = min(range(len(table.rows)), key=lambda row: abs(medians.cells[row] - bar.get_width()))
        bar.set_width(highest.cells[at])
    assert any("of 'highest µs'" in one or "of no column" in one for one in faults(picture, figure))


def test_the_first_sample_for_the_median_is_seen() -> None:
    picture, figure = _copied("chapter02_time")
    at = picture.table.columns.index("median µs")
    rows = [list(row) for row in picture.table.rows]
    (run,) = (run for run in picture.runs if run.run["variant"] == rows[0][0])
    rows[0][at] = run.run["samples_us"][0]
    lying = replace(picture, table=replace(picture.table, rows=rows))
    assert any("recorded" in one for one in faults(lying, figure))


def test_two_labels_swapped_are_seen() -> None:
    picture, figure = _copied("chapter02_time")
    (axes,) = (axes for axes in figure.axes if axes.containers)
    names = [one.get_text() for one in axes.get_yticklabels()]
    axes.set_yticks(axes.get_yticks(), [names[1], names[0], *names[2:]])
    assert any("and drawn as" in one for one in faults(picture, figure))


def test_a_wrong_unit_is_seen() -> None:
    picture, figure = _copied("chapter02_time")
    texts = [text for axes in figure.axes for text in axes.texts if "µs" in text.get_text()]
    texts[0].set_text(texts[0].get_text().replace("µs", "ms"))
    assert any("is in no column of" in one for one in faults(picture, figure))


def test_a_point_moved_is_seen() -> None:
    picture, figure = _copied("chapter05_blocks")
    line = next(line for line in figure.axes[0].lines if np.size(line.get_ydata()) > 2)
    points = np.array(line.get_ydata(), float)
    points[1] *= 1.05
    line.set_ydata(points)
    assert any("of no column" in one for one in faults(picture, figure))
