"""What a device could do at most, from its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.records.schema import Device


def gpus_of(run: Mapping[str, Any]) -> int:
    """How many GPUs a run was on."""
    return int(run.get("params", {}).get("gpus", 1))


def peak_of(run: Mapping[str, Any], device: Device) -> float:
    """What the memories that a run reads can deliver together, in GB/s; 0 where it isn't known."""
    return device["peak_gb_per_s"] * gpus_of(run)


def schedulers(compute_capability: str) -> int:
    """Warp schedulers per SM, each of which issues at most one instruction per cycle.

    CUDA C++ Programming Guide, "Compute Capabilities": 4 from 5.0 on, but 2 in 6.0.
    """
    return 2 if compute_capability == "6.0" else 4


def issue_rate(device: Device) -> int:
    """Warp instructions per second that all of the device's schedulers can issue."""
    per_cycle = device["sm_count"] * schedulers(device["compute_capability"])
    return per_cycle * device["sm_clock_khz"] * 1000
