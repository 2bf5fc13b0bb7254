"""Every picture of the book, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from figures import cards, chapters, embedded_device, mutation
from figures.every_chapter import usual_plots
from figures.kit.chapter import Chapter, Diagram, Plot
from figures.spine import spine

Make = TypeVar("Make")

#: The plots that are of no chapter.
OF_THE_BOOK: dict[str, Plot] = {"spine": spine, **cards.PLOTS}


class TwoFigures(Exception):
    """Two pictures of one name."""


def _all_chapters(root: Path) -> list[Chapter]:
    """The chapters that have figures of their own, and those that have only what all have."""
    known = chapters.known()
    others = {path.name for path in (root / "chapters").glob("chapter[0-9]*")} - known.keys()
    return sorted((*known.values(), *map(Chapter, others)), key=lambda chapter: chapter.name)


def plots_of(chapter: Chapter) -> dict[str, Plot]:
    """The plots that every chapter has, and its own."""
    named: dict[str, Plot] = {}
    if chapter.usual:
        named |= usual_plots(chapter)
    _add(named, chapter.plots)
    return named


def plots(root: Path) -> dict[str, Plot]:
    """The pictures of recorded runs: each takes a view of a set."""
    return {name: plot for name, (_chapter, plot) in plots_by_chapter(root).items()}


def plots_by_chapter(root: Path) -> dict[str, tuple[str, Plot]]:
    """The same, with the chapter that each is of; "" for those that are of none."""
    named = {name: ("", plot) for name, plot in OF_THE_BOOK.items()}
    for chapter in _all_chapters(root):
        _add(named, {name: (chapter.name, plot) for name, plot in plots_of(chapter).items()})
    return named


def diagrams() -> dict[str, Diagram]:
    """The pictures that need no measuring."""
    named: dict[str, Diagram] = {**embedded_device.DIAGRAMS, **mutation.DIAGRAMS}
    for chapter in chapters.known().values():
        _add(named, chapter.diagrams)
    return named


def _add(named: dict[str, Make], more: Mapping[str, Make]) -> None:
    twice = sorted(named.keys() & more.keys())
    if twice:
        raise TwoFigures(f"two figures are named '{twice[0]}'")
    named.update(more)
