"""Chapter 7's pictures: what they count as a kernel, and that their words follow the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.records import columns
from common.records.naming import REFERENCE
from common.records.rates import issue_rate
from common.records.recordings import RecordedRun, Recordings
from common.records.sets import NoSuchRun
from figures.chapters.chapter07_effective_bandwidth.kernels import (
    BLOCK,
    NAME,
    ROOFS,
    every_kernel,
    kernels_and_roofs,
)
from figures.chapters.chapter07_effective_bandwidth.methods import finished, methods
from figures.chapters.chapter07_effective_bandwidth.roof import climbed, roof
from figures.chapters.chapter07_effective_bandwidth.roofline import roofline
from figures.kit.pictures import View, rate_of
from figures.tests import synthetic

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def view(recordings: Recordings) -> View:
    return View(recordings, recordings.reference)


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., View]:
    """Of the made-up set this chapter's file and another, whose runs are changed."""

    def edit(file: str, change: Callable[[list[dict[str, Any]]], None]) -> View:
        root = synthetic.write_root(tmp_path)
        path = root / "figures/data" / REFERENCE / file
        for other in path.parent.iterdir():  # reading and checking them all takes seconds
            if other.name.partition(".")[0] not in (Path(file).stem, NAME):
                other.unlink()
        data = columns.read(path)
        change(data["runs"])
        columns.write(path, data)
        recordings = Recordings(root)
        return View(recordings, recordings.reference)

    return edit


def test_every_kernel_is_listed_once_in_its_own_chapter(view: View) -> None:
    kernels = {(chapter, found.run["variant"]) for chapter, found in every_kernel(view)}
    own = {
        (chapter, run["variant"])
        for chapter in view.known.chapters
        for run in view.runs(chapter)
        if run["from"] == chapter and run["cache"] == "cold" and run["bytes_read"]
    }
    alone = ("chapter00_timing", "pointer_chase")
    assert alone in own, "one thread, timed for its latency"
    assert kernels == own - {(NAME, roof) for roof in ROOFS} - {alone}
    assert ("chapter05_unroll4", "unroll16") in kernels
    assert (NAME, "reduce1") not in kernels, "chapter 3 teaches it"
    assert (NAME, "reduce7_warm") not in kernels
    assert all(
        (found.run["n"], found.run["block"]) == (2**28, 256)
        for chapter, found in every_kernel(view)
        if not chapter.startswith("chapter04")  # which has sizes of its own
    )


def test_a_kernel_is_shown_at_the_most_that_it_was_run_at(edited: Callable[..., View]) -> None:
    def keep_small(runs: list[dict[str, Any]]) -> None:
        runs[:] = [run for run in runs if run["variant"] != "gmem" or run["n"] <= 2**20]

    kernels = every_kernel(edited("chapter01_gmem.json", keep_small))
    sizes = {found.run["variant"]: found.run["n"] for chapter, found in kernels if "01" in chapter}
    assert sizes.pop("gmem") == 2**20
    assert set(sizes.values()) == {2**28}


def test_reading_is_what_the_others_are_a_share_of(view: View) -> None:
    table = kernels_and_roofs(view).table
    shares = {row[1]: row[-1] for row in table.rows}
    rates = {row[1]: row[table.columns.index("GB/s")] for row in table.rows}
    assert shares["read"] == 100
    assert shares["smem"] == pytest.approx(100 * rates["smem"] / rates["read"], abs=0.1)


def test_methods_count_where_each_is_faster(edited: Callable[..., View], view: View) -> None:
    assert "reduce2 at 9" in methods(view).alt

    def slow_seventh(runs: list[dict[str, Any]]) -> None:
        for run in runs:
            if run["variant"] == "reduce7":
                run["samples_us"] = [round(3 * sample, 3) for sample in run["samples_us"]]

    slower = methods(edited(f"{NAME}.json", slow_seventh))
    assert "reduce7 at 0" in slower.alt
    last = slower.table.columns.index("reduce7 gain")
    assert all(row[last] < 0.5 for row in slower.table.rows)


def test_a_finished_sum_is_held_against_the_librarys_at_its_size(view: View) -> None:
    table = finished(view).table
    ratio, median = len(table.columns) - 1, table.columns.index("median µs")
    at = {(row[0], row[1]): row for row in table.rows}
    for n in (2**17, 2**28):
        library = at["sum_cub", n]
        assert library[ratio] == 1
        assert at["sum7", n][ratio] == pytest.approx(at["sum7", n][median] / library[median], 1e-2)


def test_the_roof_shows_the_climb_as_far_as_this_chapter(view: View) -> None:
    steps = climbed(view)
    assert {"chapter01_gmem", NAME} <= {name for name, _, _ in steps}
    assert max(name for name, _, _ in steps) == NAME, "chapter 8's guess is still to be made"
    picture = roof(view)
    best = rate_of(view.read_roof())
    shares = [row[-1] for row in picture.table.rows]
    assert shares == [round(100 * rate_of(found) / best, 1) for _, _, found in steps]
    assert f"{shares[0]:.0f} % of that roof" in picture.alt and f"{shares[-1]:.0f} %" in picture.alt


def test_a_better_read_lifts_the_roof(view: View) -> None:
    class Lifted(View):
        def read_roof(self) -> RecordedRun:
            found = super().read_roof()
            return replace(found, run={**found.run, "gb_per_s": 2 * rate_of(found)})

    before, after = (roof(each) for each in (view, Lifted(view.recordings, view.known)))
    assert after.table.rows[0][-1] == pytest.approx(before.table.rows[0][-1] / 2, abs=0.1)


def test_the_roofline_is_counts_over_times(view: View) -> None:
    rows = {(row[0], row[1]): row for row in roofline(view).table.rows}
    _, _, n, work, moved, intensity, rate, share = rows[NAME, "reduce3"]
    assert n == "2²⁴"
    time = view.find(NAME, "reduce3", 2**24, BLOCK).run["median_us"]
    assert intensity == pytest.approx(work / moved, abs=1e-4)
    assert rate == pytest.approx(work / time / 1e3, rel=1e-2)
    roof = min(issue_rate(view.device) / 1e9, intensity * view.device["peak_gb_per_s"])
    assert share == pytest.approx(100 * rate / roof, rel=1e-2)
    assert issue_rate(view.device) == pytest.approx(132 * 4 * 1.98e9)
    assert ("chapter05_unroll4", "unroll16") in rows
    assert ("chapter05_unroll4", "smem") not in rows, "it is chapter 2's"


def test_a_roofline_without_counts_says_whose_are_missing(edited: Callable[..., View]) -> None:
    def forget(runs: list[dict[str, Any]]) -> None:
        runs[:] = [run for run in runs if run["variant"] not in ("reduce2", "read")]

    with pytest.raises(NoSuchRun, match=r"^read and reduce2 are not counted"):
        roofline(edited("counters.json", forget))
