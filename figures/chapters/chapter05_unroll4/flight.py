"""The pipe from memory, filling: bytes in flight by Little's law, and as ncu counted them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from common.records.counters import STALLS
from common.records.recordings import RecordedRun, counter_of
from common.records.schema import CountedRun
from common.records.sets import NoSuchRun
from figures.chapters.chapter00_timing import hop_ns
from figures.kit import patterns, style
from figures.kit.axes import heading
from figures.kit.canvas import canvas
from figures.kit.chapter import number_of
from figures.kit.pictures import LARGE_N, Picture, Table, View, name_of, rate_of, time_of
from figures.kit.style import Theme
from figures.kit.words import card, rate_text, size

NAME = "chapter05_unroll4"

#: What one load of a warp brings: an int per lane.
LOAD_BYTES = patterns.WARP * patterns.INT_BYTES
#: The finished sum that the chapter begins with, and what it does.
START = ("chapter04_bank_conflicts", "smem_sum", "one element per thread")
SPINE = {
    "first_add_sum": "two elements per thread",
    "unroll4_sum": "four elements per thread",
    "last_warp_sync_sum": "no barriers in the last warp",
    "by_warps4_sum": "sums by warp",
    "by_warps8_sum": "eight loads per thread",
}


def spread_out(count: int, room: int) -> set[int]:
    """Which of *room* places are taken by *count* things, evenly and in no visible pattern.

    More things take all the places that fewer had.
    """
    golden = (5**0.5 - 1) / 2
    return set(sorted(range(room), key=lambda place: place * golden % 1)[:count])


def pipe(view: View) -> Picture:
    """The pipe from memory to one SM, and the loads that each rung keeps in it."""
    chapter, variant, words = START
    rungs = [(words, view.find(chapter, variant, LARGE_N))]
    rungs += [(change, view.find(NAME, variant, LARGE_N)) for variant, change in SPINE.items()]
    chase = view.find("chapter00_timing", "pointer_chase")
    latency_ns = hop_ns(chase)
    sms, peak = view.device["sm_count"], view.device["peak_gb_per_s"]
    if not peak:
        raise NoSuchRun(f"{view.known.name} does not say the device's peak")

    def loads(rate: float) -> int:
        """Of a warp, in flight in one SM, by Little's law."""
        return round(rate * latency_ns / sms / LOAD_BYTES)

    room = loads(peak)
    held = [loads(rate_of(found)) for _, found in rungs]
    lines = 4
    columns = ceil(room / lines)

    def draw(theme: Theme) -> Figure:
        pitch, left = 6.6, 0.9
        right = left + columns - 0.2
        width, height = right + 0.3, pitch * len(rungs) + 2.2
        figure, axes = canvas(width, height, 0.5 + 0.74 * len(rungs))
        way = f"in at the left, out at the right {latency_ns:.0f} ns later"
        axes.text(left - 0.8, height - 1.0, way, va="center", color=theme.muted)
        for place, ((words, found), count) in enumerate(zip(rungs, held, strict=True)):
            colour = theme.chapter(number_of(NAME if place else chapter))
            top = height - 2.2 - pitch * place
            axes.text(left - 0.8, top - 0.75, words, va="center", color=theme.ink)
            axes.text(right, top - 0.75, f"{rate_of(found):.0f} GB/s", ha="right",
                      va="center", color=colour, weight="bold")  # fmt: skip
            low = top - 5.9
            axes.add_patch(
                FancyBboxPatch((left - 0.8, low), columns + 0.6, lines + 0.2,
                               boxstyle="round,pad=0,rounding_size=0.9", facecolor="none",
                               edgecolor=theme.muted, linewidth=1.2)
            )  # fmt: skip
            taken = spread_out(count, room)
            for slot in range(room):
                x, y = left + slot // lines, low + 0.6 + slot % lines
                if slot in taken:
                    axes.plot(x, y, "o", ms=6.5, color=colour)
                else:
                    axes.plot(x, y, "o", ms=2, color=theme.grid)
        return figure

    steps = [f"{words}, {count}" for (words, _), count in zip(rungs, held, strict=True)]
    return Picture(
        draw=draw,
        alt=(
            f"A pipe from memory to each SM of {view.device_name}, with room for {room} loads of a "
            f"warp at the peak of {peak:.0f} GB/s. How many each rung keeps in flight, by Little's "
            f"law: {'; '.join(steps)}."
        ),
        caption=(
            f"What one SM must have had in flight for its bandwidth. A large dot is one load of a "
            f"warp, {LOAD_BYTES} bytes, on its way; a small dot is a place left empty. The pipe's "
            "length is the latency that the pointer chase measured. The dots follow from the "
            "bandwidth alone. In a busy memory loads wait longer, and more are in flight."
        ),
        table=Table(
            ["rung", "variant", "median µs", "GB/s", "loads in flight per SM", "room for"],
            [
                [words, name_of(found), time_of(found), round(rate_of(found), 1), count, room]
                for (words, found), count in zip(rungs, held, strict=True)
            ],
        ),
        runs=[*(found for _, found in rungs), chase],
    )


#: First passes, each with the loads that one of its threads has in flight at once.
LOADS = {
    "smem": 1,
    "first_add": 2,
    "unroll4": 4,
    "last_warp_sync": 4,
    "by_warps4": 4,
    "unroll8": 8,
    "by_warps8": 8,
    "unroll16": 16,
}


def waiting_share(counted: RecordedRun[CountedRun]) -> float:
    """The share of a resident warp's time in which it waits for a value from memory."""
    stalls = {name: counter_of(counted, name) for name in STALLS}
    return stalls["stall_long_scoreboard"] / sum(stalls.values())


@dataclass(frozen=True)
class Flight:
    """What a card's first passes keep in flight, by kernel."""

    founds: dict[str, RecordedRun]
    counted: dict[str, RecordedRun[CountedRun]]
    chase: RecordedRun
    #: The share of time in which resident threads wait for memory, and how many there are.
    share: dict[str, float]
    threads: dict[str, float]
    peak: float
    #: Bytes in flight per SM at which Little's law reaches the peak.
    full: float

    @classmethod
    def of(cls, view: View) -> Flight:
        founds = {name: view.find(NAME, name, LARGE_N) for name in LOADS}
        counted = {name: view.counters(NAME, name) for name in LOADS}
        chase = view.find("chapter00_timing", "pointer_chase")
        most, peak = view.device["max_threads_per_sm"], view.device["peak_gb_per_s"]
        share = {name: waiting_share(found) for name, found in counted.items()}
        threads = {
            name: counter_of(found, "occupancy_pct") / 100 * most for name, found in counted.items()
        }
        full = peak * hop_ns(chase) / view.device["sm_count"]
        return cls(founds, counted, chase, share, threads, peak, full)

    @property
    def held(self) -> dict[str, float]:
        """Bytes per SM."""
        return {
            name: self.threads[name] * self.share[name] * loads * patterns.INT_BYTES
            for name, loads in LOADS.items()
        }

    @property
    def runs(self) -> list[RecordedRun[Any]]:
        return [*self.founds.values(), *self.counted.values(), self.chase]

    def rows(self, card_name: str) -> list[list[Any]]:
        return [
            [card_name, name, loads, round(self.threads[name]), round(100 * self.share[name], 1),
             round(self.held[name] / 1000, 1), round(rate_of(self.founds[name]), 1)]
            for name, loads in LOADS.items()
        ]  # fmt: skip


def in_flight(view: View) -> Picture:
    """Bandwidth against the bytes that the warps of an SM keep in flight, as counted."""
    here = Flight.of(view)
    founds, counted, held = here.founds, here.counted, here.held
    peak, full = here.peak, here.full
    rungs = [name for name in LOADS if f"{name}_sum" in {*SPINE, "smem_sum"}]
    beside = view.beside(Flight.of)

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        end = 1.12 * max(*held.values(), full)
        axes.plot([0, full, end], [0, peak, peak], color=theme.muted, lw=1.4, ls="--", zorder=1)
        axes.annotate(f"peak {peak:.0f}", xy=(end, peak), xytext=(0, 4), ha="right", va="bottom",
                      textcoords="offset points", color=theme.muted)  # fmt: skip
        for name, found in founds.items():
            rung = name in rungs
            colour = theme.chapter(number_of(NAME)) if rung else theme.muted
            x, y = held[name], rate_of(found)
            axes.plot(x, y, marker="o" if rung else "D", ms=8 if rung else 7, zorder=3,
                      color=colour if rung else theme.background, mec=colour,
                      mew=1.8)  # fmt: skip
            below = held[name] > 2.5 * full
            place = (-8 if rung else 12, -8) if below else (13, -5 if rung else 0)
            axes.annotate(name, xy=(x, y), xytext=place, textcoords="offset points",
                          ha="center" if below else "left",
                          va="top" if below else "center", color=colour)  # fmt: skip
        if beside:
            other, _, there = beside
            axes.plot([0, there.full, end], [0, there.peak, there.peak], color=theme.muted, lw=1,
                      ls=":", zorder=1)  # fmt: skip
            axes.annotate(f"• {other}, peak {there.peak:.0f}", xy=(end, there.peak),
                          xytext=(0, 4), ha="right", va="bottom", textcoords="offset points",
                          color=theme.muted)  # fmt: skip
            axes.plot([there.held[name] for name in LOADS],
                      [rate_of(there.founds[name]) for name in LOADS], ls="none", marker=".",
                      ms=8, color=theme.muted, zorder=2)  # fmt: skip
        axes.set_xlim(0, end)
        axes.set_ylim(0, peak * 1.13)
        axes.xaxis.set_major_formatter(lambda value, _place: f"{value / 1000:.0f}")
        axes.set_xlabel("kB in flight per SM, counted")
        axes.grid(axis="y")
        heading(axes, f"GB/s at n = {size(LARGE_N)}")
        return figure

    steps = [
        f"{name} with {held[name] / 1000:.1f} kB, {rate_text(rate_of(found))}"
        for name, found in founds.items()
    ]
    theirs_said, theirs_shown = "", ""
    rows, runs = here.rows(card(view.device_name)), here.runs
    if beside:
        _, their_view, there = beside
        best = max(there.founds.values(), key=rate_of)
        theirs_said = (
            f" On {their_view.device_name}, drawn beside it, the line reaches its peak at "
            f"{there.full / 1000:.1f} kB, and the kernels stop at {rate_text(rate_of(best))} "
            f"({name_of(best)})."
        )
        theirs_shown = (
            f" Small dots and the dotted line are the same kernels on {their_view.device_name}."
        )
        rows += there.rows(card(their_view.device_name))
        runs += there.runs
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, bandwidth against the bytes that the warps of one SM keep in "
            f"flight: {'; '.join(steps)}. The line of Little's law reaches the peak at "
            f"{full / 1000:.1f} kB.{theirs_said}"
        ),
        caption=(
            "First passes of this chapter (rungs are dots, side rooms diamonds). The rising line "
            "is Little's law at the latency of a lone load, up to the peak. Bytes in flight are "
            "the resident threads, times the share of their time in which they wait for memory, "
            "times the bytes that each loads at once. ncu counted threads and share at "
            f"n = {size(counted['smem'].run['n'])}.{theirs_shown}"
        ),
        table=Table(
            ["card", "kernel", "loads per thread", "resident threads", "waiting for memory, %",
             "kB in flight per SM", "GB/s"],
            rows,
        ),
        runs=runs,
    )  # fmt: skip
