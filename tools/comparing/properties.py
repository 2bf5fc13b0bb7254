"""Which property of the hardware a claim that doesn't replicate may hang on, by rule or not at all.

Each rule looks at both cards' attributes and recorded runs and says what it saw. Where none
applies, nothing is said. A rule shows that a property differs where the claim's runs meet it. It
is no proof that the property is the cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ladder.book import Lost
from ladder.claims.amounts import Kind, Number
from ladder.claims.evaluate import findings
from ladder.claims.lookup import Lookup
from ladder.claims.quantities import is_counter
from ladder.claims.statement import OfDevice, Quantity

from common.records.naming import REFERENCE
from common.records.recordings import RecordedRun
from common.records.schema import Device
from common.records.sets import NoSuchRun
from figures.cards import NEAR
from figures.kit.pictures import View, rate_of
from figures.kit.words import bytes_text, rate_text, significant
from tools.comparing.book_claims import BookClaim

#: Attributes that differ by less are the same for a rule.
ALIKE = 0.05
#: What a claim may name of the device, and which property that is.
NAMED = {
    "peak": "memory bandwidth",
    "l2": "L2 size",
    "sm_count": "SM count",
    "sm_clock": "SM clock",
    "threads_sm": "threads per SM",
    "shared_block": "shared memory",
    "shared_sm": "shared memory",
    "memory": "memory size",
}
#: Quantities that are made from the memory's peak.
OF_THE_PEAK = ("peak", "bytes_floor", "highest_floor")
#: What the compiler and the chip's generation decide.
OF_THE_CODE = ("registers", "local", "resident", "occupancy", "instructions")


@dataclass(frozen=True)
class Property:
    """A property that differs where a claim's runs meet it, and what the rule saw."""

    name: str
    seen: str


@dataclass(frozen=True)
class Side:
    """One card's part of a claim: its view, its name, and the claim's runs there."""

    view: View
    name: str
    runs: tuple[RecordedRun, ...]

    @property
    def device(self) -> Device:
        return self.view.device


def likely(claim: BookClaim, ours: tuple[View, str], theirs: tuple[View, str]) -> list[Property]:
    """The properties that rules point at, of a claim that fails on *theirs*."""
    points = _failing(claim, theirs[0])
    sides = [Side(view, name, _runs(claim, view, points)) for view, name in (ours, theirs)]
    found: dict[str, Property] = {}
    for rule in (_bandwidth, _named, _l2, _sms, _capability):
        for one in rule(claim, *sides):
            found.setdefault(one.name, one)
    return list(found.values())


def _lookup(claim: BookClaim, view: View) -> Lookup:
    # The book's own set goes by its own name, also where it was not asked for.
    return Lookup(claim.claim, view.recordings, view.known.name or REFERENCE, claim.chapter)


def _failing(claim: BookClaim, view: View) -> list[dict[str, str]]:
    """The points of the claim's axis at which it is false."""
    lookup = _lookup(claim, view)
    points, found = lookup.points(), findings(claim.claim, lookup)
    if len(points) != len(found):  # a trend is one finding over all of its points
        return points
    return [point for point, one in zip(points, found, strict=True) if not one.holds] or points


def _runs(claim: BookClaim, view: View, points: list[dict[str, str]]) -> tuple[RecordedRun, ...]:
    """The claim's timed runs at these points, as far as the card has them."""
    lookup = _lookup(claim, view)
    found = []
    for lookup.here in points:
        for run in claim.claim.runs:
            try:
                found.append(lookup.timed(run))
            except (NoSuchRun, Lost):
                continue
    return tuple(found)


def absolute(claim: BookClaim) -> bool:
    """Whether the claim states a time or a rate as such, which is its own card's."""
    kinds = (Kind.TIME, Kind.RATE)
    return any(isinstance(part, Number) and part.kind in kinds for part in claim.claim.amounts)


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > ALIKE * max(one, other)


# ------------------------------------------------------------------------------------ rules


def _named(claim: BookClaim, ours: Side, theirs: Side) -> Iterator[Property]:
    """The claim itself names an attribute, and it differs."""
    for part in claim.claim.amounts:
        if isinstance(part, OfDevice) and part.name in NAMED:
            yield from _attribute(NAMED[part.name], "the claim names it", ours, theirs)
        elif isinstance(part, Quantity) and part.name in OF_THE_PEAK:
            seen = f"{part.name} follows from the memory's peak"
            yield from _attribute("memory bandwidth", seen, ours, theirs)


def _bandwidth(claim: BookClaim, ours: Side, theirs: Side) -> Iterator[Property]:
    """Memory limits a run of the claim on a card, and not all that it is compared with."""
    try:
        roofs = [rate_of(side.view.read_roof()) for side in (ours, theirs)]
    except NoSuchRun:
        return
    if not _differ(*roofs):
        return
    shares = [
        [rate_of(run) / roof for run in side.runs]
        for side, roof in zip((ours, theirs), roofs, strict=True)
    ]
    everything = shares[0] + shares[1]
    if not all(shares) or max(everything) < NEAR:
        return
    if min(everything) >= NEAR and not absolute(claim):
        return
    # The run that memory limits most on either card; the same one on both.
    at = max(range(min(map(len, shares))), key=lambda place: max(each[place] for each in shares))
    said = (
        f"{100 * share[at]:.0f} % of {side.name}'s read roof of {rate_text(roof)}"
        for side, share, roof in zip((ours, theirs), shares, roofs, strict=True)
    )
    yield Property("memory bandwidth", f"{ours.runs[at].run['variant']} moves {' and '.join(said)}")


def _l2(claim: BookClaim, ours: Side, theirs: Side) -> Iterator[Property]:
    """What a run reads fits one card's L2, and not the other's."""
    sizes = [side.device["l2_bytes"] for side in (ours, theirs)]
    for run in ours.runs:
        read = run.run["bytes_read"]
        if min(sizes) < read <= max(sizes):
            seen = f"{run.run['variant']} reads {bytes_text(read)}"
            yield from _attribute("L2 size", seen, ours, theirs)


def _sms(claim: BookClaim, ours: Side, theirs: Side) -> Iterator[Property]:
    """A run's blocks fit one card all at once, and not the other."""
    for one, other in zip(ours.runs, theirs.runs, strict=False):
        places = [
            side.device["sm_count"] * (run.run.get("blocks_per_sm") or 0)
            for side, run in ((ours, one), (theirs, other))
        ]
        grids = one.run["grid"], other.run["grid"]
        if not all(places) or grids[0] != grids[1] or one.run["variant"] != other.run["variant"]:
            continue
        if (grids[0] <= places[0]) != (grids[1] <= places[1]):
            said = (
                f"{side.name} has places for {place}"
                for side, place in zip((ours, theirs), places, strict=True)
            )
            yield Property(
                "SM count",
                f"{one.run['variant']} launches {grids[0]} blocks; {' and '.join(said)} at once",
            )


def _capability(claim: BookClaim, ours: Side, theirs: Side) -> Iterator[Property]:
    """The claim counts what the compiler makes for one generation of chips."""
    ccs = [side.device["compute_capability"] for side in (ours, theirs)]
    names = [part.name for part in claim.claim.amounts if isinstance(part, Quantity)]
    counted = [name for name in names if name in OF_THE_CODE or is_counter(name)]
    if counted and ccs[0] != ccs[1]:
        yield Property(
            "compute capability",
            f"the claim counts {counted[0]}; {ours.name} has {ccs[0]} and {theirs.name} {ccs[1]}",
        )


_ATTRIBUTES = {
    "memory bandwidth": ("peak_gb_per_s", rate_text),
    "L2 size": ("l2_bytes", bytes_text),
    "memory size": ("global_bytes", bytes_text),
    "SM count": ("sm_count", lambda count: f"{count:.0f} SMs"),
    "SM clock": ("sm_clock_khz", lambda khz: f"{significant(khz / 1e3)} MHz"),
    "threads per SM": ("max_threads_per_sm", lambda count: f"{count:.0f} threads"),
    "shared memory": ("shared_per_sm", bytes_text),
}


def _attribute(name: str, seen: str, ours: Side, theirs: Side) -> Iterator[Property]:
    field, text = _ATTRIBUTES[name]
    one, other = (float(side.device[field]) for side in (ours, theirs))  # type: ignore[literal-required]
    if _differ(one, other):
        said = f"{seen}; {ours.name} has {text(one)} and {theirs.name} {text(other)}"
        yield Property(name, said)
