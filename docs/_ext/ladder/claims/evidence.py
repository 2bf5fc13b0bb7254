"""A claim on every recorded set, and what the build says where one contradicts the page."""

from __future__ import annotations

from dataclasses import dataclass, field

from common.records.naming import LOCAL
from common.records.recordings import Recordings
from common.records.sets import NoSuchRun

from ..book import Lost
from .check import FAR, of_claim
from .evaluate import Outcome, judge
from .lookup import Lookup
from .statement import Claim

#: A bound tells nothing if it lies further than this from what was recorded.
FARTHEST = 1.5


@dataclass(frozen=True)
class Evidence:
    """What became of one claim, set by set; a set that can't tell is not among ``outcomes``."""

    claim: Claim
    #: The set that the page shows.
    reference: str
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    #: Whether the reader's card lacks a size at which the reference was asked.
    is_partly_local: bool = False

    @property
    def local(self) -> Outcome | None:
        return self.outcomes.get(LOCAL)

    def faults(self) -> list[str]:
        """Where a committed set contradicts what the page says; the reader's never does."""
        said = f"'{self.claim.text}'"
        found = list(of_claim(self.claim))
        main = self.outcomes.get(self.claim.asked_on or self.reference)
        if main and main.holds and main.slack > FARTHEST and not self.claim.reason:
            found.append(
                f"{FAR}: {said} is {main.slack:.1f} times away from {main.sides}. Draw it in, or "
                "end the claim with ', because' and the reason"
            )
        for name, outcome in self.outcomes.items():
            seen = f"{outcome.sides} ({_where(outcome)})"
            is_denied = name in self.claim.denied_on
            if name == LOCAL or outcome.holds != is_denied:
                continue
            if is_denied:
                found.append(
                    f"{said} is said not to hold on {name}, and does: {seen}. "
                    "Say in the text what is true there, and take the exception out"
                )
            elif name in (self.reference, self.claim.asked_on):
                found.append(f"{said} is false on {name}: {seen}")
            else:
                found.append(
                    f"{said} is false on {name}: {seen}. "
                    f"Say so in the text, and write ', but not on {name}' behind the claim"
                )
        return found


def _where(outcome: Outcome) -> str:
    return "; ".join(outcome.data)


def gather(claim: Claim, recordings: Recordings, chapter: str) -> Evidence:
    """The claim held against every set, or the one that it asks. Raises Lost where the reference,
    or that one, cannot answer it."""
    outcomes = {}
    reference = recordings.reference.name
    names = (claim.asked_on,) if claim.asked_on else (reference, *recordings.second, LOCAL)
    for name in names:
        if name != claim.asked_on and not recordings.sets(name):
            continue
        try:
            outcomes[name] = judge(claim, recordings, name, chapter)
        except (NoSuchRun, ZeroDivisionError) as miss:
            if name in (reference, claim.asked_on):
                raise Lost(f"'{claim.text}': {miss}") from None
        except Lost as lost:
            raise Lost(f"'{claim.text}': {lost}") from None
    is_partly = LOCAL in outcomes and not reaches(claim, recordings, LOCAL, chapter)
    return Evidence(claim, reference, outcomes, is_partly)


def reaches(claim: Claim, recordings: Recordings, name: str, chapter: str) -> bool:
    """Whether a set has every size at which the reference was asked."""
    if claim.axis is None:
        return True
    there, ours = (
        Lookup(claim, recordings, one, chapter).along(claim.axis)
        for one in (name, recordings.reference.name)
    )
    return set(ours) <= set(there)
