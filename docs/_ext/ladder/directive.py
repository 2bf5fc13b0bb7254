"""The base of every directive that looks something up."""

from __future__ import annotations

from abc import abstractmethod

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from common.records.sets import NoSuchRun
from figures.kit.chapter import number_of

from . import report
from .book import Book, Lost, NotYet
from .names import BadName


class LookupDirective(SphinxDirective):
    """Shows what it finds; a placeholder before the first recording; a warning for a wrong name."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        book = Book(self.env)
        asked = f"{self.name}:: {self.arguments[0] if self.arguments else ''}".strip()
        try:
            return self.show(book)
        except NotYet:
            placeholder = report.not_yet(self.env, asked, self.get_location())
            return [nodes.paragraph("", f"{asked} ", placeholder, classes=["not-recorded"])]
        except (Lost, BadName, NoSuchRun) as error:
            message = f"{self.name}: {error}"
            return [
                nodes.paragraph("", "", report.lost(self.env, asked, message, self.get_location()))
            ]

    @abstractmethod
    def show(self, book: Book) -> list[nodes.Node]:
        """The nodes to show."""

    def chapter_link(self, chapter: str, text: str) -> nodes.Node:
        """A link to a chapter's page, whose number is ``{number}`` in the text."""
        return self.link("doc", f"/chapters/{chapter}", text.format(number=number_of(chapter)))

    def link(self, kind: str, target: str, text: str) -> nodes.Node:
        """A link as Sphinx's role of that kind makes it: a ``doc``, or a ``ref``."""
        link = addnodes.pending_xref(
            "",
            nodes.inline("", text),
            refdomain="std",
            reftype=kind,
            reftarget=target,
            refexplicit=True,
            refwarn=True,
        )
        link["refdoc"] = self.env.docname
        return link

    def words(self, *names: str) -> list[str]:
        """The argument's words, which must be as many as ``names``."""
        words = self.arguments[0].split()
        if len(words) != len(names):
            raise BadName(f"'{self.arguments[0]}' should read {' '.join(names)}")
        return words

    def inline(self, text: str) -> list[nodes.Node]:
        """Inline markup in an option's or a data file's text."""
        parsed, messages = self.parse_inline(text, lineno=self.lineno)
        return [*parsed, *messages]
