"""Chapter 3's counts of branches that part a warp, on the embedded device, which counts them as the
source has them: before an assembler turns short ones into predicated instructions.
"""

from __future__ import annotations

import csv
import os
import subprocess
from pathlib import Path

import pytest

from chapters.tests.programs import program
from figures.chapters.chapter02_smem import smem
from figures.chapters.chapter03_divergence import interleaved, strided
from figures.kit import costs, patterns
from figures.tests.test_patterns import parted_warps
from tools.tests.built import BUILD

pytestmark = pytest.mark.built("programs", "embedded_device")

ROOT = Path(__file__).resolve().parents[3]
BLOCK = 256
WARPS = BLOCK // patterns.WARP
GRID = 40
RESULT = 1  # if (t == 0) at the end parts the first warp, in every kernel

TREES = {
    "interleaved": interleaved,
    "interleaved_mask": interleaved,
    "strided": strided,
    "smem": smem,
}


def parting_branches(variant: str, folder: Path) -> int:
    page = folder / "page.csv"
    options = ["--once", "--variant", variant, "--n", str(GRID * BLOCK), "--block", str(BLOCK)]
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(BUILD / "emulator/lib"),
        "EMU_CSV": str(page),
    }
    subprocess.run(
        [program("chapter03_divergence"), *options],
        check=True,
        capture_output=True,
        env=environment,
    )
    with page.open(encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["ID"]]
    return int(row["source__diverging_branches.sum"])


def parted(variant: str) -> int:
    """A block's warps that a step of its tree parts, over all steps."""
    steps = costs.work(TREES[variant](BLOCK, BLOCK, 0), BLOCK)
    return sum(parted_warps(step, BLOCK) for step in steps)


@pytest.mark.parametrize(
    ("variant", "expected"), [("interleaved", 47), ("strided", 5), ("smem", 5)]
)
def test_the_page_says_what_the_pattern_has(variant: str, expected: int) -> None:
    assert parted(variant) == expected


@pytest.mark.parametrize("variant", TREES)
def test_a_tree_parts_the_warps_that_its_pattern_parts(variant: str, tmp_path: Path) -> None:
    assert parting_branches(variant, tmp_path) == GRID * (parted(variant) + RESULT)


@pytest.mark.parametrize(
    ("variant", "paths"),
    [*((f"mixed{paths}", paths) for paths in (1, 2, 4, 8, 16, 32)), ("sorted32", 1)],
)
def test_k_paths_part_a_warp_k_minus_one_times(variant: str, paths: int, tmp_path: Path) -> None:
    block = WARPS * (paths - 1) + parted("smem") + RESULT
    assert parting_branches(variant, tmp_path) == GRID * block
