"""Chapter 10's accesses as an H200 counted them, and what its page says of that.

The recording has no counters of this chapter. Those in nvidia-h200-coalescing.csv were counted
beforehand, with the same kernels: a launch of each variant at n = 2^24, in the program's order.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from figures import patterns

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
N, BLOCK = 1 << 24, 256
LOADED = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
STORED = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
FROM_L2 = "lts__t_sectors_srcunit_tex_op_read.sum"
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
MIB = 1 << 20


@pytest.fixture(scope="module")
def hardware() -> dict[str, dict[str, str]]:
    lines = (HERE / "nvidia-h200-coalescing.csv").read_text(encoding="utf-8").splitlines()
    _units, *rows = csv.DictReader(line for line in lines if line.startswith('"'))
    names = [*patterns.COALESCING, "allocations"]
    return dict(zip(names, rows, strict=True))


def number(row: dict[str, str], metric: str) -> int:
    return int(row[metric].replace(",", ""))


@pytest.mark.parametrize("variant", patterns.COALESCING)
def test_the_embedded_device_counts_what_the_hardware_counted(
    variant: str, hardware: dict[str, dict[str, str]]
) -> None:
    path = ROOT / "figures/data/embedded/counters.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    (run,) = [
        run
        for run in runs
        if (run["chapter"], run["variant"], run["n"], run["block"])
        == ("chapter10_coalescing", variant, N, BLOCK)
    ]
    (launch,) = run["launches"]
    theirs = hardware[variant]
    assert theirs["Kernel Name"].removeprefix("void ").startswith(launch["kernel"].split("<")[0])
    assert f"({launch['grid'][0]}, 1, 1)" == theirs["Grid Size"]
    derived = patterns.derived_counts(variant, N, BLOCK, launch["grid"][0])
    for metric, short in ((LOADED, "global_load_sectors"), (STORED, "global_store_sectors")):
        assert launch["metrics"][metric] == number(theirs, metric) == getattr(derived, short)


# ------------------------------------------------------------------- what the page says of it


def test_every_stride_to_16_reads_the_whole_array(hardware: dict[str, dict[str, str]]) -> None:
    for stride in (1, 2, 3, 4, 8, 16):
        read = number(hardware[f"load_stride{stride}"], READ)
        assert read == pytest.approx(64 * MIB, rel=0.001), stride
    assert number(hardware["load_stride32"], READ) == pytest.approx(32 * MIB, rel=0.001)
    # Of what stride 16 reads, half went on.
    assert number(hardware["load_stride16"], FROM_L2) * 32 == 32 * MIB


def test_what_a_scattered_store_leaves_is_read(hardware: dict[str, dict[str, str]]) -> None:
    for stride in (2, 4, 8):
        read = number(hardware[f"store_stride{stride}"], READ) - 64 * MIB // stride
        assert 0.85 < read / (64 * MIB) < 1, "most of the array that it writes to"
    for stride in (1, 2, 3, 4, 8, 16, 32):
        assert number(hardware[f"load_stride{stride}"], READ) < 64.1 * MIB


def test_the_l1_has_most_of_the_fifth_sectors(hardware: dict[str, dict[str, str]]) -> None:
    requests = N // 32
    for offset in (1, 2, 4, 7, 9):
        row = hardware[f"load_offset{offset}"]
        assert number(row, LOADED) == 5 * requests
        # One of a block's eight fifth sectors, at its edge, isn't there.
        assert number(row, FROM_L2) == pytest.approx((4 + 1 / 8) * requests, rel=0.001)
    for offset in (0, 8, 16, 32):
        row = hardware[f"load_offset{offset}"]
        assert number(row, LOADED) == 4 * requests == number(row, FROM_L2)
    reads = [number(row, READ) for name, row in hardware.items() if name.startswith("load_offset")]
    assert max(reads) == pytest.approx(min(reads), rel=0.001)


def test_the_l1_mends_the_array_of_structs(hardware: dict[str, dict[str, str]]) -> None:
    packed, arrays, staged, aligned = (
        hardware[f"vec3_{layout}"] for layout in ("packed", "arrays", "staged", "aligned")
    )
    assert number(packed, LOADED) == 3 * number(arrays, LOADED)
    for row in (packed, arrays, staged):
        assert number(row, FROM_L2) == number(arrays, LOADED)
        assert number(row, READ) == pytest.approx(192 * MIB, rel=0.001)
    assert number(aligned, FROM_L2) * 3 == number(arrays, FROM_L2) * 4
    assert number(aligned, READ) == pytest.approx(256 * MIB, rel=0.001)
