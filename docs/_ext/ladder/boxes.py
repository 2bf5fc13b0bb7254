"""The boxes of a chapter, but for its predictions: pitfall, exercise and answer, recap."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from .folded import fold
from .strings import _


def box(
    kind: str,
    label: str,
    title: list[nodes.Node],
    body: list[nodes.Node],
    node: type[nodes.container] = nodes.container,
) -> nodes.container:
    """A box with a label that says what it is, and a title where it has one."""
    made = node(classes=["box", f"box-{kind}"])
    made += nodes.paragraph("", label, classes=["box-label"])
    if title:
        made += nodes.paragraph("", "", *title, classes=["box-title"])
    made += body
    return made


class Titled(SphinxDirective):
    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def title(self) -> list[nodes.Node]:
        title, messages = self.parse_inline(self.arguments[0], lineno=self.lineno)
        return [*title, *messages]


class Pitfall(Titled):
    """``.. pitfall:: TITLE`` and what goes wrong."""

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        return [box("pitfall", _("Pitfall"), self.title(), self.parse_content_to_nodes())]


class Exercise(Titled):
    """``.. exercise:: TITLE`` with an ``answer`` inside."""

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        return [box("exercise", _("Exercise"), self.title(), self.parse_content_to_nodes())]


class Answer(SphinxDirective):
    """``.. answer::`` folds its body."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        return [fold(_("Answer"), self.parse_content_to_nodes(), "answer")]


class Recap(SphinxDirective):
    """``.. recap::`` and what to take along."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        return [box("recap", _("In short"), [], self.parse_content_to_nodes())]


def setup(app: Sphinx) -> None:
    app.add_directive("pitfall", Pitfall)
    app.add_directive("exercise", Exercise)
    app.add_directive("answer", Answer)
    app.add_directive("recap", Recap)
