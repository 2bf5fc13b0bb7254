"""The readers and the interpreter take any bytes: each fuzz target for a while, from a fixed seed.

Built with clang, AddressSanitizer and UndefinedBehaviorSanitizer: some two minutes the first time.
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

from tools.tests.limits import LIMIT

EMULATOR = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BOOK_BUILD", EMULATOR.parents[1] / "build/tools")) / "fuzz"
SECONDS = 25


@pytest.fixture(scope="module")
def built() -> Path:
    compiler = shutil.which("clang++")
    assert compiler, "clang++ is missing: sudo apt install clang"
    subprocess.run(
        ["cmake", "-S", EMULATOR, "-B", BUILD, "-G", "Ninja", "-DEMU_TESTS=OFF"],
        env={**os.environ, "CXX": compiler},
        check=True,
        capture_output=True,
    )
    subprocess.run(
        ["cmake", "--build", BUILD, "--target", "emu_ptx_fuzz", "emu_fatbin_fuzz"],
        check=True,
        capture_output=True,
    )
    return BUILD


@pytest.mark.slow
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
