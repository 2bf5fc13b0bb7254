"""What follows from what was measured: computed while reading, here and nowhere else.

No file of a recording holds a median, a rate or a peak. Python's standard library alone:
``tools/measure`` has nothing else.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def peak_gb_per_s(device: Mapping[str, Any]) -> float:
    """A device's theoretical bandwidth; 0 where its attributes don't tell."""
    bytes_per_cycle = device["memory_bus_bits"] * 2 / 8  # two transfers per cycle
    return _rounded(device["memory_clock_khz"] * bytes_per_cycle / 1e6)


def gb_per_s(run: Mapping[str, Any], us: float) -> float:
    """Useful bytes over time, in 10^9 bytes per second."""
    return float((run["bytes_read"] + run["bytes_written"]) / us * 1e-3)


def completed(record: Mapping[str, Any]) -> dict[str, Any]:
    """A chapter's record with what follows from it."""
    return {**record, "device": with_peak(record["device"]), "runs": [*map(timed, record["runs"])]}


def with_peak(device: Mapping[str, Any]) -> dict[str, Any]:
    return {**device, "peak_gb_per_s": peak_gb_per_s(device)}


def timed(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run with its median, the interval of that, quartiles, minimum and rate.

    As common's ``summarize``, to the nanosecond.
    """
    ascending = sorted(run["samples_us"])
    measured = _of_events if run["clock"] == "events" else float
    p25, median, p75 = (_quantile(ascending, quarters, measured) for quarters in (1, 2, 3))
    ranks = median_ranks(len(ascending))
    return {
        **run,
        "median_us": _rounded(median),
        "median_ci_us": ranks and (ascending[ranks[0]], ascending[ranks[1]]),
        "p25_us": _rounded(p25),
        "p75_us": _rounded(p75),
        "min_us": ascending[0],
        "gb_per_s": _rounded(gb_per_s(run, median)),
    }


_FLOAT = struct.Struct("f")


def _of_events(us: float) -> float:
    """The time between two events as CUDA told it, a float of milliseconds: the one whose nearest
    nanosecond was recorded."""
    (ms,) = _FLOAT.unpack(_FLOAT.pack(us / 1000))
    return 1000.0 * float(ms)


def _quantile(
    ascending: Sequence[float], quarters: int, measured: Callable[[float], float]
) -> float:
    """Interpolated between the two nearest samples."""
    below, part = divmod(quarters * (len(ascending) - 1), 4)
    low = measured(ascending[below])
    return low + part / 4 * (measured(ascending[below + 1]) - low) if part else low


def _rounded(value: float) -> float:
    """To three decimals, halves up: nanoseconds where it is microseconds."""
    return math.floor(value * 1e3 + 0.5) / 1e3


@functools.cache
def median_ranks(count: int) -> tuple[int, int] | None:
    """Ranks, from 0, of the samples that enclose the median with 95 % confidence.

    As common's median_interval_ranks: of the binomial distribution with p = 1/2, the largest
    rank whose lower tail is at most 2.5 %. Coefficients are taken from the middle one down, and
    relative to it, until they no longer change a sum.
    """
    middle = count // 2
    weights = [1.0]
    for rank in range(middle, 0, -1):
        if weights[-1] <= 1e-25:
            break
        weights.append(weights[-1] * rank / (count - rank + 1))
    below = sum(reversed(weights[1:]))
    total = 2 * (below + 1) if count % 2 else 2 * below + 1  # an odd count has two middle ones
    tail = 0.0
    for at in range(len(weights) - 1, -1, -1):
        tail += weights[at]
        if tail > 0.025 * total:
            rank = middle - at - 1
            return None if rank < 0 else (rank, count - 1 - rank)
    return None
