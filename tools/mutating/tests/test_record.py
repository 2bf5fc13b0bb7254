"""The recorded run: it is of the kernels as they are, and what it says of some of them holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from figures.records import mutants as recorded
from tools.mutating import ROOT, Failure
from tools.mutating.mutant import Mutant
from tools.mutating.record import together
from tools.mutating.trial import Bench, programs_of
from tools.tests.built import BUILD

TEXT = (ROOT / recorded.FILE).read_text(encoding="utf-8")
RECORD = recorded.read(TEXT)
SURVIVORS = recorded.survivors(RECORD, ROOT)
#: Of the faults, so many are caught at least.
SCORE = 0.99
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
    """The page says so."""
    assert RECORD.runs[-1].tried >= len(RECORD.passed)


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
    now = replace(was, state="caught", by=("race",), how="read after write", code="new")
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


def test_a_damaged_record_is_refused() -> None:
    for damaged in (TEXT[:-9], TEXT.replace('"schema": 2', '"schema": 1'), "{}"):
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
        assert set(outcome.by) == set(change.by), change
