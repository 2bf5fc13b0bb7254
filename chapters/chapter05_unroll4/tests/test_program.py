"""This chapter's program as a reader meets it."""

from __future__ import annotations

import pytest

from chapters.tests.programs import run

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

CHAPTER = "chapter05_unroll4"


def test_the_embedded_device_finds_what_a_gpu_hides() -> None:
    """One element past the end: a GPU reads whatever lies there, and goes on."""
    arguments = ["--device", "embedded", "--variant", "unroll4_classic", "--n", "1000"]
    done = run(CHAPTER, *arguments)
    assert done.returncode == 3
    assert "thread (232, 0, 0)" in done.stderr and "legacy.cuh:" in done.stderr
    assert "0 bytes past its end" in done.stderr
