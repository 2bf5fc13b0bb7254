"""tools/emulate --schedule and --trace: what they write, and what they refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tools.emulator.tests.test_emulate import ADD, Build, build, emulate

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

__all__ = ["build"]

HERE = Path(__file__).parent
MEETINGS = dict(
    line.split(": ", 1) for line in (HERE / "meeting_h200.txt").read_text().splitlines()
)


@pytest.mark.parametrize("schedule", ["together", "apart:1", "apart:2"])
@pytest.mark.parametrize("question", MEETINGS)
def test_lanes_at_different_instructions_meet_as_on_hardware(
    build: Build, question: str, schedule: str
) -> None:
    ran = emulate("--schedule", schedule, build(HERE / "meeting_probe.cu"), question)
    name, answer = ran.stdout.strip().split(": ", 1)
    assert name == question
    if MEETINGS[question] == "hangs":
        assert answer == "cudaErrorLaunchTimeout" and "wait for what can't come" in ran.stderr
    else:
        assert answer == MEETINGS[question]


def test_a_schedule_is_named_with_the_counters(build: Build, tmp_path: Path) -> None:
    page = tmp_path / "page.csv"
    ran = emulate("--schedule", "apart:7", "--csv", page, build(ADD))
    assert ran.returncode == 0 and ran.stdout == "all right\n"
    (line,) = ran.stderr.splitlines()
    assert "apart:7" in line and "not hardware's" in line
    with page.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ID"]]
    assert [row["Schedule"] for row in rows] == ["apart:7"]
    emulate("--schedule", "together", "--csv", page, build(ADD))
    assert "Schedule" not in page.read_text(encoding="utf-8")


def test_a_trace_is_of_the_block_that_was_asked_for(build: Build, tmp_path: Path) -> None:
    page = tmp_path / "a trace.jsonl"
    ran = emulate("--trace", page, "--trace-block", "3,0,0", build(ADD))
    assert (ran.stdout, ran.stderr, ran.returncode) == ("all right\n", "", 0)
    head, *body, foot = [json.loads(line) for line in page.read_text().splitlines()]
    assert head["kernel"].startswith("add(") and head["block"] == [3, 0, 0]
    assert foot == {"end": "complete", "instructions": len(body)}
    stores = [r for r in body if r["op"].startswith("st.global") and r["active"]]
    # 1000 elements in blocks of 256: the last has 232.
    offsets = [offset for r in stores for part in r["access"] for offset in part["offset"]]
    assert sorted(offsets) == [4 * i for i in range(768, 1000)]
    assert all(part["size"] == 4000 for r in stores for part in r["access"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--trace-kernel", "multiply"], "0 launches of kernels named multiply"),
        (["--trace-launch", "1"], "1 launches, and number 1 was asked for"),
        (["--trace-block", "4,0,0"], "no such block: its grid is 4,1,1"),
    ],
)
def test_a_trace_of_nothing_is_said(
    build: Build, options: list[str], words: str, tmp_path: Path
) -> None:
    ran = emulate("--trace", tmp_path / "t", *options, build(ADD))
    assert ran.returncode == 0 and words in ran.stderr


def test_a_disk_that_is_full_is_said(build: Build) -> None:
    ran = emulate(build(ADD), EMU_TRACE="/dev/full")
    assert ran.returncode == 2 and "not all could be written" in ran.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--schedule", "apart"),
        ("--schedule", "apart:x"),
        ("--schedule", "sideways"),
        ("--trace", "no/such/folder/t"),
        ("--trace-block", "1,2"),
        ("--trace-launch", "-1"),
        ("--trace-limit", "many"),
    ],
)
def test_nonsense_is_refused(option: str, value: str) -> None:
    ran = emulate(option, value, "true")
    assert ran.returncode == 2 and f"{option} {value}" in ran.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EMU_SCHEDULE", "apart:"),
        ("EMU_SCHEDULE", "apart:1 "),
        ("EMU_SCHEDULE", "apart:99999999999999999999"),
        ("EMU_TRACE", "/no/such/folder/t"),
    ],
)
def test_nonsense_from_the_environment_leaves_no_device(
    build: Build, name: str, value: str
) -> None:
    ran = emulate(build(ADD), **{name: value})
    assert ran.returncode == 3 and f"{name}={value}" in ran.stderr
