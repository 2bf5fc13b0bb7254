"""What a timed run comes to: in each pass a number, by name, for pages, claims and pictures."""

from __future__ import annotations

from collections.abc import Callable

from common.records.rates import peak_of
from common.records.schema import Device, TimedRun


def _peak(run: TimedRun, device: Device) -> float:
    """Per cent of the attributes' figure: memory clock times bus width times 2 over 8."""
    if not (peak := peak_of(run, device)):
        raise KeyError("attributes that tell of a peak")
    return 100 * run["gb_per_s"] / peak


def _occupancy(run: TimedRun, device: Device) -> float:
    """Warps of the blocks that fit an SM, of the warps that it can hold, in per cent."""
    warps = -(-run["block"] // 32)
    return 100 * _known(run["blocks_per_sm"]) * warps / (device["max_threads_per_sm"] // 32)


def _stay(run: TimedRun, device: Device) -> float:
    """How long a block stays on its SM, by Little's law: blocks in flight over blocks per time.

    With all places taken; where some are empty for a while, a little less.
    """
    in_flight = _known(run["blocks_per_sm"]) * device["sm_count"]
    return in_flight * run["median_us"] / run["grid"]


def _known(value: int | None) -> int:
    """A field that may be null."""
    if value is None:
        raise KeyError
    return value


#: Times in microseconds, rates in GB/s. A KeyError says that the run doesn't tell.
QUANTITIES: dict[str, Callable[[TimedRun, Device], float]] = {
    "time": lambda run, device: run["median_us"],
    "median": lambda run, device: run["median_us"],
    "min": lambda run, device: run["min_us"],
    "p25": lambda run, device: run["p25_us"],
    "p75": lambda run, device: run["p75_us"],
    "gbps": lambda run, device: run["gb_per_s"],
    "peak": _peak,
    "registers": lambda run, device: _known(run["registers"]),
    "local": lambda run, device: _known(run["local_bytes"]),
    "shared": lambda run, device: _known(run["shared_bytes"]),
    "grid": lambda run, device: run["grid"],
    "resident": lambda run, device: _known(run["blocks_per_sm"]),
    "occupancy": _occupancy,
    "stay": _stay,
    #: Of one load of a pointer chase.
    "latency": lambda run, device: run["median_us"] / float(run["params"]["hops"]),
    #: Of a sum of floats: how far it is from the exact sum, relative to that.
    "error": lambda run, device: run["error"],
    "samples": lambda run, device: len(run["samples_us"]),
}
