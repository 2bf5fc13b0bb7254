"""This chapter's program as a reader meets it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chapters.tests.programs import on_embedded, run

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

CHAPTER = "chapter07_effective_bandwidth"


def test_the_methods_run_with_the_classic_block() -> None:
    """Chapter 7's default is the classic nine sizes' 128 threads; the others' is 256."""
    for chapter, block in ((CHAPTER, 128), ("chapter02_smem", 256)):
        assert f"(default: {block})" in run(chapter, "--help").stdout
        done = on_embedded(chapter, "--n", "5000")
        assert f"n = 5000, block {block}, seed" in done.stdout
        rows = [line.split() for line in done.stdout.splitlines() if " 5000 " in line]
        blocks = {row[0]: row[row.index("5000") + 1] for row in rows}
        assert {blocks.pop(roof, "256") for roof in ("read", "copy", "triad")} == {"256"}
        assert blocks.pop("sum_cub", "–") == "–", "CUB chooses its own"
        # The climb's rungs have blocks of 256 in every chapter.
        climb = {name for name in blocks if re.fullmatch(r"by_warps8_sum|wide\d(_sum)?", name)}
        assert {blocks.pop(name) for name in climb} <= {"256"}
        assert set(blocks.values()) == {str(block)}


def test_what_a_gpu_did_with_the_classic_template() -> None:
    """Chapter 7's page tells these: stopped, right by luck, or wrong by what lies behind."""
    log = Path(__file__).resolve().parents[1] / "transcripts/nvidia-h200/many_classic.txt"
    text = log.read_text(encoding="utf-8")
    seen = dict(line.split(": ", 1) for line in text.splitlines()[1:])
    for n in (33, 1000, 10007, 65536, 1048573, 16777216):
        assert "cudaErrorIllegalAddress" in seen[f"64 {n}"]
    for block in (128, 256):
        assert seen[f"{block} 16777216"] == "sum 2138876212 as expected"
        assert "WRONG RESULT: reduce7_classic, n = 10 007" in seen[f"{block} 10007"]
