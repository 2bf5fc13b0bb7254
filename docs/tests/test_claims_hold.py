"""Every claim, prediction and comparison of the guide's own pages, held against the recordings.

`faults` is what the build would say of a page's words, in seconds and without Sphinx.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import docs.tests.conftest  # noqa: F401  finds the extension
from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from docs import page_source as pages
from docs.lint import typed

PAGES = sorted(pages.DOCS.rglob("*.rst"))


@cache
def recorded() -> Recordings:
    return Recordings(pages.ROOT)


def _told(text: str) -> Iterator[str]:
    """Words against claims; yields the faults, and `_claims` has those that are held."""
    from ladder.claims import amounts, check, language

    for box in pages.parse(text).findall(pages.directive):
        if box["name"] == "claim":
            try:
                told = check.beside(box["argument"], box.children)
            except amounts.BadClaim as error:
                yield str(error)
                continue
            yield from check.of_others(told)
            for sentence, claims in told:
                if claims:
                    yield from check.of_sentence(sentence.text, claims)
    for found in _ROLE.finditer(text):
        try:
            claims = language.read_all(found["claims"])
        except amounts.BadClaim as error:
            yield str(error)
            continue
        yield from check.of_sentence(" ".join(found["words"].split()), claims)


_ROLE = re.compile(r":claim:`(?P<words>[^`<]+)<(?P<claims>[^`]+)>`")


def _claims(text: str) -> Iterator[str]:
    for box in pages.parse(text).findall(pages.directive):
        if box["name"] == "claim":
            yield re.sub(r"^\s*\d+: *", "", box["argument"], flags=re.MULTILINE)
    yield from (found["claims"] for found in _ROLE.finditer(text))


def faults(path: Path, text: str) -> list[str]:
    """What the build would say of a page's claims, words, typed quantities and comparisons."""
    from ladder import given, predictions, said
    from ladder.book import Lost
    from ladder.claims import amounts, evidence, language
    from ladder.names import BadName, chapter_of

    chapter = chapter_of(f"{path.parent.name}/{path.stem}")
    shown = recorded().of(chapter)
    found = list(_told(text))
    for written in _claims(text):
        try:
            for claim in language.read_all(written):
                found += evidence.gather(claim, shown, chapter).faults()
        except (amounts.BadClaim, Lost) as error:
            found.append(str(error))
    for box in pages.parse(text).findall(pages.directive):
        if box["name"] == "predict" and box["options"]:
            try:
                predictions.played(box["options"], shown, chapter)
            except (amounts.BadClaim, Lost, NoSuchRun) as error:
                found.append(f"{box['argument']}: {error}")
    for role in pages.parse(text).findall(pages.role):
        try:
            if role["name"] == "said":
                card = role["target"].partition(" on ")[2] or shown.reference.name
                said.words(" ".join(role["target"].split()), shown, card, chapter)
            elif role["name"] == "given":
                given.check(" ".join(role["written"].split()), pages.ROOT, shown.device)
        except (amounts.BadClaim, Lost, NoSuchRun, BadName) as error:
            found.append(str(error))
    found += said.as_fast_below_one(text, shown)
    with contextlib.suppress(amounts.BadClaim):  # said above
        found += typed.of_page(path.relative_to(pages.ROOT).as_posix(), text)
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_claim_of_the_page_holds(path: Path) -> None:
    assert faults(path, path.read_text(encoding="utf-8")) == []


def test_what_readers_read_besides_pages_types_nothing() -> None:
    assert [one for one in typed.everywhere(pages.ROOT) if "docs/" not in one] == []


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
    assert any(message in said for said in faults(SMEM, text.replace(true, false)))
