"""Puzzles on a page: made from the chapters' folders."""

from __future__ import annotations

import shutil

import pytest

from docs.tests.conftest import SMEM, Book, Built
from tools.judging import puzzles
from tools.tests.built import ROOT

pytestmark = pytest.mark.all

FOLDER = f"chapters/{SMEM}/puzzles"


def built(book: Book) -> Built:
    shutil.copytree(ROOT / FOLDER, book.root / FOLDER, dirs_exist_ok=True)
    return book.build(
        index="Home\n====\n\n.. toctree::\n   :glob:\n\n   *\n   chapters/*\n",
        puzzles="Puzzles\n=======\n\n.. puzzles:: list\n\n.. puzzles:: all\n",
        notebook="Notebook\n========\n\n.. puzzles:: chapter02\n",
        **{f"chapters__{SMEM}": "Shared memory\n=============\n"},
    )


def test_each_folder_is_a_section(recorded_book: Book) -> None:
    made = built(recorded_book)
    assert made.warnings == []
    page = made.page("puzzles")
    every = puzzles.all_puzzles(recorded_book.root)
    assert len(every) == 3
    for puzzle in every:
        section = page.find("section", id=f"puzzle-{puzzle.key.replace('/', '-')}")
        assert section is not None
        text = " ".join(section.get_text().split())
        assert puzzle.title in text and puzzle.goals[0].says in text
        skeleton, hint, answer = section.select("details")
        assert not skeleton.has_attr("open")
        assert skeleton.pre and skeleton.pre.get_text() == puzzle.skeleton()
        assert not hint.has_attr("open") and not answer.has_attr("open")
        assert "[blank]" not in answer.get_text() and "//=" not in answer.get_text()
        assert puzzle.form.name in answer.get_text()
    link = page.select_one("h2 a")
    assert (link.get_text(), link["href"]) == ("Chapter 2", "chapters/chapter02_smem.html")


def test_the_list_leads_to_each(recorded_book: Book) -> None:
    page = built(recorded_book).page("puzzles")
    (line,) = page.select(".puzzle-list li")
    assert line.get_text().startswith("Chapter 2: Fill the tile")
    links = [link["href"] for link in line.select("a")]
    assert links == [f"#puzzle-chapter02-{number}" for number in (1, 2, 3)]
    assert all(page.find(id=link[1:]) for link in links)


def test_a_chapter_links_to_its_own(recorded_book: Book) -> None:
    made = built(recorded_book)
    (line,) = made.page("notebook").select("p.puzzle-links")
    links = [(link["href"], link.get_text()) for link in line.select("a")]
    assert links[0] == ("puzzles.html#puzzle-chapter02-1", "Fill the tile")
    for href, _title in links:
        assert made.page("puzzles").find(id=href.partition("#")[2])


def test_an_edited_puzzle_is_shown_anew(recorded_book: Book) -> None:
    built(recorded_book)
    toml = recorded_book.root / FOLDER / "1_load/puzzle.toml"
    toml.write_text(
        toml.read_text(encoding="utf-8").replace("Fill the tile", "Another title"),
        encoding="utf-8",
    )
    again = recorded_book.build()
    assert {"puzzles", "notebook"} <= set(again.read)
    assert "Another title" in again.text("puzzles")


def test_what_is_wrong_is_said(recorded_book: Book) -> None:
    built(recorded_book)
    (recorded_book.root / FOLDER / "1_load/puzzle.toml").write_text("title = 3", encoding="utf-8")
    wrong = recorded_book.build(notebook="Notebook\n========\n\n.. puzzles:: chapter07\n")
    assert any("puzzle.toml" in line and "is missing" in line for line in wrong.warnings)
    shutil.copy(ROOT / FOLDER / "1_load/puzzle.toml", recorded_book.root / FOLDER / "1_load")
    lost = recorded_book.build()
    assert any("no puzzles in 'chapter07'" in line for line in lost.warnings)
