"""Slides of the climb, from the stories: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from copy import copy
from html import escape
from pathlib import Path

from bs4 import Tag

from docs.editions import SUBTITLE, TITLE, Failure, put
from docs.editions.stories import PREFACE, Story

HERE = Path(__file__).parent
#: A diff of more lines can't be read from the last row.
MOST_LINES = 26


def write(stories: list[Story], out: Path) -> None:
    """Writes the deck to ``out``, which is replaced when it is whole.

    Raises Failure where a picture is missing or the file can't be written.
    """
    first = next(story for story in stories if story.page == PREFACE)
    made = [
        slide(f"<h1>{TITLE}</h1><p class='lead'>{SUBTITLE}</p>", "Arrow keys turn, N hides this.")
    ]
    strip = first.article.find(class_="climb-strip")
    if strip:
        made.append(
            slide(f"<h2>The climb</h2>{_plain(strip)}", "Come back to it after each chapter.")
        )
    for story in stories:
        if re.match(r"chapter\d", story.slug):
            made += chapter(story)
    style = (HERE / "slides.css").read_text(encoding="utf-8")
    script = (HERE / "slides.js").read_text(encoding="utf-8")
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{TITLE}: slides</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>'
        f"<body>{''.join(made)}<script>{script}</script></body></html>"
    )
    put(out, text)


def slide(body: str, notes: str = "", kind: str = "") -> str:
    said = f'<aside class="notes">{escape(notes)}</aside>' if notes else ""
    return f'<section class="slide {kind}"><div class="body">{body}</div>{said}</section>'


def chapter(story: Story) -> Iterator[str]:
    """Title, what changed, its questions each before its answer, its pictures, and the recap."""
    article = story.article
    yield slide(f"<h1>{escape(story.title)}</h1>", kind="opening")
    changed = article.select_one(".changed pre")
    if changed and len(changed.get_text().splitlines()) <= MOST_LINES:
        yield slide(
            f"<h2>What changed</h2>{_plain(changed)}", "Which lines does a warp run?", "code"
        )
    # In the story's own order; what stands in an answer comes with it.
    for found in article.find_all(["div", "figure"]):
        if found.find_parent(class_="at-the-end"):
            break
        if found.name == "figure":
            yield slide(_figure(found, story), kind="figure")
        elif "box-predict" in found.get_attribute_list("class"):
            yield from _question(found, story)
    recap = article.select_one(".box-recap ul")
    if recap:
        yield slide(f"<h2>In short</h2>{_plain(recap)}", kind="recap")


def _question(box: Tag, story: Story) -> Iterator[str]:
    title = box.find(class_="box-title")
    see = box.select_one(".see a[href*='--answer-']")
    if not title or not see:
        return
    asked = f"<h2>{_inside(title)}</h2>"
    choices = [f"<li>{_inside(one)}</li>" for one in box.find_all(class_="guess-choice")]
    line = box.find(class_="guess-line")
    between = (
        f"<p>{_inside(line).rstrip(': ').replace('My guess', 'Your guess')}</p>" if line else ""
    )
    body = asked + (f"<ol>{''.join(choices)}</ol>" if choices else between)
    yield slide(body, "Each student writes down a guess before the discussion.", "question")
    answer = story.article.find(id=str(see["href"])[1:])
    if not answer:
        raise Failure(f"{story.page}: a question has no answer, {see['href']}")
    paragraphs = [one for one in answer.find_all("p", recursive=False)]
    said = [one for one in paragraphs if "answer-title" not in one.get_attribute_list("class")]
    first = f"<p class='answer'>{_inside(said[0])}</p>" if said else ""
    notes = " ".join(" ".join(one.get_text().split()) for one in said[1:2])
    figure = answer.find("figure")
    drawn = _figure(figure, story) if figure else ""
    yield slide(f"<p class='asked'>{_inside(title)}</p>{first}{drawn}", notes, "answer")


def _figure(figure: Tag, story: Story) -> str:
    picture = figure.find("img")
    caption = figure.select_one("figcaption > p")
    if not picture:
        raise Failure(f"{story.page}: a figure without a drawing")
    data = base64.b64encode(story.drawn(picture).read_bytes()).decode()
    said = f"<figcaption>{_inside(caption)}</figcaption>" if caption else ""
    return (
        f'<figure><img alt="{escape(str(picture["alt"]))}" src="data:image/svg+xml;base64,{data}">'
        f"{said}</figure>"
    )


def _plain(tag: Tag) -> str:
    """Without links and ids, which lead into the book."""
    made = copy(tag)
    for link in made.find_all("a"):
        link.unwrap()
    for one in [made, *made.find_all(id=True)]:
        one.attrs.pop("id", None)
    return str(made)


def _inside(tag: Tag) -> str:
    made = copy(tag)
    for link in made.find_all("a"):
        link.unwrap()
    return made.decode_contents()
