"""The slides of the climb: one file, every chapter, each answer behind its question."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, Page

from docs.editions import Failure, slides, stories

ROOT = Path(__file__).resolve().parents[2]
GUIDE = Path(os.environ.get("GUIDE_HTML", ROOT / "build" / "guide")).resolve()

pytestmark = [
    pytest.mark.all,
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]


@pytest.fixture(scope="module")
def read() -> list[stories.Story]:
    return stories.read(GUIDE)


@pytest.fixture(scope="module")
def deck(read: list[stories.Story], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("deck") / "the slides.html"
    slides.write(read, out)
    return out


@pytest.fixture(scope="module")
def shown(deck: Path) -> list[Tag]:
    return BeautifulSoup(deck.read_text(encoding="utf-8"), "lxml").select(".slide")


@pytest.fixture
def page(browser: Browser, deck: Path) -> Page:
    opened = browser.new_page(viewport={"width": 1280, "height": 720})
    opened.goto(deck.as_uri())
    return opened


def at(page: Page) -> str:
    return page.locator(".where").inner_text().partition(" ")[0]


def test_it_needs_no_other_file(deck: Path) -> None:
    text = deck.read_text(encoding="utf-8")
    found = re.findall(r"(?:src|href)=\"(?!data:)([^\"]*)|url\(([^)]*)\)|@import", text)
    assert found == []


def test_every_chapter_opens(shown: list[Tag]) -> None:
    opened = [one.get_text(strip=True) for one in shown if "opening" in one["class"]]
    numbers = [int(re.findall(r"Chapter (\d+)", title)[0]) for title in opened]
    assert numbers == [*range(1, len(numbers)), 0]
    assert len(numbers) == len(list((ROOT / "docs" / "chapters").glob("*.rst")))


def test_each_answer_stands_behind_its_question(
    shown: list[Tag], read: list[stories.Story]
) -> None:
    kinds = ["question" in one["class"] for one in shown]
    asked = sum(len(story.article.select(".box-predict")) for story in read)
    assert sum(kinds) == asked > 30
    for place in [place for place, question in enumerate(kinds) if question]:
        question, answer = shown[place], shown[place + 1]
        assert "answer" in answer["class"]
        first = answer.select_one("p.answer")
        title = question.find("h2")
        assert first and title
        assert first.get_text() not in question.get_text()
        assert answer.select_one(".asked").get_text() == title.get_text()  # type: ignore[union-attr]


def test_keys_turn_and_notes_show(page: Page) -> None:
    count = page.locator(".slide").count()
    assert page.locator(".slide.shown").count() == 1
    for key, then in (("ArrowRight", "2"), (" ", "3"), ("ArrowLeft", "2"), ("End", str(count)),
                      ("ArrowRight", str(count)), ("Home", "1"), ("ArrowLeft", "1")):  # fmt: skip
        page.keyboard.press(key)
        assert at(page) == then, key
    page.keyboard.press("ArrowRight")
    page.reload()
    assert at(page) == "2"
    note = page.locator(".slide.shown .notes")
    assert not note.is_visible()
    page.keyboard.press("n")
    assert note.is_visible()


def test_nothing_is_cut_and_each_slide_prints_on_a_page(page: Page, tmp_path: Path) -> None:
    cut = page.evaluate(
        """[...document.querySelectorAll('.slide')].filter((one) => {
             one.classList.add('shown');
             const over = one.scrollHeight > one.clientHeight + 2;
             one.classList.remove('shown');
             return over;
           }).map((one) => one.textContent.slice(0, 60))"""
    )
    assert cut == []
    page.emulate_media(media="print")
    over = page.evaluate(
        """[...document.querySelectorAll('.slide')]
             .filter((one) => one.scrollHeight > one.clientHeight + 2)
             .map((one) => one.textContent.slice(0, 60))"""
    )
    assert over == []
    page.pdf(path=tmp_path / "deck.pdf", prefer_css_page_size=True)
    printed = pdfium.PdfDocument(tmp_path / "deck.pdf")
    assert len(printed) == page.locator(".slide").count()
    printed.close()


def test_a_question_without_an_answer_stops_it(read: list[stories.Story], tmp_path: Path) -> None:
    spoilt = stories.read(GUIDE)
    story = next(one for one in spoilt if one.article.select(".box-predict"))
    story.article.find(class_="answer").decompose()  # type: ignore[union-attr]
    with pytest.raises(Failure, match="a question has no answer"):
        slides.write(spoilt, tmp_path / "x.html")
    assert not list(tmp_path.iterdir())
