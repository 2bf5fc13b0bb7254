"""The chapters' kernels on the embedded device count what the H200's hardware counted.

Global requests and sectors: equal. Shared memory: wavefronts less bank conflicts are equal;
hardware's conflicts hold a few per cent of arbitration between warps, which no pattern has.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "figures/data/nvidia-h200/counters.json"
N = 1 << 20
OPERATIONS = ("ld", "st")


def recorded() -> list[Any]:
    runs = json.loads(RECORD.read_text(encoding="utf-8"))["runs"]
    # A -G build is another program at each toolkit's whim; all others are compared.
    chosen = [r for r in runs if r["n"] == N and r["block"] in (1, 256)]
    assert len(chosen) > 20
    return [
        pytest.param(run, id=f"{run['chapter']}-{run['variant']}")
        for run in chosen
        if run["variant"] != "debug_build"
    ]


def counts(metrics: dict[str, Any]) -> dict[str, int]:
    found = {}
    for op in OPERATIONS:
        for what in ("requests", "sectors"):
            found[f"global {what} {op}"] = metrics[
                f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
            ]
        waves = metrics[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"]
        conflicts = metrics[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"]
        found[f"shared {op}"] = int(waves) - int(conflicts)
    return {name: int(value) for name, value in found.items()}


@pytest.mark.parametrize("run", recorded())
def test_counts_are_the_hardwares(run: dict[str, Any], tmp_path: Path) -> None:
    build = Path(os.environ.get("BOOK_BUILD", ROOT / "build/tools"))
    program = build / "chapters" / run["chapter"] / run["chapter"]
    page = tmp_path / "page.csv"
    options = ["--once", "--variant", run["variant"], "--n", str(N), "--block", str(run["block"])]
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(build / "emulator/lib"),
        "EMU_CSV": str(page),
    }
    done = subprocess.run([program, *options], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    with page.open(encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["ID"]]
    (launch,) = run["launches"]
    assert counts(row) == counts(launch["metrics"])
