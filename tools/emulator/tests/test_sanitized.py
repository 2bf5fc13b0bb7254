"""The embedded device under AddressSanitizer and UndefinedBehaviorSanitizer: its GoogleTests, and
any bytes for the readers and the interpreter, each fuzz target for a while, from a fixed seed.

One build of its own for both, with clang: some two minutes the first time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from itertools import count
from pathlib import Path

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

EMULATOR = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BOOK_BUILD", EMULATOR.parents[1] / "build/tools")) / "sanitized"
SECONDS = 15

pytestmark = [pytest.mark.release, pytest.mark.built()]


@pytest.fixture(scope="module")
def built() -> Path:
    compiler = shutil.which("clang++")
    assert compiler, "clang++ is missing: sudo apt install clang"
    options = [
        "-DEMU_SANITIZE=address,undefined",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
        f"-DCUDAToolkit_ROOT={nvcc().parents[1]}",  # which may be NVIDIA's wheels alone
    ]
    for command in (
        ["cmake", "-S", EMULATOR, "-B", BUILD, "-G", "Ninja", *options],
        ["cmake", "--build", BUILD, "--target", "emu_tests", "emu_ptx_fuzz", "emu_fatbin_fuzz"],
    ):
        done = subprocess.run(
            command, env={**os.environ, "CXX": compiler}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    flags = (BUILD / "build.ninja").read_text(encoding="utf-8")
    assert "-fsanitize=address,undefined" in flags
    return BUILD


def test_the_tests_run_clean(built: Path) -> None:
    done = subprocess.run(
        ["ctest", "--test-dir", built, "--output-on-failure", "--parallel", "2"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    total = re.search(r"100% tests passed, 0 tests failed out of (\d+)", done.stdout)
    assert total and int(total[1]) > 80, done.stdout[-500:]


@pytest.mark.parametrize("target", ["ptx", "fatbin"])
def test_nothing_is_found(built: Path, target: str, tmp_path: Path) -> None:
    found = tmp_path / "found"
    found.mkdir()
    options = [f"-max_total_time={SECONDS}", f"-timeout={LIMIT}", "-rss_limit_mb=2048"]
    if target == "ptx":
        options += [f"-dict={EMULATOR / 'fuzz/ptx.dict'}", "-max_len=6000"]
    corpus = EMULATOR / "fuzz/corpus" / target
    runs, end = 0, time.monotonic() + LIMIT
    for seed in count(1):  # the first does; a busy machine takes longer
        done = subprocess.run(
            [built / f"emu_{target}_fuzz", f"-seed={seed}", *options, found, corpus],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            errors="replace",
        )
        assert done.returncode == 0, done.stderr[-4000:]
        ran = re.search(r"Done (\d+) runs", done.stderr)
        assert ran, done.stderr[-1000:]
        runs += int(ran[1])
        if runs > 500:
            break
        assert time.monotonic() < end, done.stderr[-1000:]
    covered = re.search(r"INITED cov: (\d+)", done.stderr)
    assert covered and int(covered[1]) > (5000 if target == "ptx" else 100), "the corpus is lost"
