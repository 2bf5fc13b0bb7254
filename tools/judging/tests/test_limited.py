"""Work that is stopped when its time is over: a verdict comes, whatever the file."""

from __future__ import annotations

import os
import resource

import pytest

from tools.judging import ROOT, Failure, command, judge, limited, puzzles
from tools.judging.tests.conftest import ptx
from tools.judging.verdict import Verdict

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device", "judge_kernels")]


def test_a_result_comes_back() -> None:
    assert limited.within(5, lambda: {"a": os.getpid()}) != {"a": os.getpid()}


def test_a_failure_comes_back() -> None:
    def fail() -> None:
        raise Failure("no room", 77)

    with pytest.raises(Failure, match=r"^no room$") as raised:
        limited.within(5, fail)
    assert raised.value.status == 77


def test_what_takes_too_long_is_named() -> None:
    def spin() -> None:
        limited.at("n = 3")
        while True:
            pass

    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with pytest.raises(limited.TimeIsOver, match=r"^n = 3$"):
        limited.within(1, spin)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 3


def test_a_kernel_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device is stopped in the middle of a launch."""
    monkeypatch.setattr(judge, "LEAST_S", 1)
    monkeypatch.setattr("tools.judging.trial.LEAST", 10**12)
    file = ROOT / "tools/judging/tests/cheats/never_ends.cu"
    source = file.read_text(encoding="utf-8")
    puzzle = puzzles.find(puzzles.puzzle_named_in(source) or "")
    verdict = judge._in_time(file.name, source, ptx("cheats", file.name), puzzle, source, 1)
    assert verdict.reason == "slow" and verdict.headline.startswith("too slow to judge at n = ")
    assert verdict.line == "stopped after 1 s of the processor's time; --limit=6 gives it longer"
    assert verdict.text(False).startswith("undecided ")


def test_a_reader_may_give_it_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def judged(*arguments: object) -> Verdict:
        given.append(arguments[-1])
        return Verdict("chapter02/3", "The largest element", reason="slow")

    monkeypatch.setattr(command, "judge", judged)
    file = str(ROOT / "chapters/chapter02_smem/puzzles/3_largest/answer.cu")
    for option in ([], ["--limit=120"], ["--limit=86400"]):
        command._run([file, "--puzzle", "chapter02/3", *option])
    assert given == [None, 120, 86400]


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "1e3", "86401", "9" * 5000, "\u0663"])
def test_a_limit_is_whole_seconds(text: str) -> None:
    with pytest.raises(Failure, match="--limit takes whole seconds, from 1 to 86400"):
        command._run([f"--limit={text}", "kernel.cu"])
