"""The table of facts about hardware, docs/facts.toml, and what a text types of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .claims.words import CARDINAL, DIGITS, number_of

FILE = Path(__file__).resolve().parents[2] / "facts.toml"
_N = rf"(?P<n>(?:{DIGITS})|\b(?:{CARDINAL})\b)"


@dataclass(frozen=True)
class Fact:
    what: str
    says: tuple[re.Pattern[str], ...]
    value: float
    least: float
    source: str


@dataclass(frozen=True)
class Typed:
    """A number that a text types of a fact, and where."""

    fact: Fact
    start: int
    end: int
    value: float
    text: str

    @property
    def is_right(self) -> bool:
        return self.value == self.fact.value


@cache
def facts() -> tuple[Fact, ...]:
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))["fact"]
    return tuple(
        Fact(
            one["what"],
            tuple(re.compile(re.sub(r"\bN\b", lambda _: _N, says), re.I) for says in one["says"]),
            one["value"],
            one.get("least", 0),
            one["source"],
        )
        for one in table
    )


def typed(text: str) -> Iterator[Typed]:
    for fact in facts():
        for pattern in fact.says:
            for found in pattern.finditer(text):
                value = number_of(found["n"])
                sentence = text[: found.start()].rpartition(". ")[2]
                if value >= fact.least and "CPU" not in sentence:
                    yield Typed(fact, *found.span("n"), value, found[0])
