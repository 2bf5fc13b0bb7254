"""What alternative texts conclude, held against the data that stand beneath the same picture.

An alternative text is made by the picture's own code, so that an edit there can turn it round. What
this reads are the turns of phrase that most of them conclude with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from figures import catalogue, draw
from figures.kit.pictures import MissingData, Picture
from figures.records.recordings import Recordings
from figures.records.sets import NoSuchRun

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
            except (MissingData, NoSuchRun):
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
