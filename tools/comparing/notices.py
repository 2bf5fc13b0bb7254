"""What to know of a recording before its numbers: said first, and never averaged away."""

from __future__ import annotations

import re
import statistics
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from figures.kit.chapter import number_of
from figures.kit.words import bytes_text, listed, significant, size
from figures.records.manifest import NAME as MANIFEST
from figures.records.manifest import hashes
from figures.records.reading import DataError, read_manifest
from figures.records.recordings import Recordings
from figures.records.schema import TimedRun
from figures.records.sets import RecordedSet
from figures.records.verdict import ENOUGH_PASSES, WIDENED_BY
from tools.comparing import ROOT
from tools.comparing.opening import Opened

#: Runs from which on the timer's step is small beside the time.
STEADY_US = 20.0
#: The book's own recordings drift by a tenth of a per cent per chapter at most.
DRIFT = 0.01
#: A run whose passes differ by more is unsteady. About one in a thousand of the book's own are.
UNSTEADY, MANY_UNSTEADY = 0.05, 0.02
#: Samples that were still too far apart when the time for them was up.
MANY_CUT_OFF = 0.05
#: What a clock may fall by before it is told.
CLOCK_DROP = 0.1
_MIG = re.compile(r"\bMIG\b")
_MADE_UP = re.compile(r"made[- ]up", re.IGNORECASE)


@dataclass(frozen=True)
class Notice:
    """One thing to know, a short name of it first; not a warning where nothing hangs on it."""

    name: str
    text: str
    is_warning: bool = True


def made_up(known: RecordedSet) -> bool:
    """Whether the data say of themselves that they were not measured."""
    said = [known.device_name]
    for record in known.chapters.values():
        said += [record.data[key] for key in ("driver", "toolkit", "host_compiler")]
    return any(_MADE_UP.search(each) for each in said)


def notices(one: Opened, recordings: Recordings) -> list[Notice]:
    """All there is to say of one recording, what weighs most first."""
    known = one.known
    found: list[Notice] = []
    for tell in (_mig, _clocks, _drift, _unsteady, _cut_off, _passes):
        found += tell(known)
    found += [Notice("left out", text) for text in one.left_out]
    found += _missing(known, recordings.reference)
    found += _source(known, recordings)
    found += _manifest(known)
    found += [Notice("a check of the recording failed", text) for text in one.doubts]
    return found


# -------------------------------------------------------------------------------- the card


def _mig(known: RecordedSet) -> Iterator[Notice]:
    if _MIG.search(known.device_name):
        yield Notice(
            "MIG slice",
            f"{known.device_name} is a slice of a card. Its peak follows from the memory clock and "
            "the bus that the driver reports, which may be the whole card's. Its read roof is "
            "measured on the slice.",
        )


def _clocks(known: RecordedSet) -> Iterator[Notice]:
    """What nvidia-smi read before and after each chapter."""
    for field, clock in (("sm_mhz", "SM"), ("memory_mhz", "memory")):
        after, seen = {}, []
        for name, record in known.chapters.items():
            told = record.data["clocks"] or {}
            for when in ("before", "after"):
                state = told.get(when)
                mhz = state.get(field) if isinstance(state, dict) else None
                if isinstance(mhz, int | float) and mhz > 0:
                    seen.append(mhz)
                    if when == "after":
                        after[name] = mhz
        if not after:
            yield Notice(
                f"{clock} clock unknown",
                "The recording has no reading of it, so a drop would go unseen.",
                is_warning=False,
            )
            continue
        lowest, highest = min(after, key=lambda name: after[name]), max(seen)
        if after[lowest] < (1 - CLOCK_DROP) * highest:
            yield Notice(
                "clock dropped",
                f"The {clock} clock was at {highest:.0f} MHz, and at {after[lowest]:.0f} MHz after "
                f"{_chapters([lowest])}: {_percent(1 - after[lowest] / highest)} less.",
            )


# ------------------------------------------------------------------------------ the passes


def _steady_passes(known: RecordedSet) -> Iterator[tuple[str, tuple[TimedRun, ...]]]:
    """Runs long enough to tell a drift by, in all their passes, by chapter."""
    for name, record in known.chapters.items():
        for runs in record.passes:
            if runs[0]["clock"] == "events" and runs[0]["median_us"] >= STEADY_US:
                yield name, runs


def _drift(known: RecordedSet) -> Iterator[Notice]:
    """Chapters that took longer, or less long, in a later pass than in the first."""
    ratios: dict[tuple[str, int], list[float]] = {}
    for name, runs in _steady_passes(known):
        for later in runs[1:]:
            ratio = later["median_us"] / runs[0]["median_us"]
            ratios.setdefault((name, later["repeat"]), []).append(ratio)
    drifts = {at: statistics.median(values) - 1 for at, values in ratios.items()}
    for word, sign in (("longer", 1), ("less time", -1)):
        moved = {at: sign * by for at, by in drifts.items() if sign * by > DRIFT}
        if moved:
            chapter, repeat = most = max(moved, key=lambda at: moved[at])
            yield Notice(
                "drift between passes",
                f"{_chapters({name for name, _ in moved}).capitalize()} took {word} in a later "
                f"pass than in the first: most of all {_chapters([chapter])}, whose median run "
                f"took {_percent(moved[most])} {word} in pass {repeat + 1}. A card that throttles, "
                "or that others use, does this.",
            )


def _unsteady(known: RecordedSet) -> Iterator[Notice]:
    """How many runs differ between passes, however the chapters' medians stand."""
    spreads = []
    for _name, runs in _steady_passes(known):
        medians = [run["median_us"] for run in runs]
        spreads.append(max(medians) / min(medians) - 1)
    off = [spread for spread in spreads if spread > UNSTEADY]
    if off and len(off) > MANY_UNSTEADY * len(spreads):
        yield Notice(
            "unsteady",
            f"{len(off)} of {len(spreads)} runs differ by more than {_percent(UNSTEADY)} between "
            f"passes, one of them by {_percent(max(off))}. What is faster is judged over all "
            "passes, so fewer claims can hold.",
        )


def _cut_off(known: RecordedSet) -> Iterator[Notice]:
    runs = [run for record in known.chapters.values() for run in record.runs]
    cut = sum(run["stopped_by"] == "seconds" for run in runs)
    if cut > MANY_CUT_OFF * len(runs):
        yield Notice(
            "samples far apart",
            f"In {cut} of {len(runs)} timings the time for sampling ran out before the median was "
            "known to 1 %.",
        )


def _passes(known: RecordedSet) -> Iterator[Notice]:
    counts = [len(runs) for record in known.chapters.values() for runs in record.passes]
    fewest = min(counts)
    if fewest < ENOUGH_PASSES:
        us, share = WIDENED_BY[fewest]
        yield Notice(
            "few passes",
            f"Recorded in {fewest} pass{'es' if fewest > 1 else ''}, where the book's own sets "
            f"have {ENOUGH_PASSES}. What counts as faster therefore has to be ahead by "
            f"{significant(us, 1)} µs and {100 * share:g} % more at each end.",
        )


# ------------------------------------------------------------------------- what isn't there


def _shapes(known: RecordedSet, chapter: str) -> set[tuple[str, int, int]]:
    runs = known.chapters[chapter].runs
    return {(run["variant"], run["n"], run["block"]) for run in runs}


def _missing(known: RecordedSet, reference: RecordedSet) -> Iterator[Notice]:
    """Chapters, sizes and counters that the book's own set has."""
    absent = [name for name in reference.chapters if name not in known.chapters]
    if absent:
        yield Notice("chapters missing", f"Nothing is there of {_chapters(absent)}.")
    if known.counters is None:
        yield Notice("no counters", "Claims about hardware counters can't be told.")
    largest, cut = 0, 0
    sizes: set[int] = set()
    chapters = []
    for name in reference.chapters.keys() & known.chapters.keys():
        ours, theirs = _shapes(reference, name), _shapes(known, name)
        most = max(n for _, n, _ in theirs)
        above = {n for _, n, _ in ours if n > most}
        if above:
            sizes |= above
            chapters.append(name)
            largest = max(largest, most)
        cut += len({shape for shape in ours if shape[1] > most})
    if sizes:
        bytes_needed = 4 * max(sizes)
        memory = known.device["global_bytes"]
        why = (
            f"{size(max(sizes))} integers take {bytes_text(bytes_needed)}, and the card has "
            f"{bytes_text(memory)}."
        )
        yield Notice(
            "sizes left out",
            f"{cut} runs are missing at the large end of {_chapters(chapters)}: the largest n "
            f"there is at most {size(largest)}, where the book goes to {size(max(sizes))}. {why}",
        )


# ------------------------------------------------------------------------------- the source


def _source(known: RecordedSet, recordings: Recordings) -> Iterator[Notice]:
    """Which commit was measured, and what has changed since."""
    sources = {file: source for file, source in known.sources()}
    commits = {source["commit"] if source else None for source in sources.values()}
    if len(commits) > 1:
        yield Notice("several commits", "Its files come from more than one commit.")
    if None in commits:
        yield Notice("commit unknown", "The recording doesn't say which source was measured.")
    if any(source and source["dirty"] for source in sources.values()):
        yield Notice("changed source", "The source that was measured differed from its commit.")
    changed = _changed_kernels(known, recordings)
    behind = [_behind(commit) for commit in commits if commit]
    if changed:
        shown = listed(changed[:8]) if len(changed) <= 8 else f"{', '.join(changed[:8])} and more"
        few = "kernel has changed since it was"
        said = "kernels have changed since they were" if changed[1:] else few
        yield Notice("older kernels", f"{len(changed)} {said} timed there: {shown}.")
    for text in dict.fromkeys(behind):
        if text:
            same = "" if changed else " Every kernel that it timed is as it is here."
            yield Notice("another commit", text + same, is_warning=bool(changed))


def _changed_kernels(known: RecordedSet, recordings: Recordings) -> list[str]:
    """Variants whose kernel was another when they were timed."""
    found: dict[str, None] = {}
    for record in known.chapters.values():
        for run in record.runs:
            if run["kernel_hash"] is None:
                continue
            region = recordings.regions.get(str(run["region"]))
            if region is None or region.hash != run["kernel_hash"]:
                found[run["variant"]] = None
    return list(found)


def _behind(commit: str) -> str:
    """How far this copy is from the measured commit; empty where it is the same, or git is not
    there to ask."""
    head = _git("rev-parse", "HEAD")
    if head is None or head == commit:
        return ""
    if _git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        return f"Recorded at commit {commit[:7]}, which this copy's history doesn't have."
    count = _git("rev-list", "--count", f"{commit}..HEAD")
    return f"Recorded at commit {commit[:7]}; this copy is {count} commits further."


def _git(*arguments: str) -> str | None:
    command = ["git", "--no-optional-locks", "-C", str(ROOT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _manifest(known: RecordedSet) -> Iterator[Notice]:
    """Files that are not as ``tools/measure`` left them."""
    folder = next(iter(known.chapters.values())).path.parent
    path = folder / MANIFEST
    if not path.is_file():
        yield Notice("no manifest", "Nothing vouches for the files: there is no manifest.")
        return
    try:
        told = read_manifest(path)["files"]
    except DataError as error:
        yield Notice("no manifest", f"{path.name} {error.what}.")
        return
    here = hashes(folder)
    for name in sorted(name for name in told if "/" not in name):
        if name not in here:
            yield Notice("file missing", f"{name} is in the manifest and not there.")
        elif here[name] != told[name]:
            yield Notice("changed by hand", f"{name} was changed after it was recorded.")


# ---------------------------------------------------------------------------------- words


def _chapters(names: Iterable[str]) -> str:
    numbers = sorted(number_of(name) for name in names)
    if len(numbers) == 1:
        return f"chapter {numbers[0]}"
    return f"chapters {listed([str(number) for number in numbers])}"


def _percent(share: float) -> str:
    return f"{significant(100 * share, 2)} %"
