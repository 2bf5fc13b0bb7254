"""What a reader moves by hand: a drawing that a script makes and the page has none without it.

``.. play:: banks`` is where ``ladder-banks.js`` draws how a warp's words fall into banks, and
``packer`` where ``ladder-packer.js`` fills an SM with blocks. With scripts off, on paper and in an
e-reader nothing is there, so the text around it has to do without.
"""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from .book import Book
from .directive import LookupDirective
from .names import BadName

#: Each has a script of its name.
TOYS = ("banks", "packer")


class toy(nodes.General, nodes.Element):  # docutils names its node classes in lower case
    """Its place in the page."""


class Play(LookupDirective):
    """``.. play:: banks``; ``:spare:`` lets the reader leave a spare word after every 32."""

    option_spec: ClassVar = {"spare": directives.flag}

    def show(self, book: Book) -> list[nodes.Node]:
        (name,) = self.words("NAME")
        if name not in TOYS:
            raise BadName(f"there is no '{name}' to play with; there are: {', '.join(TOYS)}")
        return [toy("", classes=["toy"], name=name, spare="spare" in self.options)]


def _visit(self: HTML5Translator, node: nodes.Element) -> None:
    attributes = {"data-toy": node["name"], "hidden": "hidden"}
    if node["spare"]:
        attributes["data-spare"] = "yes"
    self.body.append(self.starttag(node, "div", **attributes))


def _depart(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    app.add_node(toy, html=(_visit, _depart))
    app.add_directive("play", Play)
