"""Whether hardware counters are in proportion, where that follows from what they count.

ncu empties the caches before each launch, so a launch reads every byte that it needs from DRAM at
least once. It reads little more: what the L2 asked for, which DRAM hands out in pairs of sectors
where neighbours aren't asked for, and the rest of sectors that are written in part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from common.records.counters import NCU
from common.records.naming import run_name
from common.records.reading import DataError
from common.records.schema import CountedLaunch, CountedRun, TimedRun
from common.records.sets import RecordedSet

SECTOR = 32  # bytes
WARP = 32  # threads
#: Of a warp's request to global memory each lane touches at most one sector more than the first.
SECTORS_PER_REQUEST = 32
#: The driver's and the kernel's own reads: code, arguments, page tables.
OVERHEAD_BYTES = 65536
MORE = 1.2
#: Blocks that hand in by two words (chapter 8) store three or four times, as they happen to arrive,
#: and ncu reads requests and sectors in launches of their own.
LATE_STORES = 1
#: Per cent of the peak below which a launch is too short for its share of it to mean much.
SHARE_PCT = 10.0

_DRAM_READ = NCU["dram_read_bytes"]
_DRAM_WRITE = NCU["dram_write_bytes"]
_DRAM_SHARE = NCU["dram_throughput_pct"]
_ISSUED = NCU["instructions"]
_LOADED = NCU["global_load_sectors"]


class _Fault(Exception):
    """What is out of proportion: the counter, and why."""


def check_counters(folder: Path, loaded: RecordedSet) -> None:
    """Counters are in proportion to one another, to the launch, and to the useful bytes."""
    if not loaded.counters:
        return
    timed: dict[tuple[str, str, int, int], TimedRun] = {}
    for chapter, record in loaded.chapters.items():
        for each in record.runs:
            timed[chapter, each["variant"], each["n"], each["block"]] = each
            timed.setdefault((chapter, each["variant"], each["n"], 0), each)  # of any block
    peak = loaded.counters["device"]["peak_gb_per_s"] * 1e9
    for run in loaded.counters["runs"]:
        name = run["chapter"], run["variant"], run["n"]
        try:
            for launch in run["launches"]:
                _check_launch(launch, peak)
            _check_bytes(run, timed.get((*name, 0)), timed.get((*name, run["block"])))
        except _Fault as fault:
            metric, what = fault.args
            where = f"{run_name(run)}, counter '{metric}'"
            raise DataError(folder / "counters.json", where, what) from None


def _at_most(
    metrics: Mapping[str, float], less: str, more: str, factor: float = 1, slack: float = 0
) -> None:
    """Refuses *less* above *factor* x *more* + *slack*; what was not counted is not compared."""
    if less in metrics and more in metrics and metrics[less] > factor * metrics[more] + slack:
        bound = factor * metrics[more] + slack
        raise _Fault(less, f"{metrics[less]:.0f} where {more} allows {bound:.0f}")


def _check_launch(launch: CountedLaunch, peak: float) -> None:
    metrics = launch["metrics"]
    warps = math.prod(launch["grid"]) * -(-math.prod(launch["block"]) // WARP)
    if metrics.get(_ISSUED, warps) < warps:
        raise _Fault(_ISSUED, f"{metrics[_ISSUED]:.0f} where {warps} warps were launched")
    for access in ("global_load", "global_store", "global_reduction"):
        requests, sectors = NCU[f"{access}_requests"], NCU[f"{access}_sectors"]
        _at_most(metrics, requests, sectors, slack=LATE_STORES if access == "global_store" else 0)
        _at_most(metrics, sectors, requests, SECTORS_PER_REQUEST)
        _at_most(metrics, requests, _ISSUED)
    for access in ("shared_load", "shared_store", "shared_atomic"):
        _at_most(metrics, NCU[f"{access}_conflicts"], NCU[f"{access}_wavefronts"])
    lanes = metrics.get(NCU["lanes_per_instruction"], 0)
    if lanes > WARP or metrics.get(NCU["lanes_not_predicated_off"], 0) > lanes:
        raise _Fault(NCU["lanes_per_instruction"], f"{lanes} lanes of {WARP}")
    read = metrics.get(_DRAM_READ)
    if read is not None and metrics.get(NCU["dram_read_sectors"], read / SECTOR) * SECTOR != read:
        sectors_read = metrics[NCU["dram_read_sectors"]]
        raise _Fault(_DRAM_READ, f"{read:.0f} where {sectors_read:.0f} sectors were read")
    share = metrics.get(_DRAM_SHARE, 0)
    if (
        read
        and share >= SHARE_PCT
        and metrics.get(NCU["dram_read_rate"])
        and _DRAM_WRITE in metrics
        and peak
    ):
        seconds = read / metrics[NCU["dram_read_rate"]]
        made = 100 * (read + metrics[_DRAM_WRITE]) / seconds / peak
        if not 0.95 < made / share < 1.05:
            what = f"{share:g} where bytes over time make {made:.4g} % of the peak"
            raise _Fault(_DRAM_SHARE, what)


def _check_bytes(run: CountedRun, timed: TimedRun | None, launched: TimedRun | None) -> None:
    """What a run moved, against its useful bytes where it was timed too."""
    launches = run["launches"]

    def total(metric: str) -> float | None:
        values = [launch["metrics"].get(metric) for launch in launches]
        return None if None in values else float(sum(value or 0 for value in values))

    if launched and launched["grid"] and launched["grid"] != math.prod(launches[0]["grid"]):
        blocks = math.prod(launches[0]["grid"])
        raise _Fault("grid", f"{blocks} blocks, and {launched['grid']} where it was timed")
    loads, stores = total(_LOADED), total(NCU["global_store_sectors"])
    read, asked = total(_DRAM_READ), total(NCU["l2_read_sectors"])
    useful = timed["bytes_read"] if timed else 0
    # Bulk copies are not loads, and bring all or nothing: the L2 counts them.
    by_loads = bool(loads) or not asked
    brought, counter = (loads, _LOADED) if by_loads else (asked, NCU["l2_read_sectors"])
    if brought is not None and brought * SECTOR < useful:
        raise _Fault(counter, f"{brought:.0f} sectors can't bring {useful} useful bytes")
    if read is None or asked is None or stores is None:
        return
    if read < useful:
        raise _Fault(_DRAM_READ, f"{read:.0f}, less than the {useful} useful bytes")
    dense = useful * MORE >= asked * SECTOR
    most = MORE * asked * SECTOR * (1 if dense else 2) + OVERHEAD_BYTES
    written = launched["bytes_written"] if launched else 0
    if stores * SECTOR > MORE * written:  # in part: DRAM hands out the rest of those sectors
        most += stores * SECTOR
    if read > most:
        raise _Fault(_DRAM_READ, f"{read:.0f}, above the {most:.0f} that the L2 can have asked for")
