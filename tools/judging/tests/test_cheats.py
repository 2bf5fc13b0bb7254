"""Submissions that are wrong, or right for the wrong reason: each is rejected, and for that reason.

Each file of ``cheats/`` says on its second line why: a verdict's reason and a part of its text.
"""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import pytest

from tools.judging import judge as judging
from tools.judging import puzzles
from tools.judging.judge import judge, judge_ptx
from tools.judging.prepare import CHEATS, HONEST
from tools.judging.tests.conftest import ptx
from tools.judging.verdict import STATUS, Verdict

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device", "judge_kernels")]

#: The limit for what the judge would stop after a longer time.
SOON_S = 3
FILES = sorted(CHEATS.glob("*.cu"))
_SAYS = re.compile(r"^// rejected: (\w+): (.+)$", re.MULTILINE)


def said(source: str) -> tuple[str, str]:
    """The reason and the text that a submission expects."""
    found = _SAYS.search(source)
    assert found, "no line '// rejected: REASON: TEXT'"
    return found[1], found[2]


def complaint(source: str, verdict: Verdict) -> str:
    """What a verdict should have said and didn't."""
    reason, text = said(source)
    if verdict.reason != reason:
        return f"expected {reason}: {verdict.text(True)}"
    return "" if text in verdict.text(False) else f"expected '{text}': {verdict.text(True)}"


def verdict_on(file: Path) -> Verdict:
    source = file.read_text(encoding="utf-8")
    key = puzzles.puzzle_named_in(source)
    assert key
    puzzle = puzzles.find(key)
    if said(source)[0] == "compile":
        return judge(file, source, puzzle)
    code = ptx("cheats", file.name)
    if said(source)[0] == "slow":
        with mock.patch.object(judging, "LEAST_S", SOON_S):
            return judging._in_time(file.name, source, code, puzzle, source, SOON_S)
    return judge_ptx(file.name, source, code, puzzle)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_is_rejected_for_its_reason(file: Path) -> None:
    verdict = verdict_on(file)
    assert complaint(file.read_text(encoding="utf-8"), verdict) == ""
    assert verdict.status == STATUS[verdict.reason] != 0


@pytest.mark.parametrize("file", sorted(HONEST.glob("*.cu")), ids=lambda file: file.stem)
def test_an_honest_kernel_is_accepted(file: Path) -> None:
    """Of styles that once were rejected, or could be."""
    source = file.read_text(encoding="utf-8")
    puzzle = puzzles.find(puzzles.puzzle_named_in(source) or "")
    verdict = judge_ptx(file.name, source, ptx("honest", file.name), puzzle)
    assert verdict.reason == "", verdict.text(True)


def test_there_are_enough_of_each_kind() -> None:
    reasons = [said(file.read_text(encoding="utf-8"))[0] for file in FILES]
    assert len(FILES) >= 60
    assert set(reasons) == STATUS.keys() - {""}


def test_a_submission_that_is_right_would_be_noticed() -> None:
    puzzle = puzzles.find("chapter02/1")
    source = f"// rejected: wrong: element 0\n{puzzle.answer}"
    verdict = judge_ptx("a.cu", source, ptx("answers", puzzle.file_name), puzzle)
    assert "expected wrong: accepted" in complaint(source, verdict)
    other = verdict_on(CHEATS / "no_guard.cu")
    assert "expected wrong" in complaint(source, other)
    assert "expected 'not this'" in complaint("// rejected: memory: not this\n", other)
