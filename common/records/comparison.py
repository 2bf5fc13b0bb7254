"""How far the embedded device's counters are from hardware's, and why where they differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from common.records.counters import NCU, OF_BOTH, ncu_name
from common.records.recordings import RecordedRun, Recordings, counter_of, is_stale
from common.records.schema import CountedRun, EmbeddedRun
from common.records.sets import NoSuchRun


class Reason(Enum):
    """Why hardware's count is another."""

    #: The kernel has been changed since hardware counted it.
    EARLIER_FORM = "earlier form"
    #: Warps got in each other's way in shared memory: more wavefronts, each of them a conflict.
    ARBITRATION = "arbitration"
    #: The assembler may merge neighbouring accesses to shared memory into wider ones.
    MERGED = "merged"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Compared:
    """One counter of one run, on both."""

    metric: str
    hardware: int
    embedded: int
    reason: Reason | None  # none where they are equal

    @property
    def difference(self) -> int:
        return self.embedded - self.hardware


def compare(
    hardware: RecordedRun[CountedRun], embedded: RecordedRun[EmbeddedRun], metric: str
) -> Compared | None:
    """One metric of a run; None where the embedded device doesn't count it."""
    metric = ncu_name(metric)
    if metric not in OF_BOTH:
        return None
    theirs, ours = int(counter_of(hardware, metric)), int(counter_of(embedded, metric))
    reason = None if theirs == ours else _reason(hardware, embedded, metric)
    return Compared(metric, theirs, ours, reason)


def _reason(
    hardware: RecordedRun[CountedRun], embedded: RecordedRun[EmbeddedRun], metric: str
) -> Reason:
    if is_stale(hardware) and not is_stale(embedded):
        return Reason.EARLIER_FORM
    for access in ("shared_load", "shared_store"):
        waves, conflicts = NCU[f"{access}_wavefronts"], NCU[f"{access}_conflicts"]
        if metric not in (waves, conflicts):
            continue
        theirs = counter_of(hardware, waves) - counter_of(hardware, conflicts)
        ours = counter_of(embedded, waves) - counter_of(embedded, conflicts)
        more = counter_of(hardware, metric) - counter_of(embedded, metric)
        if theirs == ours and more > 0:
            return Reason.ARBITRATION
        if counter_of(embedded, "mergeable_shared_loads") == 0:
            continue
        if more < 0:
            return Reason.MERGED
        if theirs < ours and metric == conflicts:  # merged, and in each other's way all the same
            return Reason.ARBITRATION
    return Reason.UNKNOWN


# ---------------------------------------------------------------------------------- in all


@dataclass(frozen=True)
class Tally:
    """Launches of one kind, and how their counters compare."""

    name: str
    launches: int
    counters: int
    reasons: dict[Reason, int]

    @property
    def differing(self) -> int:
        return sum(self.reasons.values())


def _tally(name: str, launches: int, compared: Iterable[Reason | None]) -> Tally:
    reasons = list(compared)
    different = [reason for reason in reasons if reason]
    return Tally(name, launches, len(reasons), {r: different.count(r) for r in set(different)})


#: Families of probes: how a probe's name begins, and what they try.
PROBE_FAMILIES = {
    "global loads: strides, offsets, widths": ("global load", "volatile load", "read-only load"),
    "global stores: strides, offsets, widths": ("global store",),
    "global loads from scattered places": ("global gather",),
    "lanes left out, branches that diverge": ("guarded copy", "lanes of mask", "divergent"),
    "blocks of odd and three-dimensional shapes": ("block of",),
    "atomics": ("atomics",),
    "shared loads: strides, offsets, widths": ("shared load",),
    "shared stores: strides, offsets, widths": ("shared store",),
    "a tile turned, with and without padding": ("turned tile",),
    "matrices: ldmatrix and stmatrix": ("ldmatrix", "stmatrix"),
    "matrices: loads and stores by wmma": ("wmma",),
}


def probes(recordings: Recordings) -> list[Tally]:
    """The probes, family by family."""
    data = recordings.embedded_set.probes
    if not data:
        raise NoSuchRun("the embedded device's probes are not recorded")
    left = list(data["runs"])
    tallies = []
    for family, starts in PROBE_FAMILIES.items():
        runs = [run for run in left if run["probe"].startswith(starts)]
        left = [run for run in left if not run["probe"].startswith(starts)]
        pairs = [
            pair for run in runs for pair in zip(run["embedded"], run["hardware"], strict=True)
        ]
        different = (None if ours == theirs else Reason.UNKNOWN for ours, theirs in pairs)
        tallies.append(_tally(family, len(runs), different))
    if left:
        raise NoSuchRun(f"the probe '{left[0]['probe']}' is of no family")
    return tallies


def _counted(recordings: Recordings) -> list[EmbeddedRun]:
    """All that the embedded device has counted."""
    counters = recordings.embedded_set.counters
    return counters["runs"] if counters else []


def _beyond(recordings: Recordings, run: CountedRun) -> bool:
    """Whether a run is larger than any that the embedded device counts of its variant."""
    name = run["chapter"], run["variant"]
    sizes = [
        other["n"] for other in _counted(recordings) if (other["chapter"], other["variant"]) == name
    ]
    return bool(sizes) and run["n"] > max(sizes)


def of_another_grid(recordings: Recordings, run: CountedRun) -> bool:
    """Whether the grid is as large as fits: more fits where no registers are counted."""
    alike = [
        other
        for other in _counted(recordings)
        if all(other[key] == run[key] for key in ("chapter", "variant", "n", "block", "params"))
    ]
    grids = [launch["grid"] for launch in run["launches"]]
    return any([launch["grid"] for launch in other["launches"]] != grids for other in alike)


def _of_a_library(run: CountedRun) -> bool:
    """Whether the kernels are CUB's, which are not the book's: ptxas makes of them what it can."""
    return any(launch["kernel"].startswith("Device") for launch in run["launches"])


def _stopped(recordings: Recordings, run: CountedRun) -> bool:
    """Whether a classic form leaves its memory at this shape, where a GPU goes on regardless."""
    mine = [
        other
        for other in _counted(recordings)
        if (other["chapter"], other["variant"]) == (run["chapter"], run["variant"])
    ]
    regions = {name for other in mine if (name := other["region"]) in recordings.regions}
    faulty = any(recordings.regions[name].kind == "legacy" for name in regions)
    shapes = {(other["n"], other["block"]) for other in mine}
    return faulty and (run["n"], run["block"]) not in shapes


def chapters(recordings: Recordings) -> list[Tally]:
    """The recorded launches of the chapters' kernels that a CPU can count too, by chapter."""
    books = (recordings.reference, *recordings.second.values())
    named = {run["chapter"] for one in books if one.counters for run in one.counters["runs"]}
    tallies = []
    for chapter in sorted(named):
        reference = recordings.of(chapter).reference
        compared: list[Reason | None] = []
        launches = 0
        for run in reference.counters["runs"] if reference.counters else []:
            if run["chapter"] != chapter or _beyond(recordings, run):
                continue
            if _of_a_library(run) or _stopped(recordings, run) or of_another_grid(recordings, run):
                continue
            hardware = recordings.counters(
                chapter, run["variant"], run["n"], run["block"], run["params"],
                only=reference.name,
            )  # fmt: skip
            embedded = recordings.embedded(run)
            launches += len(run["launches"])
            for metric in OF_BOTH:
                one = compare(hardware, embedded, metric)
                assert one is not None
                compared.append(one.reason)
        tallies.append(_tally(chapter, launches, compared))
    return tallies
