"""Beside PyTorch and CUB, on the reference card: who is ahead at the twenty listed shapes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from common.records.other_libraries import Table, recorded, times
from common.records.recordings import NoSuchRun, Recordings

ROOT = Path(__file__).resolve().parents[3]
SET = "nvidia-h200"
CHAPTER = "chapter12_rows"
COLUMNS = (4, 16, 32, 256, 1024, 4096, 8192, 32768, 50257, 131072)
SHAPES = [(n, columns) for n in (2**24, 2**28) for columns in COLUMNS]


@pytest.fixture(scope="module")
def recordings() -> Recordings:
    return Recordings(ROOT)


def ours(recordings: Recordings, method: str, n: int, columns: int) -> Iterator[float]:
    for way in ("thread", "lanes", "block", "blocks", "online"):
        try:
            found = recordings.run(CHAPTER, f"{method}_{way}_{columns}", n, only=SET)
        except NoSuchRun:
            continue
        yield float(found.run["median_us"])


@pytest.mark.parametrize("method", ["sum", "softmax", "layer_norm"])
@pytest.mark.parametrize(("n", "columns"), SHAPES)
def test_ahead_of_pytorch(recordings: Recordings, method: str, n: int, columns: int) -> None:
    theirs = recorded(ROOT, CHAPTER, SET)[Table("torch", method, n // columns, columns)]
    assert min(ours(recordings, method, n, columns)) < theirs


@pytest.mark.parametrize(("n", "columns"), SHAPES)
def test_no_slower_than_cub(recordings: Recordings, n: int, columns: int) -> None:
    """Where both wait for memory, neither is ahead."""
    cub = recordings.run(CHAPTER, f"sum_cub_{columns}", n, only=SET)
    assert min(ours(recordings, "sum", n, columns)) < 1.01 * float(cub.run["median_us"])


def test_a_softmax_is_near_one_read_and_one_write(recordings: Recordings) -> None:
    """8192 rows of 32768, beside a plain copy of them in the same lease. (At the speed of reading
    alone both would take 467 µs, which no copy that we tried comes near.)"""
    copy = recordings.run(CHAPTER, "copy_rows_32", 2**28, only=SET)
    assert min(ours(recordings, "softmax", 2**28, 32768)) < 1.03 * float(copy.run["median_us"])


def test_a_line_that_is_no_time_is_named() -> None:
    with pytest.raises(ValueError, match="line 2 gives no time"):
        times("# NVIDIA H200\ntorch sum 4 many 1.0 1.0 1.0\n")
