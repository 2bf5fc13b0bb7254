"""One submission for each verdict of the judge: accepted, and rejected for each of its reasons.

test_cheats.py and test_puzzles.py have all submissions; these are compiled here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.judging import puzzles
from tools.judging.judge import judge
from tools.judging.tests.test_cheats import FILES, complaint, said
from tools.judging.verdict import STATUS, Verdict

pytestmark = pytest.mark.built("embedded_device")


def verdict_on(file: Path, source: str) -> Verdict:
    return judge(file, source, puzzles.find(puzzles.puzzle_named_in(source) or ""))


def shortest(reason: str) -> Path:
    texts = {file: file.read_text(encoding="utf-8") for file in FILES}
    return min(
        (f for f, text in texts.items() if said(text)[0] == reason), key=lambda f: len(texts[f])
    )


@pytest.mark.parametrize("reason", [reason for reason in STATUS if reason])
def test_rejected_for(reason: str) -> None:
    file = shortest(reason)
    source = file.read_text(encoding="utf-8")
    verdict = verdict_on(file, source)
    assert complaint(source, verdict) == ""
    assert verdict.status == STATUS[reason] != 0


def test_accepted(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    source = f"// judge: chapter02/1\n{puzzles.solution(puzzles.find('chapter02/1').answer)}"
    file.write_text(source, encoding="utf-8")
    verdict = verdict_on(file, source)
    assert verdict.reason == "" and verdict.status == 0, verdict.text(True)
