"""Figures drawn from recorded runs (plot) and from access patterns (diagram)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from .book import Book
from .directive import LookupDirective
from .folded import fold
from .strings import _
from .table import Column, table


class Diagram(LookupDirective):
    """``.. diagram:: FIGURE``, with the body as its caption, or the drawing's own.

    The drawing's JSON gives ``alt``, ``caption``, ``provenance`` and ``table`` (``columns``,
    ``rows``), so that what is said of a figure is made with it.
    """

    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def show(self, book: Book) -> list[nodes.Node]:
        (name,) = self.words("FIGURE")
        light, dark, said = book.figure(name)
        alt = self.options.get("alt") or said["alt"]
        made = nodes.figure(classes=["picture", self.name])
        drawings = nodes.container(classes=["drawing"])
        for path, scheme in ((light, "only-light"), (dark, "only-dark")):
            drawings += nodes.image(uri=self._uri(path), alt=alt, classes=[scheme])
        made += drawings
        body = self.parse_content_to_nodes()
        made += nodes.caption("", "", *(self._first(body) or self.inline(said["caption"])))
        legend = nodes.legend("", *body[1:])
        legend += self.origin(said)
        if said.get("table"):
            legend += fold(_("The data as a table"), [_data(said["table"])], "data")
        if legend.children:
            made += legend
        return [made]

    def origin(self, said: dict[str, Any]) -> list[nodes.Node]:
        return []

    def _uri(self, path: Path) -> str:
        # Sphinx takes images relative to the page's folder, also from outside the sources.
        page = Path(self.env.doc2path(self.env.docname)).parent
        return Path(os.path.relpath(path, page)).as_posix()

    @staticmethod
    def _first(body: list[nodes.Node]) -> list[nodes.Node]:
        return list(body[0].children) if body and isinstance(body[0], nodes.paragraph) else []


class Plot(Diagram):
    """``.. plot:: FIGURE``: a diagram with the provenance of its runs."""

    def origin(self, said: dict[str, Any]) -> list[nodes.Node]:
        words = said.get("provenance") or ""
        if isinstance(words, list):
            words = "; ".join(words)
        if not words:
            return []
        return [
            nodes.paragraph("", _("Recorded on {origin}").format(origin=words), classes=["origin"])
        ]


def _data(data: dict[str, Any]) -> nodes.table:
    columns = [
        Column(str(heading), numeric=all(_is_number(row[place]) for row in data["rows"]))
        for place, heading in enumerate(data["columns"])
    ]
    return table(columns, [[str(cell) for cell in row] for row in data["rows"]])


def _is_number(cell: Any) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def setup(app: Sphinx) -> None:
    app.add_directive("plot", Plot)
    app.add_directive("diagram", Diagram)
