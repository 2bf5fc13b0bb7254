"""The sentences of a paragraph, as a claim counts them: what stands in each, and its words.

Pieces of code and formulas become ``CODE``. What a role shows that reads a recording becomes
``VALUE``: nodes with the class ``value``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docutils import nodes

from .words import CODE, VALUE

_CODE = (nodes.literal, nodes.math, nodes.raw, nodes.image, nodes.problematic)
_UNSAID = (nodes.footnote_reference, nodes.citation_reference, nodes.target, nodes.comment)
#: A sentence ends where the next begins: a capital, a digit, an opening mark or something shown.
_END = re.compile(
    rf"(?<=[.?!])[”\"’)]*\s+(?=[“\"(]?[A-Z\d{CODE}{VALUE}])(?<!\b[A-Z]\.\s)(?<!e\.g\.\s)"
)


@dataclass(frozen=True)
class Sentence:
    text: str
    paragraph: nodes.paragraph
    pieces: tuple[nodes.Node, ...]
    #: Whether it names a source, or links to a page elsewhere.
    is_cited: bool = False


def plain(node: nodes.Node) -> str:
    """The words of a node."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, _UNSAID):
        return ""
    if isinstance(node, _CODE):
        return CODE
    if isinstance(node, nodes.Element) and "value" in node.get("classes", []):
        return VALUE
    if isinstance(node, nodes.Element) and "claim" in node.get("classes", []):
        return CODE  # a phrase with claims of its own
    return "".join(map(plain, node.children))


def _cites(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and any(
        isinstance(one, nodes.citation_reference) or "://" in one.get("refuri", "")
        for one in node.findall(nodes.Element)
    )


def sentences(paragraph: nodes.paragraph) -> Iterator[Sentence]:
    """Those of one paragraph; they end in its own text, never within markup."""
    children = [
        child for child in paragraph.children if not isinstance(child, nodes.system_message)
    ]
    texts = [plain(child) for child in children]
    whole = "".join(texts)
    ends = [found.end() for found in _END.finditer(whole)]
    group: list[nodes.Node] = []
    place = 0
    for child, text in zip(children, texts, strict=True):
        rest, start = text, place
        while isinstance(child, nodes.Text) and ends and ends[0] <= place + len(text):
            cut = ends.pop(0) - start
            group.append(nodes.Text(rest[:cut]))
            yield _made(group, paragraph)
            rest, start, group = rest[cut:], start + cut, []
        if rest or not isinstance(child, nodes.Text):
            group.append(nodes.Text(rest) if isinstance(child, nodes.Text) else child)
        place += len(text)
        while ends and ends[0] <= place:
            ends.pop(0)  # within markup
    if any(plain(one).strip() for one in group):
        yield _made(group, paragraph)


def _made(group: list[nodes.Node], paragraph: nodes.paragraph) -> Sentence:
    text = " ".join("".join(map(plain, group)).split())
    return Sentence(text, paragraph, tuple(group), any(map(_cites, group)))
