"""What the timer noticed on the reader's own card, as ``tools/measure`` told it.

All of it stands once, where the home page says which cards the numbers are from. What concerns the
times of a chapter stands at the head of that chapter's pages, too. Of the book's own sets nothing
is said: a committed recording is made again before it needs this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from tools.measuring.notices import Notice

from .book import Book, Lost, NotYet
from .directive import LookupDirective
from .names import chapter_of
from .provenance import short_device
from .strings import _


def _told(title: str, notices: Sequence[Notice]) -> list[nodes.Node]:
    if not notices:
        return []
    items = nodes.bullet_list()
    for each in notices:
        name = nodes.strong("", f"{each.name[:1].upper()}{each.name[1:]}.")
        items += nodes.list_item("", nodes.paragraph("", "", name, nodes.Text(f" {each.text}")))
    return [nodes.admonition("", nodes.title("", title), items, classes=["noticed"])]


class Noticed(LookupDirective):
    """``.. noticed::``: all of it, or nothing."""

    required_arguments = 0

    def show(self, book: Book) -> list[nodes.Node]:
        device, notices = book.noticed()
        title = _("What we noticed while your {device} was measured")
        return _told(title.format(device=short_device(device)), notices)


class InChapter(SphinxTransform):
    """Puts what concerns a chapter under the title of its pages."""

    default_priority = 410  # after the climb's strip, so above it

    def apply(self, **kwargs: Any) -> None:
        chapter = chapter_of(self.env.docname)
        title = next(iter(self.document.findall(nodes.title)), None)
        if not chapter or title is None:
            return
        try:
            device, notices = Book(self.env).noticed()
        except (Lost, NotYet):  # told where the page shows a number
            return
        words = _("Take your {device}\u2019s times in this chapter with care")
        here = [each for each in notices if chapter in each.chapters]
        at = title.parent.index(title) + 1
        title.parent[at:at] = _told(words.format(device=short_device(device)), here)


def setup(app: Sphinx) -> None:
    app.add_directive("noticed", Noticed)
    app.add_transform(InChapter)
