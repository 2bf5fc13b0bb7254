"""Two renderings of the guide, page by page: what their text says, and how they look."""

from __future__ import annotations

import difflib
import io
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Error, Page, sync_playwright

from tools.browser import launched

WIDTH = 1280
STRIP = 4000  # rows of a page that are pictured at a time: a long page is more than a picture holds
GAP = 60  # rows alike between two places that differ
SHOWN = 3  # of the places on a page
TALLEST = 800  # rows of a place that are shown

#: A picture far down is otherwise fetched when a reader comes near it.
ALL_PICTURES = """Promise.all([...document.images].map(image => {
  image.loading = "eager";
  return image.decode().catch(() => 0);
}))"""

#: Scripts go on changing a page once it is there. This waits until nothing has changed for half a
#: second, or until ten seconds have passed.
STILL = """() => new Promise(done => {
  let quiet = setTimeout(done, 500);
  const changed = () => {
    clearTimeout(quiet);
    quiet = setTimeout(done, 500);
  };
  const all = {attributes: true, characterData: true, childList: true, subtree: true};
  new MutationObserver(changed).observe(document, all);
  setTimeout(done, 10000);
})"""

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


@dataclass
class Place:
    """Rows of a page that look different, and the pictures of them, old and new."""

    top: int
    rows: int
    old: str
    new: str


@dataclass
class Change:
    """What is different about one page: its text, and how many of its pixels."""

    name: str
    text: list[str] = field(default_factory=list)
    pixels: int | None = None  # None: not pictured
    places: list[Place] = field(default_factory=list)
    only: str = ""  # the page is in the old or the new guide alone

    @property
    def seen(self) -> bool:
        """Can a reader tell the two apart? What was not pictured may look different."""
        return bool(self.only or self.text or self.pixels or self.pixels is None)


class _Text(HTMLParser):
    """A page's words, a line per block, with what pictures say."""

    IN_LINES = ("a", "abbr", "b", "code", "em", "i", "kbd", "mark", "span", "strong", "sub", "sup")
    UNSEEN = ("script", "style", "template")

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.unseen += tag in self.UNSEEN
        if tag == "img":
            self.said.append(f"[{dict(attrs).get('alt') or 'a picture'}]")
        elif tag not in self.IN_LINES:
            self.said.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.unseen -= tag in self.UNSEEN
        if tag not in self.IN_LINES:
            self.said.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.said.append(re.sub(r"\s+", " ", data) if data.strip() or "\n" not in data else " ")


def lines(html: str) -> list[str]:
    """The text of a page as one reads it."""
    reader = _Text()
    reader.feed(html)
    reader.close()
    found = (" ".join(line.split()) for line in "".join(reader.said).split("\n"))
    return [line for line in found if line]


def _behind(page: Path, known: dict[Path, bytes]) -> str:
    """A digest of a page and of all that it is drawn with: pictures, styles and scripts.

    *known*: digests of those files, which pages share.
    """
    html = page.read_bytes()
    digest = sha256(html)
    named = re.findall(rb'(?:src|srcset|href)="([^"#?]+\.(?:svg|png|css|js))', html)
    for name in sorted(set(named)):
        file = Path(os.path.normpath(page.parent / name.decode()))
        if file.name != "searchindex.js" and file.is_file():
            if file not in known:
                known[file] = sha256(file.read_bytes()).digest()
            digest.update(name + known[file])
    return digest.hexdigest()


def compared(
    old: Path, new: Path, pictures: Path, said: Callable[[int, int, str], None]
) -> tuple[int, list[Change], str]:
    """How many pages there are, those that differ, and why no picture was taken, if none was.

    *said* is told how far it has come: the page's number, of how many, and its name.
    """
    names = sorted({str(page.relative_to(guide)) for guide in (old, new)
                    for page in guide.rglob("*.html")
                    if "_static" not in page.relative_to(guide).parts})  # fmt: skip
    changes: list[Change] = []
    known: dict[Path, bytes] = {}
    for name in names:
        if not (new / name).exists() or not (old / name).exists():
            changes.append(Change(name, only="old" if (old / name).exists() else "new"))
        elif _behind(old / name, known) != _behind(new / name, known):
            before, after = (lines((guide / name).read_text("utf-8")) for guide in (old, new))
            changes.append(Change(name, [*difflib.unified_diff(before, after, n=1, lineterm="")]))
    both = [change for change in changes if not change.only]
    if not both:
        return len(names), changes, ""
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir()
    try:
        with sync_playwright() as playwright:
            browser = launched(playwright)
            for at, change in enumerate(both, 1):
                said(at, len(both), change.name)
                views = []
                for guide in (old, new):
                    context = browser.new_context(
                        viewport={"width": WIDTH, "height": 900}, reduced_motion="reduce"
                    )
                    view = context.new_page()
                    view.goto((guide / change.name).as_uri())
                    view.evaluate(ALL_PICTURES)
                    view.evaluate(STILL)
                    views.append(view)
                _look(change, views[0], views[1], pictures)
                for view in views:
                    view.context.close()
            browser.close()
    except Error as error:
        return len(names), changes, error.message.splitlines()[0]
    return len(names), changes, ""


def _look(change: Change, old: Page, new: Page, pictures: Path) -> None:
    """Counts the pixels that differ, and keeps pictures of the first places where they do."""
    heights = [int(view.evaluate("document.documentElement.scrollHeight")) for view in (old, new)]
    change.pixels = 0
    for top in range(0, max(heights), STRIP):
        before, after = (
            _strip(view, top, height) for view, height in zip((old, new), heights, strict=True)
        )
        differs = (before != after).any(axis=2)
        change.pixels += int(differs.sum())
        for first, last in _bands(differs.any(axis=1)):
            if len(change.places) == SHOWN:
                break
            begin = max(0, first - GAP // 2)
            end = min(last + GAP // 2, begin + TALLEST, STRIP)
            stem = f"{change.name.removesuffix('.html').replace('/', '-')}-{len(change.places)}"
            for kind, pixels in (("old", before), ("new", after)):
                Image.fromarray(pixels[begin:end]).save(pictures / f"{stem}-{kind}.png")
            place = Place(top + begin, end - begin, f"{stem}-old.png", f"{stem}-new.png")
            change.places.append(place)


def _strip(view: Page, top: int, height: int) -> Pixels:
    """STRIP rows of a page from *top* on; white where it has ended."""
    pixels = np.full((STRIP, WIDTH, 3), 255, np.uint8)
    rows = min(STRIP, height - top)
    if rows > 0:
        shot = view.screenshot(
            full_page=True, animations="disabled", caret="hide",
            clip={"x": 0, "y": top, "width": WIDTH, "height": rows},
        )  # fmt: skip
        seen = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"))
        pixels[: seen.shape[0], : seen.shape[1]] = seen[:, :WIDTH]
    return pixels


def _bands(rows: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Iterator[tuple[int, int]]:
    """The first and the end of each run of rows that differ, those close together as one."""
    (at,) = np.nonzero(rows)
    if len(at):
        cuts = np.nonzero(np.diff(at) > GAP)[0]
        for first, last in zip([0, *(cuts + 1)], [*cuts, len(at) - 1], strict=True):
            yield int(at[first]), int(at[last]) + 1
