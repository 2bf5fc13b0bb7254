"""Predictions that are played: the reader locks in a guess, and sees what was measured.

The box holds everything: the choices or the scale, and the answer in a fold. Without JavaScript it
is just that, a question over a fold. ``ladder-play.js`` turns it into a form, keeps the guesses in
the browser and counts who was right.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from common.records.recordings import Recordings
from common.records.sets import NoSuchRun

from . import report
from .book import Book, Lost, NotYet
from .boxes import Titled, box
from .claims.amounts import UNITS, BadClaim, Number, comparable, written
from .claims.evaluate import amount, judge
from .claims.language import read, read_amount
from .claims.statement import Claim, Compare
from .folded import fold
from .names import chapter_of
from .provenance import short_device
from .strings import _

#: A unit as a claim writes it, and as a page does.
SHOWN = {"x": "\u00d7", "us": "\u00b5s"}
#: A scale that spans at least this factor goes by factors.
WIDE = 6


class guess(nodes.container):  # docutils names its node classes in lower case
    """A prediction's box; ``data`` is what the script plays with."""


class Scale:
    """``0.5x to 8x`` or ``3000 to 5000 GB/s``: both ends in one unit."""

    def __init__(self, text: str) -> None:
        ends = re.fullmatch(r"\s*(.+?)\s+to\s+(.+?)\s*", text)
        first, last = ends.groups() if ends else ("", "")
        if re.fullmatch(r"[\d.^]+", first):  # the unit stands once, behind the second
            first += re.sub(r"^[\d.^]+", "", last)
        low, high = self._end(first), self._end(last)
        if not low or not high or low.kind is not high.kind or low.value >= high.value:
            raise Lost(f":slider: '{text}' should read FROM to TO in one unit, as '0.5x to 8x'")
        self.low, self.high, self.kind = low, high, low.kind
        unit = re.sub(r"^[\d.^]+\s*", "", high.text)
        self.unit = SHOWN.get(unit, unit)
        self.one = UNITS[unit][1] if unit else 1.0

    @staticmethod
    def _end(text: str) -> Number | None:
        word, _space, unit = text.partition(" ")
        found = Number.read(word, unit)
        return found[0] if found else None

    def data(self, values: Sequence[float]) -> dict[str, Any]:
        """The ends and the measured value in the scale's own unit."""
        low, high, value = (
            number / self.one
            for number in (self.low.value, self.high.value, statistics.median(values))
        )
        if not low <= value <= high:
            raise Lost(f":slider: ends at {self.high}, and {value:.3g}{self.unit} was measured")
        return {
            "kind": "slider",
            "from": low,
            "to": high,
            "unit": self.unit,
            "wide": low > 0 and high / low >= WIDE,
            "value": float(f"{value:.4g}"),
        }


class Predict(Titled):
    """``.. predict:: QUESTION`` with the answer, folded, as its body.

    A guess is a choice or a place on a scale:

    - ``:choices:`` one per line, ``LABEL :: CLAIM``. Exactly one of the claims holds, on our card
      or on the one that all of them ask.
    - ``:slider: FROM to TO`` and ``:measured: AMOUNT``, an amount of the claims' language.

    ``:rung: VARIANT`` names the rung of the climb that opens with the guess.
    """

    option_spec: ClassVar = {
        "choices": directives.unchanged_required,
        "slider": directives.unchanged_required,
        "measured": directives.unchanged_required,
        "rung": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        title = self.title()
        answer = fold(_("Answer"), self.parse_content_to_nodes(), "answer")
        made = box("predict", _("Predict"), title, [], guess)
        try:
            data = self._data(Book(self.env))
        except NotYet:
            report.not_yet(self.env, f"{self.name}:: {self.arguments[0]}", self.get_location())
            data = None
        except (BadClaim, Lost, NoSuchRun) as error:
            asked = f"{self.name}:: {self.arguments[0]}"
            lost = report.lost(self.env, asked, f"{self.name}: {error}", self.get_location())
            return [nodes.paragraph("", "", lost)]
        if data:
            made["ids"].append(self._id())
            made["data"] = data
            for option in data.get("choices", []):
                made += nodes.paragraph("", option, classes=["guess-choice"])
        made += answer
        return [made]

    def _id(self) -> str:
        """Stays the same while the rung, or the question, does."""
        page = self.env.docname.rpartition("/")[2]
        words = self.options.get("rung") or " ".join(self.arguments[0].split())[:60]
        return nodes.make_id(f"guess {page} {words}")

    def _data(self, book: Book) -> dict[str, Any] | None:
        if not self.options:
            return None
        return played(self.options, book.everything(), chapter_of(self.env.docname))


def played(options: Mapping[str, str], recordings: Recordings, chapter: str) -> dict[str, Any]:
    """What the script plays with, of a directive's options.

    Raises Lost, BadClaim or NoSuchRun where they don't make a question with one right answer.
    """
    kinds = [kind for kind in ("choices", "slider") if kind in options]
    if len(kinds) != 1 or (("slider" in kinds) != ("measured" in options)):
        raise Lost("to be played needs :choices:, or :slider: with :measured:")
    how = _choices if kinds == ["choices"] else _slider
    data = how(options, recordings, chapter)
    if rung := options.get("rung"):
        data["rung"] = f"{chapter}/{rung}"
    return data


def _slider(options: Mapping[str, str], recordings: Recordings, chapter: str) -> dict[str, Any]:
    claim = read_amount(options["measured"])
    assert isinstance(claim.statement, Compare)
    scale, kind = Scale(options["slider"]), claim.statement.sides[0].kind
    if not comparable(kind, scale.kind):
        raise Lost(f":slider: is {scale.kind.value}, and :measured: {kind.value}")
    values = amount(claim, recordings, recordings.reference.name, chapter)
    return {
        **scale.data(values),
        "text": written(scale.kind, *values),
        "device": short_device(recordings.reference.device_name),
    }


def _choices(options: Mapping[str, str], recordings: Recordings, chapter: str) -> dict[str, Any]:
    labels: list[str] = []
    claims: list[Claim] = []
    for line in filter(str.strip, options["choices"].splitlines()):
        label, colons, claim = line.partition(" :: ")
        if not colons:
            raise Lost(f":choices: '{line.strip()}' should read LABEL :: CLAIM")
        claims.append(read(claim))
        labels.append(label.strip())
    if len(labels) < 2:
        raise Lost(":choices: has fewer than two lines")
    if len({claim.asked_on for claim in claims}) != 1:
        raise Lost(":choices: are asked on different cards")
    asked_on = claims[0].asked_on or recordings.reference.name
    judged = [judge(claim, recordings, asked_on, chapter) for claim in claims]
    right = [place for place, outcome in enumerate(judged) if outcome.holds]
    if len(right) != 1:
        held = ", ".join(f"'{labels[one]}'" for one in right) or "none"
        raise Lost(f":choices: exactly one must hold on {asked_on}, and it is {held}")
    (value,) = right
    return {
        "kind": "choices",
        "choices": labels,
        "value": value,
        "text": labels[value],
        "device": short_device(judged[value].device),
    }


def _visit(self: HTML5Translator, node: nodes.Element) -> None:
    attributes: Any = {"class": " ".join(["docutils", "container", *node["classes"]])}
    if "data" in node:
        attributes["data-guess"] = json.dumps(node["data"], ensure_ascii=False)
    self.body.append(self.starttag(node, "div", "\n", **attributes))


def _depart(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    app.add_node(guess, html=(_visit, _depart))
    app.add_directive("predict", Predict)
