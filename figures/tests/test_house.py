"""Where what lies: the kit knows no chapter, and a chapter is told in its own module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FIGURES = Path(__file__).resolve().parents[1]
KIT = sorted((FIGURES / "kit").glob("*.py"))
#: What draws pictures of all chapters, and may not know one from another.
OF_NO_CHAPTER = [FIGURES / f"{name}.py" for name in ("catalogue", "every_chapter", "draw")]


def names_a_chapter(text: str) -> bool:
    return bool(re.search(r"chapter\d", text))


def uses_chapters(text: str) -> bool:
    return bool(
        re.search(r"^\s*(from|import) figures(\.chapters| import .*\bchapters\b)", text, re.M)
    )


@pytest.mark.parametrize("path", [*KIT, *OF_NO_CHAPTER], ids=lambda path: path.stem)
def test_no_chapter_is_named(path: Path) -> None:
    assert not names_a_chapter(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", KIT, ids=lambda path: path.stem)
def test_the_kit_uses_no_chapter(path: Path) -> None:
    assert not uses_chapters(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted((FIGURES / "chapters").rglob("*.py")), ids=lambda p: p.stem)
def test_a_chapters_figures_can_be_read_at_a_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


def test_what_is_looked_for_is_found() -> None:
    assert names_a_chapter('view.find("chapter02_smem", name)')
    assert uses_chapters("from figures.chapters.chapter02_smem import smem")
    assert uses_chapters("from figures import chapters, recorded")
    assert not uses_chapters("from figures.kit.chapter import Chapter")
