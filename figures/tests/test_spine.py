"""The climb on the cover goes up, in every pass of the recording."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from common.records.recordings import Recordings
from common.records.verdict import Outcome, verdict
from figures import chapters
from figures.kit.pictures import View, time_of
from figures.spine import climb, spine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def reference() -> View:
    recordings = Recordings(ROOT)
    return View(recordings, recordings.reference)


def test_the_climb_only_goes_up(reference: View) -> None:
    """In every pass each rung's median is below that of the rung before.

    By the book's rule for the word "faster", intervals apart, all but one are: 16 bytes per load
    gain a third of a per cent at this size, and more where less is in flight.
    """
    climbed = climb(reference)
    assert len(climbed) >= 10
    undecided = []
    for (_, _, before), (_, change, after) in pairwise(climbed):
        found = verdict(after.repeats, before.repeats)
        assert all(ratio > 1 for ratio in found.ratios), f"{change}: {found}"
        if found.outcome is not Outcome.FASTER:
            undecided.append(change)
    assert undecided in ([], ["16 bytes per load"])


def test_every_rung_is_a_finished_sum_of_one_size(reference: View) -> None:
    founds = [found for _, _, found in climb(reference)]
    useful = {
        (run["n"], run["bytes_read"], run["bytes_written"]) for run in (f.run for f in founds)
    }
    assert len(useful) == 1
    ((n, read, written),) = useful
    assert read == 4 * n and written == 4


def test_the_words_are_those_of_the_numbers(reference: View) -> None:
    picture = spine(reference)
    first, *_, last = [found for _, _, found in climb(reference)]
    (gain,) = re.findall(r"([\d.]+) times the bandwidth", picture.alt)
    assert float(gain) == pytest.approx(time_of(first) / time_of(last), abs=0.005)
    assert len(picture.table.rows) == sum(len(each.spine) for each in chapters.known().values())
