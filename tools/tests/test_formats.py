"""The form of all sources: clang-format, ruff, mypy and shellcheck have nothing to say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tools.tests.conftest import ROOT, tracked_files

BIN = Path(sys.prefix, "bin")


def says_nothing(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def named(pattern: str) -> list[str]:
    found = [name for name in tracked_files() if re.search(pattern, name)]
    assert found
    return found


def test_cxx() -> None:
    sources = named(r"\.(hpp|cpp|cuh|cu)$")
    says_nothing(BIN / "clang-format", "--dry-run", "-Werror", *sources)


def test_python() -> None:
    says_nothing(BIN / "ruff", "check", ".")
    says_nothing(BIN / "ruff", "format", "--check", ".")


def test_types() -> None:
    """Which rooms, and how strictly: pyproject.toml."""
    says_nothing(BIN / "mypy")


def test_shell() -> None:
    is_shell = re.compile(r"#!.*\bbash|.*^# shellcheck shell=", re.M | re.S)
    scripts = [
        name
        for name in named(r"\.sh$|^tools/|^\.ci/")
        if is_shell.match((ROOT / name).read_text(encoding="utf-8", errors="replace")[:2000])
    ]
    assert {"tools/test", "tools/steps.sh", ".ci/run"} <= {*scripts}
    says_nothing("shellcheck", "-x", *scripts)
