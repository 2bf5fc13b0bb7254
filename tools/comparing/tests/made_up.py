"""Recordings of cards that were never there: the book's own, changed in declared ways, and marked.

No number here was measured. Each set is made from figures/data/nvidia-h200 by what its ``MadeUp``
says, and its device's name and host compiler say that it is made up. Every pass repeats the first:
what differs between passes is declared, too. Only what tests ask of a set is in it.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.records import columns, manifest
from common.records.naming import REFERENCE

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "figures" / "data" / REFERENCE
#: Chapters with rungs of the climb, and the one that starts empty blocks.
CHAPTERS = (
    "chapter00_timing", "chapter01_gmem", "chapter02_smem", "chapter03_divergence",
    "chapter04_bank_conflicts", "chapter05_unroll4", "chapter07_effective_bandwidth",
    "chapter08_multi_pass",
)  # fmt: skip
PASSES = 3

Run = dict[str, Any]


@dataclass(frozen=True)
class MadeUp:
    """A card, and by how much its times differ from the reference's."""

    device: Mapping[str, Any]
    #: Every time is so many times as long.
    slower: float = 1.0
    #: And so many times besides, by the chapter's place and the pass.
    drift: Callable[[int, int], float] = lambda place, repeat: 1.0
    #: Which runs there are.
    keeps: Callable[[Run], bool] = lambda run: True
    #: What nvidia-smi read after each chapter, by its place: the SM clock in MHz.
    clock: Callable[[int], float] = lambda place: 1980.0


def _fits(memory: int) -> Callable[[Run], bool]:
    """As tools/measure leaves out what a card has no room for, with something for the rest."""
    return lambda run: int(run["bytes_read"]) + int(run["bytes_written"]) < 0.9 * memory


#: Twice the memory clock times the bus width gives the peak; `slower` is the ratio of the peaks.
T4 = MadeUp(
    {
        "name": "NVIDIA Made-up T4", "compute_capability": "7.5", "sm_count": 40,
        "max_threads_per_sm": 1024, "l2_bytes": 4 * 2**20, "global_bytes": 15_828_320_256,
        "shared_per_sm": 65536, "shared_optin": 65536, "shared_reserved": 0,
        "sm_clock_khz": 1_590_000, "memory_clock_khz": 5_001_000, "memory_bus_bits": 256,
    },
    slower=4814.304 / 320.064,
    keeps=_fits(15_828_320_256),
    clock=lambda place: 1590.0,
)  # fmt: skip
GTX_1050_TI = MadeUp(
    {
        "name": "NVIDIA Made-up GTX 1050 Ti", "compute_capability": "6.1", "sm_count": 6,
        "max_threads_per_sm": 2048, "l2_bytes": 2**20, "global_bytes": 4_236_312_576,
        "shared_per_sm": 98304, "shared_optin": 49152, "shared_reserved": 0,
        "sm_clock_khz": 1_392_000, "memory_clock_khz": 3_504_000, "memory_bus_bits": 128,
        "ecc": False,
    },
    slower=4814.304 / 112.128,
    keeps=_fits(4_236_312_576),
    clock=lambda place: 1392.0,
)  # fmt: skip
#: From chapter 5 on, later passes take 12 % longer, there a little more, and the clock falls.
LAPTOP = MadeUp(
    {"name": "NVIDIA Made-up Laptop GPU", "sm_count": 24},
    drift=lambda place, repeat: (1.122 if place == 5 else 1.12) if place >= 5 and repeat else 1.0,
    clock=lambda place: 1980.0 if place < 5 else 1200.0,
)
MIG = MadeUp({"name": "NVIDIA Made-up H200 MIG 1g.18gb", "sm_count": 16}, slower=7.0)


@functools.cache
def _read(chapter: str) -> dict[str, Any]:
    return columns.read(SOURCE / f"{chapter}.json")


def write(folder: Path, made: MadeUp, chapters: tuple[str, ...] = CHAPTERS) -> Path:
    """The set that *made* declares, in *folder*, which is new."""
    folder.mkdir(parents=True)
    for place, chapter in enumerate(chapters):
        data = copy.deepcopy(_read(chapter))
        data["device"] |= made.device
        data["host_compiler"] = "made up for a test"
        for when in ("before", "after"):
            data["clocks"][when]["sm_mhz"] = made.clock(place if when == "after" else 0)
        first = [run for run in data["runs"] if _is_asked(run) and made.keeps(run)]
        data["runs"] = [
            {**slowed(run, made.slower * made.drift(place, repeat)), "repeat": repeat}
            for repeat in range(PASSES)
            for run in first
        ]
        columns.write(folder / f"{chapter}.json", data)
    source = data["source"]
    text = manifest.text(folder, {}, PASSES, source and source["commit"])
    (folder / manifest.NAME).write_text(text, encoding="utf-8")
    return folder


def _is_asked(run: Run) -> bool:
    """Of the first pass, the usual blocks at every second power of two, where the climb is."""
    usual = run["block"] in (128, 256) and (run["n"].bit_length() - 1) % 2 == 0
    return run["repeat"] == 0 and usual


def slowed(run: Run, slower: float) -> Run:
    """The same run, taking so many times as long."""
    return {**run, "samples_us": [round(sample * slower, 3) for sample in run["samples_us"]]}


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Spoils a file of a made-up set."""
    data = columns.read(path)
    change(data)
    columns.write(path, data)
