"""A folded passage: a plain <details>, so that it opens by keyboard and with scripts off."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


class folded(nodes.General, nodes.Element):  # docutils names its node classes in lower case
    """Its first child is a ``summary``; the rest is what unfolds."""


class summary(nodes.Part, nodes.TextElement):
    """The line that is always seen."""


def fold(label: str, body: Sequence[nodes.Node], *classes: str) -> folded:
    """``body`` folded under ``label``."""
    return folded("", summary("", "", nodes.Text(label)), *body, classes=["folded", *classes])


def _visit_folded(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "details"))


def _depart_folded(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</details>\n")


def _visit_summary(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "summary", suffix=""))


def _depart_summary(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</summary>\n")


def setup(app: Sphinx) -> None:
    app.add_node(folded, html=(_visit_folded, _depart_folded))
    app.add_node(summary, html=(_visit_summary, _depart_summary))
