"""The recorded run: it is of the kernels as they are, and what it says of some of them holds."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from common.records import mutants as recorded
from tools.mutating import ROOT, Failure, command, nets, shapes
from tools.mutating.mutant import Mutant
from tools.mutating.record import record, together
from tools.mutating.trial import Bench, programs_of
from tools.tests.built import BUILD

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

TEXT = (ROOT / recorded.FILE).read_text(encoding="utf-8")
RECORD = recorded.read(TEXT)
SURVIVORS = recorded.survivors(RECORD, ROOT)
#: Of the faults, so many are caught at least.
SCORE = 0.997
#: Of these chapters, whose kernels compile quickly, a few are tried again.
AGAIN = [c for c in RECORD.caught if c.chapter in ("chapter02_smem", "chapter06_dynamic_smem")]


def test_the_record_is_of_the_kernels_as_they_are() -> None:
    if old := recorded.earlier(RECORD, ROOT):
        pytest.skip(f"measured on an earlier form, to be recorded again: {', '.join(old)}")


def test_a_change_that_gets_through_is_shown_as_it_leaves_its_line() -> None:
    if recorded.earlier(RECORD, ROOT):
        pytest.skip("measured on an earlier form, to be recorded again: kernels")
    for each in RECORD.passed:
        assert each.leaves == each.changed_line((ROOT / each.file).read_bytes())
    assert not any(each.leaves for each in RECORD.caught)


def test_all_that_gets_through_has_met_every_net() -> None:
    """The page says so. Where the nets have changed: list --left, run, record --again."""
    assert RECORD.runs[-1].tried >= len(RECORD.passed)
    assert RECORD.runs[-1].nets == nets.digest_of_nets()


def test_a_change_of_the_nets_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("tools/mutating/nets.py", "tools/mutating/shapes.py", "tools/mutating/trial.py",
             "chapters/tests/matrix.cpp")  # fmt: skip
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes((ROOT / file).read_bytes())
    monkeypatch.setattr(nets, "ROOT", tmp_path)
    monkeypatch.setattr(shapes, "ROOT", tmp_path)
    was = nets.digest_of_nets()
    for file, before, after, noticed in (
        (files[0], "#: Past 16 bits", "#: Beyond 16 bits", False),
        (files[0], "(32, 520), ", "", True),
        (
            files[1],
            "MOST_HEAVY, FEW_HEAVY = 16384, 100, 33",
            "MOST_HEAVY, FEW_HEAVY = 1, 1, 1",
            True,
        ),
        (files[2], "self._odd(changed, base, file, caught)", "pass", True),
        (files[3], "131071,", "", True),
    ):
        text = (ROOT / file).read_text(encoding="utf-8")
        (tmp_path / file).write_text(text.replace(before, after), encoding="utf-8")
        assert (nets.digest_of_nets() != was) is noticed, before
        (tmp_path / file).write_text(text, encoding="utf-8")


def test_a_reason_is_of_a_change_that_gets_through() -> None:
    used = {(each.change.chapter, each.change.function, each.change.leaves) for each in SURVIVORS}
    for chapter in {Path(file).parts[1] for file in RECORD.sources}:
        for function, line in recorded.reasons(ROOT, chapter):
            assert (chapter, function, line) in used


def test_no_more_get_through_than_did() -> None:
    assert recorded.score(RECORD, SURVIVORS) >= SCORE


def test_a_survivor_without_a_reason_is_open_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    known = sum(bool(each.reason) for each in SURVIVORS)
    assert known
    monkeypatch.setattr(recorded, "reasons", lambda root, chapter: {})
    found = recorded.survivors(RECORD, ROOT)
    assert len(found) == len(SURVIVORS) and not any(each.reason for each in found)
    caught = len(RECORD.caught)
    assert recorded.score(RECORD, found) == caught / (caught + len(found))
    assert recorded.score(RECORD, found) < recorded.score(RECORD, SURVIVORS)


def test_those_tried_again_change_and_no_others_do() -> None:
    was = SURVIVORS[0].change
    now = replace(was, state="caught", by=("race",), code="new")
    alike = {id(c) for c in RECORD.changes if (c.file, c.code) == (was.file, was.code)}
    for before, after in zip(RECORD.changes, together(RECORD.changes, (now,)), strict=True):
        if id(before) in alike and before.state == "passed":
            assert (after.state, after.by, after.code) == ("caught", ("race",), "new")
            assert after.before == before.before
        else:
            assert after is before
    for other in (RECORD.caught[0], replace(was, after="no such change")):
        with pytest.raises(Failure, match="hadn't passed"):
            together(RECORD.changes, (other,))


def test_a_file_that_the_record_lacks_is_put_into_it() -> None:
    new = replace(RECORD.caught[0], file="chapters/chapter05_unroll4/newer.cuh", code="newer")
    after = together(RECORD.changes, (new,))
    assert [each for each in after if each not in RECORD.changes] == [new]
    assert len(after) == len(RECORD.changes) + 1
    assert [each.file for each in after] == sorted(each.file for each in after)


def without_newest() -> tuple[recorded.Mutants, str, recorded.Mutants]:
    """The record of what hasn't changed since; a file of it; and the record without that file."""
    whole = recorded.unchanged(RECORD, ROOT)
    newest = max(whole.sources)
    sources = {file: was for file, was in whole.sources.items() if file != newest}
    kept = tuple(each for each in whole.changes if each.file != newest)
    return whole, newest, replace(whole, sources=sources, changes=kept)


def test_what_is_left_is_what_passed_and_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file that the record lacks, or that has changed since, all changes; of the others, those
    that had passed."""
    whole, newest, lacking = without_newest()
    monkeypatch.setattr(command, "ROOT", tmp_path)
    for file in lacking.sources:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    (tmp_path / recorded.FILE).parent.mkdir(parents=True)
    (tmp_path / recorded.FILE).write_text(recorded.written(lacking), encoding="utf-8")
    every = [Mutant.read(vars(each)) for each in whole.changes]
    monkeypatch.setattr(command, "listed", lambda: every)
    assert command.main(["list", "--left", str(tmp_path / "left.json")]) == 0
    told = json.loads((tmp_path / "left.json").read_text(encoding="utf-8"))
    left = [Mutant.read(each) for each in told["mutants"]]
    new = [each for each in every if each.file == newest]
    assert new and left == [*(Mutant.read(vars(each)) for each in lacking.passed), *new]
    assert told["again"] == sorted(lacking.sources)

    edited = min(lacking.sources)
    (tmp_path / edited).write_bytes(b"// changed\n")
    assert command.main(["list", "--left", str(tmp_path / "left.json")]) == 0
    told = json.loads((tmp_path / "left.json").read_text(encoding="utf-8"))
    left = [Mutant.read(each) for each in told["mutants"]]
    assert [m for m in left if m.file == edited] == [m for m in every if m.file == edited]
    assert told["again"] == sorted(lacking.sources.keys() - {edited})


def test_a_file_half_tried_is_refused_and_an_untried_one_stays_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, newest, lacking = without_newest()
    monkeypatch.setattr(recorded, "read", lambda text: lacking)
    results = tmp_path / "results.jsonl"

    def recorded_with(tried: recorded.Change) -> str:
        line = {**vars(tried), "by": {}, "nets": nets.digest_of_nets()}
        results.write_text(json.dumps(line) + "\n", encoding="utf-8")
        return record(results, BUILD, again=True)

    with pytest.raises(Failure, match="lacks some of the"):
        recorded_with(next(each for each in whole.changes if each.file == newest))
    text = recorded_with(lacking.passed[0])
    monkeypatch.undo()
    made = recorded.read(text)
    assert made.sources == lacking.sources and newest in recorded.untried(made, ROOT)
    assert newest not in recorded.untried(RECORD, ROOT)


def test_a_damaged_record_is_refused() -> None:
    for damaged in (TEXT[:-9], TEXT.replace('"schema": 3', '"schema": 2'), "{}"):
        with pytest.raises(recorded.BadMutants):
            recorded.read(damaged)


def test_some_are_rejected_again(tmp_path: Path) -> None:
    benches: dict[str, Bench] = {}
    assert len(AGAIN) > 8
    for change in AGAIN[:: len(AGAIN) // 8]:
        if change.chapter not in benches:
            programs = programs_of(change.chapter, BUILD)
            benches[change.chapter] = Bench(change.chapter, BUILD, tmp_path, programs)
        told = {name: getattr(change, name) for name in Mutant.__dataclass_fields__}
        outcome = benches[change.chapter].judge(Mutant(**told))
        assert set(outcome.by) >= set(change.by), change  # checks learn more
