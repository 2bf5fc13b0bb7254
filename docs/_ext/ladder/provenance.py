"""Where a number comes from: in the number's tooltip, and folded at the foot of its page.

A tooltip is out of reach of keyboards and touch, so every page that shows recorded numbers in its
prose ends in a folded table of them. A number whose kernel has changed since it was recorded gets a
dagger that leads to a note there.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from common.records.recordings import RecordedRun, is_stale

from . import units
from .folded import fold
from .strings import _
from .table import Column, table

EARLIER_FORM_ID = "earlier-form"


class number(nodes.inline):
    """A recorded number in prose, with ``what``, ``origin`` and ``stale``."""


def short_device(name: str) -> str:
    return name.removeprefix("NVIDIA ").removeprefix("GeForce ")


def run_words(found: RecordedRun[Any]) -> str:
    """Which run: the variant first, then what it ran on."""
    run = found.run
    words = [
        run["variant"],
        f"n{units.NO_BREAK}={units.NO_BREAK}{units.size(run['n'])}",
        _("{block} threads per block").format(block=run["block"]),
        *(f"{key} {value}" for key, value in run["params"].items()),
    ]
    return ", ".join(words)


def origin(found: RecordedRun[Any]) -> str:
    """One line: device, day, commit, and for times what kind of figure it is."""
    words = [found.provenance.text]
    run = found.run
    if "samples_us" in run:
        cache = {
            "cold": _("L2 emptied by reading"),
            "dirty": _("L2 emptied by writing"),
            "warm": _("L2 left as it was"),
        }
        passes, count = len(found.repeats), len(run["samples_us"])
        one = _("median of {count} samples")
        several = _("median of {passes} passes, {count} samples in all")
        words.append((several if passes > 1 else one).format(passes=passes, count=count))
        words.append(cache.get(str(run["cache"]), str(run["cache"])))
    return "; ".join(words)


def stamp(text: str, what: str, *founds: RecordedRun[Any]) -> nodes.Node:
    """The node for one number; ``what`` says in words which number it is."""
    node = number("", text, classes=["measured"])
    node["what"] = what
    node["origin"] = " / ".join(dict.fromkeys(origin(found) for found in founds))
    node["stale"] = any(is_stale(found) for found in founds)
    if node["stale"]:
        node["classes"].append("stale")
        node += dagger()
    return node


def dagger() -> nodes.Node:
    """Leads to the note at the foot of the page."""
    link = nodes.reference("", "\u2020", refid=EARLIER_FORM_ID, internal=True)
    link["reftitle"] = _("measured on an earlier form of this kernel")
    return nodes.superscript("", "", link, classes=["dagger"])


def _visit_number(self: HTML5Translator, node: nodes.Element) -> None:
    title = f"{node['what']}: {node['origin']}"
    self.body.append(self.starttag(node, "span", "", title=title))


def _depart_number(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</span>")


def add_foot(doctree: nodes.document) -> None:
    """Ends a page in the table of its numbers, in place of one that it may already have."""
    for old in list(doctree.findall(nodes.container)):
        if "page-foot" in old["classes"]:
            old.parent.remove(old)
    numbers = list(doctree.findall(number))
    has_dagger = any("dagger" in found["classes"] for found in doctree.findall(nodes.superscript))
    sections = list(doctree.findall(nodes.section))
    if not sections or not (numbers or has_dagger):
        return
    foot = nodes.container(classes=["page-foot"])
    if has_dagger:
        note = _(
            "\u2020 Measured on an earlier form of the kernel: its source has changed since the "
            "recording, so the number may not be that of the code shown here."
        )
        foot += nodes.paragraph("", note, ids=[EARLIER_FORM_ID], classes=["earlier-form"])
    if numbers:
        rows = {
            (node["what"], node["origin"]): [
                node["what"],
                next(node.findall(nodes.Text)).astext(),
                node["origin"],
            ]
            for node in numbers
        }
        columns = [
            Column(_("Number")),
            Column(_("As shown"), numeric=True),
            Column(_("Recorded on")),
        ]
        label = _("Where the numbers in this page\u2019s text come from")
        foot += fold(label, [table(columns, list(rows.values()))], "origins")
    sections[0] += foot


def _on_read(app: Sphinx, doctree: nodes.document) -> None:
    add_foot(doctree)


def setup(app: Sphinx) -> None:
    app.add_node(number, html=(_visit_number, _depart_number))
    app.connect("doctree-read", _on_read)
