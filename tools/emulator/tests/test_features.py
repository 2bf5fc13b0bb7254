"""tools/emulate on the programs of tests/features: what page "What runs" says of each holds.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import pytest

from common.records.cases import digest
from tools.tests.built import nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

FEATURES = Path(__file__).parent / "features"
#: Refused on a card too: one of it is lent, and others have no second.
ONE_CARD = {"peers"}


def recorded(name: str) -> tuple[str, list[list[str]]]:
    head, _columns, *lines = (FEATURES / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    return head, list(csv.reader(lines))


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    record = runpy.run_path(str(FEATURES / "record"))
    program = record["for_embedded"](tmp_path_factory.mktemp("features"), nvcc())
    rows: list[list[str]] = record["recorded"](program, record["EMULATE"])
    return rows


def test_the_record_is_what_a_run_shows(seen: list[list[str]]) -> None:
    head, rows = recorded("embedded")
    assert f"cases {digest(FEATURES)};" in head, "record embedded"
    assert seen == rows, "record embedded"


def test_what_works_is_right(seen: list[list[str]]) -> None:
    assert {outcome for *_, outcome, _missing in seen} == {"works", "refused"}
    assert all(missing for *_, outcome, missing in seen if outcome == "refused")


def test_hardware_finds_the_programs_right() -> None:
    head, rows = recorded("nvidia-h200")
    assert f"cases {digest(FEATURES)};" in head, "record nvidia-h200"
    assert {name for _, name, _, outcome, _ in rows if outcome != "works"} == ONE_CARD
    assert [row[:3] for row in rows] == [row[:3] for row in recorded("embedded")[1]]
