"""What a launch cannot be faster than.

Three things a launch must do, whatever else it does, each with a rate that the device cannot pass:

- issue its warp instructions: counted instructions / (SMs x schedulers per SM x SM clock);
- start its thread blocks: blocks / the rate at which a launch of empty blocks starts them;
- move its bytes: useful bytes / theoretical peak bandwidth.

The time is at least the greatest of the three. Instructions at a size that was not counted are
those of one block times the blocks, and only where a block has the same share of the input at both.
"""

from __future__ import annotations

from dataclasses import dataclass

from common.records.counters import NCU
from common.records.rates import issue_rate, peak_of
from common.records.schema import CountedRun, Device, TimedRun

#: What starts blocks and does nothing else, at a size where a launch's own cost no longer shows.
EMPTY_BLOCKS = ("chapter00_timing", "empty_blocks", 2**28)


@dataclass(frozen=True)
class Floors:
    """Microseconds; None where the set lacks what it takes to tell."""

    issue: float | None
    starts: float | None
    move: float | None

    @property
    def highest(self) -> float:
        return max(floor for floor in (self.issue, self.starts, self.move) if floor is not None)


def instructions(run: TimedRun, counted: CountedRun) -> float | None:
    """Warp instructions of *run*, from a count at its own or at another size."""
    metric = NCU["instructions"]
    launches = counted["launches"]
    if any(metric not in launch["metrics"] for launch in launches):
        return None
    total = sum(launch["metrics"][metric] for launch in launches)
    if counted["n"] == run["n"]:
        return float(total)
    grid = sum(launch["grid"][0] for launch in launches)
    if counted["n"] * run["grid"] != run["n"] * grid:
        return None  # a block has more to do here than where it was counted
    return float(total / grid * run["grid"])


def floors(
    run: TimedRun, device: Device, counted: CountedRun | None, start_us: float | None
) -> Floors:
    """The floors beneath one recorded run; *start_us* is what it takes to start one block.

    The arguments are all of one device.
    """
    issued = instructions(run, counted) if counted else None
    rate, peak = issue_rate(device), peak_of(run, device)  # 0 where a device doesn't tell
    moved = run["bytes_read"] + run["bytes_written"]
    return Floors(
        issue=issued / (rate / 1e6) if issued is not None and rate else None,
        starts=None if start_us is None else run["grid"] * start_us,
        move=float(moved / (peak * 1e3)) if peak else None,  # GB/s are 1000 bytes per µs
    )
