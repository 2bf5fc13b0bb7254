"""Chapter 10's accesses as the recording counted them, and what its page says of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.records import columns
from figures import chapters
from figures.chapters.chapter10_coalescing.kernels import PATTERNS

ROOT = Path(__file__).resolve().parents[3]
CHAPTER = "chapter10_coalescing"
N, BLOCK = 1 << 24, 256
LOADED = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
STORED = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
FROM_L2 = "lts__t_sectors_srcunit_tex_op_read.sum"
READ = "dram__bytes_read.sum"
MIB = 1 << 20


def counted(set_name: str) -> dict[str, dict[str, float]]:
    """What each variant's launch counted."""
    found = {}
    for run in columns.read(ROOT / "figures/data" / set_name / "counters.json")["runs"]:
        shape = run["chapter"], run["n"], run["block"]
        if shape == (CHAPTER, N, BLOCK) and run["variant"] in PATTERNS:
            (launch,) = run["launches"]
            found[run["variant"]] = launch["metrics"] | {"blocks": launch["grid"][0]}
    return found


@pytest.fixture(scope="module")
def hardware() -> dict[str, dict[str, float]]:
    return counted("nvidia-h200")


@pytest.mark.parametrize("variant", PATTERNS)
def test_the_hardware_and_the_embedded_device_count_what_the_law_says(
    variant: str, hardware: dict[str, dict[str, float]]
) -> None:
    ours, theirs = counted("embedded")[variant], hardware[variant]
    assert ours["blocks"] == theirs["blocks"]
    derived = chapters.derived_counts(CHAPTER, variant, N, BLOCK, int(theirs["blocks"]))
    for metric, short in ((LOADED, "global_load_sectors"), (STORED, "global_store_sectors")):
        assert ours[metric] == theirs[metric] == getattr(derived, short)


# ------------------------------------------------------------------- what the page says of it


def test_every_stride_to_16_reads_the_whole_array(hardware: dict[str, dict[str, float]]) -> None:
    for stride in (1, 2, 3, 4, 8, 16):
        read = hardware[f"load_stride{stride}"][READ]
        assert read == pytest.approx(64 * MIB, rel=0.001), stride
    assert hardware["load_stride32"][READ] == pytest.approx(32 * MIB, rel=0.001)
    # Of what stride 16 reads, half went on.
    assert hardware["load_stride16"][FROM_L2] * 32 == 32 * MIB


def test_what_a_scattered_store_leaves_is_read(hardware: dict[str, dict[str, float]]) -> None:
    for stride in (2, 4, 8):
        read = hardware[f"store_stride{stride}"][READ] - 64 * MIB // stride
        assert 0.85 < read / (64 * MIB) < 1, "most of the array that it writes to"
    for stride in (1, 2, 3, 4, 8, 16, 32):
        assert hardware[f"load_stride{stride}"][READ] < 64.1 * MIB


def test_the_l1_has_most_of_the_fifth_sectors(hardware: dict[str, dict[str, float]]) -> None:
    requests = N // 32
    for offset in (1, 2, 4, 7, 9):
        row = hardware[f"load_offset{offset}"]
        assert row[LOADED] == 5 * requests
        # One of a block's eight fifth sectors, at its edge, isn't there.
        assert row[FROM_L2] == pytest.approx((4 + 1 / 8) * requests, rel=0.001)
    for offset in (0, 8, 16, 32):
        row = hardware[f"load_offset{offset}"]
        assert row[LOADED] == 4 * requests == row[FROM_L2]
    reads = [row[READ] for name, row in hardware.items() if name.startswith("load_offset")]
    assert max(reads) == pytest.approx(min(reads), rel=0.001)


def test_the_l1_mends_the_array_of_structs(hardware: dict[str, dict[str, float]]) -> None:
    packed, arrays, staged, aligned = (
        hardware[f"vec3_{layout}"] for layout in ("packed", "arrays", "staged", "aligned")
    )
    assert packed[LOADED] == 3 * arrays[LOADED]
    for row in (packed, arrays, staged):
        assert row[FROM_L2] == arrays[LOADED]
        assert row[READ] == pytest.approx(192 * MIB, rel=0.001)
    assert aligned[FROM_L2] * 3 == arrays[FROM_L2] * 4
    assert aligned[READ] == pytest.approx(256 * MIB, rel=0.001)
