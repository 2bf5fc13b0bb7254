"""The museum's exhibits: each wrong form is found where it is, each right one is left in peace.

Needs nvcc, and no GPU. A comment `// @race` names a check that must report the line; on the title
line, one that has no line to name.
"""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import ndiff
from functools import cache
from pathlib import Path

import pytest

from common.records import museum
from common.records.museum import Recording, Run
from tools.emulator.tests.museum import running
from tools.tests.built import nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

HERE = running.HERE
EXHIBITS = museum.names(HERE)
#: What no check can know is wrong: what was meant, how wide a sum must be, a maximum's order.
NOT_FOUND = {"bytes_in_bytes", "float_stands_still", "kept_warm_up", "largest_of_float_bits"}


@cache
def source(exhibit: str) -> str:
    return (HERE / f"{exhibit}.cu").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return running.on_embedded(nvcc(), tmp_path_factory.mktemp("museum"))


def reported(exhibit: str, *runs: Run | None) -> set[tuple[str, int]]:
    """The checks that have found something, with each line of the exhibit that they name; with 1,
    its title's, where they name none."""
    found = set()
    for run in runs:
        assert run
        for said in re.split(r"\n(?=\S)", run.text if run.found else ""):
            check = "nvcc" if run.tool == "nvcc" else said.partition(":")[0]
            lines = {int(line) for line in re.findall(rf"\b{exhibit}\.cu[:(](\d+)", said)}
            found |= {(check, line) for line in lines or {1} if said}
    return found


def wrong(exhibit: str, recording: Recording) -> list[str]:
    """What a recording lacks, or has too much, of what the exhibit's marks ask for."""
    of = [recording.of(exhibit, "wrong", tool) for tool in ("check", "nvcc")]
    found, marks = reported(exhibit, *of), museum.marks(source(exhibit))
    kinds, marked = ({check for check, _ in those} for those in (found, marks))
    told = [f"{exhibit}: not reported: {check} at {line}" for check, line in marks - found]
    told += [f"{exhibit}: reported as {check}" for check in kinds - marked]
    if not marks and exhibit not in NOT_FOUND:
        told.append(f"{exhibit}: no line is marked")
    return told


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_the_wrong_form_is_found_and_the_right_one_is_not(now: Recording, exhibit: str) -> None:
    assert wrong(exhibit, now) == []
    for tool in ("check", "nvcc"):
        run = now.of(exhibit, "right", tool)
        assert run and not run.found, run
    right = now.of(exhibit, "right", "run")
    assert right and right.text.endswith(", as it should be") and not right.found


def test_a_finding_that_is_gone_or_in_another_place_is_told(now: Recording) -> None:
    exhibit = "tree_without_barrier"
    check = now.of(exhibit, "wrong", "check")
    assert check
    elsewhere = replace(check, text=check.text.replace(".cu:10", ".cu:11"))
    other = replace(check, text=check.text.replace("race:", "init:"))
    for changed, told in ((replace(check, found=False), 2), (elsewhere, 2), (other, 2)):
        runs = tuple(changed if run == check else run for run in now.runs)
        assert len(wrong(exhibit, replace(now, runs=runs))) == told


def test_forms_differ_in_few_lines() -> None:
    assert len(EXHIBITS) >= 24
    for exhibit in EXHIBITS:
        first, second = (museum.form(source(exhibit), fixed) for fixed in (False, True))
        assert first[0] == second[0] and first[0].startswith("// "), exhibit
        differing = [line for line in ndiff(first, second) if line.startswith(("+", "-"))]
        assert 1 <= len(differing) <= 4, exhibit
        assert max(len(first), len(second)) <= 40, exhibit


def test_the_page_shows_each_exhibit() -> None:
    page = (HERE.parents[3] / "docs/museum.rst").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\.\. exhibit:: (\w+)$", page, re.MULTILINE)) == EXHIBITS


def test_what_is_recorded_is_what_is_said_now(now: Recording) -> None:
    text = (HERE / "embedded.json").read_text(encoding="utf-8")
    recorded = museum.read(text)
    assert museum.written(recorded) == text
    assert recorded.digest == museum.digest(HERE), "run museum/record embedded"
    if recorded.heading == now.heading:  # another toolkit's headers have other lines
        assert recorded == now, "run museum/record embedded"


def test_what_was_recorded_on_a_card_is_of_these_exhibits() -> None:
    for path in HERE.glob("nvidia-*.json"):
        recording = museum.read(path.read_text(encoding="utf-8"))
        assert recording.digest == museum.digest(HERE), (
            f"{path.name}: run museum/record {path.stem}"
        )
        assert {run.exhibit for run in recording.runs} == set(EXHIBITS)


SAID = """========= COMPUTE-SANITIZER
========= Invalid __shared__ read of size 4 bytes
=========     at largest(const int *, int *)+0x90 in /x/slots_past_the_end.cu:14
========= ERROR SUMMARY: 1 error
"""


def test_what_a_sanitizer_says_is_read_with_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(f"#!/bin/sh\ncat <<'E'\n{SAID}E\nexit 4\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    run = running.sanitized(tmp_path / "wrong", "slots_past_the_end", "memcheck")
    assert run.found is True
    assert run.text.splitlines() == [
        "Invalid __shared__ read of size 4 bytes",
        "    at slots_past_the_end.cu:14",
    ]
    tool.write_text("#!/bin/sh\nexit 1\n")
    assert running.sanitized(tmp_path / "wrong", "slots_past_the_end", "memcheck").found is None
