"""The figures of each chapter, one module or package a chapter, named as the chapter is.

Each says what it has in a :class:`~figures.kit.chapter.Chapter` named ``CHAPTER``. Nothing lists
them: what lies in this folder is there.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from figures.kit.chapter import Chapter
from figures.kit.costs import Counts


@cache
def known() -> dict[str, Chapter]:
    """Every chapter that has a module here, by name, in the order of the book."""
    chapters = {}
    for name in sorted(module.name for module in iter_modules(__path__)):
        chapter: Chapter = import_module(f"{__name__}.{name}").CHAPTER
        if chapter.name != name:
            raise ValueError(f"figures/chapters/{name} says that it is of {chapter.name}")
        chapters[name] = chapter
    return chapters


@cache
def derived_counts(chapter: str, variant: str, n: int, block: int, grid: int) -> Counts | None:
    """What a launch of a chapter's own variant must cost; None where no pattern of it is written
    down, as of the faulty forms."""
    here = known().get(chapter)
    pattern = here.patterns.get(variant) if here else None
    return pattern.counts(n, block, grid) if pattern else None
