"""Chapter 5's pipe and its bytes in flight: what the dots and the points stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.records.counters import STALLS
from common.records.recordings import Recordings
from figures.chapters import chapter05_unroll4, chapter06_dynamic_smem
from figures.chapters.chapter00_timing import hop_ns
from figures.chapters.chapter05_unroll4.flight import (
    LOAD_BYTES,
    SPINE,
    in_flight,
    pipe,
    spread_out,
)
from figures.kit.pictures import View

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def reference() -> View:
    recordings = Recordings(ROOT)
    return View(recordings, recordings.reference)


def test_as_many_places_are_taken_as_there_are_loads() -> None:
    for count in (0, 1, 16, 95, 96):
        assert len(spread_out(count, 96)) == count
    assert spread_out(16, 96) < spread_out(31, 96), "more loads fill what fewer had"


def test_places_are_taken_all_along_the_pipe() -> None:
    taken = sorted(spread_out(16, 96))
    assert all(any(start <= one < start + 16 for one in taken) for start in range(0, 96, 16))


def test_the_pipe_holds_what_littles_law_asks_for(reference: View) -> None:
    device = reference.device
    latency = hop_ns(reference.find("chapter00_timing", "pointer_chase"))
    rows = pipe(reference).table.rows
    for _words, _variant, _us, rate, loads, room in rows:
        assert loads / room == pytest.approx(rate / device["peak_gb_per_s"], abs=0.01)
        # bytes in flight over the rate is the latency: the same for each, to a dot's rounding
        bytes_in_flight = loads * LOAD_BYTES * device["sm_count"]
        assert bytes_in_flight / rate == pytest.approx(latency, rel=0.04)
    assert [row[4] for row in rows] == sorted(row[4] for row in rows), "each rung fills it further"


def test_bytes_in_flight_are_threads_times_share_times_loads(reference: View) -> None:
    found = reference.counters("chapter05_unroll4", "unroll4")
    metrics = found.run["launches"][0]["metrics"]
    stalls = {name: metrics[metric] for name, metric in STALLS.items()}
    share = stalls["stall_long_scoreboard"] / sum(stalls.values())
    occupancy = metrics["sm__warps_active.avg.pct_of_peak_sustained_active"] / 100
    (row,) = (row for row in in_flight(reference).table.rows if row[1] == "unroll4")
    assert row[5] == pytest.approx(occupancy * 2048 * share * 4 * 4 / 1000, abs=0.05)


def test_what_is_counted_lands_on_littles_line_while_memory_is_idle(reference: View) -> None:
    """The story says so of its first two kernels, and that the later ones bend away."""
    rows = {row[1]: row for row in in_flight(reference).table.rows}
    sms = reference.device["sm_count"]
    latency = {name: row[5] * 1000 * sms / row[6] for name, row in rows.items()}
    assert latency["smem"] == pytest.approx(336, rel=0.08)
    assert latency["first_add"] == pytest.approx(336, rel=0.12)
    assert latency["last_warp_sync"] > 1.2 * latency["smem"]
    assert latency["by_warps8"] > 3 * latency["smem"]


def test_the_box_is_full_where_no_block_more_fits(reference: View) -> None:
    device = reference.device
    rows = chapter06_dynamic_smem.shared_box(reference).table.rows
    assert [row[2] for row in rows] == [8, 4, 2, 1]
    for _variant, asked, blocks, threads in rows:
        each = asked + device["shared_reserved"]
        assert blocks * each <= device["shared_per_sm"] and threads <= 2048
        one_more = (blocks + 1) * each > device["shared_per_sm"] or threads + 256 > 2048
        assert one_more, "it would have room"


def test_the_pictures_kernels_are_the_pages(reference: View) -> None:
    assert chapter05_unroll4.CHAPTER.spine == SPINE
    page = (ROOT / "docs/chapters/chapter05_unroll4.rst").read_text(encoding="utf-8")
    assert all(f":rung: {variant}" in page for variant in SPINE)
