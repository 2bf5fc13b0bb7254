"""What a picture is made of, and the view of recorded runs that it is made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from matplotlib.figure import Figure

from common.records.naming import DEFAULT_BLOCK
from common.records.rates import gpus_of, peak_of
from common.records.recordings import RecordedRun, Recordings, is_faster
from common.records.schema import CountedRun, Device, TimedRun
from common.records.sets import NoSuchRun, RecordedSet
from common.records.verdict import timed
from figures.kit.style import Theme
from figures.kit.words import card, listed

LARGE_N = 2**28

Found = TypeVar("Found")


@dataclass(frozen=True)
class Table:
    """A picture's data, for those who would rather read numbers."""

    columns: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class Picture:
    """Everything about a picture but its colours."""

    draw: Callable[[Theme], Figure]
    alt: str  # states the conclusion, in words that follow the data
    caption: str
    table: Table
    runs: Sequence[RecordedRun[Any]] = field(
        default=()
    )  # what it was drawn from; none for a diagram


# ------------------------------------------------------------------------------------ data


def name_of(found: RecordedRun[Any]) -> str:
    return str(found.run["variant"])


def rate_of(found: RecordedRun) -> float:
    return float(found.run["gb_per_s"])


def time_of(found: RecordedRun) -> float:
    return float(found.run["median_us"])


@dataclass(frozen=True)
class View:
    """One set of recorded runs, as pictures ask for it."""

    recordings: Recordings
    known: RecordedSet
    #: A second card, which a picture may draw quietly where the conclusion is the card's.
    other: RecordedSet | None = None

    @property
    def device(self) -> Device:
        return self.known.device

    @property
    def device_name(self) -> str:
        return self.known.device_name

    def beside(self, find: Callable[[View], Found]) -> tuple[str, View, Found] | None:
        """What the second card is called, a view of it, and what *find* finds there; None without
        one, or where it lacks something."""
        if self.other is None:
            return None
        view = View(self.recordings, self.other)
        name = card(view.device_name)
        if name == card(self.device_name):
            name = f"the book's {name}"
        try:
            return name, view, find(view)
        except NoSuchRun:
            return None

    def runs(self, chapter: str) -> list[TimedRun]:
        """A chapter's runs over all passes, without the faulty forms and without finished sums.

        Those are compared with each other, across the chapters: `find` has them by name.
        """
        if chapter not in self.known.chapters:
            raise NoSuchRun(f"{chapter} is not recorded in {self.known.name}")
        return [
            run
            for run in self.known.chapters[chapter].shown
            if not run["legacy"] and "finished" not in run["params"]
        ]

    def variants(self, chapter: str) -> list[str]:
        """Their names in the order recorded."""
        return list(dict.fromkeys(run["variant"] for run in self.runs(chapter)))

    def origin(self, chapter: str, variant: str) -> str:
        """The chapter that the variant's kernel is from."""
        return next(str(run["from"]) for run in self.runs(chapter) if run["variant"] == variant)

    def find(
        self, chapter: str, variant: str, n: int | None = None, block: int | None = None
    ) -> RecordedRun:
        return self.recordings.run(chapter, variant, n, block, only=self.known.name)

    def counters(
        self, chapter: str, variant: str, n: int | None = None, block: int | None = None
    ) -> RecordedRun[CountedRun]:
        return self.recordings.counters(chapter, variant, n, block, only=self.known.name)

    def over_n(self, chapter: str, variant: str, block: int | None = None) -> list[RecordedRun]:
        """The variant's runs at all sizes, at a block size: at that which has most of them."""
        mine = [run for run in self.runs(chapter) if run["variant"] == variant]
        blocks = Counter(run["block"] for run in mine)
        block = block or (blocks.most_common(1)[0][0] if blocks else DEFAULT_BLOCK)
        sizes = sorted({run["n"] for run in mine if run["block"] == block})
        if len(sizes) < 3:
            raise NoSuchRun(f"{chapter}/{variant} is recorded at {len(sizes)} sizes only")
        return [self.find(chapter, variant, n, block) for n in sizes]

    def over_block(self, chapter: str, variant: str, n: int) -> list[RecordedRun]:
        """The variant's runs at all block sizes, with n elements."""
        mine = [run for run in self.runs(chapter) if (run["variant"], run["n"]) == (variant, n)]
        return [
            self.find(chapter, variant, n, block)
            for block in sorted({run["block"] for run in mine})
        ]

    def large_n(self, chapter: str) -> int:
        """2^28, or where the device has no room for that, the most that all variants ran at.

        All that were swept, where any were: others have sizes of their own.
        """
        sizes: dict[str, set[int]] = {}
        for run in self.runs(chapter):
            if run["block"] == DEFAULT_BLOCK and run["n"] <= LARGE_N:
                sizes.setdefault(run["variant"], set()).add(run["n"])
        swept = {variant: of for variant, of in sizes.items() if len(of) > 2}
        sizes = swept or sizes
        shared = set.intersection(*sizes.values()) if sizes else set()
        if not shared:
            raise NoSuchRun(f"no size at which all of {chapter} is recorded in {self.known.name}")
        return max(shared)

    def read_roof(self) -> RecordedRun:
        """The fastest kernel on one GPU that reads more than the L2 holds and writes next to
        nothing."""
        beyond = 2 * self.device["l2_bytes"]
        best: tuple[float, str, TimedRun] | None = None
        for chapter in self.known.chapters:
            for run in self.runs(chapter):
                reads = run["bytes_read"] >= max(beyond, 50 * run["bytes_written"])
                if run["cache"] == "cold" and reads and gpus_of(run) == 1:
                    candidate = (run["gb_per_s"], chapter, run)
                    best = max(best or candidate, candidate, key=lambda known: known[0])
        if best is None:
            raise NoSuchRun(f"{self.known.name} has no run beyond the L2's size")
        _, chapter, run = best
        return self.find(chapter, run["variant"], run["n"], run["block"])


def leaders(founds: Sequence[RecordedRun]) -> list[RecordedRun]:
    """The fastest, with all that it is not faster than in the book's sense of the word."""
    first = min(founds, key=time_of)
    return [found for found in founds if found is first or not is_faster(first, found)]


def leaders_text(founds: Sequence[RecordedRun]) -> str:
    """'smem is the fastest', or who shares the lead."""
    names = [name_of(found) for found in leaders(founds)]
    return f"{listed(names)} {'is the fastest' if len(names) == 1 else 'share the lead'}"


def run_columns() -> list[str]:
    return ["kernel", "n", "block", "median µs", "lowest µs", "highest µs", "GB/s", "% of peak"]


def run_row(found: RecordedRun, device: Device) -> list[Any]:
    run = found.run
    spread = timed(found.repeats).spread_us
    peak = peak_of(run, device)
    share = 100 * run["gb_per_s"] / peak if peak else None
    return [
        run["variant"],
        run["n"],
        run["block"],
        run["median_us"],
        spread.low,
        spread.high,
        round(run["gb_per_s"], 1),
        None if share is None else round(share, 1),
    ]
