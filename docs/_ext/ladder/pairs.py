"""A number on two cards: the reader's own and ours, in the order that the sentence asks for.

A number by itself is the reader's first. Beside a claim it is ours first, since the words around
it are about our card: "close to what the memory can give" must not go with another card's share.
Which of the two it is shows only when the page has been read, so the pair is written then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from docutils import nodes
from sphinx.application import Sphinx

#: The class of a phrase that a claim stands behind, and of a paragraph that one does.
CLAIM, BESIDE_CLAIM = "claim", "beside-claim"


class pair(nodes.inline):  # docutils names its node classes in lower case
    """Two numbers, the reader's and then ours, until they are written."""


def ours_first(
    ours: nodes.Node, ours_from: str, theirs: nodes.Node, theirs_from: str
) -> list[nodes.Node]:
    return [ours, nodes.Text(f" ({ours_from}; {theirs_from}: "), theirs, nodes.Text(")")]


def make(local: nodes.Node, local_from: str, ours: nodes.Node, ours_from: str) -> pair:
    made = pair("", "", local, ours)
    made["local"], made["ours"] = local_from, ours_from
    return made


def _is_beside_claim(node: nodes.Node) -> bool:
    """Whether its paragraph has a claim, in it or behind it."""
    above: nodes.Element | None = node.parent
    while above is not None:
        if BESIDE_CLAIM in above.get("classes", []):
            return True
        if isinstance(above, nodes.paragraph):
            phrases = above.findall(nodes.inline)
            if any(CLAIM in phrase["classes"] for phrase in phrases):
                return True
        above = above.parent
    return False


def our_words(body: Sequence[nodes.Node]) -> str:
    """The text with our numbers alone."""
    copied = nodes.container("", *(node.deepcopy() for node in body))
    for node in list(copied.findall(pair)):
        node.replace_self(node.children[1])
    # A no-break space stays one.
    return re.sub(r"[ \n]+", " ", "".join(child.astext() for child in copied)).strip()


def write(doctree: nodes.Element) -> None:
    """Puts words in the place of each pair."""
    for node in list(doctree.findall(pair)):
        local, ours = node.children
        if local.astext() == ours.astext():  # a grid, a count: said once
            shown = [local]
        elif _is_beside_claim(node):
            shown = ours_first(ours, node["ours"], local, node["local"])
        else:
            shown = [local, nodes.Text(f" ({node['ours']}: "), ours, nodes.Text(")")]
        node.replace_self(shown)


def _on_read(app: Sphinx, doctree: nodes.document) -> None:
    write(doctree)


def setup(app: Sphinx) -> None:
    app.add_node(pair)
    app.connect("doctree-read", _on_read)
