"""tools/emulate --check race on the pairs of tests/races: each fault found, no clean twin accused.

Needs nvcc, and no GPU. `@A` and `@B` in a kernel name the two lines that race.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

EMULATE = Path(__file__).resolve().parents[2] / "emulate"
RACES = Path(__file__).parent / "races"
KERNEL = re.compile(r"template <bool Faulty>\n__global__ void (\w+)\(.*?\n}\n", re.DOTALL)
SCHEDULES = [
    pytest.param(("--threads", "1"), id="one-thread"),
    pytest.param(("--threads", "4"), id="four-threads"),
    *(pytest.param(("--schedule", f"apart:{seed}"), id=f"apart-{seed}") for seed in range(1, 7)),
]


@cache
def kernels() -> dict[str, tuple[str, str]]:
    """The text of each case's kernel, and the file with its first line: "flags.cuh:12"."""
    found = {}
    for file in sorted(RACES.glob("*.cuh")):
        source = file.read_text(encoding="utf-8")
        for match in KERNEL.finditer(source):
            line = source.count("\n", 0, match.start()) + 1
            found[match[1]] = (match[0], f"{file.name}:{line}")
    return found


def marked(kernel: str) -> set[str]:
    """The places of the two accesses: one, where a line races with itself."""
    text, start = kernels()[kernel]
    name, _, first = start.partition(":")
    lines = [
        f"{name}:{int(first) + number}"
        for number, line in enumerate(text.splitlines())
        if re.search(r"// @[AB]+$", line)
    ]
    assert 1 <= len(lines) <= 2, kernel
    return set(lines)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("races") / "races"
    flags = ["-std=c++20", "-cudart", "shared", "-arch=compute_90", "-code=compute_90"]
    subprocess.run(
        [nvcc(), *flags, "-lineinfo", "-o", path, RACES / "races.cu"],
        check=True,
        capture_output=True,
    )
    return path


def listed(program: Path) -> list[dict[str, Any]]:
    ran = subprocess.run([EMULATE, program, "--list"], capture_output=True, text=True, check=False)
    cases: list[dict[str, Any]] = json.loads(ran.stdout)
    return cases


def findings(program: Path, file: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    """What is found in all cases, by name."""
    file.touch()
    command = [EMULATE, "--check", "race", "--findings", file, *options, program, "--all"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert ran.returncode == 4, ran.stderr
    found: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        finding = json.loads(line)
        kernel = re.search(r"races::(\w+)<\(bool\)([01])>", finding["kernel"])
        assert kernel, finding
        name = f"{kernel[1]}.{'faulty' if kernel[2] == '1' else 'clean'}"
        found.setdefault(name, []).append(finding)
    return found


def lines_of(finding: dict[str, Any]) -> set[str]:
    """Where the two accesses are in their kernel; of what was inlined, where it was called."""
    at = r" at (?:[\w.]+:\d+, inlined at )?([\w.]+:\d+)"
    return {match[1] for detail in finding["details"] if (match := re.search(at, detail))}


@pytest.mark.parametrize("options", SCHEDULES)
def test_all_faults_are_found_and_no_more(
    program: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    cases = listed(program)
    found = findings(program, tmp_path / "findings", *options)
    wrong = []
    for case in cases:
        name, seen = case["name"], found.get(case["name"], [])
        if not case["planted"]:
            wrong += [f"{name}: accused: {finding['details']}" for finding in seen]
            continue
        pairs = [lines_of(f) for f in seen if f"{case['space']} memory" in str(f)]
        if marked(case["kernel"]) not in pairs:
            wrong.append(f"{name}: {sorted(marked(case['kernel']))} not in {seen}")
    assert not wrong, f"{len(wrong)} of {len(cases)}\n" + "\n".join(wrong)


@pytest.mark.nvcc
def test_twins_differ_in_one_line(program: Path) -> None:
    cases = listed(program)
    assert {case["kernel"] for case in cases} == set(kernels())
    assert len(cases) == 2 * len(kernels()) >= 240
    for name, (text, _) in kernels().items():
        body = text.partition("\n")[2]
        assert body.count("Faulty") >= 1, name
        assert sum("Faulty" in line for line in body.splitlines()) == 1, name
