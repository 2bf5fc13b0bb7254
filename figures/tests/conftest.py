"""Made-up recordings for the tests, and a repository's root that holds them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from figures.records import columns
from figures.records.recordings import Recordings
from figures.tests import synthetic

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with a made-up reference set. Tests leave it as it is."""
    made = tmp_path_factory.mktemp("root")
    for chapter in synthetic.CHAPTERS:
        (made / "chapters" / chapter).mkdir(parents=True)
    return synthetic.write_root(made)


@pytest.fixture(scope="session")
def recordings(root: Path) -> Recordings:
    return Recordings(root)


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
