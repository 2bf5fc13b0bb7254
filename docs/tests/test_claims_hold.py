"""Every claim and prediction of the guide's own pages, held against the recordings."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import docs.tests.conftest  # noqa: F401  finds the extension
from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from docs import page_source as pages

PAGES = sorted(
    path
    for path in pages.DOCS.rglob("*.rst")
    if re.search("claim:|:choices:|:slider:", path.read_text(encoding="utf-8"))
)


def claims(text: str) -> list[str]:
    """Those of directives and of roles; a role may stand in a directive's option."""
    behind = [found["argument"] for found in pages.parse(text).findall(pages.directive)
              if found["name"] == "claim"]  # fmt: skip
    return behind + re.findall(r":claim:`[^`<]+<([^`]+)>`", text)


@cache
def recorded() -> Recordings:
    return Recordings(pages.ROOT)


def faults(path: Path, text: str) -> list[str]:
    """What the build would say of a page's claims."""
    from ladder import predictions
    from ladder.book import Lost
    from ladder.claims import amounts, evidence, language
    from ladder.names import chapter_of

    chapter = chapter_of(f"{path.parent.name}/{path.stem}")
    shown = recorded().of(chapter)
    said = []
    for written in claims(text):
        try:
            for claim in language.read_all(written):
                said += evidence.gather(claim, shown, chapter).faults()
        except (amounts.BadClaim, Lost) as error:
            said.append(str(error))
    for box in pages.parse(text).findall(pages.directive):
        if box["name"] == "predict" and box["options"]:
            try:
                predictions.played(box["options"], shown, chapter)
            except (amounts.BadClaim, Lost, NoSuchRun) as error:
                said.append(f"{box['argument']}: {error}")
    return said


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_claim_of_the_page_holds(path: Path) -> None:
    assert faults(path, path.read_text(encoding="utf-8")) == []


SMEM = pages.DOCS / "chapters" / "chapter02_smem.rst"


@pytest.mark.parametrize(
    ("true", "false", "message"),
    [
        (
            "interleaved_sum between 1.1x and 1.25x faster than chapter01 gmem_interleaved_sum at",
            "chapter01 gmem_interleaved_sum between 1.1x and 1.25x faster than interleaved_sum at",
            "is false on nvidia-h200: gmem_interleaved_sum n=268435456",
        ),
        ("= 2139 * grid", "= 2140 * grid", "2140 * grid of interleaved is 140\u202f247\u202f040"),
        ("< time of interleaved / 8", "< 6 GB/s", "is a rate"),
        (
            "1.7x faster than interleaved at 2^28",
            "1.7x faster than interleaved from 28",
            "n=28 is not recorded for",
        ),
        ("between 7.9 and 8>", "between 8.9 and 9>", "is false"),
    ],
)
def test_a_sentence_that_is_turned_round_is_caught(true: str, false: str, message: str) -> None:
    text = SMEM.read_text(encoding="utf-8")
    assert text.count(true) == 1
    said, *of_the_second_card = faults(SMEM, text.replace(true, false))
    assert message in said
    assert all("nvidia-h100" in other for other in of_the_second_card)
