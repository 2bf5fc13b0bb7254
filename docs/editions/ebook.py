"""An EPUB 3 of the stories, packed by EbookLib: a file per story, contents, cover, pictures."""

from __future__ import annotations

import io
import re
import uuid
import warnings
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib
from ebooklib import epub

from docs.editions import SUBTITLE, TITLE, put
from docs.editions.stories import Story

HERE = Path(__file__).parent
AUTHOR = f"The authors of {TITLE}"
#: A book keeps its identity from one build to the next.
IDENTITY = uuid.uuid5(uuid.NAMESPACE_URL, TITLE).urn
#: What catalogues and screen readers are told: https://www.w3.org/TR/epub-a11y-11/.
ACCESS = {
    "accessMode": ("textual", "visual"),
    "accessModeSufficient": ("textual",),
    "accessibilityFeature": ("alternativeText", "structuralNavigation", "tableOfContents"),
    "accessibilityHazard": ("none",),
    "accessibilitySummary": ("Every figure has a text that says what it shows.",),
}


def write(stories: list[Story], out: Path) -> None:
    """Packs the stories into ``out``, which is replaced when the file is whole.

    Raises Failure where a picture is missing or the file can't be written.
    """
    book = epub.EpubBook()
    book.set_identifier(IDENTITY)
    book.set_title(f"{TITLE}: {SUBTITLE}")
    book.set_language("en")
    book.add_author(AUTHOR)
    book.add_metadata("DC", "rights", "Text and figures: CC BY 4.0. Code: MIT.")
    for name, values in ACCESS.items():
        for value in values:
            book.add_metadata(None, "meta", value, {"property": f"schema:{name}"})
    book.set_cover("cover.png", _cover(), create_page=False)
    style = epub.EpubItem("style", "style.css", "text/css", (HERE / "ebook.css").read_bytes())
    book.add_item(style)
    files = {story.slug: f"{story.slug}.xhtml" for story in stories}
    pages: dict[str, Any] = {}
    pictures: dict[str, str] = {}
    for story in stories:
        _pictures(story, book, pictures)
        for link in story.article.select('a[href^="#"]'):
            target = str(link["href"])[1:]
            home, between, _rest = target.partition("--")
            link["href"] = files[home] + (f"#{target}" if between else "")
        page = epub.EpubHtml(
            uid=story.slug, title=story.title, file_name=files[story.slug], lang="en"
        )
        page.content = str(story.article)
        page.add_item(style)
        book.add_item(page)
        pages[story.slug] = page
    toc: list[Any] = []
    for part, group in groupby(stories, key=lambda story: story.part):
        listed = [pages[story.slug] for story in group]
        toc += [(epub.Section(part, href=listed[0].file_name), listed)] if part else listed
    book.toc = toc
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    book.spine = ["nav", *pages.values()]
    with warnings.catch_warnings(action="ignore"):  # that it will raise what it is told to
        packed = io.BytesIO()
        epub.write_epub(packed, book, {"raise_exceptions": True})
    put(out, packed.getvalue())


def _pictures(story: Story, book: epub.EpubBook, known: dict[str, str]) -> None:
    for picture in story.article.select("img[src]"):
        path = story.drawn(picture)
        if path.name not in known:
            known[path.name] = f"images/{path.name}"
            # An EPUB's files name no document type that lies elsewhere.
            text = re.sub(r"<!DOCTYPE.*?>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            book.add_item(epub.EpubItem(f"picture-{len(known)}", known[path.name],
                                        "image/svg+xml", text.encode()))  # fmt: skip
        picture["src"] = known[path.name]


def _cover() -> bytes:
    """Title and a ladder: rungs alone, no bar that gives a result away."""
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"font.family": "DejaVu Serif"}):
        figure = Figure(figsize=(6, 9), facecolor="white")
        figure.text(0.1, 0.83, "The Reduction\nLadder", size=36, linespacing=1.15)
        figure.text(0.1, 0.77, SUBTITLE, size=17, style="italic")
        axes = figure.add_axes((0.1, 0.08, 0.8, 0.6))
        axes.set_axis_off()
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 12)
        for side in (0.3, 0.7):
            axes.plot([side, side], [0, 12], color="black", lw=5, solid_capstyle="butt")
        for rung in range(1, 12):
            axes.plot([0.3, 0.7], [rung, rung], color="black", lw=3.5)
        made = io.BytesIO()
        figure.savefig(made, format="png", dpi=200, metadata={"Software": None})
    return made.getvalue()
