"""Builds the pairs' programs and runs them under tools/emulate, for `record` and for the test."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

HERE = Path(__file__).resolve().parent
EMULATE = HERE.parents[2] / "emulate"
#: Each set's program, by the set's name in common/records/races.py.
SOURCES = {"cases": HERE / "races.cu", "streams": HERE / "streams/streams.cu"}
FOR_EMBEDDED = ("-cudart", "shared", "-arch=compute_90", "-code=compute_90")
_KERNEL = re.compile(r"races::(\w+)<\(bool\)([01])>")


def built(nvcc: Path | str, of: str, folder: Path, *flags: str) -> Path:
    """The program of a set."""
    source = SOURCES[of]
    path = folder / source.stem
    command = [nvcc, "-std=c++20", "-lineinfo", *flags, "-o", path, source]
    subprocess.run(command, check=True, capture_output=True)
    return path


def listed(*command: Path) -> list[Json]:
    """The cases of a program, which is the last of the words: tools/emulate may stand before it."""
    ran = subprocess.run([*command, "--list"], capture_output=True, text=True, check=True)
    cases: list[Json] = json.loads(ran.stdout)
    return cases


def _checked(program: Path, file: Path, options: Iterable[str], *names: str) -> list[Json]:
    file.write_text("", encoding="utf-8")
    command = [EMULATE, "--check", "race", "--findings", file, *options, program, *names]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert ran.returncode == (4 if found else 0), f"{names}: {ran.returncode}: {ran.stderr}"
    return found


def of_kernels(program: Path, file: Path, *options: str) -> dict[str, list[Json]]:
    """What is found in all cases of one process, by name: each has a kernel of its own."""
    found: dict[str, list[Json]] = {}
    for finding in _checked(program, file, options, "--all"):
        kernel = _KERNEL.search(finding["kernel"])
        assert kernel, finding
        name = f"{kernel[1]}.{'faulty' if kernel[2] == '1' else 'clean'}"
        found.setdefault(name, []).append(finding)
    return found


def of_streams(program: Path, file: Path, *options: str) -> dict[str, list[Json]]:
    """What is found in each case: a process each, since a copy belongs to no kernel."""
    names = [case["name"] for case in listed(EMULATE, program)]
    found = {name: _checked(program, file, options, name) for name in names}
    return {name: findings for name, findings in found.items() if findings}
