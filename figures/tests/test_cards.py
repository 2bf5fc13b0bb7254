"""The climb on several cards: at a size that all have, and each against its own roof."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from common.records import columns
from common.records.naming import LOCAL, SECOND
from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from figures import cards, draw
from figures.cards import climb_shares, climb_times, common_climb, names_of, sizes_with_library
from figures.kit import style
from figures.kit.pictures import View
from figures.tests import synthetic

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """A reference, a second card of half its speed, and the reader's own."""
    root = synthetic.write_root(tmp_path_factory.mktemp("cards"))
    data = root / "figures" / "data"
    synthetic.write_set(data / SECOND[0], speed=0.5, device="Second GPU")
    synthetic.write_set(data / LOCAL, speed=0.25, device="Reader's GPU")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Recordings(root)


@pytest.fixture
def views(two: Recordings) -> list[View]:
    return [View(two, two.reference), View(two, two.second[SECOND[0]])]


def test_times_stand_side_by_side_and_shares_are_of_each_cards_own_roof(views: list[View]) -> None:
    n, rungs = common_climb(views)
    assert (n, len(rungs)) == (2**28, 11)
    slower = [rung.founds[1].run["median_us"] / rung.founds[0].run["median_us"]  # type: ignore[union-attr]
              for rung in rungs]  # fmt: skip
    assert all(1.9 < ratio < 2.05 for ratio in slower)
    shares = climb_shares(views).table.rows
    for change, one, other in shares:
        assert one == pytest.approx(other, rel=0.02), f"{change}: half as fast, half the roof"
    assert shares[0][1] < 12 < 90 < shares[-1][1]


def test_the_size_is_one_that_all_have(views: list[View], two: Recordings, tmp_path: Path) -> None:
    folder = synthetic.write_set(tmp_path / "small", device="Small GPU")
    for path in folder.glob("chapter*.json"):
        data = columns.read(path)
        data["runs"] = [run for run in data["runs"] if run["n"] < 2**28]
        columns.write(path, data)
    from common.records.sets import read_set

    two.second["small"] = read_set(folder)
    try:
        small = View(two, two.second["small"])
        n, rungs = common_climb([views[0], small])
        assert n == 2**20, "the last rung alone was swept there"
        assert [bool(found) for found in rungs[-1].founds] == [True, True]
        assert sizes_with_library([small]).table.rows[-1][2] == 2**20
    finally:
        del two.second["small"]


def test_a_rung_that_a_card_lacks_is_said(views: list[View]) -> None:
    record = views[1].known.chapters.pop("chapter03_divergence")
    try:
        picture = climb_times(views)
        assert len(picture.table.rows) == 2 * 11 - 1
        with style.look(style.LIGHT):
            assert "Second GPU, not measured" in style.to_svg(picture.draw(style.LIGHT))
    finally:
        views[1].known.chapters["chapter03_divergence"] = record


def test_cards_of_one_name_are_told_apart(views: list[View]) -> None:
    assert names_of(views) == ["Made-up GPU", "Second GPU"]
    assert names_of([views[0], views[0]]) == ["Made-up GPU (nvidia-h200)"] * 2


def test_nothing_in_common_is_no_picture(views: list[View]) -> None:
    kept = dict(views[1].known.chapters)
    views[1].known.chapters.clear()
    try:
        with pytest.raises(NoSuchRun, match="no rung of the climb is recorded at the same size"):
            climb_times(views)
    finally:
        views[1].known.chapters.update(kept)


@pytest.mark.parametrize("name", cards.PICTURES)
def test_the_guide_draws_the_books_cards_whatever_is_recorded_here(
    name: str, two: Recordings
) -> None:
    assert two.local
    picture, drawn_from = draw.make(name, two.root, two)
    shown = dict.fromkeys(found.device_name for found in picture.runs)
    assert (list(shown), drawn_from) == (["Made-up GPU", "Second GPU"], "nvidia-h200")
