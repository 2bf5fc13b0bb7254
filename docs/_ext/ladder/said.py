"""``:said:`as fast: A / B, n=2^28```: a comparison whose words come from the recording.

The form says which words there are to choose from; the recording chooses. README.md lists them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from common.records.verdict import Outcome, verdict

from . import units
from .book import Book, Lost, NotYet, nearest
from .claims.amounts import BadClaim
from .claims.check import BELOW_ONE
from .claims.evaluate import amount
from .claims.language import read_amount
from .claims.lookup import Lookup
from .claims.statement import Arithmetic, Claim, Compare, Quantity
from .names import BadName, chapter_of
from .numbers import RecordedRole
from .provenance import short_device
from .strings import _

logger = logging.getLogger(__name__)

#: How a form is completed: what is more, what is less, what is neither, and what follows a number
#: of times. Speed is the inverse of time.
FORMS: dict[str, tuple[str, str, str, str]] = {
    "as fast": ("", "", _("as fast"), _("as fast")),
    "faster": (_("faster"), _("slower"), _("level"), _("as fast")),
    "as long": ("", "", _("as long"), _("as long")),
    "longer": (_("longer"), _("shorter"), _("as long"), _("as long")),
    "as many": ("", "", _("as many"), _("as many")),
    "more": (_("more"), _("less"), _("as much"), _("as much")),
    "fewer": (_("more"), _("fewer"), _("as many"), _("as many")),
    "share": ("", "", _("all"), ""),
    "times": ("", "", _("once"), ""),
}
_SPEED = ("as fast", "faster")
_TIMES = {2: _("twice"), 3: _("three times"), 4: _("four times"), 5: _("five times"),
          6: _("six times"), 7: _("seven times"), 8: _("eight times"), 9: _("nine times"),
          10: _("ten times"), 12: _("twelve times"), 16: _("sixteen times")}  # fmt: skip
_SHARES = {2: _("half"), 3: _("a third"), 4: _("a quarter"), 5: _("a fifth"), 6: _("a sixth"),
           7: _("a seventh"), 8: _("an eighth"), 9: _("a ninth"), 10: _("a tenth"),
           16: _("a sixteenth"), 32: _("a thirty-second")}  # fmt: skip
#: A whole number of times is one to this much; "nearly" and "more than" it to that much.
EXACT, CLOSE = 0.01, 0.05
#: Amounts that are counted are level to this much; for times, the book's verdict decides.
LEVEL = 0.005


def times(ratios: Sequence[float]) -> str:
    """How many times: "twice", "nearly three times", "a third", "about a third", "1.25×"."""
    low, high = min(ratios), max(ratios)
    for whole, word in _TIMES.items():
        if whole * (1 - EXACT) <= low and high <= whole * (1 + EXACT):
            return str(word)
        if whole <= low and high <= whole * (1 + CLOSE):
            return _("more than {number}").format(number=word)
        if whole * (1 - CLOSE) <= low and high <= whole:
            return _("nearly {number}").format(number=word)
    for whole, word in _SHARES.items():
        if (1 - EXACT) / whole <= low and high <= (1 + EXACT) / whole:
            return str(word)
        if (1 - CLOSE) / whole <= low and high <= (1 + CLOSE) / whole:
            return _("about {number}").format(number=word)
    return units.ratio(*ratios)


def say(form: str, ratios: Sequence[float], is_level: bool) -> str:
    """A form's words for what was recorded; ``ratios`` are of speed where the form is."""
    more, less, same, beyond = FORMS[form]
    if is_level:
        return str(same)
    low, high = min(ratios), max(ratios)
    if form == "share" and high < 1 and (said := times(ratios)).endswith(units.TIMES):
        return units.percent(*(100 * ratio for ratio in ratios))
    if form == "share" and high < 1:
        return said
    if more and low < 2 and high > 0.5:
        change = units.digits(*(100 * abs(ratio - 1) for ratio in ratios), places=2)
        return f"{change}{units.NO_BREAK}% {more if low > 1 else less}"
    return f"{times(ratios)} {beyond}".strip()


def _read(text: str) -> tuple[str, Claim]:
    form, colon, what = text.partition(":")
    form = form.strip()
    form = form[:1].lower() + form[1:]  # a capital begins a sentence
    if not colon or form not in FORMS:
        raise BadName(f"'{text}' should read FORM: A / B{nearest(form, FORMS)}")
    sides, _comma, rest = what.strip().partition(",")
    if " of " not in sides and " / " in sides:  # two runs: their times
        before, _slash, after = sides.partition(" / ")
        sides = f"time of {before.strip()} / time of {after.strip()}"
    claim = read_amount(f"{sides}, {rest}" if rest else sides)
    if form in _SPEED and not _runs(claim):
        raise BadName(f"'{text}': '{form}' is said of two runs, A / B")
    return form, claim


def _runs(claim: Claim) -> tuple[Quantity, Quantity] | None:
    """The two runs whose times are compared, if that is what an amount is."""
    assert isinstance(claim.statement, Compare)
    match claim.statement.sides[0]:
        case Arithmetic(Quantity("time") as first, "/", Quantity("time") as second):
            return first, second
    return None


def words(text: str, recordings: Recordings, set_name: str, chapter: str) -> str:
    """What the role says on one set. Raises Lost, NoSuchRun, BadClaim and BadName."""
    form, claim = _read(text)
    ratios = amount(claim, recordings, set_name, chapter)
    if runs := _runs(claim):
        lookup = Lookup(claim, recordings, set_name, chapter)
        (lookup.here,) = lookup.points()
        first, second = (lookup.timed(one.run) for one in runs)
        between = verdict(first.repeats, second.repeats)
        is_level = between.outcome in (Outcome.TIE, Outcome.UNDECIDED)
        ratios = between.ratios
        if form not in _SPEED:
            ratios = tuple(1 / ratio for ratio in ratios)
    else:
        is_level = all(abs(ratio - 1) <= LEVEL for ratio in ratios)
    said = say(form, ratios, is_level)
    return said[0].upper() + said[1:] if text[0].isupper() else said


class Said(RecordedRole):
    """``:said:`FORM: A / B```"""

    def find(self, book: Book) -> list[nodes.Node]:
        chapter = chapter_of(self.env.docname)
        recordings = book.everything()
        reference = book.reference().name
        text = f"{self.text} on {reference}" if book.card else self.text
        try:
            ours = words(text, recordings, reference, chapter)
        except (BadClaim, NoSuchRun) as error:
            raise Lost(str(error)) from None
        shown: list[nodes.Node] = [nodes.inline("", ours, classes=["said", "measured"])]
        try:
            theirs = words(self.text, recordings, "local", chapter)
        except (Lost, NoSuchRun):
            return shown
        if recordings.local and theirs != ours:
            device = short_device(recordings.local.device_name)
            shown.append(nodes.Text(f" ({device}: {theirs})"))
        return shown


_RATIO = re.compile(r":ratio:`(?P<runs>[^`]+)`\s+as\s+fast\b")


def as_fast_below_one(source: str, recordings: Recordings) -> Iterator[str]:
    """A page's ratios below one that its words call speed: "0.7× as fast" hides a loss."""
    for found in _RATIO.finditer(source):
        runs, _on, card = " ".join(found["runs"].split()).partition(" on ")
        slow, _sign, fast = runs.partition(" / ")
        text = f"as fast: {fast} / {slow}" + (f" on {card}" if card else "")
        _form, claim = _read(text)
        ratios = amount(claim, recordings, card or recordings.reference.name, "")
        if max(1 / ratio for ratio in ratios) < 1:
            yield (
                f"{BELOW_ONE}: :ratio:`{runs}` is {units.ratio(*(1 / one for one in ratios))}. "
                "Turn the two round, or say ':said:`as long: A / B`'"
            )


def _on_source(app: Sphinx, page: str, source: list[str]) -> None:
    """Warns of ratios below one; a page without them costs nothing."""
    if _RATIO.search(source[0]) and page != app.config.root_doc:
        with contextlib.suppress(NotYet, Lost, NoSuchRun, BadClaim, BadName):
            app.env.temp_data.setdefault("docname", page)
            for fault in as_fast_below_one(source[0], Book(app.env).everything()):
                logger.warning(fault, location=page, type="ladder", subtype="claim")


def setup(app: Sphinx) -> None:
    app.connect("source-read", _on_source)
    app.add_role("said", Said())
