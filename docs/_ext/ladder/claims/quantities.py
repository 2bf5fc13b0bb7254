"""The names that a claim may put before ``of``: fields of a timed run, floors, and counters."""

from __future__ import annotations

from collections.abc import Callable

from common.records.counters import NCU
from common.records.schema import Device

from .amounts import Kind

#: What each of a run's quantities measures, as :data:`QUANTITIES` has it, and one of it in the
#: amounts' own units.
FIELDS: dict[str, tuple[Kind, float]] = {
    **dict.fromkeys(("time", "median", "min", "p25", "p75", "stay", "latency"), (Kind.TIME, 1)),
    "gbps": (Kind.RATE, 1e3),
    **dict.fromkeys(("peak", "occupancy"), (Kind.PERCENT, 1 / 100)),
    **dict.fromkeys(("registers", "grid", "resident", "samples"), (Kind.COUNT, 1)),
    **dict.fromkeys(("local", "shared"), (Kind.BYTES, 1)),
    "error": (Kind.ERROR, 1),
}
#: How far the passes' medians lie apart: the longest over the shortest, less one.
SPREAD = "spread"
#: All that warps wait for, and the cycles in which they issue: what the stall reasons add up to.
STALL_ALL = "stall_all"
#: The floors of ``floors``, and the highest of them.
FLOORS = ("issue_floor", "starts_floor", "bytes_floor", "highest_floor")

DEVICE: dict[str, tuple[Kind, Callable[[Device], float]]] = {
    "peak": (Kind.RATE, lambda device: 1e3 * device["peak_gb_per_s"]),
    "l2": (Kind.BYTES, lambda device: device["l2_bytes"]),
    "memory": (Kind.BYTES, lambda device: device["global_bytes"]),
    "sm_count": (Kind.COUNT, lambda device: device["sm_count"]),
    "sm_clock": (Kind.CLOCK, lambda device: device["sm_clock_khz"] / 1e3),
    "threads_sm": (Kind.COUNT, lambda device: device["max_threads_per_sm"]),
    "shared_block": (Kind.BYTES, lambda device: device["shared_per_block"]),
    "shared_sm": (Kind.BYTES, lambda device: device["shared_per_sm"]),
}


def is_counter(name: str) -> bool:
    return name not in FIELDS and (name in NCU or name == STALL_ALL or "__" in name)


def counter_kind(name: str) -> Kind:
    metric = NCU.get(name, name)
    if metric.endswith(".pct") or ".pct_of" in metric:
        return Kind.PERCENT
    if ("__bytes_" in metric and metric.endswith(".sum")) or name == "shared_configured":
        return Kind.BYTES
    return Kind.COUNT


def kind_of(name: str) -> Kind | None:
    """What a quantity measures; None for a name that is none."""
    if name in FIELDS:
        return FIELDS[name][0]
    if name == SPREAD:
        return Kind.PERCENT
    if name in FLOORS:
        return Kind.TIME
    return counter_kind(name) if is_counter(name) else None


def names() -> list[str]:
    return [*FIELDS, SPREAD, STALL_ALL, *FLOORS, *NCU]
