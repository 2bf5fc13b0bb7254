"""What a sum along rows cannot be faster than, by who takes a row.

But for the rate of lines, nothing here is taken from a time of such a sum. Of the card: its
numbers, what an empty launch and an empty block take, and how long one load is on its way. Of the
kernel: how it shares rows out. The time is at least the greatest of five:

- launch: an empty kernel;
- bytes: elements and results over the theoretical peak bandwidth;
- starts: blocks x what starting an empty one takes;
- lines: the L1 looks up one line of 128 bytes per SM and cycle, for each load of a warp again. That
  is inferred from one time (chapter 12), and only a thread per row has loads that touch many lines;
- turns: a thread's next loads wait for its last ones, so the turns one after the other x the time
  of a load x how often the SMs fill with blocks. A row in several blocks takes three trips more,
  for the sums, the tickets and the sums again.
"""

from __future__ import annotations

from dataclasses import dataclass

from common.records.floors import EMPTY_BLOCKS
from common.records.floors import floors as general
from common.records.recordings import RecordedRun
from common.records.schema import Device
from figures.chapters.chapter00_timing import hop_ns
from figures.kit.pictures import View, time_of

#: Who takes a row, from few threads to many; "wide" is a thread that loads 16 bytes at once.
METHODS = ("thread", "wide", "lanes", "block", "blocks")
WARP = 32
LINE = 128
#: As launches.cuh has them: loads of a thread in one turn, of 16 bytes and of 4.
LOADS = {4: 4, 1: 8}
HANDED_OVER = 3
#: Floors so near to each other decide nothing: a tenth, or what a clock's tick hides.
NEAR = 1.1


@dataclass(frozen=True)
class Card:
    """Microseconds, and what the device says of itself."""

    device: Device
    launch_us: float
    hop_us: float
    start_us: float

    def resident(self, block: int) -> int:
        """Blocks that the device holds at once, if registers allow."""
        per_sm = min(int(self.device["max_threads_per_sm"]) // block, 32)
        return max(per_sm, 1) * int(self.device["sm_count"])


def card_of(view: View) -> Card:
    """
    :raises NoSuchRun: the set has no chapter 0, or no empty kernel
    """
    empty = view.find(*EMPTY_BLOCKS)
    return Card(
        view.device,
        launch_us=time_of(view.find("chapter13_small_and_large", "empty")),
        hop_us=hop_ns(view.find("chapter00_timing", "pointer_chase")) / 1000,
        start_us=time_of(empty) / empty.run["grid"],
    )


def _up(a: int, b: int) -> int:
    return -(-a // b)


def _lanes(columns: int) -> int:
    """team_of in launches.cuh."""
    return 1 if columns <= 4 else 4 if columns <= 16 else 8 if columns <= 32 else WARP


def floors_of(card: Card, method: str, found: RecordedRun) -> dict[str, float]:
    """Microseconds, by floor."""
    run = found.run
    columns, grid, block = int(run["params"]["columns"]), run["grid"], run["block"]
    rows = run["n"] // columns
    per_word = 4 if columns % 4 == 0 else 1
    words = columns // per_word
    known = general(run, card.device, None, card.start_us)
    floors = {"launch": card.launch_us, "bytes": known.move or 0.0, "starts": known.starts or 0.0}
    turns = 1
    if method in ("thread", "wide"):
        # A load of a warp: 32 elements, or words, that lie a row apart.
        touched = min(WARP, _up(WARP * columns * 4, LINE))
        looked_up = _up(rows, WARP) * (columns if method == "thread" else words) * touched
        per_us = int(card.device["sm_count"]) * int(card.device["sm_clock_khz"]) / 1000
        floors["lines"] = looked_up / per_us
    elif method == "lanes":
        turns = _up(words, _lanes(columns))
    elif method == "block":
        turns = _up(words, block * LOADS[per_word])
    else:
        pieces = grid // rows
        turns = _up(_up(words, pieces), block * LOADS[per_word]) + HANDED_OVER
    rounds = _up(grid, card.resident(block))
    floors["turns"] = rounds * turns * card.hop_us
    return floors


def among_lowest(floors: dict[str, float]) -> set[str]:
    """The methods to bet on: those whose floor is near the lowest.

    :param floors: the highest floor, by method
    """
    lowest = min(floors.values())
    return {method for method, floor in floors.items() if floor <= NEAR * lowest}
