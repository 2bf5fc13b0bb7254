"""What a reader moves by hand: a drawing that a script makes and the page has none without it.

``.. play:: banks`` is where ``ladder-banks.js`` draws how a warp's words fall into banks, and
``packer`` where ``ladder-packer.js`` fills an SM with blocks, ``pipe`` where ``ladder-pipe.js``
fills the way from memory with bytes in flight, ``sectors`` where ``ladder-sectors.js`` marks what a
warp's load touches, ``fences`` where ``ladder-fences.js`` hands a sum from block to block,
``rounding`` where ``ladder-rounding.js`` adds up a few floats, and ``ring`` where
``ladder-ring.js`` turns a ring of bulk copies. With scripts off, on paper and in an e-reader
nothing is there, so the text around it has to do without.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun

from .book import Book
from .directive import LookupDirective
from .floors_table import CHASE
from .names import BadName
from .provenance import short_device

#: Each has a script of its name.
TOYS = ("banks", "packer", "pipe", "sectors", "fences", "rounding", "ring")


class toy(nodes.General, nodes.Element):  # docutils names its node classes in lower case
    """Its place in the page."""


class Play(LookupDirective):
    """``.. play:: banks``; ``:spare:`` lets the reader leave a spare word after every 32."""

    option_spec: ClassVar = {"spare": directives.flag}

    def show(self, book: Book) -> list[nodes.Node]:
        (name,) = self.words("NAME")
        if name not in TOYS:
            raise BadName(f"there is no '{name}' to play with; there are: {', '.join(TOYS)}")
        made = toy("", classes=["toy"], name=name, spare="spare" in self.options)
        if name == "pipe":
            made["cards"] = _cards(book)
        return [made]


def _cards(book: Book) -> list[dict[str, Any]]:
    """What the pipe is on each recorded card: GB/s, SMs, threads in each, ns of a lone load."""
    recordings = book.everything()
    cards: list[dict[str, Any]] = []
    for name in [*(known.name for known in recordings.sets()), *recordings.second]:
        try:
            chase: RecordedRun = recordings.run(*CHASE, only=name)
        except NoSuchRun:
            continue
        device = chase.provenance.gpu
        if device["peak_gb_per_s"]:
            cards.append(
                {
                    "name": short_device(device["name"]),
                    "peak": device["peak_gb_per_s"],
                    "sms": device["sm_count"],
                    "threads": device["max_threads_per_sm"],
                    "latency": 1000 * chase.value("latency"),
                }
            )
    return cards


def _visit(self: HTML5Translator, node: nodes.Element) -> None:
    # Time and memory run from left to right, whatever language a browser translates to.
    attributes = {"data-toy": node["name"], "hidden": "hidden", "dir": "ltr"}
    if node["spare"]:
        attributes["data-spare"] = "yes"
    if "cards" in node:
        attributes["data-cards"] = json.dumps(node["cards"])
    self.body.append(self.starttag(node, "div", **attributes))


def _depart(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    app.add_node(toy, html=(_visit, _depart))
    app.add_directive("play", Play)
