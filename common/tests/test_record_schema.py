"""A chapter program's record is what the guide reads, once tools/measure has completed it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from common.records import columns
from common.records.reading import DataError, read_chapter
from common.records.schema import Attributes, ChapterFile, MeasuredChapter, MeasuredRun
from tools.tests.built import BUILD
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What to_json writes, completed with the one thing that tools/measure must fill in."""
    program = BUILD / "common/report_test"
    # A test that skips itself here would report an unbuilt tree as a good one.
    assert program.exists(), f"{program} is missing: build the target report_test first"
    path = tmp_path_factory.mktemp("record") / "record.json"
    subprocess.run(
        [program, "--gtest_filter=Record.ForTheSchema"],
        env={**os.environ, "BOOK_RECORD": str(path)},
        check=True,
        capture_output=True,
        timeout=LIMIT,
    )
    written: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert written["source"] is None
    return {**written, "source": {"commit": "0" * 40, "dirty": False}}


def read(record: dict[str, Any], folder: Path) -> ChapterFile:
    path = folder / "record.json"
    columns.write(path, record)
    return read_chapter(path)


def test_the_record_is_read(record: dict[str, Any], tmp_path: Path) -> None:
    assert len(record["runs"]) == 2
    assert len(read(record, tmp_path)["runs"]) == 2


def test_the_record_has_no_field_that_the_schema_does_not_know(record: dict[str, Any]) -> None:
    assert set(record) == set(get_type_hints(MeasuredChapter)) - {"migrated"}
    assert set(record["device"]) == set(get_type_hints(Attributes))
    known = set(get_type_hints(MeasuredRun))
    first, other = record["runs"]
    assert set(first) == known
    assert set(other) == known - {"error"}


def test_the_reader_is_not_one_that_takes_anything(record: dict[str, Any], tmp_path: Path) -> None:
    first = record["runs"][0]
    for run in ({**first, "registers": -1}, {**first, "verified": False}):
        with pytest.raises(DataError):
            read({**record, "runs": [run]}, tmp_path)
