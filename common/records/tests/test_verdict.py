"""The rule for "faster" and "tie": what it says, how often it errs, and what it sees.

The simulation draws two kernels' passes from the reference recording. A pass's samples are drawn
from a recorded run's own. Its shift against other passes has the size by which the recording's
first two passes differ: of the same run, or of runs of about the same length.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from common.records.checks import load_set
from common.records.derived import median_ranks
from common.records.naming import REFERENCE
from common.records.schema import TimedRun
from common.records.verdict import (
    Outcome,
    Span,
    Verdict,
    over_passes,
    shared_digits,
    timed,
    verdict,
)

pytestmark = pytest.mark.all

DATA = Path(__file__).parents[3] / "figures/data" / REFERENCE


def a_pass(low: float, high: float, repeat: int = 0, median: float | None = None) -> TimedRun:
    """A recorded pass with that interval of the median."""
    middle = (low + high) / 2 if median is None else median
    run: dict[str, Any] = {"repeat": repeat, "median_us": middle, "median_ci_us": (low, high)}
    return cast(TimedRun, {**run, "samples_us": [low, middle, high]})


def passes(*intervals: tuple[float, float]) -> list[TimedRun]:
    return [a_pass(low, high, repeat) for repeat, (low, high) in enumerate(intervals)]


# --------------------------------------------------------------------------------- the rule


def test_a_time_is_the_median_over_passes_and_its_spread_holds_all_intervals() -> None:
    time = timed(passes((99, 101), (104, 106), (100, 102)))
    assert time.median_us == 101
    assert time.spread_us == Span(99, 106)
    assert time.medians_us == (100, 105, 101)
    assert time.passes == 3
    assert timed(list(reversed(passes((99, 101), (104, 106))))).medians_us == (100, 105)
    with pytest.raises(ValueError, match="without a pass"):
        timed([])


def test_too_few_samples_for_an_interval_spread_over_all_of_them() -> None:
    run = a_pass(98, 102)
    run["median_ci_us"] = None
    assert timed([run]).spread_us == Span(98, 102)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        # All passes of one come before all of the other.
        ([(90, 91), (92, 93), (91, 92)], [(95, 96), (94, 95), (96, 97)], Outcome.FASTER),
        ([(95, 96), (94, 95), (96, 97)], [(90, 91), (92, 93), (91, 92)], Outcome.SLOWER),
        # One pass disagrees.
        ([(90, 91), (92, 93), (95, 96)], [(94, 95), (94, 95), (96, 97)], Outcome.UNDECIDED),
        # The medians agree in all passes, and two intervals overlap.
        ([(90, 91), (92, 95), (91, 92)], [(95, 96), (94, 98), (96, 97)], Outcome.UNDECIDED),
        # All within 1 %, intervals included.
        ([(100, 100.5), (100.1, 100.6), (100, 100.3)], [(100, 100.9)] * 3, Outcome.TIE),
        ([(100, 100.5), (100.1, 101.2), (100, 100.3)], [(100, 100.9)] * 3, Outcome.UNDECIDED),
        # Faster by less than 1 %, and shown to be so, is not a tie.
        ([(100, 100.1)] * 3, [(100.5, 100.6)] * 3, Outcome.FASTER),
        # What three passes decide, two and one don't where passes may differ by as much.
        ([(5.0, 5.05)] * 3, [(5.1, 5.15)] * 3, Outcome.FASTER),
        ([(5.0, 5.05)] * 2, [(5.1, 5.15)] * 2, Outcome.UNDECIDED),
        ([(5.0, 5.05)] * 2, [(5.3, 5.35)] * 2, Outcome.FASTER),
        ([(5.0, 5.05)], [(5.3, 5.35)], Outcome.UNDECIDED),
        ([(5.0, 5.05)], [(5.7, 5.75)], Outcome.FASTER),
        ([(1000, 1001)], [(1010, 1011)], Outcome.FASTER),
        ([(1000, 1001)], [(1001, 1002)], Outcome.TIE),
    ],
)
def test_the_rule(
    first: list[tuple[float, float]], second: list[tuple[float, float]], outcome: Outcome
) -> None:
    assert verdict(passes(*first), passes(*second)).outcome is outcome


def test_ratios_are_taken_pass_by_pass() -> None:
    found = verdict(passes((100, 100), (110, 110)), passes((200, 200), (165, 165)))
    assert found.ratios == (2.0, 1.5)
    assert found.ratio == Span(1.5, 2.0)
    # Of passes that only one of the two has, none is taken; with none in common, all are.
    three = passes((200, 200), (165, 165), (300, 300))
    assert verdict(passes((100, 100), (110, 110)), three).ratios == (2.0, 1.5)
    apart = verdict([a_pass(100, 100, 0)], [a_pass(150, 150, 1), a_pass(200, 200, 2)])
    assert apart.ratios == (1.5, 2.0)


# ------------------------------------------------------------------------------- the digits


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.66, 1.52], "1.5 to 1.7"),
        ([18.81, 18.84], "18.8"),
        ([18.81, 18.84, 19.2], "19"),
        ([1.354, 1.356, 1.357], "1.36"),
        ([240.4, 242.6, 242.7], "243"),
        ([1.444, 1.456], "1.45"),
        ([1.444, 1.461], "1.44 to 1.46"),
        ([1.999, 2.001], "2.00"),
        ([1.99, 2.005], "2.00"),
        ([1.99, 2.02], "2.0"),
        ([4600.4, 4540.1], "4540 to 4600"),
        ([4592.4, 4592.1], "4592"),
        ([4592.4, 4588.1], "4590"),
        ([4592.4, 4573.1], "4580"),
        ([4592.4, 4546.2], "4550 to 4590"),
        ([0.998, 1.002], "1.00"),
        ([9.996, 9.998], "10.0"),
        ([5.984, 7.2], "6.0 to 7.2"),
        ([9.0, 110.0], "9.0 to 110"),
        ([-1.52, -1.66], "-1.7 to -1.5"),
        ([-0.04, 1.0], "-0.040 to 1.0"),
        ([0.0], "0"),
        ([0.0, 0.5], "0 to 0.50"),
        ([3.14159], "3.14"),
    ],
)
def test_digits_that_all_passes_share(values: list[float], text: str) -> None:
    assert str(shared_digits(values)) == text


def test_more_digits_can_be_asked_for() -> None:
    assert str(shared_digits([18.811, 18.814], most=4)) == "18.81"
    assert str(shared_digits([1.66, 1.72], least=1)) == "1.7"
    assert str(shared_digits([1.66, 1.52], least=1)) == "2"


def test_a_run_shown_is_over_its_passes() -> None:
    one, two, three = passes((99, 101), (104, 106), (100, 102))
    for run, quartile in zip((one, two, three), (98.0, 103.0, 99.0), strict=True):
        run |= {"p25_us": quartile, "p75_us": quartile + 5, "min_us": quartile - 1}
        run |= {"bytes_read": 10**6, "bytes_written": 10**4, "grid": 7}
    shown = over_passes([three, one, two])
    assert shown["median_us"] == 101
    assert shown["median_ci_us"] == (99, 106)
    assert (shown["p25_us"], shown["p75_us"], shown["min_us"]) == (99, 104, 97)
    assert shown["samples_us"] == [99, 100, 101, 104, 105, 106, 100, 101, 102]
    assert shown["gb_per_s"] == pytest.approx(1.01e6 / 101e3)
    assert (shown["grid"], shown["repeat"]) == (7, 0)


# ----------------------------------------------------------------------------- its error rate


@dataclass(frozen=True)
class Noise:
    """What a recording knows of one run: a pass's samples, and how far its passes differ."""

    median_us: float
    samples: list[float]
    shift: float


@pytest.fixture(scope="module")
def noises() -> list[Noise]:
    """Of every run that events timed in enough samples, by length."""
    found = []
    for record in load_set(DATA).chapters.values():
        by_name: dict[str, dict[int, TimedRun]] = {}
        for run in record.runs:
            if run["clock"] == "events" and len(run["samples_us"]) >= 20:
                name = f"{run['variant']} {run['n']} {run['block']} {run['params']}"
                by_name.setdefault(name, {})[run["repeat"]] = run
        for both in by_name.values():
            if 0 in both and 1 in both:
                one, other = both[0], both[1]
                shift = math.log(other["median_us"] / one["median_us"])
                found.append(Noise(one["median_us"], one["samples_us"], shift))
    return sorted(found, key=lambda noise: noise.median_us)


Rule = Callable[[Sequence[TimedRun], Sequence[TimedRun]], Verdict]
#: Lengths in microseconds: the shorter a run, the more its passes differ.
LENGTHS = ((0.0, 5.0), (5.0, 20.0), (20.0, 200.0), (200.0, math.inf))
#: An event's time comes in steps of 32 ns.
TICK = 0.032


def outcomes(
    noises: list[Noise],
    length: tuple[float, float],
    count: int,
    gain: float,
    tries: int,
    shifts_of: str,
    rule: Rule = verdict,
) -> dict[Outcome, float]:
    """How often *rule* says what of two kernels, the first faster by *gain*, in *count* passes."""
    chance = random.Random(f"{length} {count} {gain} {shifts_of}")
    fitting = [at for at, noise in enumerate(noises) if length[0] <= noise.median_us < length[1]]

    def simulated(at: int, factor: float, repeat: int) -> TimedRun:
        near = at if shifts_of == "itself" else at + chance.randrange(-40, 41)
        size = noises[min(max(near, 0), len(noises) - 1)].shift / math.sqrt(2)
        # Of the run's own shifts only one is known: a typical size. Its neighbours' are a sample.
        shift = (
            chance.gauss(0, abs(size)) if shifts_of == "itself" else chance.choice((-1, 1)) * size
        )
        scale = factor * math.exp(shift)
        drawn = chance.choices(noises[at].samples, k=min(len(noises[at].samples), 40))
        samples = sorted(round(sample * scale / TICK) * TICK for sample in drawn)
        ranks = median_ranks(len(samples))
        assert ranks
        low, high = (samples[rank] for rank in ranks)
        return a_pass(low, high, repeat, statistics.median(samples))

    said = dict.fromkeys(Outcome, 0)
    for _ in range(tries):
        at = chance.choice(fitting)
        faster = [simulated(at, 1 / (1 + gain), repeat) for repeat in range(count)]
        slower = [simulated(at, 1, repeat) for repeat in range(count)]
        said[rule(faster, slower).outcome] += 1
    return {outcome: times / tries for outcome, times in said.items()}


@pytest.mark.parametrize("shifts_of", ["itself", "its neighbours"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("length", LENGTHS)
def test_equal_kernels_are_seldom_called_faster(
    noises: list[Noise], length: tuple[float, float], count: int, shifts_of: str
) -> None:
    said = outcomes(noises, length, count, 0.0, 1500, shifts_of)
    assert said[Outcome.FASTER] < 0.05
    assert said[Outcome.SLOWER] < 0.05


def _intervals_apart(first: Sequence[TimedRun], second: Sequence[TimedRun]) -> Verdict:
    """The customary rule: the intervals of the median don't overlap, in the first pass."""
    a, b = first[0]["median_ci_us"], second[0]["median_ci_us"]
    assert a and b
    outcome = Outcome.FASTER if a[1] < b[0] else Outcome.SLOWER if b[1] < a[0] else Outcome.TIE
    return Verdict(outcome, (1.0,))


def test_one_pass_with_its_interval_alone_errs_often(noises: list[Noise]) -> None:
    """The simulation can tell a rule that errs: this one errs in about every fourth pair."""
    said = outcomes(noises, (0.0, math.inf), 1, 0.0, 3000, "itself", _intervals_apart)
    assert said[Outcome.FASTER] > 0.1
    assert said[Outcome.SLOWER] > 0.1


#: How often a gain is seen, at least: (length, passes, gain, share).
SEEN = (
    (LENGTHS[0], 3, 0.05, 0.25),  # chapter 13 has many of these
    (LENGTHS[1], 3, 0.02, 0.10),
    (LENGTHS[1], 3, 0.05, 0.40),
    (LENGTHS[2], 2, 0.02, 0.45),
    (LENGTHS[2], 3, 0.02, 0.50),
    (LENGTHS[2], 3, 0.05, 0.90),
    (LENGTHS[3], 1, 0.02, 0.95),
    (LENGTHS[3], 2, 0.02, 0.95),
    (LENGTHS[3], 3, 0.02, 0.95),
    (LENGTHS[3], 3, 0.05, 0.98),
)


@pytest.mark.parametrize("shifts_of", ["itself", "its neighbours"])
@pytest.mark.parametrize(("length", "count", "gain", "share"), SEEN)
def test_gains_are_seen(
    noises: list[Noise],
    length: tuple[float, float],
    count: int,
    gain: float,
    share: float,
    shifts_of: str,
) -> None:
    said = outcomes(noises, length, count, gain, 500, shifts_of)
    assert said[Outcome.FASTER] >= share
    assert said[Outcome.SLOWER] <= 0.01


def test_equal_long_runs_tie(noises: list[Noise]) -> None:
    """Where passes repeat well, equal kernels are called equal, and not merely undecided: the more
    surely, the more passes there are."""
    for count, share in ((1, 0.7), (2, 0.75), (3, 0.8)):
        assert outcomes(noises, LENGTHS[3], count, 0.0, 2000, "itself")[Outcome.TIE] > share
