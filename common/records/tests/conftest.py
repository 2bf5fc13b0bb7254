"""Files for the tests to spoil, and the made-up set that the tests of figures have too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.records import columns
from figures.tests import synthetic
from figures.tests.conftest import recordings, repository, root

__all__ = ["recordings", "repository", "root"]  # as fixtures

Edit = Callable[[dict[str, Any]], None]


@pytest.fixture
def faulty(tmp_path: Path) -> Callable[[Edit], Path]:
    """Writes a set of one small chapter after the test has spoilt what its JSON holds."""

    def write(edit: Edit) -> Path:
        folder = tmp_path / "spoilt"
        folder.mkdir(exist_ok=True)
        data = synthetic.chapter_data("chapter01_gmem")
        data["runs"] = data["runs"][:3]
        path = folder / "chapter01_gmem.json"
        columns.write(path, data)
        told = json.loads(path.read_text(encoding="utf-8"))
        edit(told)
        path.write_text(json.dumps(told), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def sources(tmp_path: Path) -> Callable[..., Path]:
    """Writes chapter sources, file by file, and gives their root."""

    def write(**files: str) -> Path:
        for name, text in files.items():
            chapter, _, file = name.partition("__")
            path = tmp_path / "chapters" / chapter / f"{file}.cuh"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write
