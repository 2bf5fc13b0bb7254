"""What pictures say in words and tables, held against the runs that they are drawn from.

An alternative text is made by the picture's own code, so that an edit there can turn it round. What
this reads are the turns of phrase that most of them conclude with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from figures import catalogue, draw, every_chapter
from figures.kit import style
from figures.kit.pictures import Picture

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
_UNIT = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
#: Texts round.
CLOSE = 0.01

Rows = list[dict[str, Any]]


def _rows(picture: Picture) -> Rows:
    return [dict(zip(picture.table.columns, row, strict=True)) for row in picture.table.rows]


def _of(rows: Rows, kernel: str, column: str) -> list[float]:
    return [row[column] for row in rows if row["kernel"] == kernel]


def _us(number: str, unit: str) -> float:
    return float(number) * _UNIT[unit]


def _near(one: float, other: float) -> bool:
    return abs(one / other - 1) <= CLOSE


def _times(rows: Rows, said: re.Match[str]) -> bool:
    """The shortest median is A's, 771 µs; the longest is B's, 3.08 ms, 3.99 times as long."""
    short, low, high, long = said["short"], said["low"], said["high"], said["long"]
    a, b = _us(low, said["low_unit"]), _us(high, said["high_unit"])
    medians = [row["median µs"] for row in rows]
    return (
        _near(a, min(medians))
        and _near(b, max(medians))
        and any(_near(a, one) for one in _of(rows, short, "median µs"))
        and any(_near(b, one) for one in _of(rows, long, "median µs"))
        and _near(b / a, float(said["times"]))
    )


def _rates(rows: Rows, said: re.Match[str]) -> bool:
    """A comes highest, 1398 GB/s …; B never passes 350 GB/s."""
    best = {kernel: max(_of(rows, kernel, "GB/s")) for kernel in {row["kernel"] for row in rows}}
    return (
        _near(float(said["high"]), max(best.values()))
        and _near(float(said["high"]), best[said["top"]])
        and _near(float(said["low"]), min(best.values()))
        and _near(float(said["low"]), best[said["bottom"]])
    )


def _blocks(rows: Rows, said: re.Match[str]) -> bool:
    """A does best with 128 (784 GB/s) and worst with 32 (220 GB/s)."""
    rates = _of(rows, said["kernel"], "GB/s")
    return _near(float(said["best"]), max(rates)) and _near(float(said["worst"]), min(rates))


def _fastest(rows: Rows, said: re.Match[str]) -> bool:
    """A is the fastest of 4 kernels."""
    least = min(row["median µs"] for row in rows)
    return any(_near(least, one) for one in _of(rows, said["kernel"], "median µs"))


_TIME = r"(?P<{0}>[\d.]+) (?P<{0}_unit>ns|µs|ms|s)"
PHRASES: list[tuple[str, Callable[[Rows, re.Match[str]], bool]]] = [
    (rf"shortest median is (?P<short>\w+)'s, {_TIME.format('low')}; the longest is "
     rf"(?P<long>\w+)'s, {_TIME.format('high')}, (?P<times>[\d.]+) times as long", _times),
    (r"(?P<top>\w+) comes highest, (?P<high>[\d.]+) GB/s.*?; (?P<bottom>\w+) never passes "
     r"(?P<low>[\d.]+) GB/s", _rates),
    (r"(?P<kernel>\w+) does best with [\d, and]+ \((?P<best>[\d.]+) GB/s\) and worst with \d+ "
     r"\((?P<worst>[\d.]+) GB/s\)", _blocks),
    (r"(?P<kernel>\w+) is the fastest of \d+ kernels", _fastest),
]  # fmt: skip


def turned(picture: Picture, alt: str) -> list[str]:
    """The conclusions of an alternative text that its picture's data contradict."""
    rows = _rows(picture)
    return [
        said[0]
        for phrase, holds in PHRASES
        for said in re.finditer(phrase, alt)
        if not holds(rows, said)
    ]


def concluded(alt: str) -> int:
    return sum(len(re.findall(phrase, alt)) for phrase, _ in PHRASES)


@pytest.fixture(scope="module")
def pictures() -> dict[str, Picture]:
    recordings = Recordings(ROOT)

    def drawn() -> Iterator[tuple[str, Picture]]:
        for name in catalogue.plots(ROOT):
            try:
                yield name, draw.make(name, ROOT, recordings)[0]
            except NoSuchRun:
                continue

    return dict(drawn())


def test_no_alternative_text_says_what_its_data_deny(pictures: dict[str, Picture]) -> None:
    said = sum(concluded(one.alt) for one in pictures.values())
    assert said > 50
    found = {name: turned(one, one.alt) for name, one in pictures.items()}
    assert {name: lies for name, lies in found.items() if lies} == {}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("chapter03_time", "smem is the fastest", "interleaved is the fastest"),
        ("chapter03_time", r"(shortest median is )(\w+)('s.*longest is )(\w+)", r"\1\4\3\2"),
        ("chapter03_bandwidth", r"^(.*\. )(\w+)( comes highest.*; )(\w+)", r"\1\4\3\2"),
        ("chapter03_blocks", "does best with (.*?) and worst with (.*?\\))",
         r"does best with \2 and worst with \1"),
    ],
)  # fmt: skip
def test_a_text_that_is_turned_round_is_seen(
    pictures: dict[str, Picture], name: str, old: str, new: str
) -> None:
    picture = pictures[name]
    lie = re.sub(old, new, picture.alt, count=1)
    assert lie != picture.alt
    assert turned(picture, lie)


# ------------------------------------------------------------------ a second card

BESIDE = re.compile(r" On ([^.]*?), drawn beside it, (.*)$")


def of_another_card(picture: Picture, alt: str) -> list[str]:
    """Rates that a text gives a second card, and that are none of its runs'."""
    said = BESIDE.search(alt)
    if not said:
        return []
    rates = [
        one.run["gb_per_s"]
        for one in picture.runs
        if one.device_name == said[1] and "gb_per_s" in one.run
    ]
    numbers = re.findall(r"([\d.]+) GB/s", said[2])
    assert numbers
    return [each for each in numbers if not any(_near(float(each), rate) for rate in rates)]


def test_what_is_said_of_a_second_card_is_its_own(pictures: dict[str, Picture]) -> None:
    told = {name: one for name, one in pictures.items() if BESIDE.search(one.alt)}
    assert told.keys() == {"chapter05_in_flight", "chapter07_roof", "chapter10_strides"}
    assert {
        name: wrong for name, one in told.items() if (wrong := of_another_card(one, one.alt))
    } == {}


def test_the_first_cards_rate_is_not_the_seconds(pictures: dict[str, Picture]) -> None:
    picture = pictures["chapter07_roof"]
    lie = re.sub(r"(a read roof of )([\d.]+)(.*the read roof is )[\d.]+", r"\1\2\3\2", picture.alt)
    assert lie != picture.alt
    assert of_another_card(picture, lie)


# ------------------------------------------------------------------ what stands under a heading

#: What a cell of a run's row is, by its heading.
FIELDS: dict[str, Callable[[dict[str, Any]], float]] = {
    "n": lambda run: run["n"],
    "block": lambda run: run["block"],
    "median µs": lambda run: run["median_us"],
    "GB/s": lambda run: round(run["gb_per_s"], 1),
}


def misplaced(picture: Picture, columns: list[str]) -> list[str]:
    """Rows of runs with a number under the heading of another."""
    if not {"kernel", *FIELDS} <= set(columns):
        return []
    runs = {
        (one.run["variant"], one.run["n"], one.run["block"], one.run["median_us"]): one.run
        for one in picture.runs
        if "median_us" in one.run
    }
    found = []
    for row in picture.table.rows:
        cells = dict(zip(columns, row, strict=True))
        key = (cells["kernel"], cells["n"], cells["block"], cells["median µs"])
        run = runs.get(key)
        if run is None or any(cells[name] != of(dict(run)) for name, of in FIELDS.items()):
            found.append(str(cells))
    return found


def test_each_number_stands_under_its_heading(pictures: dict[str, Picture]) -> None:
    held = [name for name, one in pictures.items() if {"kernel", *FIELDS} <= set(one.table.columns)]
    assert len(held) > 20
    found = {name: misplaced(pictures[name], pictures[name].table.columns) for name in held}
    assert {name: rows[:2] for name, rows in found.items() if rows} == {}


@pytest.mark.parametrize("pair", [("median µs", "GB/s"), ("n", "block")])
def test_swapped_headings_are_seen(pictures: dict[str, Picture], pair: tuple[str, str]) -> None:
    picture = pictures["chapter03_time"]
    swap = dict(zip(pair, reversed(pair), strict=True))
    columns = [swap.get(column, column) for column in picture.table.columns]
    assert misplaced(picture, columns)


# ------------------------------------------------------------------ what an axis says


def _drawn(axes: Axes) -> list[float]:
    """Coordinates of all that is drawn: lines, points, bars' lengths."""
    numbers = [float(v) for line in axes.lines for v in (*line.get_xdata(), *line.get_ydata())]  # type: ignore[misc]
    for patch in axes.patches:
        if isinstance(patch, Rectangle):
            numbers += [patch.get_width(), patch.get_height()]
    for points in axes.collections:
        numbers += [float(v) for v in np.asarray(points.get_offsets()).ravel()]
    return numbers


def in_another_unit(picture: Picture) -> list[str]:
    """Axes that say GB/s, and don't draw the highest rate of the table there."""
    rates = [row["GB/s"] for row in _rows(picture) if "GB/s" in row]
    if not rates:
        return []
    with style.look(style.LIGHT):
        figure = picture.draw(style.LIGHT)
    said = [axes for axes in figure.axes if axes.get_title(loc="left").startswith("GB/s")]
    highest = max(rates)
    return [
        axes.get_title(loc="left")
        for axes in said
        if not any(abs(number / highest - 1) < HALF_A_PERCENT for number in _drawn(axes))
    ]


HALF_A_PERCENT = 0.005


def test_an_axis_has_the_unit_that_it_names(pictures: dict[str, Picture]) -> None:
    found = {name: in_another_unit(one) for name, one in pictures.items()}
    assert {name: said for name, said in found.items() if said} == {}


def test_an_axis_in_another_unit_is_seen(
    pictures: dict[str, Picture], monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = pictures["chapter03_blocks"]
    monkeypatch.setattr(every_chapter, "rate_of", lambda found: found.run["gb_per_s"] / 1.073741824)
    assert in_another_unit(picture)
