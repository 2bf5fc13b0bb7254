"""A page's source as a tree, with the book's own directives and roles as plain nodes.

No Sphinx and no data: what a page has, in which order, and which of its words are links.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.languages import en
from docutils.utils import new_document
from sphinx.util.docutils import docutils_namespace

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CHAPTERS = sorted(DOCS.glob("chapters/chapter*.rst"))
NOTEBOOKS = sorted(DOCS.glob("notebooks/chapter*.rst"))

#: Directives whose body isn't text of the page.
LITERAL = ("code-block", "probes", "toctree")
#: Roles that show a recorded value: a word of the sentence, whatever is asked for.
VALUES = ("measured", "ratio", "difference", "counter", "compared", "latency", "in-flight",
          "device", "version", "calc", "published", "said", "given")  # fmt: skip
#: Directives whose argument is a title that the page shows, and options whose text it shows.
TITLED = ("predict", "pitfall", "exercise")
SHOWN_OPTIONS = ("alt", "caption", "predicted", "gained")


class _AnyOption(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        return directives.unchanged


class directive(nodes.General, nodes.Element):  # docutils names its node classes in lower case
    """One of the book's directives, with its ``name``, ``argument`` and ``options``.

    ``said`` holds what of these the page shows, as paragraphs apart from the tree.
    """


class role(nodes.Inline, nodes.TextElement):
    """One of the book's roles: its ``name``, its ``target`` and all that is ``written`` in it. Its
    text is what is shown."""


class _Stub(Directive):
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption(any=directives.unchanged)  # empty, it would mean: none

    def run(self) -> list[nodes.Node]:
        argument = self.arguments[0] if self.arguments else ""
        shown = [argument] if argument and self.name in TITLED else []
        shown += [self.options[option] for option in SHOWN_OPTIONS if option in self.options]
        said = [self._paragraph(text) for text in shown]
        made = directive(name=self.name, argument=argument, options=dict(self.options), said=said)
        if self.name not in LITERAL:
            self.state.nested_parse(self.content, self.content_offset, made)
        return [made]

    def _paragraph(self, text: str) -> nodes.paragraph:
        inline, messages = self.state.inline_text(text, self.lineno)
        made = nodes.paragraph(text, "", *inline, *messages)
        made.line = self.lineno
        return made


def _stub_role(
    name: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Any,
    options: Any = None,
    content: Any = (),
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    named = re.fullmatch(r"(?P<shown>.*?)\s*<(?P<target>.*)>", text, re.DOTALL)
    shown, target = (named["shown"], named["target"]) if named else (text, text)
    if name in VALUES:
        shown = "0"
    made = role("", "", nodes.Text(shown), name=name, target=target, written=text)
    made["classes"] = ["value"] if name in VALUES else ["claim"] if name == "claim" else []
    return [made], []


def parse(text: str) -> nodes.document:
    """The tree of a page's source."""
    with docutils_namespace():  # what is registered here must not be met by a real build
        for name in set(re.findall(r"^\s*\.\. ([a-z-]+)::", text, re.MULTILINE)):
            if name not in en.directives or name in LITERAL:
                directives.register_directive(name, _Stub)
        for name in set(re.findall(r":([a-z-]+):`", text)) - {"sup", "sub"}:
            roles.register_local_role(name, _stub_role)  # type: ignore[arg-type]
        settings = get_default_settings(Parser)
        settings.warning_stream = io.StringIO()
        settings.report_level = 3
        document = new_document("page", settings)
        Parser().parse(text, document)
    return document


@dataclass
class Section:
    name: str
    node: nodes.section

    def directives(self, *names: str) -> list[directive]:
        return _directives(self.node, names)

    @property
    def text(self) -> str:
        return " ".join(text for text in _prose(self.node))


def _directives(node: nodes.Node, names: tuple[str, ...]) -> list[directive]:
    return [found for found in node.findall(directive) if not names or found["name"] in names]


def _prose(node: nodes.Node) -> Iterator[str]:
    """Paragraphs' and list items' text; no tables, code, footnotes or captions."""
    for paragraph in node.findall(nodes.paragraph):
        above: nodes.Node | None = paragraph
        while above is not None and above is not node:
            if isinstance(above, nodes.table | nodes.footnote | nodes.citation | nodes.field_list):
                break
            if isinstance(above, directive) and above["name"] in ("plot", "diagram", "list-table"):
                break
            above = above.parent
        else:
            yield paragraph.astext()


@dataclass
class Page:
    name: str
    source: str
    tree: nodes.document

    @property
    def fields(self) -> dict[str, str]:
        """The field list above the title."""
        return {
            field[0].astext(): " ".join(field[1].astext().split())
            for field in self.tree.findall(nodes.field)
            if isinstance(field.parent.parent, nodes.document)
        }

    @property
    def title(self) -> str:
        return next(iter(self.tree.findall(nodes.title))).astext()

    def sections(self) -> list[Section]:
        """Those right under the title."""
        tops = [child for child in self.tree.children if isinstance(child, nodes.section)]
        inner = [one for top in tops for one in top.children if isinstance(one, nodes.section)]
        return [Section(child[0].astext(), child) for child in inner]

    def directives(self, *names: str) -> list[directive]:
        return _directives(self.tree, names)

    def words(self) -> int:
        """Of its running text: answers and boxes too, but no code, tables, captions or sources."""
        sources = [one.node for one in self.sections() if one.name == "Further reading"]
        said = sum(len(text.split()) for text in _prose(self.tree))
        return said - sum(len(text.split()) for node in sources for text in _prose(node))

    def runs(self) -> Iterator[tuple[str, str | None]]:
        """Pieces of running text in order: each with the glossary's term, where it is a link."""
        skipped = (nodes.literal, nodes.title, nodes.literal_block, nodes.footnote, nodes.comment,
                   nodes.field_list, nodes.reference, nodes.strong)  # fmt: skip
        for text in self.tree.findall(nodes.Text):
            above: nodes.Node | None = text.parent
            linked = None
            while above is not None:
                if isinstance(above, skipped):
                    break
                if isinstance(above, role):
                    if above["target"].endswith("embedded"):  # this one has a page of its own
                        linked = "embedded device"
                    elif above["name"] == "term":
                        linked = above["target"]
                    else:
                        break
                above = above.parent
            else:
                yield re.sub(r"\s+", " ", text.astext()), linked


@cache
def read(name: str, text: str) -> Page:
    return Page(name, text, parse(text))


def page(path: Path) -> Page:
    return read(path.stem, path.read_text(encoding="utf-8"))
