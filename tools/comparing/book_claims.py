"""The book's claims, held against other cards: which replicate, which don't, which can't be told.

A claim is a sentence's expression over recorded runs (docs/_ext/ladder/README.md). It is read from
the pages and held by the guide's own code; only what is asked of the outcome is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path

from docutils import nodes
from ladder.book import Lost
from ladder.claims.amounts import BadClaim
from ladder.claims.check import beside
from ladder.claims.evaluate import Outcome, judge
from ladder.claims.evidence import reaches
from ladder.claims.language import read_all
from ladder.claims.statement import Claim
from ladder.claims.words import CODE, VALUE
from ladder.names import chapter_of

from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from docs import page_source as pages

_ROLE = re.compile(r":claim:`(?P<words>[^`<]+)<(?P<claims>[^`]+)>`")
#: So much of a paragraph says which one it is.
_WORDS = 170


class Verdict(Enum):
    """What a card says of a claim."""

    HOLDS = "replicated"
    IN_PART = "replicated as far as it was measured"
    FAILS = "not replicated"
    UNKNOWN = "can't be told"


@dataclass(frozen=True)
class Held:
    """A claim on one card; without an outcome, ``why`` it can't be told."""

    verdict: Verdict
    outcome: Outcome | None = None
    why: str = ""


@dataclass(frozen=True)
class BookClaim:
    """A claim of the guide, and what each card says of it."""

    group: str
    chapter: str
    words: str
    claim: Claim
    reference: Held
    cards: dict[str, Held] = field(default_factory=dict)


def of_the_guide(paths: Sequence[Path] | None = None) -> Iterator[tuple[str, str, str, Claim]]:
    """Group, chapter, words and claim, page by page. Claims about another card alone are none of
    the reference's."""
    for path in paths if paths is not None else sorted(pages.DOCS.rglob("*.rst")):
        text = path.read_text(encoding="utf-8")
        if "claim:" not in text:
            continue
        chapter = chapter_of(f"{path.parent.name}/{path.stem}")
        tree = pages.parse(text)
        group = _group(chapter, tree)
        for box in tree.findall(pages.directive):
            if box["name"] == "claim":
                for sentence, claims in beside(box["argument"], box.children):
                    yield from _asked(group, chapter, _words(sentence.text), claims)
        for one in _ROLE.finditer(text):
            words = " ".join(one["words"].split())
            yield from _asked(group, chapter, words, read_all(one["claims"]))


def _asked(
    group: str, chapter: str, words: str, claims: Sequence[Claim]
) -> Iterator[tuple[str, str, str, Claim]]:
    yield from ((group, chapter, words, claim) for claim in claims if not claim.asked_on)


def _group(chapter: str, tree: nodes.document) -> str:
    if chapter:
        return _title_of(chapter)
    return next(iter(tree.findall(nodes.title))).astext()


@cache
def _title_of(chapter: str) -> str:
    """Its story's title, which begins with its number."""
    lines = (pages.DOCS / "chapters" / f"{chapter}.rst").read_text(encoding="utf-8").splitlines()
    ruled = (above for above, line in pairwise(lines) if set(line) == {"="})
    return next(ruled, chapter)


def _words(text: str) -> str:
    """How a claimed sentence begins, with dots where the page shows a recorded number."""
    said = text.replace(VALUE, "…").replace(CODE, "…").lstrip("…. ")
    return said if len(said) <= _WORDS else said[:_WORDS].rsplit(" ", 1)[0] + " …"


# ------------------------------------------------------------------------------- holding


def held(
    recordings: Recordings, names: Sequence[str], paths: Sequence[Path] | None = None
) -> list[BookClaim]:
    """Every claim, on each of the sets called *names*."""
    found = []
    for group, chapter, words, claim in of_the_guide(paths):
        ours = recordings.of(chapter)  # whose variants the claim's names are
        reference = _hold(claim, ours, ours.reference.name, chapter)
        cards = {name: _hold(claim, ours, name, chapter) for name in names}
        found.append(BookClaim(group, chapter, words, claim, reference, cards))
    return found


def _hold(claim: Claim, recordings: Recordings, name: str, chapter: str) -> Held:
    try:
        outcome = judge(claim, recordings, name, chapter)
    except (NoSuchRun, ZeroDivisionError, BadClaim, Lost) as miss:
        return Held(Verdict.UNKNOWN, why=str(miss))
    if not outcome.holds:
        return Held(Verdict.FAILS, outcome)
    whole = reaches(claim, recordings, name, chapter)
    return Held(Verdict.HOLDS if whole else Verdict.IN_PART, outcome)


@dataclass
class Tally:
    """How many of a group's claims came out how."""

    group: str
    counts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def tallies(claims: Sequence[BookClaim], name: str) -> list[Tally]:
    """By group in the order of the book, the chapters first."""
    groups = dict.fromkeys(sorted((one.group for one in claims), key=place))
    found = {group: Tally(group) for group in groups}
    for one in claims:
        found[one.group].counts[one.cards[name].verdict] += 1
    return list(found.values())


def place(group: str) -> tuple[int, str]:
    number = re.match(r"Chapter (\d+)\.", group)
    return (int(number[1]), "") if number else (99, group)
