"""What a recording shows of its card that no median would: said, and never averaged away.

It is found in the chapters' records as they are written. So ``tools/measure`` can say it where it
ends, ``tools/compare`` at the head of its page, and a reader's own guide beside their numbers.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from figures.kit.words import bytes_text, listed, significant, size
from tools.measuring.plan import run_name

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

#: A chapter's file, and all that were recorded, by chapter.
Record = Mapping[str, Any]
Records = Mapping[str, Record]


@dataclass(frozen=True)
class Notice:
    """One thing to know, a short name of it first; not a warning where nothing hangs on it."""

    name: str
    text: str
    is_warning: bool = True
    #: Whose times to take with care, where it is not all of them.
    chapters: tuple[str, ...] = ()


def of_the_card(records: Records) -> Iterator[Notice]:
    """What the records show by themselves, what weighs most first."""
    for tell in (_mig, _clocks, _drift, _unsteady, _cut_off):
        yield from tell(records)


def sizes_left_out(records: Records, book: Records) -> Iterator[Notice]:
    """Where the card's memory ends before the sizes of the *book*'s own recordings do."""
    largest, cut = 0, 0
    sizes: set[int] = set()
    chapters = []
    for name in book.keys() & records.keys():
        ours, theirs = _shapes(book[name]), _shapes(records[name])
        most = max(n for _, n, _ in theirs)
        above = {n for _, n, _ in ours if n > most}
        if above:
            sizes |= above
            chapters.append(name)
            largest = max(largest, most)
        cut += len({shape for shape in ours if shape[1] > most})
    if sizes:
        memory = records[chapters[0]]["device"]["global_bytes"]
        why = (
            f"{size(max(sizes))} integers take {bytes_text(4 * max(sizes))}, and the card has "
            f"{bytes_text(memory)}."
        )
        yield Notice(
            "sizes left out",
            f"{cut} runs are missing at the large end of {chapters_text(chapters)}: the largest n "
            f"there is at most {size(largest)}, where the book goes to {size(max(sizes))}. {why}",
        )


# -------------------------------------------------------------------------------- the card


def _mig(records: Records) -> Iterator[Notice]:
    for name in {record["device"]["name"] for record in records.values()}:
        if _MIG.search(name):
            yield Notice(
                "MIG slice",
                f"{name} is a slice of a card. Its peak follows from the memory clock and the bus "
                "that the driver reports, which may be the whole card's. Its read roof is measured "
                "on the slice.",
            )


def _clocks(records: Records) -> Iterator[Notice]:
    """What nvidia-smi read before and after each chapter.

    It reads while no program runs, and a card that idles has low clocks too. So a low reading is
    told only of a chapter that had also got slower by then.
    """
    slower = {name: by for name, by in _last_drifts(records).items() if by > DRIFT}
    for field, clock in (("sm_mhz", "SM"), ("memory_mhz", "memory")):
        after, seen = {}, []
        for name, record in records.items():
            told = record["clocks"] or {}
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
        highest = max(seen)
        low = {name: mhz for name, mhz in after.items() if mhz < (1 - CLOCK_DROP) * highest}
        if both := low.keys() & slower.keys():
            article = "an" if clock == "SM" else "a"
            lowest = min(both, key=lambda name: (low[name], name))
            others = both - {lowest}
            more = f"After {chapters_text(others)} it was low, too. " if others else ""
            yield Notice(
                "clock dropped",
                f"Right after {chapters_text([lowest])}, nvidia-smi read {article} {clock} clock "
                f"of {low[lowest]:.0f} MHz: {percent(1 - low[lowest] / highest)} below its "
                f"highest reading, {highest:.0f} MHz. In the last pass that chapter's median run "
                f"took {percent(slower[lowest])} longer than in the first. {more}The card may "
                "already have been idling when it was read, so go by the times.",
                chapters=tuple(sorted(both)),
            )


# ------------------------------------------------------------------------------ the passes


def _passes(record: Record) -> list[list[Mapping[str, Any]]]:
    """The runs, each with all of its passes in order."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for run in record["runs"]:
        found.setdefault(run_name(run), []).append(run)
    return [sorted(each, key=lambda run: int(run["repeat"])) for each in found.values()]


def _steady_passes(records: Records) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Runs long enough to tell a drift by, in all their passes, by chapter."""
    for name, record in records.items():
        for runs in _passes(record):
            if runs[0]["clock"] == "events" and runs[0]["median_us"] >= STEADY_US:
                yield name, runs


def _drifts(records: Records) -> dict[tuple[str, int], float]:
    """By how much longer a chapter's median run took than in the first pass, by later pass."""
    ratios: dict[tuple[str, int], list[float]] = {}
    for name, runs in _steady_passes(records):
        for later in runs[1:]:
            ratio = later["median_us"] / runs[0]["median_us"]
            ratios.setdefault((name, later["repeat"]), []).append(ratio)
    return {at: statistics.median(values) - 1 for at, values in ratios.items()}


def _last_drifts(records: Records) -> dict[str, float]:
    """The same of each chapter's last pass, after which its clocks are read."""
    return {name: by for (name, _repeat), by in sorted(_drifts(records).items())}


def _drift(records: Records) -> Iterator[Notice]:
    """Chapters that took longer, or less long, in a later pass than in the first."""
    drifts = _drifts(records)
    for word, sign in (("longer", 1), ("less time", -1)):
        moved = {at: sign * by for at, by in drifts.items() if sign * by > DRIFT}
        if moved:
            chapter, repeat = most = max(moved, key=lambda at: moved[at])
            names = sorted({name for name, _ in moved})
            yield Notice(
                "drift between passes",
                f"{chapters_text(names).capitalize()} took {word} in a later pass than in the "
                f"first: most of all {chapters_text([chapter])}, whose median run took "
                f"{percent(moved[most])} {word} in pass {repeat + 1}. A card that throttles, or "
                "that others use, does this.",
                chapters=tuple(names),
            )


def _unsteady(records: Records) -> Iterator[Notice]:
    """How many runs differ between passes, however the chapters' medians stand."""
    spreads = []
    for _name, runs in _steady_passes(records):
        medians = [run["median_us"] for run in runs]
        spreads.append(max(medians) / min(medians) - 1)
    off = [spread for spread in spreads if spread > UNSTEADY]
    if off and len(off) > MANY_UNSTEADY * len(spreads):
        yield Notice(
            "unsteady",
            f"{len(off)} of {len(spreads)} runs differ by more than {percent(UNSTEADY)} between "
            f"passes, one of them by {percent(max(off))}. What is faster is judged over all "
            "passes, so fewer claims can hold.",
        )


def _cut_off(records: Records) -> Iterator[Notice]:
    runs = [run for record in records.values() for run in record["runs"]]
    cut = sum(run["stopped_by"] == "seconds" for run in runs)
    if cut > MANY_CUT_OFF * len(runs):
        yield Notice(
            "samples far apart",
            f"In {cut} of {len(runs)} timings the time for sampling ran out before the median was "
            "known to 1 %.",
        )


# ---------------------------------------------------------------------------------- words


def _shapes(record: Record) -> set[tuple[str, int, int]]:
    return {(run["variant"], run["n"], run["block"]) for run in record["runs"]}


def chapters_text(names: Iterable[str]) -> str:
    """'chapter 5', 'chapters 5, 7 and 8'."""
    numbers = [str(int(re.findall(r"\d+", name)[0])) for name in sorted(names)]
    return f"chapter{'s' if numbers[1:] else ''} {listed(numbers)}"


def percent(share: float) -> str:
    return f"{significant(100 * share, 2)} %"
