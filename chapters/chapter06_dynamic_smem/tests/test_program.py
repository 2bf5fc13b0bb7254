"""This chapter's program as a reader meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chapters.tests.programs import built_for_a_t4, on_embedded
from tools.tests import built

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

CHAPTER = "chapter06_dynamic_smem"


@pytest.mark.release
def test_what_a_smaller_device_has_no_shared_memory_for(tmp_path: Path) -> None:
    """Left out of a default run, with a note; refused where it is asked for by name."""
    program = built_for_a_t4(CHAPTER, tmp_path)
    done = built.on_embedded(program, "--n", "5000", EMU_DEVICE_PROFILE="t4")
    assert done.returncode == 0, done.stdout + done.stderr
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: left out: ")]
    assert [line.split()[3] for line in notes] == ["ask96k", "ask227k", "ask96k_unroll16"]
    assert all("64 KiB" in line for line in notes)
    assert "launched with 65536, the most asked for: cudaSuccess" in done.stdout
    named = ["--variant", "ask96k", "--n", "5000"]
    done = built.on_embedded(program, *named, EMU_DEVICE_PROFILE="t4")
    assert done.returncode == 2 and "ask96k needs 96 KiB" in done.stderr


def test_one_problem_at_a_time_has_the_memory() -> None:
    """Two inputs of 72 MB in 140 MB: the sums' is freed before the moments' is filled."""
    variants = ["--n", "18000000", "--variant", "dynamic_unroll4", "moments", "unroll4"]
    done = on_embedded(CHAPTER, *variants, EMU_MEMORY="140000000")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("too_few_bytes", ("thread (64, 0, 0)", "kernels.cuh:", "cudaErrorIllegalAddress")),
        ("ints_first", ("not a multiple of 8", "legacy.cuh:", "cudaErrorMisalignedAddress")),
    ],
)
def test_a_fault_that_the_device_stops(variant: str, words: tuple[str, ...]) -> None:
    done = on_embedded(CHAPTER, "--variant", variant, "--n", "1001")
    assert done.returncode == 3
    for word in words:
        assert word in done.stderr
