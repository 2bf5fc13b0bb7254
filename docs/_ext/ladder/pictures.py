"""Figures drawn from recorded runs (plot) and from access patterns (diagram)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from .book import Book
from .directive import LookupDirective
from .folded import fold
from .strings import _
from .table import Column, table


def picture(
    env: BuildEnvironment,
    kind: str,
    drawn: tuple[Path, Path, dict[str, Any]],
    alt: str,
    caption: Sequence[nodes.Node],
    beneath: Sequence[nodes.Node],
) -> nodes.figure:
    """A drawing in both themes, its caption, and beneath it its provenance and its data."""
    light, dark, said = drawn
    made = nodes.figure(classes=["picture", kind])
    drawings = nodes.container(classes=["drawing"])
    # Sphinx takes images relative to the page's folder, also from outside the sources.
    page = Path(env.doc2path(env.docname)).parent
    for path, scheme in ((light, "only-light"), (dark, "only-dark")):
        uri = Path(os.path.relpath(path, page)).as_posix()
        drawings += nodes.image(uri=uri, alt=alt or said["alt"], classes=[scheme])
    made += drawings
    made += nodes.caption("", "", *caption)
    legend = nodes.legend("", *beneath)
    words = said.get("provenance") if kind == "plot" else None
    if words:
        recorded_on = _("Recorded on {origin}").format(origin=words)
        legend += nodes.paragraph("", recorded_on, classes=["origin"])
    if said.get("table"):
        legend += fold(_("The data as a table"), [_data(said["table"])], "data")
    if legend.children:
        made += legend
    return made


class Diagram(LookupDirective):
    """``.. diagram:: FIGURE``, with the body as its caption, or the drawing's own.

    The drawing's JSON gives ``alt``, ``caption``, ``provenance`` and ``table`` (``columns``,
    ``rows``), so that what is said of a figure is made with it.
    """

    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def show(self, book: Book) -> list[nodes.Node]:
        (name,) = self.words("FIGURE")
        drawn = book.figure(name)
        body = self.parse_content_to_nodes()
        caption = self._first(body) or self.inline(drawn[2]["caption"])
        alt = self.options.get("alt", "")
        return [picture(self.env, self.name, drawn, alt, caption, body[1:])]

    @staticmethod
    def _first(body: list[nodes.Node]) -> list[nodes.Node]:
        return list(body[0].children) if body and isinstance(body[0], nodes.paragraph) else []


class Plot(Diagram):
    """``.. plot:: FIGURE``: a diagram with the provenance of its runs."""


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
