"""Records to files and back, without loss, and what follows from what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.records import columns, derived
from figures.tests import synthetic

PATH = Path("chapter01_gmem.json")
Edit = Callable[[dict[str, Any]], Any]


@pytest.fixture
def record() -> dict[str, Any]:
    """One run in two passes, and another in the second alone."""
    made = synthetic.chapter_data("chapter01_gmem")
    runs = [run for run in made["runs"] if (run["variant"], run["n"]) == ("gmem", 2**28)]
    once, again = (
        next(run for run in runs if (run["block"], run["repeat"]) == (256, repeat))
        for repeat in (0, 1)
    )
    late = next(run for run in runs if (run["block"], run["repeat"]) == (128, 1))
    return {**made, "runs": [once, {**again, "error": 1e-7}, late]}


def test_a_record_comes_back_as_it_was(record: dict[str, Any], tmp_path: Path) -> None:
    columns.write(tmp_path / PATH, record)
    assert columns.read(tmp_path / PATH) == record
    head = json.loads((tmp_path / PATH).read_text())
    assert len(head["runs"]) == 2 and head["runs"][1][len(head["columns"])] is None
    lines = columns.unpacked(tmp_path / "chapter01_gmem.samples.gz").splitlines()
    assert len(lines) == 3 and all(len(line.split()) == 2 + 25 for line in lines)
    assert all(min(map(int, line.split()[2:])) == 0 for line in lines)


def test_the_same_record_gives_the_same_bytes(record: dict[str, Any]) -> None:
    first = columns.files(PATH.name, record)
    assert first == columns.files(PATH.name, record)
    assert first["chapter01_gmem.samples.gz"][4:8] == b"\0\0\0\0", "no time in its head"


def test_a_tick_is_as_long_as_the_samples_allow(record: dict[str, Any], tmp_path: Path) -> None:
    first, second, third = record["runs"]
    first["samples_us"] = [0.032 * 3, 0.32, 0.064]
    second["samples_us"] = [0.032 * 3, 0.32, 0.065]
    third["samples_us"] = [5.5]
    for run in record["runs"]:
        run["samples_us"] = [round(us, 3) for us in run["samples_us"]]
    columns.write(tmp_path / PATH, record)
    text = columns.unpacked(tmp_path / "chapter01_gmem.samples.gz")
    assert text.splitlines() == ["32 2 1 8 0", "1 65 31 255 0", "5500 1 0"]
    assert columns.read(tmp_path / PATH) == record


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda runs: runs[0].update(median_us=1.0), "no column for median_us"),
        (lambda runs: runs[0].update(samples_us=[1.0005]), "not a whole number of nanoseconds"),
        (lambda runs: runs[0].update(samples_us=[]), "gmem n=268435456 block=256 has no sample"),
        (lambda runs: runs[1].update(grid=7), "grid is 7 where it was .* same in every pass"),
        (lambda runs: runs[2].update(region="other"), "region is 'other' .* same in every run"),
        (lambda runs: runs.append(runs[0]), "recorded twice in pass 0"),
    ],
)
def test_what_would_be_lost_is_refused(record: dict[str, Any], edit: Edit, words: str) -> None:
    edit(record["runs"])
    with pytest.raises(ValueError, match=words):
        columns.files(PATH.name, record)


def _launch(**counts: float) -> dict[str, Any]:
    return {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "metrics": counts}


def test_counters_come_back_as_they_were(tmp_path: Path) -> None:
    runs = [
        {"variant": name, "command": command, "launches": launches}
        for name, command, launches in (
            ("one", "ncu --csv --metrics a,b ./run --once --variant one two", [_launch(a=1, b=2)]),
            ("two", "ncu --csv --metrics a,b ./run --once --variant one two", [_launch(b=0.5)]),
            ("old", "ncu --csv --metrics a ./run --once", [_launch(a=3.0), _launch(a=2**53)]),
        )
    ]
    record = {"schema": 3, "metrics": ["a", "b"], "runs": runs}
    columns.write(tmp_path / "counters.json", record)
    assert columns.read(tmp_path / "counters.json") == record
    assert (tmp_path / "counters.json").read_text().count("--metrics") == 2
    for empty in ({**record, "runs": []}, {**record, "runs": [{"variant": "x"}]}):
        columns.write(tmp_path / "counters.json", empty)
        assert columns.read(tmp_path / "counters.json") == empty
    with pytest.raises(ValueError, match="metrics that the file doesn't name: c"):
        columns.text({**record, "runs": [{**runs[0], "launches": [_launch(c=1)]}]})
    with pytest.raises(ValueError, match="a run has variant, and the first variant, command"):
        columns.text({**record, "runs": [*runs, {"variant": "x"}]})


def _timed(*samples: float, clock: str = "events") -> dict[str, Any]:
    """What common/tests/report_test.cpp's run moves in a launch."""
    moved = {"bytes_read": 67108864, "bytes_written": 262144}
    return derived.timed({**moved, "samples_us": list(samples), "clock": clock})


@pytest.mark.parametrize("clock", ["events", "host"])
def test_what_follows_from_samples(clock: str) -> None:
    run = _timed(74.62, 74.601, 74.8, 74.61, 74.6, 74.7, clock=clock)
    assert (run["median_us"], run["p25_us"], run["p75_us"]) == (74.615, 74.603, 74.68)
    assert (run["min_us"], run["median_ci_us"]) == (74.6, (74.6, 74.8))
    assert run["gb_per_s"] == 902.915
    one = _timed(84.03, clock=clock)
    assert one["median_us"] == one["p25_us"] == one["p75_us"] == one["min_us"] == 84.03
    assert one["median_ci_us"] is None


def test_the_interval_of_a_median_is_that_of_order_statistics() -> None:
    """As common/tests/stats_test.cpp has them, from published tables."""
    known = {5: None, 6: (0, 5), 9: (1, 7), 20: (5, 14), 25: (7, 17), 100: (39, 60)}
    assert {count: derived.median_ranks(count) for count in known} == known


def test_a_peak_follows_from_the_attributes() -> None:
    assert derived.peak_gb_per_s(synthetic.DEVICE) == synthetic.DEVICE["peak_gb_per_s"]
    assert derived.peak_gb_per_s({"memory_bus_bits": 0, "memory_clock_khz": 5}) == 0
