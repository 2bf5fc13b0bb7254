"""A submission of each chapter for each verdict of the judge: accepted, rejected for each reason.

test_cheats.py and test_puzzles.py have all submissions; these are compiled here.
"""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from tools.judging import judge as judging
from tools.judging import puzzles
from tools.judging.judge import judge
from tools.judging.tests.test_cheats import FILES, SOON_S, complaint, said
from tools.judging.verdict import STATUS, Verdict

pytestmark = pytest.mark.built("embedded_device")


def verdict_on(file: Path, source: str) -> Verdict:
    return judge(file, source, puzzles.find(puzzles.puzzle_named_in(source) or ""))


def shortest() -> dict[str, Path]:
    """Of each reason and chapter, as a file that is quickly compiled."""
    found: dict[str, Path] = {}
    for file in sorted(FILES, key=lambda file: file.stat().st_size):
        source = file.read_text(encoding="utf-8")
        chapter = (puzzles.puzzle_named_in(source) or "").partition("/")[0]
        found.setdefault(f"{said(source)[0]}, {chapter}", file)
    return found


@pytest.mark.parametrize("file", [pytest.param(f, id=name) for name, f in shortest().items()])
def test_rejected(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    limit = SOON_S if said(source)[0] == "slow" else judging.LIMIT_S
    with mock.patch.multiple(judging, LIMIT_S=limit, LEAST_S=min(limit, judging.LEAST_S)):
        verdict = verdict_on(file, source)
    assert complaint(source, verdict) == ""
    assert verdict.status == STATUS[said(source)[0]] != 0


def test_each_reason_is_given() -> None:
    reasons = {name.partition(",")[0] for name in shortest()}
    assert reasons == STATUS.keys() - {""}


def test_accepted(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    source = f"// judge: chapter02/1\n{puzzles.solution(puzzles.find('chapter02/1').answer)}"
    file.write_text(source, encoding="utf-8")
    verdict = verdict_on(file, source)
    assert verdict.reason == "" and verdict.status == 0, verdict.text(True)
