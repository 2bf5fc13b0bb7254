"""The guide's stories as they stand still: nothing to click, nothing folded, nothing given away.

What the web folds away stands at the end of its chapter, and the place says where: answers to
predictions and exercises, and stills of the panels in which the web runs kernels. The data under
the figures and where each number comes from stay on the web.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag
from bs4.element import AttributeValueList

from docs.editions import Failure

#: What has a part of its own, by the caption in the guide's table of contents.
PARTS = ("The climb", "Around the climb", "Past the classics")
#: Of the lab, what the stories lean on.
APPENDIX = ("chapters/chapter00_timing", "lab_checks", "glossary", "colophon")
#: The page that tells all comes after the chapters that ask.
PREFACE = "index"
ABOUT = "About this book"

#: Only the web has these, and scripts.
ON_THE_WEB = {
    "headerlink", "img.only-dark", "details.data", "page-foot", "toctree-wrapper", "doors",
    "ul.cards", "backrefs", "rung-later", "toy", "claim-proof",
}  # fmt: skip


@dataclass
class Story:
    """A page of the guide, ready to be set."""

    page: str  #: its name in the guide: chapters/chapter01_gmem
    part: str
    article: Tag
    images: Path  #: the folder that pictures are in

    @property
    def slug(self) -> str:
        return slug(self.page)

    @property
    def title(self) -> str:
        heading = self.article.find("h1")
        assert heading
        return " ".join(heading.get_text().split())

    def drawn(self, picture: Tag) -> Path:
        """The file of a picture; Failure where there is none."""
        path = self.images / Path(str(picture["src"])).name
        if not path.is_file():
            raise Failure(f"a picture of {self.page} is missing, {path}: tools/guide draws it")
        return path

    def sections(self) -> Iterator[tuple[str, str]]:
        """Anchor and title of each section."""
        for heading in self.article.find_all("h2"):
            yield str(heading["id"]), " ".join(heading.get_text().split())


def slug(page: str) -> str:
    return page.rpartition("/")[2]


def read(guide: Path, web: str = "") -> list[Story]:
    """The stories of a rendered guide, in reading order. ``web`` is where the guide is served.

    Raises Failure where there is no guide, or a page of it is missing.
    """
    if not (guide / "index.html").is_file():
        raise Failure(f"there is no guide in {guide}: tools/guide renders it")
    images = (guide / "_images").resolve()
    parts = [(PREFACE, ""), *_listed(guide)]
    parts += [(page, "The lab") for page in APPENDIX]
    made = [Story(page, part, _article(guide, page), images) for page, part in parts]
    known = {story.page: story for story in made}
    for story in made:
        _still(story)
    preface = known[PREFACE].article.find("h1")
    if preface:
        preface.string = ABOUT
    anchors = {name: _anchors(story) for name, story in known.items()}
    for story in made:
        _link(story, anchors, web)
    return made


def _listed(guide: Path) -> Iterator[tuple[str, str]]:
    """The pages that the guide's own contents have under the captions of PARTS."""
    index = BeautifulSoup((guide / "index.html").read_text(encoding="utf-8"), "lxml")
    captions = {one.get_text(strip=True): one for one in index.select(".sidebar-tree .caption")}
    for part in PARTS:
        below = captions[part].find_next_sibling("ul") if part in captions else None
        if not below:
            where = guide / "index.html"
            raise Failure(f"the guide's contents have no part \u201c{part}\u201d: {where}")
        for link in below.select("li.toctree-l1 > a"):
            yield str(link["href"]).removesuffix(".html"), part


def _article(guide: Path, page: str) -> Tag:
    path = guide / f"{page}.html"
    if not path.is_file():
        raise Failure(f"the guide lacks a page, {path}: tools/guide renders it")
    # The contents in the sidebar are as long again, and half of what is in here goes at once.
    text = path.read_text(encoding="utf-8")
    inside = re.search(r'<article [^>]*role="main".*</article>', text, re.DOTALL)
    article = BeautifulSoup(_plain(inside[0]) if inside else "", "lxml").find("article")
    if not article or not article.find("h1"):
        raise Failure(f"{path} is no page of the guide: tools/guide renders it")
    return article.extract()


# ------------------------------------------------------------------ one page, standing still


_maker = BeautifulSoup("", "html.parser")


def _new(name: str, text: str = "", **attributes: str) -> Tag:
    made = _maker.new_tag(name, attrs={key.rstrip("_"): said for key, said in attributes.items()})
    if text:
        made.string = text
    return made


def _still(story: Story) -> None:
    article = story.article
    met: set[str] = set()
    for tag in article.find_all(id=True):  # a table and its wrapper have one between them
        if str(tag["id"]) in met:
            del tag["id"]
        else:
            met.add(str(tag["id"]))
    for cards in article.find_all("ul", class_="cards"):  # these sections are the contents' own
        section = cards.find_parent("section")
        if section:
            section.decompose()
    for tag in article.find_all(_only_on_the_web):
        tag.decompose()
    for tag in article.select("[title], [tabindex]"):
        del tag["title"], tag["tabindex"]
    _headings(article)
    for strip in article.find_all("ul", class_="climb"):
        _climb(strip)
    for box in article.select("[data-guess]"):
        _guess(box)
    _panels(story)
    _answers(story)
    for left in article.find_all("details"):
        _unfold(left)
    for tag in article.find_all(class_="docutils"):
        kept = [name for name in tag.get_attribute_list("class") if name not in _MARKUP]
        tag["class"] = AttributeValueList(kept)
        if not kept:
            del tag["class"]


#: What the styles of the editions name, outside code.
STYLED = {
    "whole",
    "label",
    "climb-chapter",
    "climb-change",
    "climb-rate",
    "step-label",
    "step-lane",
    "step-words",
}
_MARKUP = {"docutils", "container", "literal", "notranslate", "reference", "internal"}


#: Of the classes that colour code, those that say something in black and white.
CODE = {
    "k",
    "kr",
    "kt",
    "kd",
    "nf",
    "c1",
    "cm",
    "gi",
    "gd",
    "gu",
    "gh",
    "gp",
    "hll",
    "linenos",
    "heat",
}


_SPAN = re.compile(r"""<span\b(?:[^>"]|"[^"]*")*>|</span>|<pre\b|</pre>""")
_CLASS = re.compile(r'\bclass="([^"]*)"')


def _plain(html: str) -> str:
    """Without the spans that only the web's styles and scripts know: half of all tags, and parsing
    is what takes time."""
    open_spans: list[bool] = []  # whether each is kept
    code = False

    def kept(found: re.Match[str]) -> str:
        nonlocal code
        tag = found[0]
        if tag == "</span>":
            return tag if open_spans.pop() else ""
        if tag in ("<pre", "</pre>"):
            code = tag == "<pre"
            return tag
        named = _CLASS.search(tag)
        classes = set(named[1].split()) if named else set()
        says = classes & CODE if code else classes & (STYLED | ON_THE_WEB) or ' id="' in tag
        open_spans.append(bool(says))
        return tag if says else ""

    return _SPAN.sub(kept, html)


def _only_on_the_web(tag: Tag) -> bool:
    return tag.name == "script" or any(
        name in ON_THE_WEB or f"{tag.name}.{name}" in ON_THE_WEB
        for name in tag.get_attribute_list("class")
    )


def _headings(article: Tag) -> None:
    """Sphinx gives a section the id. A heading takes it here, for contents and outline."""
    for heading in article.find_all(["h1", "h2", "h3"]):
        section = heading.parent
        if section and section.get("id"):
            heading["id"] = section["id"]
            del section["id"]


def _climb(strip: Tag) -> None:
    """Bars as a table, which every reader can draw. A rung that is asked for has no number."""
    table = _new("table", class_="climb")
    for bar in strip.find_all("li"):
        blank = "blank" in bar.get_attribute_list("class")
        share = re.search(r"--share:\s*([\d.]+)", str(bar.get("style", "")))
        row = _new("tr")
        for name in ("chapter", "change"):
            span = bar.find(class_=f"climb-{name}")
            row.append(_new("td", span.get_text() if span else "", class_=f"climb-{name}"))
        cell = _new("td", class_="climb-bars")
        rate = bar.find(class_="climb-rate")
        if blank:
            cell.append(_new("span", "your guess:", class_="climb-guess"))
        elif share:
            wide = f"width: {76 * float(share[1]):.1f}%"
            beside = " climb-beside" if "climb-beside" in bar.get_attribute_list("class") else ""
            cell.append(_new("span", "\u00a0", class_=f"climb-fill{beside}", style=wide))
            cell.append(_new("span", f" {rate.get_text()}" if rate else "", class_="climb-rate"))
        row.append(cell)
        table.append(row)
    strip.replace_with(table)


def _guess(box: Tag) -> None:
    """A form to fill in by pencil. What the page's script knows goes: the reader doesn't yet."""
    data = json.loads(str(box["data-guess"]))
    del box["data-guess"]
    asked = box.find(class_="box-title")
    if data["kind"] == "slider" and asked:
        unit = data["unit"] if data["unit"] == "\u00d7" else f"\u202f{data['unit']}"
        ends = f"{data['from']:g}{unit} and {data['to']:g}{unit}"
        asked.insert_after(_new("p", f"My guess, between {ends}: ", class_="guess-line"))


def _panels(story: Story) -> None:
    """Where the web runs a kernel, paper has one step of it, at the end of the chapter."""
    stills: list[Tag] = []
    for panel in story.article.find_all("details", class_="run-here"):
        drawn = panel.find(class_="run-still")
        if not drawn:
            panel.decompose()
            continue
        number = len(stills) + 1
        place, still = f"step-{number}", f"still-{number}"
        panel.replace_with(_see(f"One step of this kernel, drawn: still {number}", still, place))
        head = drawn.find(class_="step-head")
        said = head.extract().get_text().rstrip(".") if head else ""
        made = _new("div", class_="still", id=still)
        made.append(_back(f"Still {number}.", place, f" {said}."))
        made.append(drawn.extract())
        stills.append(made)
    if stills:
        legends = [one for made in stills for one in made.find_all(class_="step-legend")]
        said = next((one.get_text() for one in legends if one.get_text().startswith("Filled")), "")
        for one in legends:
            if one.get_text() == said:
                one.decompose()
        intro = _new("p", f"On the web you run these kernels and step through them. {said}")
        _section(story.article, "Kernels in steps", "stills", [intro, *stills])


def _answers(story: Story) -> None:
    answers: list[Tag] = []
    for fold in story.article.find_all("details", class_="answer"):
        label = fold.find("summary")
        if label:
            label.decompose()
        box = fold.find_parent(class_="box")
        asked = box.find(class_="box-title") if box else None
        number = len(answers) + 1
        place, answer = f"question-{number}", f"answer-{number}"
        made = _new("div", class_="answer", id=answer)
        words = f" {' '.join(asked.get_text().split())}" if asked else ""
        made.append(_back(f"Answer {number}.", place, words))
        fold.insert_before(_see(f"Answer {number}", answer, place))
        for child in list(fold.children):
            made.append(child.extract())
        fold.decompose()
        answers.append(made)
    if answers:
        stills = story.article.find(id="stills")
        _section(story.article, "Answers", "answers", list(answers))
        if stills and stills.parent:  # answers come first
            story.article.append(stills.parent.extract())


def _see(text: str, target: str, place: str) -> Tag:
    made = _new("p", class_="see", id=place)
    made.append(_new("a", text, href=f"#{target}", class_="to-page"))
    return made


def _back(text: str, place: str, words: str) -> Tag:
    made = _new("p", class_="answer-title")
    made.append(_new("a", text, href=f"#{place}"))
    made.append(words)
    return made


def _section(article: Tag, title: str, name: str, content: list[Tag]) -> None:
    section = _new("section", class_="at-the-end")
    section.append(_new("h2", title, id=name))
    for one in content:
        section.append(one)
    article.append(section)


def _unfold(fold: Tag) -> None:
    label = fold.find("summary")
    if label:
        label.name = "p"
        label["class"] = "unfolded"
    fold.name = "div"
    del fold["class"]


# ------------------------------------------------------------------ links between pages


def _anchors(story: Story) -> set[str]:
    return {str(tag["id"]) for tag in story.article.find_all(id=True)}


def _link(story: Story, anchors: dict[str, set[str]], web: str) -> None:
    """Anchors unique in the book, and links to them; other links lead to the web, or are words."""
    for tag in story.article.find_all(id=True):
        tag["id"] = f"{story.slug}--{tag['id']}"
    for link in story.article.find_all("a", href=True):
        parts = urlsplit(str(link["href"]))
        if parts.scheme:
            continue
        folder = posixpath.dirname(story.page)
        path = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
        page = path.removesuffix(".html") if parts.path else story.page
        wanted = unquote(parts.fragment)
        if page in anchors and (not wanted or wanted in anchors[page]):
            link["href"] = f"#{slug(page)}--{wanted}" if wanted else f"#{slug(page)}"
            link["class"] = _kind(link, page, story)
        elif web:
            link["href"] = f"{web.rstrip('/')}/{path}" + (f"#{wanted}" if wanted else "")
        else:
            link.name = "span"
            link.attrs = {"class": "on-the-web"}
    story.article["id"] = story.slug


def _kind(link: Tag, page: str, story: Story) -> str:
    """The glossary's terms are many, and have no page number each."""
    if "to-page" in link.get_attribute_list("class"):
        return "to-page"
    if page in ("glossary", "colophon"):
        return "term"
    return "inside" if page == story.page else "to-page"
