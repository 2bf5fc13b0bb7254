"""Recorded runs: every fault refused with a message that names it, every question answered."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.records import columns
from common.records.checks import load_set
from common.records.counters import NCU
from common.records.naming import EMBEDDED, LOCAL, REFERENCE, SECOND
from common.records.reading import DataError
from common.records.recordings import (
    BrokenLocalSet,
    RecordedRun,
    Recordings,
    counter_of,
    is_faster,
    is_stale,
)
from common.records.regions import region_hash
from common.records.sets import NoSuchRun
from figures.tests import synthetic

Edit = Callable[[dict[str, Any]], None]
Faulty = Callable[[Edit], Path]
FIRST = "chapter01_gmem/gmem n=1024 block=256 repeat 0"


#: The JSON of the samples, and what stands there of the first run and pass.
SAMPLES = "chapter01_gmem.samples.gz"


def _cell(data: dict[str, Any], field: str) -> tuple[Any, Any]:
    """Where a fact of the first run stands."""
    if field in data["columns"]:
        return data["runs"][0], data["columns"].index(field)
    if field in data["pass"]:
        return data["runs"][0][len(data["columns"])], data["pass"].index(field)
    return data["variants"]["gmem"], field


def _set(field: str, value: Any) -> Edit:
    def edit(data: dict[str, Any]) -> None:
        holder, at = _cell(data, field)
        holder[at] = value

    return edit


def _drop(field: str) -> Edit:
    def edit(data: dict[str, Any]) -> None:
        holder, at = _cell(data, field)
        if isinstance(at, int):
            data["columns" if field in data["columns"] else "pass"].remove(field)
        del holder[at]
        if holder is data["runs"][0]:
            for row in data["runs"][1:]:
                del row[at]

    return edit


@pytest.mark.parametrize(
    ("edit", "field", "words"),
    [
        (_drop("verified"), "verified", "missing"),
        (_drop("grid"), "grid", "missing"),
        (_drop("kernel_hash"), "kernel_hash", "missing"),
        (_set("verified", False), "verified", "not verified"),
        (_set("bytes_read", math.nan), "bytes_read", "NaN is not a number"),
        (_set("block", 4096), "block", "4096"),
        (_set("n", -1), "n", "-1"),
        (_set("n", 10.5), "n", "10.5"),
        (_set("registers", "many"), "registers", "'many'"),
        (_set("n", True), "n", "True"),
        (_set("stopped_by", ""), "stopped_by", "''"),
        (_set("from", "chapter1"), "from", "'chapter1'"),
        (_set("kernel_hash", "12"), "kernel_hash", "'12'"),
        (_set("params", {"unroll": [4]}), "params.unroll", "[4]"),
    ],
)
def test_a_faulty_run_is_named(faulty: Faulty, edit: Edit, field: str, words: str) -> None:
    folder = faulty(edit)
    with pytest.raises(DataError) as caught:
        load_set(folder)
    message = str(caught.value)
    assert message.startswith(str(folder / "chapter01_gmem.json"))
    assert "chapter01_gmem/gmem" in message
    assert f"field '{field}'" in message
    assert words in message


def test_the_run_is_named_in_full(faulty: Faulty) -> None:
    with pytest.raises(DataError, match=FIRST):
        load_set(faulty(_set("verified", False)))


def test_a_sound_set_is_taken(faulty: Faulty) -> None:
    loaded = load_set(faulty(lambda data: None))
    assert len(loaded.chapters["chapter01_gmem"].runs) == 3


def test_half_written_json_is_refused(faulty: Faulty) -> None:
    folder = faulty(lambda data: None)
    path = folder / "chapter01_gmem.json"
    path.write_text(path.read_text()[:-200])
    with pytest.raises(DataError, match=r"chapter01_gmem\.json: line 1, column \d+: not whole"):
        load_set(folder)


@pytest.mark.parametrize("text", ["", "[]", "\xff"])
def test_what_is_no_record_at_all_is_refused(faulty: Faulty, text: str) -> None:
    folder = faulty(lambda data: None)
    (folder / "chapter01_gmem.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=r"chapter01_gmem\.json"):
        load_set(folder)


# ------------------------------------------------------------------------------ the samples


def _resigned(folder: Path, edit: Callable[[str], str]) -> None:
    """Changes the samples, and the JSON's word on what they are."""
    beside, path = folder / SAMPLES, folder / "chapter01_gmem.json"
    text = edit(columns.unpacked(beside))
    beside.write_bytes(columns.packed(text))
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"samples": columns._digest(text)}))


def _one_more_tick(text: str) -> str:
    head, _, last = text.rstrip().rpartition(" ")
    return f"{head} {int(last) + 1}\n"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda text: text.rstrip().rpartition(" ")[0], "line 3: 24 samples where"),
        (lambda text: text.replace("\n", " 0\n", 1), "line 1: 26 samples where"),
        (lambda text: text.partition("\n")[2], "its end: 0 samples where"),
        (lambda text: f"{text}1 2 0\n", "line 4: there is no run for it in chapter01_gmem.json"),
        (lambda text: text.replace(" ", " x", 1), "holds no samples"),
        (lambda text: text.replace(" ", " NaN ", 1), "holds no samples"),
        (
            lambda text: re.sub(r"^\d+ \d+", "1 0", text),
            "line 1: holds no times: those are above 0",
        ),
        (lambda text: text.replace(" ", " -", 1), "line 1: holds no times"),
        (lambda text: re.sub(r" \d+\n", " -5\n", text, count=1), "line 1: holds no times"),
        (lambda text: re.sub(r" \d+\n", " 1.5\n", text, count=1), "1.5 is not a count of ticks"),
        (lambda text: re.sub(r"^.*\n", "1\n", text), "line 1: holds no times"),
    ],
)
def test_samples_that_are_none_are_refused(
    faulty: Faulty, edit: Callable[[str], str], words: str
) -> None:
    folder = faulty(lambda data: None)
    _resigned(folder, edit)
    with pytest.raises(DataError) as caught:
        load_set(folder)
    assert words in str(caught.value)


def test_a_sample_changed_by_one_tick_is_refused(faulty: Faulty) -> None:
    folder = faulty(lambda data: None)
    beside = folder / SAMPLES
    beside.write_bytes(columns.packed(_one_more_tick(columns.unpacked(beside))))
    with pytest.raises(DataError, match=r"samples\.gz: are not the samples that chapter01_gmem"):
        load_set(folder)


def test_samples_of_another_recording_are_refused(faulty: Faulty, tmp_path: Path) -> None:
    folder = faulty(lambda data: None)
    other = synthetic.write_set(tmp_path / "other", speed=0.5)
    shutil.copy(other / SAMPLES, folder / SAMPLES)
    with pytest.raises(DataError, match=r"samples\.gz: are not the samples that chapter01_gmem"):
        load_set(folder)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.unlink(), "is missing: it holds the samples"),
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "is not whole"),
        (lambda path: path.write_bytes(path.read_bytes()[:-3]), "is not whole"),
        (lambda path: path.write_bytes(b""), "are not the samples"),
        (lambda path: path.write_bytes(b"not gzipped"), "is not whole"),
        (lambda path: path.write_bytes(_flipped(path.read_bytes(), 60)), "is not whole"),
        (lambda path: path.write_bytes(_flipped(path.read_bytes(), -6)), "is not whole"),
    ],
)
def test_a_damaged_file_of_samples_is_refused(
    faulty: Faulty, spoil: Callable[[Path], object], words: str
) -> None:
    folder = faulty(lambda data: None)
    spoil(folder / SAMPLES)
    with pytest.raises(DataError) as caught:
        load_set(folder)
    assert str(caught.value).startswith(f"{folder / SAMPLES}: ")
    assert words in str(caught.value)


def _flipped(whole: bytes, at: int) -> bytes:
    changed = bytearray(whole)
    changed[at] ^= 0x55
    return bytes(changed)


def test_samples_beyond_all_recordings_are_refused(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = faulty(lambda data: None)
    monkeypatch.setattr(columns, "MOST_SAMPLES", 100)
    with pytest.raises(DataError, match="holds more than 0 MiB, as no recording does"):
        load_set(folder)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda data: data["runs"][1].pop(), "line 3: there is no run for it"),
        (lambda data: data["runs"][0].__setitem__(0, "gmen"), "is not in columns"),
        (lambda data: data.update(runs=[5]), "is not in columns"),
        (lambda data: data.update(runs=None), "is not in columns"),
        (lambda data: data.pop("variants"), "is not in columns"),
        (lambda data: data.pop("columns"), "is not in columns"),
        (lambda data: data.pop("samples"), "is not in columns"),
        (lambda data: data.update(samples="0" * 64), "are not the samples"),
        (lambda data: data["runs"][0].append(["interval", 25]), "its end: 0 samples"),
    ],
)
def test_rows_that_make_no_record_are_refused(faulty: Faulty, edit: Edit, words: str) -> None:
    with pytest.raises(DataError, match=words):
        load_set(faulty(edit))


# ------------------------------------------------------------------------------- other files


@pytest.mark.parametrize("version", [0, 4, "3", None])
def test_another_schema_version_is_refused(faulty: Faulty, version: Any) -> None:
    with pytest.raises(DataError, match=r"field 'schema': version .* is unknown here"):
        load_set(faulty(lambda data: data.update(schema=version)))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("name", "command"),
    [("nvidia-h200", "tools/measure --record nvidia-h200"), ("local", "tools/measure")],
)
def test_an_older_books_file_is_refused_with_what_renews_it(
    faulty: Faulty, name: str, command: str, version: int
) -> None:
    spoilt = faulty(lambda data: data.update(schema=version))
    folder = spoilt.rename(spoilt.with_name(name))
    with pytest.raises(DataError) as caught:
        load_set(folder)
    assert str(caught.value).startswith(f"{folder / 'chapter01_gmem.json'}: field 'schema'")
    assert str(caught.value).endswith(
        f"version {version} is an older book's, this one reads 3; renew it: {command}"
    )


def test_a_missing_schema_version_is_refused(faulty: Faulty) -> None:
    with pytest.raises(DataError, match="field 'schema': missing"):
        load_set(faulty(lambda data: data.pop("schema")))


def test_a_run_recorded_twice_is_refused(faulty: Faulty) -> None:
    with pytest.raises(DataError, match="gmem n=1024 block=256: recorded twice"):
        load_set(faulty(lambda data: data["runs"].append(data["runs"][0])))


@pytest.mark.parametrize("field", ["device", "source", "date", "commands"])
def test_provenance_must_be_whole(faulty: Faulty, field: str) -> None:
    with pytest.raises(DataError, match=f"field '{field}': missing"):
        load_set(faulty(lambda data: data.pop(field)))


def test_a_shortened_commit_is_refused(faulty: Faulty) -> None:
    with pytest.raises(DataError, match=r"source\.commit"):
        load_set(faulty(lambda data: data["source"].update(commit="0123456")))


def test_a_file_of_another_chapter_is_refused(faulty: Faulty) -> None:
    with pytest.raises(DataError, match="field 'chapter'"):
        load_set(faulty(lambda data: data.update(chapter="chapter02_smem")))


def test_a_set_is_of_one_device(tmp_path: Path) -> None:
    folder = synthetic.write_set(tmp_path / "set")
    data = synthetic.chapter_data("chapter02_smem", device="Another GPU")
    columns.write(folder / "chapter02_smem.json", data)
    with pytest.raises(DataError, match=r"chapter02_smem.json: .*'Another GPU'.*'Made-up GPU'"):
        load_set(folder)


def test_console_output_begins_with_its_command(tmp_path: Path) -> None:
    folder = synthetic.write_set(tmp_path / "set")
    (folder / "chapter02_smem.txt").write_text("n = 3\n")
    with pytest.raises(DataError, match=r"chapter02_smem\.txt: line 1"):
        load_set(folder)


def test_counters_are_checked_too(tmp_path: Path) -> None:
    folder = synthetic.write_set(tmp_path / "set")
    path = folder / "counters.json"
    data = columns.read(path)
    data["runs"][0]["launches"][0]["metrics"]["smsp__inst_executed.sum"] = -1
    columns.write(path, data)
    with pytest.raises(DataError, match=r"counters.json: chapter01_gmem/gmem .*inst_executed"):
        load_set(folder)


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        ({"exit": 2}, "exit"),  # no check took place, so it can't have found nothing
        ({"findings": None}, "messages"),  # nor may it be silent on why
        ({"findings": -1}, "findings"),
        ({"tool": "othercheck"}, "tool"),
    ],
)
def test_a_check_that_contradicts_itself_is_refused(
    tmp_path: Path, spoil: dict[str, Any], field: str
) -> None:
    folder = synthetic.write_set(tmp_path / "set")
    path = folder / "sanitizer.json"
    data = columns.read(path)
    data["runs"][0].update(spoil)
    columns.write(path, data)
    with pytest.raises(DataError, match=f"sanitizer.json: chapter01_gmem/gmem .*'{field}'"):
        load_set(folder)


def test_an_unknown_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such set"):
        load_set(tmp_path / "nowhere")


def test_every_committed_set_is_sound(repository: Path) -> None:
    folders = [p for p in (repository / "figures/data").iterdir() if p.is_dir()]
    # Of the embedded device's set test_embedded_set.py asks more: it has neither commit nor date.
    others = (LOCAL, EMBEDDED)
    committed = [p for p in folders if p.name not in others]
    if not committed:
        pytest.skip("no set is recorded yet")
    for folder in committed:
        found = load_set(folder)
        # What a local set may lack, one that others build on may not.
        for record in found.chapters.values():
            assert record.data["source"], f"{record.path}: of no known commit"
            assert not record.data["source"]["dirty"], f"{record.path}: of a changed source"
        if folder.name in SECOND:  # the reference's sanitizers stand for both
            continue
        checks = columns.read(folder / "sanitizer.json")["runs"]
        named = {(run["chapter"], run["variant"]) for run in checks if run["findings"]}
        for check in checks:
            # A fault that another tool has named may stop the kernel before this one is through.
            stopped = check["exit"] == 3 and (check["chapter"], check["variant"]) in named
            did = check["findings"] is not None
            assert did or stopped, f"{check['command']}: did not take place"


# ------------------------------------------------------------------------------- questions


def test_defaults_are_the_books(recordings: Recordings) -> None:
    run = recordings.run("chapter02_smem", "smem").run
    assert (run["n"], run["block"]) == (2**24, 256)


def test_params_are_needed_only_where_they_tell_runs_apart(recordings: Recordings) -> None:
    assert recordings.run("chapter05_unroll4", "unroll4").run["params"] == {"unroll": 4}
    assert recordings.run("chapter05_unroll4", "unroll4", params={"unroll": "4"})


def test_the_one_block_that_there_is_is_taken(recordings: Recordings) -> None:
    assert recordings.run("chapter00_timing", "pointer_chase").run["block"] == 1


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (("chapter05_unroll4", "unrol4"), "unroll4"),
        (("chapter05_unroll", "unroll4"), "chapter05_unroll4"),
        (("chapter02_smem", "smem", 1000), "nearest are 2^10"),
        (("chapter02_smem", "smem", 2**28, 96), "nearest are 32, 64, 128"),
        (("chapter05_unroll4", "unroll4", None, None, {"unroll": 3}), "only 4"),
    ],
)
def test_a_question_without_answer_names_the_nearest(
    recordings: Recordings, question: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(NoSuchRun, match=words.replace("^", r"\^")):
        recordings.run(*question)


def test_counters_by_alias_and_by_name(recordings: Recordings) -> None:
    found = recordings.counters("chapter02_smem", "smem")
    by_alias = counter_of(found, "global_load_sectors")
    assert by_alias == 2**24 * 4 / 32
    assert by_alias == counter_of(found, NCU["global_load_sectors"])
    with pytest.raises(NoSuchRun, match="near it: global_load_sectors"):
        counter_of(found, "global_load_sector")


def test_faster_needs_all_passes_apart(recordings: Recordings) -> None:
    fast = recordings.run("chapter05_unroll4", "complete", n=2**28)
    slow = recordings.run("chapter05_unroll4", "unroll4", n=2**28)
    assert is_faster(fast, slow)
    assert not is_faster(slow, fast)
    assert not is_faster(fast, fast)
    assert [run["repeat"] for run in fast.repeats] == [0, 1]
    torn = RecordedRun(**{**vars(fast), "repeats": (fast.repeats[0], slow.repeats[1])})
    assert not is_faster(torn, slow)


def test_a_run_is_shown_over_its_passes(recordings: Recordings) -> None:
    found = recordings.run("chapter05_unroll4", "complete", n=2**28)
    one, two = found.repeats
    assert found.run["median_us"] == (one["median_us"] + two["median_us"]) / 2
    assert one["median_us"] != two["median_us"]
    record = recordings.reference.chapters["chapter05_unroll4"]
    assert len(record.shown) * 2 == len(record.runs)
    assert found.run in record.shown


def test_a_changed_kernel_is_stale(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    chapter = root / "chapters" / "chapter01_gmem"
    chapter.mkdir(parents=True)
    kernels = chapter / "kernels.cuh"
    kernels.write_text("// begin gmem-loop\nint a;\n// end gmem-loop\n")
    path = root / "figures/data" / REFERENCE / "chapter01_gmem.json"
    data = columns.read(path)
    for run in data["runs"]:
        run["kernel_hash"] = region_hash("int a;")
    columns.write(path, data)
    assert not is_stale(Recordings(root).run("chapter01_gmem", "gmem"))
    kernels.write_text("// begin gmem-loop\nint a;  // why\n// end gmem-loop\n")
    assert not is_stale(Recordings(root).run("chapter01_gmem", "gmem"))
    kernels.write_text("// begin gmem-loop\nint b;\n// end gmem-loop\n")
    assert is_stale(Recordings(root).run("chapter01_gmem", "gmem"))


def test_what_the_sanitizer_said_comes_tool_by_tool(recordings: Recordings) -> None:
    found = recordings.sanitizer("chapter01_gmem", "gmem")
    assert [each.run["tool"] for each in found] == ["memcheck", "racecheck"]
    with pytest.raises(NoSuchRun, match="chapter01_gmem/nothing"):
        recordings.sanitizer("chapter01_gmem", "nothing")


# ------------------------------------------------------------------------------ the local set


def _local(root: Path, **more: Any) -> Path:
    return synthetic.write_set(root / "figures/data" / LOCAL, **more)


def test_the_local_set_answers_first_and_the_reference_fills_in(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    local = _local(root, speed=0.5, device="Reader's GPU")
    (local / "chapter02_smem.json").unlink()
    recordings = Recordings(root)
    mine = recordings.run("chapter01_gmem", "gmem")
    assert (mine.is_local, mine.device_name) == (True, "Reader's GPU")
    theirs = recordings.run("chapter02_smem", "smem")
    assert (theirs.is_local, theirs.device_name) == (False, "Made-up GPU")
    only = recordings.run("chapter01_gmem", "gmem", only=REFERENCE)
    assert not only.is_local
    with pytest.raises(ValueError, match="different devices"):
        is_faster(mine, theirs)


def test_a_broken_local_set_is_reported_and_left_out(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    (_local(root) / "chapter01_gmem.json").write_text('{"schema": 2, "ch')
    with pytest.warns(BrokenLocalSet, match=r"local/chapter01_gmem.json.*half-written"):
        recordings = Recordings(root)
    assert recordings.local is None
    assert recordings.run("chapter01_gmem", "gmem").set_name == REFERENCE


def test_a_broken_reference_stops(tmp_path: Path) -> None:
    root = synthetic.write_root(tmp_path)
    path = root / "figures/data" / REFERENCE / "chapter01_gmem.json"
    path.write_text("{")
    with pytest.raises(DataError):
        Recordings(root)


def test_before_the_first_recording_questions_have_no_answer(tmp_path: Path) -> None:
    with pytest.raises(NoSuchRun, match="nothing is recorded"):
        Recordings(tmp_path).run("chapter01_gmem", "gmem")
