"""Made-up recordings for the tests, and a repository's root that holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.records.recordings import Recordings
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
