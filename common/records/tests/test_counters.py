"""The counters' table: each once, and as the embedded device and the recorded files have it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from common.records.counters import COUNTERS, CYCLES, NCU, OF_BOTH, OF_HARDWARE, OF_PTX, unit_of

ROOT = Path(__file__).resolve().parents[3]
DEVICE = ROOT / "tools/emulator/src"
RECORDED = sorted(ROOT.glob("figures/data/*/counters.json"))


def test_each_is_there_once() -> None:
    rows = json.loads((ROOT / "common/counters.json").read_text(encoding="utf-8"))["counters"]
    assert len(rows) == len(COUNTERS) == len({*NCU.values()})


def test_the_device_counts_what_the_table_says_under_its_names() -> None:
    """It is a project of its own, so it has them in its own words."""
    metrics = (DEVICE / "watch/metrics.cpp").read_text(encoding="utf-8")
    told = re.findall(r'\{"([\w.]+)", "\w*",\s*&Counters::(\w+)\}', metrics)
    assert {name: ncu for ncu, name in told} == {
        each.name: each.ncu for each in COUNTERS.values() if each.embedded != "no"
    }
    fields = (DEVICE / "machine/launch.cpp").read_text(encoding="utf-8")
    traced = re.findall(r'\{"(\w+)", &Counters::(\w+), (?:true|false)\}', fields)
    assert {name for _ncu, name in told} == {name for name, _field in traced}
    assert all(name == field for name, field in traced)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_recorded_files_have_them_in_the_tables_order(path: Path) -> None:
    metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    known = [*OF_HARDWARE, *OF_PTX]
    assert metrics == [metric for metric in known if metric in metrics]
    assert [metric for metric in metrics if metric in OF_BOTH] == [*OF_BOTH]


def test_a_unit_goes_with_the_books_name_and_with_what_ncus_says() -> None:
    assert unit_of("dram_throughput_pct") == unit_of(NCU["dram_throughput_pct"]) == "%"
    assert unit_of("sm__cycles_active.avg.pct_of_peak_sustained_elapsed") == "%"
    assert unit_of("instructions") == unit_of("sm__cycles_active.sum") == ""
    assert unit_of("dram_read_bytes") == "bytes" and unit_of(NCU["dram_read_bytes"]) == ""
    assert unit_of("stall_wait") == unit_of(NCU["stall_wait"]) == CYCLES
