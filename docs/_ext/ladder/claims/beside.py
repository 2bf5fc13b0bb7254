"""The role and the directive that put a claim beside its sentence.

``:claim:`more than twice as fast <unroll4 2x faster than smem>``` holds a phrase against the
recordings; ``.. claim::`` a paragraph. The words on the page are a person's.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from docutils import nodes
from docutils.nodes import system_message
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.writers.html5 import HTML5Translator

from .. import report
from ..book import Book, Lost, NotYet
from ..names import chapter_of
from ..pairs import BESIDE_CLAIM, CLAIM, our_words
from ..strings import _
from .amounts import BadClaim
from .evidence import Evidence, gather
from .language import read_all

logger = logging.getLogger(__name__)

#: So much of a paragraph names it in a message and in the list.
FIRST_WORDS = 90


@dataclass(frozen=True)
class Claimed:
    """A phrase or paragraph of a page, with its claims."""

    words: str
    anchor: str
    evidence: tuple[Evidence, ...]


class claim(nodes.inline):  # docutils names its node classes in lower case
    """A phrase that a claim stands behind."""


class mark(nodes.inline):
    """What the reader's own recording says of a claim; ``anchor`` is the claim's."""


def claims_of(env: BuildEnvironment) -> dict[str, list[Claimed]]:
    """Each page's claims, in order."""
    if not hasattr(env, "ladder_claims"):
        env.ladder_claims = {}  # type: ignore[attr-defined]
    return env.ladder_claims  # type: ignore[attr-defined, no-any-return]


def _check(env: BuildEnvironment, name: str, words: str, text: str, location: str) -> Claimed:
    """Holds the claims against all sets, and warns of each fault."""
    chapter = chapter_of(env.docname)
    recordings = Book(env).everything()
    evidence = tuple(gather(one, recordings, chapter) for one in read_all(text))
    for fault in (fault for one in evidence for fault in one.faults()):
        env.note_reread()
        message = f"{name}: \u201c{words}\u201d: {fault}"
        logger.warning(message, location=location, type="ladder", subtype="claim")
    known = claims_of(env).setdefault(env.docname, [])
    page = env.docname.removeprefix("chapters/")
    anchor = re.sub(r"[_/]", "-", f"claim-{page}-{len(known) + 1}")
    made = Claimed(words, anchor, evidence)
    known.append(made)
    return made


def _mark(claimed: Claimed) -> list[nodes.Node]:
    """A few words on the reader's card, where it has been asked."""
    local = [one.local for one in claimed.evidence if one.local]
    if not local:
        return []
    false = [outcome for outcome in local if not outcome.holds]
    if not false:
        text, kind = _("holds here"), "holds"
    elif len(local) == 1:
        text, kind = _("not on your card: {number}").format(number=false[0].short), "fails"
    else:
        text = _("not on your card: {false} of {all} claims").format(
            false=len(false), all=len(local)
        )
        kind = "fails"
    made = mark("", "", classes=["claim-mark", kind], anchor=claimed.anchor)
    # The parentheses set it apart for those who hear the page.
    made += [_hidden(" ("), nodes.inline("", text), _hidden(")")]
    return [made]


def _hidden(text: str) -> nodes.inline:
    return nodes.inline("", text, classes=["visually-hidden"])


class ClaimRole(SphinxRole):
    """``:claim:`WORDS <CLAIM; CLAIM ...>```"""

    def run(self) -> tuple[list[nodes.Node], list[system_message]]:
        text = " ".join(self.text.split())
        match = re.fullmatch(r"(?P<words>.*?)\s*<(?P<claims>.*)>", text)
        where = self.get_location()
        if not match or not match["words"]:
            message = f"{self.name}: '{text}' should read WORDS <CLAIM>"
            return [report.lost(self.env, self.rawtext, message, where)], []
        words = match["words"]
        try:
            claimed = _check(self.env, self.name, words, match["claims"], where)
        except NotYet:
            report.not_yet(self.env, text, where)
            return [nodes.Text(words)], []
        except (BadClaim, Lost) as error:
            message = f"{self.name}: {error}"
            return [report.lost(self.env, self.rawtext, message, where)], []
        made = claim("", words, ids=[claimed.anchor], classes=[CLAIM])
        return [made, *_mark(claimed)], []


class ClaimDirective(SphinxDirective):
    """``.. claim::`` with one claim per line; its body is the paragraph they stand behind."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        body = self.parse_content_to_nodes()
        words = _first_words(body)
        where = self.get_location()
        try:
            _refuse_claim_in_text(self.content)
            claimed = _check(self.env, self.name, words, self.arguments[0], where)
        except NotYet:
            report.not_yet(self.env, f"{self.name}:: {self.arguments[0]}", where)
            return body
        except (BadClaim, Lost) as error:
            asked = f"{self.name}:: {self.arguments[0]}"
            lost = report.lost(self.env, asked, f"{self.name}: {error}", where)
            return [*body, nodes.paragraph("", "", lost)]
        first = next(node for node in body if isinstance(node, nodes.Element))
        first["ids"].append(claimed.anchor)
        for node in body:
            if isinstance(node, nodes.Element):
                node["classes"].append(BESIDE_CLAIM)
        paragraphs = [found for node in body for found in node.findall(nodes.paragraph)]
        if paragraphs:
            paragraphs[-1] += _mark(claimed)
        return body


def _refuse_claim_in_text(lines: Iterable[str]) -> None:
    """A claim behind a blank line would be printed, and held against nothing."""
    for line in filter(None, map(str.strip, lines)):
        with contextlib.suppress(BadClaim):
            read_all(line)
            raise Lost(f"'{line}' is printed as text: no blank line stands before a claim")


def _first_words(body: Sequence[nodes.Node]) -> str:
    text = our_words(body)
    if len(text) <= FIRST_WORDS:
        return text
    return text[:FIRST_WORDS].rsplit(" ", 1)[0] + " \u2026"


def _purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    claims_of(env).pop(docname, None)


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment
) -> None:
    theirs = claims_of(other)
    claims_of(env).update({page: theirs[page] for page in docnames if page in theirs})


def _visit(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "span", ""))


def _depart(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</span>")


def setup(app: Sphinx) -> None:
    app.add_node(claim, html=(_visit, _depart))
    app.add_node(mark, html=(_visit, _depart))
    app.add_role("claim", ClaimRole())
    app.add_directive("claim", ClaimDirective)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
