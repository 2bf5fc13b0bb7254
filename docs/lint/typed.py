"""What no text may type: a measured quantity outside a role, a claim or a citation, and a fact
about hardware with another value than docs/facts.toml has. There are no exceptions.

A quantity that isn't the book's measurement says so by ``:given:`200 GB/s <exercise>```.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from ladder import facts
from ladder.claims import check
from ladder.claims.sentences import sentences

from docs import page_source as pages
from docs.lint import texts
from docs.lint.texts import Paragraph

QUANTITY, FACT = "a measured quantity is typed", "a fact has another value"
_DIGITS = r"\d[\d\u00a0\u2009\u202f.,]*"
_MEASURED = re.compile(
    rf"(?<![\w.×,]){_DIGITS}(?:[ \u00a0]?(?:to|or|and|–)[ \u00a0]{_DIGITS})?"
    r"(?:[ \u00a0\u202f]?(?:[µu]s|ms|GB/s|TB/s|[MG]Hz|%)(?![\w/])|×(?!\s*[\d(])|(?<=\.\d)x\b)"
)
#: What follows a percentage that was measured.
_COMPARES = re.compile(
    r" (?:faster|slower|less|more|fewer|longer|shorter|ahead|behind"
    r"|of (?:the |its )?(?:time|peak|bandwidth|roof))\b"
)


def _lines(name: str, line: int, text: str, is_covered: bool = False) -> Iterator[str]:
    for found in () if is_covered else _MEASURED.finditer(text):
        is_source = not name.endswith((".rst", ".md", ".toml"))
        if is_source and found[0].endswith("%") and not _COMPARES.match(text, found.end()):
            continue  # a share by definition, as of an interval, or a print format
        yield (
            f"{name}:{line}: {QUANTITY}: \u201c{found[0]}\u201d in \u201c{text[:160]}\u201d. "
            "Show it by a role, put a claim beside the sentence, cite its source, or say by "
            ":given: whose it is"
        )
    for typed in facts.typed(text):
        if not typed.is_right:
            yield (
                f"{name}:{line}: {FACT}: \u201c{typed.text}\u201d, but {typed.fact.what}: "
                f"{typed.fact.value:g} ({typed.fact.source}, docs/facts.toml)"
            )


def _line(node: nodes.Node) -> int:
    while node.line is None and node.parent is not None:
        node = node.parent
    return node.line or 1


def of_page(name: str, source: str) -> Iterator[str]:
    """The faults of a page: of its paragraphs, of table cells, and of what directives show."""
    tree = pages.read(Path(name).stem, source).tree
    blocks: list[nodes.TextElement] = []
    claimed: set[str] = set()
    for box in tree.findall(pages.directive):
        blocks += box["said"]
        if box["name"] == "claim":
            told = check.beside(box["argument"], box.children)
            claimed |= {sentence.text for sentence, claims in told if claims}
    blocks += [one for one in tree.findall(nodes.paragraph) if not _is_aside(one)]
    for block in blocks:
        for sentence in sentences(block):  # type: ignore[arg-type]
            is_covered = sentence.is_cited or sentence.text in claimed
            yield from _lines(name, _line(block), sentence.text, is_covered)


def _is_aside(node: nodes.Node) -> bool:
    """Whether it stands in a list of sources, or is a comment's."""
    above: nodes.Node | None = node
    while above is not None:
        if isinstance(above, nodes.citation | nodes.comment | nodes.system_message):
            return True
        if isinstance(above, nodes.section) and above[0].astext() == "Further reading":
            return True
        above = above.parent
    return False


def of_text(paragraph: Paragraph) -> Iterator[str]:
    """The faults of a README, a puzzle, a message or a comment."""
    text = " ".join(paragraph.text.split())
    yield from _lines(paragraph.path, paragraph.line, text)


def everywhere(root: Path) -> Iterator[str]:
    """The faults of all that readers read."""
    for path in sorted((root / "docs").rglob("*.rst")):
        name = path.relative_to(root).as_posix()
        yield from of_page(name, path.read_text(encoding="utf-8"))
    for paragraph in texts.everything(root, texts.TO_READERS):
        yield from of_text(paragraph)
