"""A PDF of the stories, A4 or Letter, set by WeasyPrint: contents with page numbers, running heads,
an outline, links, embedded fonts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path

import matplotlib
from weasyprint import CSS, HTML
from weasyprint.text.fonts import FontConfiguration

from docs.editions import SUBTITLE, TITLE, Failure, put
from docs.editions.stories import PARTS, Story

HERE = Path(__file__).parent
#: Debian's fonts-linuxlibertine. Without it the text is set in what comes with Matplotlib.
LIBERTINE = Path("/usr/share/fonts/opentype/linux-libertine")


def write(stories: list[Story], paper: str, out: Path) -> None:
    """Sets the stories on ``paper`` into ``out``, which is replaced when the PDF is whole.

    Raises Failure where a picture is missing or the file can't be written.
    """
    for story in stories:
        for picture in story.article.select("img[src]"):
            picture["src"] = story.drawn(picture).as_uri()
    fonts = FontConfiguration()
    sheets = [
        CSS(string=text, font_config=fonts, base_url=str(HERE))
        for text in (_faces(), (HERE / "paper.css").read_text(encoding="utf-8"),
                     f"@page {{ size: {paper} }}")
    ]  # fmt: skip
    said = _Said()
    logger = logging.getLogger("weasyprint")
    logger.addHandler(said)
    try:
        pdf = HTML(string=whole(stories), base_url=str(HERE)).write_pdf(
            stylesheets=sheets, font_config=fonts, pdf_variant="pdf/ua-1"
        )
    finally:
        logger.removeHandler(said)
    if said.faults:
        raise Failure("; ".join(said.faults[:5]))
    put(out, pdf)


class _Said(logging.Handler):
    """WeasyPrint only logs a link that leads nowhere and a picture that it can't read."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.faults.append(record.getMessage())


def _faces() -> str:
    ours = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    book = "LinLibertine_{}.otf"
    serif = {"": "DejaVuSerif", "B": "DejaVuSerif-Bold", "I": "DejaVuSerif-Italic",
             "BI": "DejaVuSerif-BoldItalic"}  # fmt: skip
    sans = {"": "DejaVuSans", "B": "DejaVuSans-Bold", "I": "DejaVuSans-Oblique",
            "BI": "DejaVuSans-BoldOblique"}  # fmt: skip
    mono = {"": "DejaVuSansMono", "B": "DejaVuSansMono-Bold", "I": "DejaVuSansMono-Oblique",
            "BI": "DejaVuSansMono-BoldOblique"}  # fmt: skip

    def face(name: str, path: Path, kind: str) -> str:
        weight = "bold" if "B" in kind else "normal"
        style = "italic" if "I" in kind else "normal"
        return (
            f'@font-face {{ font-family: "{name}"; src: url("{path.as_uri()}"); '
            f"font-weight: {weight}; font-style: {style} }}\n"
        )

    made = ""
    for kind, file in serif.items():
        theirs = LIBERTINE / book.format("R" + kind if kind else "R")
        made += face("Text", theirs if theirs.is_file() else ours / f"{file}.ttf", kind)
    for name, files in (("DejaVu Sans", sans), ("DejaVu Sans Mono", mono)):
        made += "".join(face(name, ours / f"{file}.ttf", kind) for kind, file in files.items())
    return made


def whole(stories: list[Story]) -> str:
    """The book as one page of HTML."""
    body = _title_page() + "".join(_contents(stories))
    for part, group in groupby(stories, key=lambda story: story.part):
        body += f'<div class="part" data-part="{escape(part)}">' if part else "<div>"
        body += "".join(str(story.article) for story in group) + "</div>"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title>'
        f'<meta name="author" content="The authors of {TITLE}">'
        f'<meta name="description" content="{SUBTITLE}"></head><body>{body}</body></html>'
    )


def _title_page() -> str:
    licence = "Text and figures: CC BY 4.0. Code: MIT."
    return (
        f'<section class="title-page"><p class="title">{TITLE}</p>'
        f'<p class="subtitle">{SUBTITLE}</p><p class="licence">{licence}</p></section>'
    )


def _contents(stories: list[Story]) -> Iterator[str]:
    yield '<nav class="contents"><h1 id="contents">Contents</h1>'
    for part, group in groupby(stories, key=lambda story: story.part):
        if part:
            yield f'<p class="contents-part">{escape(part)}</p>'
        for story in group:
            link = f'<a href="#{story.slug}">{escape(story.title)}</a>'
            yield f'<p class="contents-story">{link}</p>'
            if story.part in PARTS:
                for anchor, title in story.sections():
                    yield f'<p class="contents-section"><a href="#{anchor}">{escape(title)}</a></p>'
    yield "</nav>"
