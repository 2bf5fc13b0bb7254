"""Where the HTML that Sphinx writes would mislead a screen reader, or a phone."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

#: Letters of code that fit on a phone's line, in a list in a box, too.
SHORT = 29


def _visit_literal(self: HTML5Translator, node: nodes.literal) -> None:
    # A line may break at any hyphen, those of --n too. The style keeps short code whole.
    if all(len(word) <= SHORT for word in node.astext().split()):
        node["classes"].append("short")
    HTML5Translator.visit_literal(self, node)


def _visit_citation(self: HTML5Translator, node: nodes.citation) -> None:
    # docutils calls an entry doc-biblioentry, which a list may not hold.
    if not isinstance(node.previous_sibling(), nodes.citation):
        self.body.append('<div role="list" class="citation-list">\n')
    self.body.append(self.starttag(node, "div", CLASS="citation", role="listitem"))


def _visit_entry(self: HTML5Translator, node: nodes.entry) -> None:
    HTML5Translator.visit_entry(self, node)
    # A table's empty corner heads nothing.
    if not node.astext().strip() and self.context[-1].startswith("</th"):
        self.body[-1] = self.body[-1].replace("<th", "<td", 1)
        self.context[-1] = self.context[-1].replace("</th", "</td")


def setup(app: Sphinx) -> None:
    app.add_node(
        nodes.literal, override=True, html=(_visit_literal, HTML5Translator.depart_literal)
    )
    app.add_node(
        nodes.citation, override=True, html=(_visit_citation, HTML5Translator.depart_citation)
    )
    app.add_node(nodes.entry, override=True, html=(_visit_entry, HTML5Translator.depart_entry))
