"""This chapter's program as a reader meets it."""

from __future__ import annotations

import pytest

from chapters.tests.programs import on_embedded

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

CHAPTER = "chapter09_histogram"


def test_a_count_of_32_bits_has_its_limit() -> None:
    """All bytes may be the same: where that would not fit, nothing is launched."""
    named = ["--variant", "lanes_uniform", "--n", "2^32"]
    done = on_embedded(CHAPTER, *named, EMU_MEMORY=str(9 * 10**9))
    assert done.returncode == 2 and "2^32 - 1" in done.stderr


def test_a_histogram_for_256_threads_is_wrong_with_others() -> None:
    """Quietly with fewer; with more, the device that checks stops it."""
    arguments = ("--variant", "classic_256", "--n", "65536", "--block")
    assert on_embedded(CHAPTER, *arguments, "256").returncode == 0
    done = on_embedded(CHAPTER, *arguments, "64")
    assert done.returncode == 1 and "192 of 256 counts differ" in done.stderr
    done = on_embedded(CHAPTER, *arguments, "1024")
    assert done.returncode == 3 and "shared memory" in done.stderr
