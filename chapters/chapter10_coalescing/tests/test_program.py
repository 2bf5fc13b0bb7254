"""This chapter's program as a reader meets it."""

from __future__ import annotations

import pytest

from chapters.tests.programs import on_embedded

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

CHAPTER = "chapter10_coalescing"


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("offset_words", ("not a multiple of 16", "legacy.cuh:", "cudaErrorMisalignedAddress")),
        ("rounded_up", ("outside every allocation", "legacy.cuh:", "cudaErrorIllegalAddress")),
    ],
)
def test_a_fault_that_the_device_stops(variant: str, words: tuple[str, ...]) -> None:
    done = on_embedded(CHAPTER, "--variant", variant, "--n", "1001")
    assert done.returncode == 3
    for word in words:
        assert word in done.stderr
