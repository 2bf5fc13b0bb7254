"""A page's prose as sentences, in which what is covered is told from what is not.

Covered is what a role shows that reads recorded runs (`VALUES` in docs/page_source.py), the words
of a `claim` role, the paragraphs of a `claim` directive, and a sentence that cites a source or
links to a page elsewhere. Code, formulas, comments and lists of sources are not prose.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from docutils import nodes

from docs import page_source as pages
from docs.lint.words import CODE, VALUE, Word, claiming

_CODE = (nodes.literal, nodes.math, nodes.raw, nodes.image, nodes.target, nodes.problematic)
_NO_PROSE = (nodes.citation, nodes.comment, nodes.literal_block, nodes.system_message)
_SOURCES = "Further reading"
#: A sentence ends where the next begins: a capital, a digit, an opening mark or something shown.
_END = re.compile(
    r"(?<=[.?!])[”\"’)]*\s+(?=[“\"(]?[A-Z\d" + CODE + VALUE + r"])(?<!\b[A-Z]\.\s)(?<!e\.g\.\s)"
)


@dataclass(frozen=True)
class Sentence:
    """One sentence of a page, its places still with the line ends of the source."""

    page: str
    section: str
    line: int
    raw: str
    covered: Sequence[bool] = field(repr=False)
    cited: bool

    @property
    def text(self) -> str:
        return " ".join(self.raw.split())

    @property
    def hash(self) -> str:
        return sha256(self.text.encode()).hexdigest()[:8]

    def open_words(self) -> list[Word]:
        """Its claiming words that nothing covers."""
        if self.cited:
            return []
        return [word for word in claiming(self.raw) if not self.covered[word.start]]

    def line_of(self, word: Word) -> int:
        return self.line + self.raw.count("\n", 0, word.start)


@dataclass
class _Text:
    """A paragraph's text in the making."""

    text: str = ""
    covered: list[bool] = field(default_factory=list)
    cites: list[int] = field(default_factory=list)

    def add(self, text: str, covered: bool = False) -> None:
        self.text += text
        self.covered += [covered] * len(text)


def _gather(node: nodes.Node, made: _Text, covered: bool) -> None:
    for child in node.children:
        if isinstance(child, nodes.Text):
            made.add(child.astext(), covered)
        elif isinstance(child, _CODE):
            made.add(CODE)
        elif isinstance(child, nodes.citation_reference):
            made.cites.append(len(made.text))
        elif isinstance(child, nodes.reference) and child.get("refuri", "").startswith("http"):
            made.cites.append(len(made.text))
            made.add(child.astext(), True)
        elif isinstance(child, nodes.footnote_reference):
            continue
        elif isinstance(child, pages.role) and child["name"] in pages.VALUES:
            made.add(VALUE)
        elif isinstance(child, pages.role) and child["name"] not in ("term", "doc", "ref", "claim"):
            made.add(CODE)
        else:
            claim = isinstance(child, pages.role) and child["name"] == "claim"
            _gather(child, made, covered or claim)


def split(
    text: str, covered: Sequence[bool], cites: Sequence[int], page: str, section: str, line: int
) -> Iterator[Sentence]:
    """The sentences of a paragraph; ``cites`` has the places where it names a source."""
    starts = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    for start, end in itertools.pairwise(starts):
        # A source that follows the full stop still belongs to the sentence before it.
        cited = any(start < place <= end for place in cites)
        first = line + text.count("\n", 0, start)
        yield Sentence(page, section, first, text[start:end], covered[start:end], cited)


def _sentences(block: nodes.TextElement, page: str, section: str, line: int) -> Iterator[Sentence]:
    made = _Text()
    _gather(block, made, _under(block, "claim"))
    return split(made.text, made.covered, made.cites, page, section, line)


def _under(node: nodes.Node, name: str) -> bool:
    above: nodes.Node | None = node
    while above is not None:
        if isinstance(above, pages.directive) and above["name"] == name:
            return True
        above = above.parent
    return False


def _blocks(node: nodes.Element, section: str) -> Iterator[tuple[str, nodes.TextElement]]:
    """What holds running text, in order, with its section's title."""
    for child in node.children:
        if isinstance(child, _NO_PROSE) or not isinstance(child, nodes.Element):
            continue
        if isinstance(child, nodes.section):
            title = " ".join(child[0].astext().split())
            if title != _SOURCES:
                yield from _blocks(child, title)
        elif isinstance(child, nodes.TextElement):
            yield section, child
        else:
            if isinstance(child, pages.directive):
                for said in child["said"]:
                    said.parent = child
                    yield section, said
            yield from _blocks(child, section)


def _line(node: nodes.Node) -> int:
    while node.line is None and node.parent is not None:
        node = node.parent
    return node.line or 1


def sentences(page: str, tree: nodes.document) -> Iterator[Sentence]:
    """All the sentences of a page."""
    for section, block in _blocks(tree, ""):
        yield from _sentences(block, page, section, _line(block))


def paragraphs(tree: nodes.document) -> Iterator[tuple[int, str]]:
    """All the paragraphs of a page, each with its line."""
    for _section, block in _blocks(tree, ""):
        made = _Text()
        _gather(block, made, False)
        yield _line(block), made.text
