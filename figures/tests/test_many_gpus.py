"""Chapter 14's pictures and its set: many GPUs, processes, and rates of several memories."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path

import pytest

from common.records import columns
from common.records.checks import load_set
from common.records.naming import LOCAL, REFERENCE
from common.records.rates import peak_of
from common.records.reading import DataError, read_chapter
from common.records.recordings import Recordings
from common.records.sets import NoSuchRun, RecordedSet
from figures.chapters.chapter14_many_gpus import plots
from figures.kit.pictures import View

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
PAIR = ROOT / "figures/data/nvidia-h200-pair"
FOUR = "nvidia-h200-four"
HERE = f"chapters/chapter14_many_gpus/transcripts/{PAIR.name}"


@pytest.fixture(scope="module")
def view() -> View:
    shown = Recordings(ROOT).of(plots.NAME)
    return View(shown, shown.reference)


def test_the_model_goes_through_what_it_was_taken_from(view: View) -> None:
    made, (few, many, alone, both) = plots.fitted(view)
    assert made.us(many.run["n"], 1) == pytest.approx(many.run["median_us"], rel=1e-3)
    assert made.us(few.run["n"], 1) == pytest.approx(few.run["median_us"], rel=1e-2)
    added = both.run["median_us"] - alone.run["median_us"]
    assert made.us(0, 2) - made.us(0, 1) == pytest.approx(added, rel=0.2)
    met = plots.of_processes(ROOT, PAIR.name)
    step = met["last_all_reduce_2"] - met["nothing_2"]
    assert made.us(0, 4) - made.us(0, 2) == pytest.approx(step)
    assert 0 < step < added


def test_the_best_number_of_gpus_is_where_the_curve_turns() -> None:
    made = plots.Model(floor_us=5, us_per_element=1e-3, step_us=10)
    best = made.best(2**20, 1024)
    assert made.us(2**20, best) < min(made.us(2**20, best // 2), made.us(2**20, 2 * best))
    assert made.best(1, 1024) == 1
    assert made.best(2**40, 1024) == 1024


def _local(view: View, *others: str) -> View:
    """A reader's own recording: that of the book's sets of these names."""
    known = {REFERENCE: view.recordings.second[REFERENCE], PAIR.name: view.known}
    known |= view.recordings.second
    chapters = {name: each for one in others for name, each in known[one].chapters.items()}
    recordings = copy.copy(view.recordings)
    recordings.local = RecordedSet(LOCAL, chapters)
    return View(recordings, recordings.local)


def test_the_model_is_held_to_four_gpus(view: View) -> None:
    made, _ = plots.fitted(view)
    found = plots.asked_about(view)
    assert found.keys() == {(n, 4) for n in (2**24, 2**28, 2**31)}
    for (n, gpus), run in found.items():
        assert run.run["params"]["gpus"] == gpus
        assert made.us(n, gpus) == pytest.approx(run.run["median_us"], rel=0.03)
    picture = plots.model(view)
    assert "sums on 4 other GPUs of the same type, and the model is within" in picture.caption


def test_a_readers_model_is_held_to_their_own_gpus(view: View) -> None:
    own = plots.model(_local(view, FOUR))
    assert "sums on 4 GPUs of the same type" in own.caption and " 0 µs" not in own.caption
    with pytest.raises(NoSuchRun, match="nothing to hold the model to"):
        plots.model(_local(view, PAIR.name))


def test_the_best_read_is_one_gpus(view: View) -> None:
    alone, more = (_local(view, REFERENCE, *others) for others in ((), (FOUR,)))
    assert more.read_roof().run["gb_per_s"] <= alone.device["peak_gb_per_s"]
    assert more.read_roof().run["params"].get("gpus", 1) == 1


def test_processes_are_read_from_what_they_printed(view: View) -> None:
    found = plots.of_processes(ROOT, PAIR.name)
    text = (ROOT / HERE / "processes.txt").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("last_all_reduce_2")]
    assert f"{found['last_all_reduce_2']:.2f}" in line.split()
    assert found.keys() >= {"nothing_2", "all_reduce_2", "last_reduce_2"}
    assert plots.of_processes(ROOT, "no-such-card") == {}


def test_several_gpus_have_as_many_memories() -> None:
    device = read_chapter(PAIR / f"{plots.NAME}.json")["device"]
    assert peak_of({"params": {"gpus": 2}}, device) == 2 * device["peak_gb_per_s"]
    assert peak_of({"params": {}}, device) == peak_of({}, device) == device["peak_gb_per_s"]


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A copy of the set, with what its devices printed."""
    shutil.copytree(ROOT / HERE, tmp_path / HERE)
    return Path(shutil.copytree(PAIR, tmp_path / "figures/data" / PAIR.name))


def _changed(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_set_is_whole(pair: Path) -> None:
    assert not load_set(pair).doubts


def test_one_gpu_is_not_faster_than_its_own_memory(pair: Path) -> None:
    path = pair / f"{plots.NAME}.json"
    told = read_chapter(path)
    run = max(told["runs"], key=lambda run: run["gb_per_s"])
    assert run["params"]["gpus"] == 2 and run["gb_per_s"] > told["device"]["peak_gb_per_s"]
    record = columns.read(path)
    for each in record["runs"]:
        if each["variant"] == run["variant"]:
            each["params"] = {**each["params"], "gpus": 1}
    columns.write(path, record)
    with pytest.raises(DataError, match="above the peak of"):
        load_set(pair)


def test_what_mpirun_started_is_timed_otherwise() -> None:
    started = (ROOT / HERE).with_name(FOUR) / "mpirun.txt"
    assert "\n$ mpirun -np 4 ./run" in started.read_text(encoding="utf-8")
    assert not load_set(PAIR.with_name(FOUR)).doubts


def test_what_one_process_printed_is_held_to_the_set(pair: Path, tmp_path: Path) -> None:
    """Of several processes it isn't: they are timed otherwise."""
    alone = tmp_path / HERE / "killed.txt"
    _changed(alone, "$ WORLD_SIZE=2 RANK=0", "$ ANOTHER=2")
    with pytest.raises(DataError, match="outside the recorded samples"):
        load_set(pair)


def test_a_rate_that_rounds_to_nothing_is_printed_as_that(pair: Path) -> None:
    console = pair / f"{plots.NAME}.txt"
    line = next(
        x for x in console.read_text(encoding="utf-8").splitlines() if x.startswith("last_stores_2")
    )
    _changed(console, line, line.replace(" 0.0 ", "   – ", 1))
    with pytest.raises(DataError, match="GB/s"):
        load_set(pair)
