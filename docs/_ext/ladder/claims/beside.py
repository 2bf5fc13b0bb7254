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
from . import plain
from .amounts import BadClaim
from .check import beside, of_others, of_sentence
from .evidence import Evidence, gather
from .language import read_all
from .statement import Claim

logger = logging.getLogger(__name__)

#: So much of a sentence names it in a message and in the list.
FIRST_WORDS = 90


@dataclass(frozen=True)
class Claimed:
    """A phrase or sentence of a page, with its claims."""

    words: str
    anchor: str
    evidence: tuple[Evidence, ...]
    #: The reader's card, if there is one, for phrases that it wasn't measured for.
    local: bool = False


class claim(nodes.inline):  # docutils names its node classes in lower case
    """A phrase or sentence that claims stand behind; ``proof`` says what was checked."""


class mark(nodes.inline):
    """What the reader's own recording says of a claim; ``anchor`` is the claim's."""


def claims_of(env: BuildEnvironment) -> dict[str, list[Claimed]]:
    """Each page's claims, in order."""
    if not hasattr(env, "ladder_claims"):
        env.ladder_claims = {}  # type: ignore[attr-defined]
    return env.ladder_claims  # type: ignore[attr-defined, no-any-return]


def _check(
    env: BuildEnvironment, name: str, words: str, text: str, claims: Sequence[Claim], location: str
) -> Claimed:
    """Holds words and claims against each other and against all sets, and warns of each fault.

    *words* is what the page shows, *text* the same with marks for what comes from a recording.
    """
    chapter = chapter_of(env.docname)
    recordings = Book(env).everything()
    evidence = tuple(gather(one, recordings, chapter) for one in claims)
    faults = [fault for one in evidence for fault in one.faults()]
    for fault in (*of_sentence(text, claims), *faults):
        env.note_reread()
        message = f"{name}: \u201c{words}\u201d: {fault}"
        logger.warning(message, location=location, type="ladder", subtype="claim")
    known = claims_of(env).setdefault(env.docname, [])
    page = env.docname.removeprefix("chapters/")
    anchor = re.sub(r"[_/]", "-", f"claim-{page}-{len(known) + 1}")
    made = Claimed(words, anchor, evidence, recordings.local is not None)
    known.append(made)
    return made


def _node(claimed: Claimed, children: Sequence[nodes.Node]) -> list[nodes.Node]:
    """A phrase or sentence with its claims, and the mark of the reader's card."""
    *inner, last = children
    behind: list[nodes.Node] = []
    if isinstance(last, nodes.Text):  # a mark follows the full stop, and not the space
        text = last.astext()
        behind = [nodes.Text(text[len(text.rstrip()) :])] if text.rstrip() != text else []
        last = nodes.Text(text.rstrip())
    made = claim("", "", *inner, last, ids=[claimed.anchor], classes=[CLAIM])
    made["proof"] = [(plain.words(one.claim), plain.shown(one)) for one in claimed.evidence]
    return [made, *_mark(claimed), *behind]


def _mark(claimed: Claimed) -> list[nodes.Node]:
    """A few words on the reader's card, where it has been asked."""
    local = [one.local for one in claimed.evidence if one.local]
    if not local:
        return []
    false = [outcome for outcome in local if not outcome.holds]
    asked = [one for one in claimed.evidence if not one.claim.asked_on]
    if not false:
        whole = len(local) == len(asked) and not any(one.is_partly_local for one in asked)
        text = _("holds here") if whole else _("holds as far as measured")
        kind = "holds"
    elif len(local) == 1:
        text, kind = _("not on your card: {number}").format(number=false[0].short), "fails"
    else:
        text = _("not on your card: {false} of {all} claims").format(
            false=len(false), all=len(local)
        )
        kind = "fails"
    made = mark("", "", classes=["claim-mark", kind], anchor=claimed.anchor)
    made["about"] = claimed.words
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
            claims = read_all(match["claims"])
            claimed = _check(self.env, self.name, words, words, claims, where)
        except NotYet:
            report.not_yet(self.env, text, where)
            return [nodes.Text(words)], []
        except (BadClaim, Lost) as error:
            message = f"{self.name}: {error}"
            return [report.lost(self.env, self.rawtext, message, where)], []
        return _node(claimed, [nodes.Text(words)]), []


class ClaimDirective(SphinxDirective):
    """``.. claim::`` with one claim per line, each about one sentence of its body."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        body = self.parse_content_to_nodes()
        where = self.get_location()
        try:
            _refuse_claim_in_text(self.content)
            told = beside(self.arguments[0], body)
            for fault in of_others(told):
                message = f"{self.name}: {fault}"
                logger.warning(message, location=where, type="ladder", subtype="claim")
            checked = [
                (sentence, _check(self.env, self.name, _first_words(sentence.pieces), sentence.text,
                                  claims, where) if claims else None)
                for sentence, claims in told
            ]  # fmt: skip
        except NotYet:
            report.not_yet(self.env, f"{self.name}:: {self.arguments[0]}", where)
            return body
        except (BadClaim, Lost) as error:
            asked = f"{self.name}:: {self.arguments[0]}"
            lost = report.lost(self.env, asked, f"{self.name}: {error}", where)
            return [*body, nodes.paragraph("", "", lost)]
        for node in body:
            if isinstance(node, nodes.Element):
                node["classes"].append(BESIDE_CLAIM)
        for paragraph in (one for one in body if isinstance(one, nodes.paragraph)):
            shown: list[nodes.Node] = []
            for sentence, claimed in checked:
                if sentence.paragraph is paragraph:
                    own = list(sentence.pieces)
                    shown += _node(claimed, own) if claimed else own
            paragraph.children = []
            paragraph.extend(shown)
        return body


def _refuse_claim_in_text(lines: Iterable[str]) -> None:
    """A claim behind a blank line would be printed, and held against nothing."""
    for line in filter(None, map(str.strip, lines)):
        with contextlib.suppress(BadClaim):
            read_all(re.sub(r"^\d+: *", "", line))
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
    self.body.append(self.starttag(node, "span", "", tabindex="0"))


def _depart(self: HTML5Translator, node: nodes.Element) -> None:
    """What was checked: shown where the reader points, taps or moves the focus."""
    said = "".join(
        f'<span class="claim-checked">{self.encode(words)}</span>'
        f'<span class="claim-shown">{self.encode(cards)}</span>'
        for words, cards in node["proof"]
    )
    title = self.encode(_("The build checked"))
    self.body.append(
        f'<span class="claim-proof" role="note" hidden="hidden">'
        f'<span class="claim-title">{title}</span>{said}</span></span>'
    )


def _visit_mark(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "span", "", title=node["about"]))


def _depart_mark(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</span>")


def setup(app: Sphinx) -> None:
    app.add_node(claim, html=(_visit, _depart))
    app.add_node(mark, html=(_visit_mark, _depart_mark))
    app.add_role("claim", ClaimRole())
    app.add_directive("claim", ClaimDirective)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
