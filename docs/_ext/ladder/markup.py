"""Where the HTML that Sphinx writes would mislead a screen reader."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


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
        nodes.citation, override=True, html=(_visit_citation, HTML5Translator.depart_citation)
    )
    app.add_node(nodes.entry, override=True, html=(_visit_entry, HTML5Translator.depart_entry))
