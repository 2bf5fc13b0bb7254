"""What several passes say together: a run's time, which of two is faster, which digits hold.

A recording times every run in several passes, minutes apart. Within a pass the clock is steady:
the 95 % interval of the median is mostly narrower than 1 %. Between passes it isn't: in the first
recording, of two passes, 56 % of the second medians lie outside the first's interval. So no number
and no comparison on these pages rests on a single pass:

- A run's **time** is the median of its passes' medians.
- Its **spread** reaches from the lowest end of their intervals to the highest.
- One run is **faster** than another where its slowest pass beats the other's fastest, intervals
  included: the two spreads don't overlap. If two kernels are equally fast, all three passes of one
  come before all three of the other once in 20 times, whatever the passes' distribution, and less
  often with the intervals between them.
- Two runs **tie** where any pass of either is within 1 % of any pass of the other, intervals
  included.
- Else **nothing is decided**: these passes don't show a difference, and don't rule one out.

Fewer than three passes show too little of the spread. :data:`WIDENED_BY` then widens it at both
ends by what passes of one kernel are known to differ by. common/records/tests/test_verdict.py
simulates all of this with the noise of the recorded runs, and states how often the rule errs and
what it sees.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from common.records.derived import gb_per_s
from common.records.schema import TimedRun

#: Passes from which on a spread stands for itself.
ENOUGH_PASSES = 3
#: By how much each end of a spread moves out where there are so few passes: microseconds, and a
#: share of the time. From the first recording's two passes.
WIDENED_BY = {1: (0.3, 0.0015), 2: (0.1, 0.001)}
#: Two runs tie where they differ by less than this share. So do the passes of one, and its number
#: is shown in full.
TIE = 0.01


@dataclass(frozen=True)
class Span:
    """From the lowest value to the highest."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Timed:
    """A run's time over its passes, in microseconds."""

    #: The median of the passes' medians.
    median_us: float
    #: From the lowest end of the passes' intervals to the highest.
    spread_us: Span
    #: The passes' medians, in the order of recording.
    medians_us: tuple[float, ...]

    @property
    def passes(self) -> int:
        return len(self.medians_us)


class Outcome(Enum):
    """What the passes of two runs say about the first."""

    FASTER = "faster"
    SLOWER = "slower"
    TIE = "tie"
    UNDECIDED = "no difference shown"


@dataclass(frozen=True)
class Verdict:
    """Two runs compared."""

    outcome: Outcome
    #: How many times as fast the first is, pass by pass: the second's median over the first's.
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> Span:
        """From the pass with the lowest ratio to the one with the highest."""
        return Span(min(self.ratios), max(self.ratios))


def timed(passes: Sequence[TimedRun]) -> Timed:
    """The time of one run, all of whose *passes* are given, in any order."""
    if not passes:
        raise ValueError("a run without a pass has no time")
    in_order = sorted(passes, key=lambda run: run["repeat"])
    medians = tuple(run["median_us"] for run in in_order)
    ends = [_interval(run) for run in in_order]
    spread = Span(min(end.low for end in ends), max(end.high for end in ends))
    return Timed(statistics.median(medians), spread, medians)


def over_passes(passes: Sequence[TimedRun]) -> TimedRun:
    """One run as pages and figures show it: over all of its *passes*, in the form of one of them.

    Its interval is the spread, its samples are those of all passes. All but the times is as in
    the first pass.
    """
    first, *_ = in_order = sorted(passes, key=lambda run: run["repeat"])
    time = timed(in_order)
    return {
        **first,
        "samples_us": [sample for run in in_order for sample in run["samples_us"]],
        "median_us": time.median_us,
        "median_ci_us": (time.spread_us.low, time.spread_us.high),
        "p25_us": statistics.median(run["p25_us"] for run in in_order),
        "p75_us": statistics.median(run["p75_us"] for run in in_order),
        "min_us": min(run["min_us"] for run in in_order),
        "gb_per_s": gb_per_s(first, time.median_us),
    }


def verdict(first: Sequence[TimedRun], second: Sequence[TimedRun]) -> Verdict:
    """Whether the *first* run is faster than the *second*; each is given by all of its passes."""
    a, b = _allowed(timed(first)), _allowed(timed(second))
    if a.high < b.low:
        outcome = Outcome.FASTER
    elif b.high < a.low:
        outcome = Outcome.SLOWER
    elif a.high <= (1 + TIE) * b.low and b.high <= (1 + TIE) * a.low:
        outcome = Outcome.TIE
    else:
        outcome = Outcome.UNDECIDED
    return Verdict(outcome, ratios(first, second))


def ratios(first: Sequence[TimedRun], second: Sequence[TimedRun]) -> tuple[float, ...]:
    """The second's median over the first's, in each pass that both have.

    Where no pass has both, each pass of one over each of the other.
    """
    ours, theirs = ({run["repeat"]: run["median_us"] for run in runs} for runs in (first, second))
    if both := sorted(ours.keys() & theirs.keys()):
        return tuple(theirs[repeat] / ours[repeat] for repeat in both)
    return tuple(slow / fast for fast in ours.values() for slow in theirs.values())


def _interval(run: TimedRun) -> Span:
    """Of the median, with 95 % confidence; of too few samples for that, all of them."""
    if run["median_ci_us"] is None:
        return Span(min(run["samples_us"]), max(run["samples_us"]))
    return Span(*run["median_ci_us"])


def _allowed(time: Timed) -> Span:
    """The spread, widened where there are too few passes to show all of it."""
    us, share = WIDENED_BY.get(time.passes, (0.0, 0.0))
    by = us + share * time.median_us
    return Span(time.spread_us.low - by, time.spread_us.high + by)


# ------------------------------------------------------------------------------------ digits


@dataclass(frozen=True)
class Digits:
    """A number as far as the passes settle it, or the lowest and the highest."""

    #: One text where they do, else two.
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return " to ".join(self.texts)


def shared_digits(values: Sequence[float], most: int = 3, least: int = 2) -> Digits:
    """The median of *values* to *most* significant digits, where they are within 1 % of each other.

    Where they are not, what they share of their digits when rounded: 1.99 and 2.02 share 2.0. Where
    they share fewer than *least*, the lowest and the highest are given, to the digit in which they
    differ: 1.66 and 1.52 make "1.5 to 1.7". As everywhere in the book, digits before the point
    are shown where all share them: 4592.4 and 4592.1 are 4592, and 4592.4 and 4588.1 are 4590.
    """
    low, high = min(values), max(values)
    largest, middle = max(abs(low), abs(high)), statistics.median(values)
    finest = max(most - 1 - _exponent(largest, most), 0)
    coarsest = least - 1 - _exponent(largest, least)
    for decimals in range(finest, coarsest - 1, -1):
        if (text := _rounded(low, decimals)) == _rounded(high, decimals):
            return Digits((text,))
        if high - low < TIE * abs(middle):
            return Digits((_rounded(middle, most - 1 - _exponent(middle, most)),))
    apart = max(-_exponent(high - low, most), coarsest)
    # The lower end may be so much smaller that it needs more decimals of its own.
    ends = (max(min(apart, finest), least - 1 - _exponent(end, least)) for end in (low, high))
    return Digits(tuple(map(_rounded, (low, high), ends)))


def _rounded(value: float, decimals: int) -> str:
    shown = f"{round(value, decimals):.{max(decimals, 0)}f}"
    return "0" if float(shown) == 0 else shown


def _exponent(value: float, places: int) -> int:
    """The power of ten of its first digit, once it is rounded to so many digits."""
    return int(f"{value:.{places - 1}e}".partition("e")[2])
