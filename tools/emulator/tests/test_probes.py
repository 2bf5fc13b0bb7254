"""The probes on the embedded device count what hardware counted, launch by launch: equality.

probes/nvidia-h200.csv is what ncu recorded (probes/record); the same source runs here, with no GPU.
"""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest

from tools.tests.built import nvcc

EMULATOR = Path(__file__).resolve().parents[1]
PROBES = EMULATOR / "probes"
WHERE = ("kernel", "grid", "block")


def recorded() -> list[dict[str, str]]:
    lines = (PROBES / "nvidia-h200.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    folder = tmp_path_factory.mktemp("probes")
    program, page = folder / "probes", folder / "page.csv"
    options = ["-std=c++20", "-O3", "-cudart", "shared", "-arch=compute_90"]
    subprocess.run([nvcc(), *options, "-o", program, PROBES / "probes.cu"], check=True)
    emulate = EMULATOR.parent / "emulate"
    names = subprocess.run(
        [emulate, "--csv", page, program], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    with page.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ID"]]
    assert len(rows) == len(names)
    return [{**row, "probe": name.split(" ", 1)[1]} for row, name in zip(rows, names, strict=True)]


@pytest.mark.nvcc
def test_the_list_of_probes_is_the_recorded_one(counted: list[dict[str, str]]) -> None:
    assert [row["probe"] for row in counted] == [row["probe"] for row in recorded()]


def test_every_counter_of_every_probe_is_the_hardwares(counted: list[dict[str, str]]) -> None:
    metrics = [name for name in recorded()[0] if name.endswith(".sum")]
    assert len(metrics) == 8
    differing = [
        f"{ours['probe']}: {metric} is {ours[metric]}, hardware counted {theirs[metric]}"
        for ours, theirs in zip(counted, recorded(), strict=True)
        for metric in metrics
        if int(ours[metric]) != int(theirs[metric])
    ]
    assert differing == []


def test_kernels_and_shapes_are_named_as_ncu_names_them(counted: list[dict[str, str]]) -> None:
    columns = {"kernel": "Kernel Name", "grid": "Grid Size", "block": "Block Size"}
    differing = [
        f"{ours['probe']}: {ours[columns[what]]} and {theirs[what]}"
        for ours, theirs in zip(counted, recorded(), strict=True)
        for what in WHERE
        if ours[columns[what]] != theirs[what]
    ]
    assert differing == []
