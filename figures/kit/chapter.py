"""What a chapter's module says of its chapter, for the figures that ask every chapter the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from figures.kit.costs import Pattern
from figures.kit.pictures import Picture, View

Plot = Callable[[View], Picture]
Diagram = Callable[[], Picture]


def number_of(chapter: str) -> int:
    """The number that a chapter's name begins with."""
    return int(re.findall(r"\d+", chapter)[0])


@dataclass(frozen=True)
class Chapter:
    """One chapter's figures, and its facts that others are drawn from."""

    name: str
    #: Whether it has the plots that every chapter has beside its own.
    usual: bool = True
    #: The kernels that the usual plots show, where all would be too many to follow or are not to
    #: be compared with one another: over n and block, of times, of counters. Empty: all of them.
    swept: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    #: Its rungs on the cover: finished sums, by variant, each with what it changes.
    spine: Mapping[str, str] = field(default_factory=dict)
    #: A library's finished sum, to hold them against.
    library: str = ""
    plots: Mapping[str, Plot] = field(default_factory=dict)
    diagrams: Mapping[str, Diagram] = field(default_factory=dict)
    #: By variant.
    patterns: Mapping[str, Pattern] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return number_of(self.name)

    @property
    def short(self) -> str:
        """The name without its words, which the names of its plots begin with."""
        return self.name.partition("_")[0]
