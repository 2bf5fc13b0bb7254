"""Chapter 13's pictures: a ring in time, and what was recorded of other people's sums."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from common.records import other_libraries as libraries
from figures.chapters.chapter13_small_and_large import ring

pytestmark = pytest.mark.all

SUM = "torch sum 4096 10.53 10.21 10.94"
TIME = "place 9.4GiB+4B 349.09 348.38 349.66 1980 180.17 35"


@pytest.mark.parametrize("stages", [1, 2, 5, 8])
def test_a_ring_turns_in_order(stages: int) -> None:
    found = ring.pieces(stages)
    assert [piece.number for piece in found] == list(range(len(found)))
    for piece in found:
        assert piece.stage == piece.number % stages
        assert piece.asked < piece.there <= piece.begun < piece.done
    for before, after in pairwise(found):
        assert after.begun >= before.done, "one piece at a time"
    for before, after in zip(found, found[stages:], strict=False):
        assert after.asked == before.done, "a stage is asked for again when it is free"


def test_a_ring_that_covers_the_trip_is_never_idle() -> None:
    """Trip ÷ adding, and one more for the piece that is being added up."""
    enough = ring.TRIP / ring.ADDS + 1
    assert ring.idle(ring.pieces(int(enough))) == pytest.approx(0)
    shares = [ring.idle(ring.pieces(stages)) for stages in range(1, int(enough))]
    assert shares == sorted(shares, reverse=True) and shares[-1] > 0.1


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    folder = tmp_path / "chapters/chapter13_x/transcripts/card"
    folder.mkdir(parents=True)
    (folder / "libraries.txt").write_text(f"# a card\nlibrary method n\n{SUM}\n")
    (folder / "steady.txt").write_text(f"# a card\nwhat which us\n{TIME}\n")
    return tmp_path


def test_recorded_lines_are_read(recorded: Path) -> None:
    asked = (recorded, "chapter13_x", "card")
    assert libraries.whole_sums(*asked) == [libraries.WholeSum("torch", "sum", 4096, 10.53)]
    (time,) = libraries.steady_times(*asked)
    assert time == libraries.Steady("place", "9.4GiB+4B", 349.09, 1980.0, 180.17, 35.0)
    assert libraries.whole_sums(recorded, "chapter13_x", "other") == []


@pytest.mark.parametrize("line", [SUM.replace("4096", "many"), SUM + " 1", "torch sum"])
def test_a_line_that_is_no_time_is_named(recorded: Path, line: str) -> None:
    folder = recorded / "chapters/chapter13_x/transcripts/card"
    (folder / "libraries.txt").write_text(f"{SUM}\n{line}\n")
    with pytest.raises(ValueError, match="line 2 gives no time"):
        libraries.whole_sums(recorded, "chapter13_x", "card")
    (folder / "steady.txt").write_text(f"{TIME}\n{line}\n")
    with pytest.raises(ValueError, match="line 2 gives no time"):
        libraries.steady_times(recorded, "chapter13_x", "card")
