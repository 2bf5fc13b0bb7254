"""The page of all claims: what each says, and on which cards it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from docutils import nodes
from sphinx.application import Sphinx

from common.records.naming import LOCAL, REFERENCE, SECOND

from .. import gathering
from ..gathering import FORMS, Gather
from ..provenance import short_device
from ..strings import _
from ..table import Cell, Column, table
from .beside import Claimed, claims_of, mark
from .evidence import Evidence

FORM = "claims"


class ClaimList(Gather):
    """``.. claim-list::``: every page's claims, with a verdict for each recorded set."""

    form = FORM


def _sets(all_claims: Iterable[Claimed]) -> dict[str, str]:
    """The sets that any claim was held against, in order, and their devices' names."""
    found = {
        name: _called(name, short_device(outcome.device))
        for claimed in all_claims
        for evidence in claimed.evidence
        for name, outcome in evidence.outcomes.items()
    }
    return {name: found[name] for name in (REFERENCE, *SECOND, LOCAL) if name in found}


def _called(name: str, device: str) -> str:
    """A set's card, or cards: those of one type have one name."""
    if name.endswith("-pair"):
        return _("{device} pair").format(device=device)
    return _("four {device}s").format(device=device) if name.endswith("-four") else device


def _verdict(evidence: Evidence, name: str) -> Cell:
    outcome = evidence.outcomes.get(name)
    if outcome is None:
        return _("not measured")
    if outcome.holds:
        word = _("holds")
    elif name in evidence.claim.denied_on:
        word = _("does not hold, as the text says")
    else:
        word = _("does not hold")
    kind = "holds" if outcome.holds else "fails"
    return [
        nodes.inline("", word, classes=["claim-verdict", kind]),
        nodes.Text(f", {outcome.short}"),
    ]


def _summary(pages: dict[str, list[Claimed]], sets: dict[str, str]) -> nodes.paragraph:
    everything = [one for known in pages.values() for each in known for one in each.evidence]
    words = [_("{count} claims.").format(count=len(everything))]
    for name, device in sets.items():
        asked = [one.outcomes[name] for one in everything if name in one.outcomes]
        words.append(
            _("On the {device}, {held} of the {asked} that were measured hold.").format(
                device=device, held=sum(one.holds for one in asked), asked=len(asked)
            )
        )
    if LOCAL not in sets:
        words.append(_("Yours joins them once you have run ./tools/measure and rendered again."))
    return nodes.paragraph("", " ".join(words))


def _list(app: Sphinx, page: str, argument: str) -> Iterator[nodes.Node]:
    pages = {name: known for name, known in sorted(claims_of(app.env).items()) if known}
    sets = _sets(each for known in pages.values() for each in known)
    yield _summary(pages, sets)
    columns = [Column(_("Where")), Column(_("Claim"))]
    columns += [Column(device) for device in sets.values()]
    for name, known in pages.items():
        heading = gathering.link(app, page, name, gathering.title(app.env, name))
        yield nodes.rubric("", "", heading, **{"heading-level": 2})
        rows: list[list[Cell]] = []
        for claimed in known:
            place = gathering.link(app, page, name, [nodes.Text(claimed.words)], claimed.anchor)
            words: Cell = [nodes.inline("", "", place, ids=[_listed(claimed.anchor)])]
            for evidence in claimed.evidence:
                row: list[Cell] = [words, [nodes.literal("", evidence.claim.text)]]
                rows.append(row + [_verdict(evidence, each) for each in sets])
                words = ""
        yield table(columns, rows, "claims")


def _listed(anchor: str) -> str:
    return f"listed-{anchor}"


def _link_marks(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """A mark leads to the list, which has the numbers."""
    lists = [name for name, forms in gathering.places(app.env).items() if FORM in forms]
    if not lists:
        return
    for node in list(doctree.findall(mark)):
        if node.next_node(nodes.reference) is None:
            children = [child.deepcopy() for child in node.children]
            node.children = []
            node += gathering.link(app, page, lists[0], children, _listed(node["anchor"]))


def setup(app: Sphinx) -> None:
    FORMS[FORM] = _list
    app.add_directive("claim-list", ClaimList)
    app.connect("doctree-resolved", _link_marks)
