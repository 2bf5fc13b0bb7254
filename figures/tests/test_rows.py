"""Chapter 12's floors: worked out by hand, and below every time that was recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.records.recordings import Recordings
from figures.chapters.chapter12_rows import plots
from figures.chapters.chapter12_rows import row_floors as floors
from figures.kit.pictures import View, time_of

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
DEVICE: Any = {
    "sm_count": 100, "sm_clock_khz": 1_000_000, "max_threads_per_sm": 2048,
    "compute_capability": "9.0", "peak_gb_per_s": 1000,
}  # fmt: skip
CARD = floors.Card(DEVICE, launch_us=3, hop_us=0.5, start_us=0.001)


class Found:
    """As much of a recorded run as floors ask for."""

    def __init__(self, columns: int, rows: int, grid: int, block: int) -> None:
        n = columns * rows
        self.run: dict[str, Any] = {
            "n": n, "grid": grid, "block": block, "params": {"columns": columns}, "cache": "cold",
            "bytes_read": 4 * n, "bytes_written": 4 * rows,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("method", "found", "floor", "us"),
    [
        # 1000 warps, each with 32 loads of 32 lines; 100 a cycle of a nanosecond
        ("thread", Found(32, 32_000, 125, 256), "lines", 1000 * 32 * 32 / 100 / 1000),
        ("thread", Found(1, 32_000, 125, 256), "lines", 1000 * 1 * 1 / 100 / 1000),
        # ... of which each has 8 words; rows of 16 floats touch half as many lines
        ("wide", Found(32, 32_000, 125, 256), "lines", 1000 * 8 * 32 / 100 / 1000),
        ("wide", Found(16, 32_000, 125, 256), "lines", 1000 * 4 * 16 / 100 / 1000),
        # 1024 words, a warp's lane has 32 of them; 1000 blocks at 8 per SM fill the SMs twice
        ("lanes", Found(4096, 8000, 1000, 256), "turns", 2 * 32 * 0.5),
        # 16 of 4096 words at once in each thread: 2 turns; 1 block
        ("block", Found(32768, 1, 1, 1024), "turns", 2 * 0.5),
        # no words: 8 floats at once
        ("block", Found(8193, 1, 1, 1024), "turns", 2 * 0.5),
        ("block", Found(256, 10_000, 10_000, 128), "starts", 10.0),
        # four pieces of one turn, and three trips
        ("blocks", Found(32768, 1, 4, 512), "turns", (1 + 3) * 0.5),
        ("block", Found(256, 10_000, 10_000, 128), "bytes", (4 * 256 + 4) * 10_000 / 1e6),
        ("lanes", Found(4, 1, 1, 32), "launch", 3),
    ],
)
def test_a_floor_is_what_it_is_by_hand(method: str, found: Any, floor: str, us: float) -> None:
    assert floors.floors_of(CARD, method, found)[floor] == pytest.approx(us)


def test_what_is_near_the_lowest_is_among_them() -> None:
    assert floors.among_lowest({"lanes": 10, "block": 10.9, "thread": 11.1}) == {"lanes", "block"}


@pytest.fixture(scope="module", params=["nvidia-h200", "nvidia-h100"])
def view(request: pytest.FixtureRequest) -> View:
    recordings = Recordings(ROOT)
    known = {recordings.reference.name: recordings.reference, **recordings.second}
    return View(recordings, known[request.param])


def test_no_time_is_below_its_floors(view: View) -> None:
    """But for what two measurements differ by."""
    card = floors.card_of(view)
    for (n, columns), runs in plots.tables_of(view, floors.METHODS).items():
        for method, run in runs.items():
            floor = max(floors.floors_of(card, method, run).values())
            assert time_of(run) > 0.99 * floor, (method, n, columns)


def test_what_is_fastest_has_one_of_the_lowest_floors(view: View) -> None:
    """At every table: what the page says. A card whose L1 looked up half as much would not do."""
    card = floors.card_of(view)

    def missed(card: floors.Card) -> list[tuple[int, int]]:
        return [
            table
            for table, runs in plots.tables_of(view, floors.METHODS).items()
            if plots.fastest_of(runs)
            not in floors.among_lowest(
                {
                    method: max(floors.floors_of(card, method, run).values())
                    for method, run in runs.items()
                }
            )
        ]

    assert len(missed(card)) <= 1
    assert len(missed(replace(card, hop_us=20 * card.hop_us, start_us=card.start_us / 20))) > 1
