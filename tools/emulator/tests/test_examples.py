"""The example of a test without a GPU, which the guide shows, is one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools.tests.built import nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.nvcc
def test_a_program_is_tested_where_there_is_no_gpu(tmp_path: Path) -> None:
    environment = {**os.environ, "CUDACXX": str(nvcc()), "CUDA_VISIBLE_DEVICES": ""}

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("cmake", "-S", EXAMPLES, "-B", tmp_path)
    run("cmake", "--build", tmp_path)
    said = run("ctest", "--test-dir", tmp_path, "--no-tests=error", "-V")
    assert "100% tests passed" in said
    assert ": no error" in said  # it ran, and was not skipped
