"""Every kernel under all checks of the embedded device: the modern ones are clean, and of the
classic ones each fault is found, at its line and nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from chapters.expected import BLOCKS, CHAPTERS, ROOT, Finding, expected
from chapters.tests.programs import program, variants
from tools.tests.limits import LIMIT

pytestmark = pytest.mark.built("programs", "embedded_device")

#: By chapter and classic variant.
FOUND = {
    (chapter, variant): found
    for chapter in CHAPTERS
    for variant, found in expected(chapter).findings.items()
}

WRONG = [(chapter, variant) for chapter in CHAPTERS for variant in expected(chapter).wrong]


def run(
    chapter: str, folder: Path, checks: str, *arguments: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    file = folder / "findings.json"
    file.write_text("", encoding="utf-8")
    done = subprocess.run(
        [program(chapter), "--device", "embedded", *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        # One thread: where a fault stops a launch, what ran before it is the same each time.
        env={
            **os.environ,
            "EMU_CHECK": checks,
            "EMU_FINDINGS": str(file),
            "EMU_THREADS": "1",
        },
    )
    return done, [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def source(chapter: str, place: str) -> str:
    """The text of a line "legacy.cuh:12", without its comment."""
    name, _, number = place.rpartition(":")
    lines = (ROOT / "chapters" / chapter / name).read_text(encoding="utf-8").splitlines()
    return lines[int(number) - 1].split("//")[0].strip()


def in_kernel(chapter: str, place: str, details: list[str]) -> str:
    """The kernel's line, where the place is in a function of the toolkit's."""
    if (ROOT / "chapters" / chapter / place.rpartition(":")[0]).exists():
        return place
    found = (re.search(rf"{re.escape(place)}, inlined at (\S+)", line) for line in details)
    return next((match[1] for match in found if match), place)


def summary(chapter: str, findings: list[dict[str, Any]]) -> set[Finding]:
    return {
        (
            f"{f['check']}: {f['what'].split(' in ')[0]}",
            *(source(chapter, in_kernel(chapter, place, f["details"])) for place in f["places"]),
        )
        for f in findings
    }


@pytest.mark.parametrize(
    ("chapter", "n"),
    [
        pytest.param(chapter, n, marks=pytest.mark.all if at else ())
        for chapter in CHAPTERS
        for at, n in enumerate(expected(chapter).checked)
    ],
)
def test_modern_kernels_are_clean(chapter: str, n: int, tmp_path: Path) -> None:
    listed, _ = run(chapter, tmp_path, "all", "--list")
    names = re.findall(r"^\d+ +(\w+)(?:(?!legacy$).)*$", listed.stdout, re.MULTILINE)
    assert names
    for block in (*BLOCKS, None):  # None: each variant's own, also of those that take no other
        shape = ["--n", str(n), *(["--block", str(block)] if block else [])]
        done, findings = run(chapter, tmp_path, "all", "--once", *shape)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not findings, done.stderr
        if block is None:
            too_large = re.findall(r"^note: --n .*: (\w+) takes n up to", done.stdout, re.M)
            assert n > 512 or not too_large
            missing = {name for name in names if not re.search(rf"^{name}\b", done.stdout, re.M)}
            not_here = {each.name for each in variants(chapter).values() if not each.embedded}
            assert missing == set(too_large) | not_here, done.stdout


@pytest.mark.parametrize(
    ("kernel", "n", "block"),
    [
        pytest.param(kernel, n, block, id=f"{'-'.join(kernel)}-{n}-{block}")
        for kernel, found in FOUND.items()
        for n, block in sorted(set().union(*found.values()))
    ],
)
def test_classic_kernels_have_their_faults(
    kernel: tuple[str, str], n: int, block: int, tmp_path: Path
) -> None:
    chapter, variant = kernel
    shape = ["--variant", variant, "--n", str(n), "--block", str(block)]
    done, findings = run(chapter, tmp_path, "all", "--once", *shape)
    wanted = {finding for finding, shapes in FOUND[kernel].items() if (n, block) in shapes}
    assert wanted
    assert summary(chapter, findings) == wanted, done.stderr


def test_every_classic_kernel_is_here(tmp_path: Path) -> None:
    legacy = set()
    for chapter in CHAPTERS:
        listed, _ = run(chapter, tmp_path, "all", "--list")
        legacy |= {
            (chapter, name)
            for name in re.findall(r"^\d+ +(\w+).* legacy$", listed.stdout, re.MULTILINE)
        }
    assert legacy == {*FOUND, *WRONG}


@pytest.mark.parametrize(("chapter", "variant"), WRONG)
def test_a_wrong_result_alone_is_no_finding(chapter: str, variant: str, tmp_path: Path) -> None:
    shape = ["--variant", variant, "--n", "20000", "--block", "256"]
    done, findings = run(chapter, tmp_path, "all", "--once", *shape)
    assert done.returncode == 1 and "WRONG RESULT" in done.stderr
    assert not findings, done.stderr


def test_memory_checks_need_no_other(tmp_path: Path) -> None:
    """A fault that stops a launch is a finding of its own check only."""
    shape = ["--variant", "smem_classic", "--n", "1000", "--block", "256"]
    _, findings = run("chapter02_smem", tmp_path, "memory", "--once", *shape)
    assert {f["check"] for f in findings} == {"memory"}
    _, findings = run("chapter02_smem", tmp_path, "init,sync", "--once", *shape)
    assert not findings
