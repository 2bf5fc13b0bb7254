"""A chapter that the reference has no recording of is told by the first card that has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.records.naming import LOCAL, REFERENCE, SECOND
from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from figures import draw
from figures.tests import synthetic

pytestmark = pytest.mark.all

ALONE, BOTH = "chapter02_smem", "chapter01_gmem"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A reference that lacks a chapter, and a second card with all of them."""
    made = synthetic.write_root(tmp_path)
    synthetic.write_set(made / "figures/data" / SECOND[0], speed=0.5, device="Second GPU")
    for end in (".json", ".samples.gz", ".txt"):
        (made / f"figures/data/{REFERENCE}/{ALONE}{end}").unlink()
    return made


def test_its_pages_show_that_card_with_all_that_they_compare_with(root: Path) -> None:
    recordings = Recordings(root)
    assert recordings.of(BOTH) is recordings
    shown = recordings.of(ALONE)
    assert (shown.reference.name, list(shown.second)) == (SECOND[0], [REFERENCE])
    for chapter, variant in ((ALONE, "smem"), (BOTH, "gmem")):
        assert shown.run(chapter, variant).device_name == "Second GPU"
    assert shown.run(BOTH, "gmem", only=REFERENCE).set_name == REFERENCE
    with pytest.raises(NoSuchRun):
        recordings.run(ALONE, "smem")
    assert ALONE in shown.variants


def test_what_no_card_has_stays_the_references_to_miss(root: Path) -> None:
    recordings = Recordings(root)
    assert recordings.of("chapter99_none") is recordings
    assert recordings.of("") is recordings


def test_the_readers_own_recording_still_goes_first(root: Path) -> None:
    synthetic.write_set(root / "figures/data" / LOCAL, speed=0.25, device="Reader's GPU")
    recordings = Recordings(root)
    assert recordings.of(ALONE).run(ALONE, "smem").device_name == "Reader's GPU"


def test_its_pictures_are_drawn_from_that_card(root: Path) -> None:
    recordings = Recordings(root)
    drawn = {
        name: draw.make(name, root, recordings)[1] for name in ("chapter01_time", "chapter02_time")
    }
    assert drawn == {"chapter01_time": REFERENCE, "chapter02_time": SECOND[0]}
