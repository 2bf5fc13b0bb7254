"""The book's own recordings, read once, and made-up ones beside them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))  # the guide's extension, which holds claims

from common.records.recordings import Recordings  # noqa: E402  (needs the path above)
from tools.comparing import opening  # noqa: E402
from tools.comparing.card_notices import notices  # noqa: E402
from tools.comparing.command import book, compare  # noqa: E402
from tools.comparing.content import Content  # noqa: E402
from tools.comparing.tests import made_up  # noqa: E402

#: Pages whose claims the tests hold; all of them take five seconds.
PAGES = [ROOT / "docs" / name for name in ("your_card.rst", "chapters/chapter05_unroll4.rst")]


@pytest.fixture(scope="session")
def recordings() -> Recordings:
    return book()


Compare = Callable[..., Content]
Told = Callable[[Path], dict[str, str]]


@pytest.fixture
def compared(recordings: Recordings) -> Iterator[Compare]:
    """Compares, and leaves the book's recordings as they were."""
    before = dict(recordings.second)

    def run(*asked: Path | str) -> Content:
        return compare([str(each) for each in asked], recordings, PAGES)

    yield run
    recordings.second.clear()
    recordings.second.update(before)


@pytest.fixture
def told(recordings: Recordings) -> Told:
    """What the page says first of a recording, by the notices' names."""

    def read(folder: Path) -> dict[str, str]:
        one = opening.read(folder.name, folder, folder.name)
        return {each.name: each.text for each in notices(one, recordings)}

    return read


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up T4 with three chapters. Tests leave it as it is."""
    three = ("chapter01_gmem", "chapter03_divergence", "chapter05_unroll4")
    return made_up.write(tmp_path_factory.mktemp("small") / "small", made_up.T4, three)


@pytest.fixture(scope="session")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A made-up set of each kind. Tests leave them as they are."""
    folder = tmp_path_factory.mktemp("made up")
    made = {
        "t4": made_up.T4,
        "gtx-1050-ti": made_up.GTX_1050_TI,
        "laptop": made_up.LAPTOP,
        "mig": made_up.MIG,
    }
    return {name: made_up.write(folder / name, each) for name, each in made.items()}
