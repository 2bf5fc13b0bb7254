"""A chapter program's record fits figures/data/schema.json, the schema of the recorded runs."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
# Where CMake built: tools/test and the presets use build/.
BUILD = Path(os.environ.get("BOOK_BUILD", ROOT / "build"))
SCHEMA = json.loads((ROOT / "figures/data/schema.json").read_text(encoding="utf-8"))


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


def problems(record: dict[str, Any]) -> list[str]:
    """What the schema of a chapter's recorded runs says against a record."""
    schema = {**SCHEMA["$defs"]["chapter"], "$defs": SCHEMA["$defs"]}
    errors = jsonschema.Draft202012Validator(schema).iter_errors(record)
    return [f"{error.json_path}: {error.message}" for error in errors]


def test_the_record_fits_the_schema(record: dict[str, Any]) -> None:
    assert len(record["runs"]) == 2
    assert problems(record) == []


def test_the_record_has_no_field_that_the_schema_does_not_know(record: dict[str, Any]) -> None:
    definitions = SCHEMA["$defs"]
    assert set(record) == set(definitions["chapter"]["properties"])
    assert set(record["device"]) == set(definitions["device"]["properties"])
    for run in record["runs"]:
        assert set(run) == set(definitions["run"]["properties"])


def test_the_schema_is_not_one_that_takes_anything(record: dict[str, Any]) -> None:
    first = record["runs"][0]
    for run in ({**first, "median_us": -1}, {**first, "verified": False}, {"variant": "smem"}):
        assert problems({**record, "runs": [run]}) != []
