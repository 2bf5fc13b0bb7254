"""Places where something is collected from all pages, once they have all been read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from . import pairs
from .provenance import add_foot

#: What stands in such a place, of the page that it is on and the directive's argument.
Form = Callable[[Sphinx, str, str], Iterable[nodes.Node]]
FORMS: dict[str, Form] = {}


class gathered(nodes.General, nodes.Element):  # docutils names its node classes in lower case
    """Stands where something is collected; ``form`` says what, ``argument`` of what."""


class Gather(SphinxDirective):
    form: ClassVar[str]

    def run(self) -> list[nodes.Node]:
        places(self.env).setdefault(self.env.docname, set()).add(self.form)
        argument = self.arguments[0] if self.arguments else ""
        return [gathered("", form=self.form, argument=argument)]


def places(env: BuildEnvironment) -> dict[str, set[str]]:
    """The pages that gather, and what."""
    if not hasattr(env, "ladder_places"):
        env.ladder_places = {}  # type: ignore[attr-defined]
    return env.ladder_places  # type: ignore[attr-defined, no-any-return]


def link(app: Sphinx, page: str, target: str, text: list[nodes.Node], at: str = "") -> nodes.Node:
    uri = app.builder.get_relative_uri(page, target) + (f"#{at}" if at else "")
    return nodes.reference("", "", *text, refuri=uri, internal=True)


def title(env: BuildEnvironment, page: str) -> list[nodes.Node]:
    return [child.deepcopy() for child in env.titles[page].children]


def _place(app: Sphinx, doctree: nodes.document, page: str) -> None:
    found = list(doctree.findall(gathered))
    for node in found:
        node.replace_self(list(FORMS[node["form"]](app, page, node["argument"])))
    if not found:
        return
    pairs.write(doctree)
    add_foot(doctree)
    # The theme wrapped the page's tables before these were there; wrapped, a wide one can scroll.
    for wide in list(doctree.findall(nodes.table)):
        if "table-wrapper" not in wide.parent.get("classes", []):
            wide.replace_self(nodes.container("", wide.deepcopy(), classes=["table-wrapper"]))


def _purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    places(env).pop(docname, None)


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment
) -> None:
    theirs = places(other)
    places(env).update({page: theirs[page] for page in docnames if page in theirs})


def _read_too(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """When any page is read again, so are those that gather from pages."""
    if docnames:
        docnames += sorted(places(env).keys() & env.found_docs - set(docnames))


def setup(app: Sphinx) -> None:
    app.add_node(gathered)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.connect("env-before-read-docs", _read_too)
    app.connect("doctree-resolved", _place)
