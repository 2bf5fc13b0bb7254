"""The GoogleTests of the embedded device, under AddressSanitizer and UndefinedBehaviorSanitizer.

A build of its own: some 150 seconds of one core the first time, half a minute to run.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

EMULATOR = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BOOK_BUILD", EMULATOR.parents[1] / "build/tools")) / "sanitized"


@pytest.mark.slow
def test_the_tests_run_clean() -> None:
    options = ["-DEMU_SANITIZE=address,undefined", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    options += ["-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1"]
    for command in (
        ["cmake", "-S", EMULATOR, "-B", BUILD, "-G", "Ninja", *options],
        ["cmake", "--build", BUILD],
    ):
        built = subprocess.run(command, capture_output=True, text=True)
        assert built.returncode == 0, built.stdout[-4000:] + built.stderr[-1000:]
    done = subprocess.run(
        ["ctest", "--test-dir", BUILD, "--output-on-failure", "--parallel", "2"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    total = re.search(r"100% tests passed, 0 tests failed out of (\d+)", done.stdout)
    assert total and int(total[1]) > 80, done.stdout[-500:]
    flags = (BUILD / "build.ninja").read_text(encoding="utf-8")
    assert "-fsanitize=address,undefined" in flags
