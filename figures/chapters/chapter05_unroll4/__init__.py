"""Chapter 5: more work for every thread, and the last warp."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures.chapters.chapter00_timing import hop_ns
from figures.chapters.chapter05_unroll4.flight import SPINE, in_flight, pipe
from figures.kit import patterns, style
from figures.kit.axes import heading, roof_lines, sizes_axis
from figures.kit.canvas import arrow, canvas, cell
from figures.kit.chapter import Chapter
from figures.kit.costs import folding
from figures.kit.patterns import LOAD, SHUFFLE, UNROLLED, folded
from figures.kit.pictures import (
    MissingData,
    Picture,
    Table,
    View,
    leaders_text,
    name_of,
    rate_of,
    time_of,
)
from figures.kit.style import DASHES, MARKERS, SERIES, Theme
from figures.kit.trees import EXAMPLE
from figures.kit.words import bytes_text, listed, rate_text, significant, size
from figures.records.recordings import RecordedRun

NAME = "chapter05_unroll4"


def shuffle_partner(lane: int, offset: int) -> int:
    """The lane whose value __shfl_xor_sync(mask, value, offset) gives to this lane."""
    return lane ^ offset


def unroll_fold() -> Picture:
    """Four blocks of data folded into one tile by one thread block."""
    block, factor = 4, 4
    n = block * factor
    accesses = [a for a in folded(n, block, 0, factor=factor) if a.level == 0]
    loads = [access for access in accesses if access.kind == LOAD]
    taken = {t: [a.index for a in loads if a.thread == t] for t in range(block)}

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(n + 0.4, 8.2, 2.9)
        y_in, y_tile = 6.2, 2.4
        for k in range(factor):
            axes.text(k * block + block / 2 + 0.2, 7.55, f"data block {k}", ha="center",
                      va="center", color=theme.muted)  # fmt: skip
        tile_x = {t: n / 2 - block + 2 * t + 1.2 for t in range(block)}
        for access in loads:
            hue = SERIES[access.thread]
            arrow(axes, theme, (access.index + 0.7, y_in - 0.45),
                  (tile_x[access.thread], y_tile + 0.62), theme.drawn(hue), 1.2)  # fmt: skip
            cell(axes, theme, access.index + 0.7, y_in, str(access.index), hue, size=0.9)
        for t, x in tile_x.items():
            cell(axes, theme, x, y_tile, f"t{t}", SERIES[t], size=1.15)
        axes.text(n / 2 + 0.2, 0.75, "one tile in shared memory, one slot per thread", ha="center",
                  va="center", color=theme.muted)  # fmt: skip
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"{factor} neighbouring blocks of {block} elements are folded into one tile of {block} "
            f"slots: thread 0 adds up elements {listed([str(i) for i in taken[0]])}, thread 1 "
            f"elements {listed([str(i) for i in taken[1]])}, and so on. Neighbouring threads take "
            "neighbouring elements in each of the loads."
        ),
        caption=(
            f"Unrolling by {factor} with {block} threads per block: each thread loads {factor} "
            "elements, a block's width apart, before the tree begins."
        ),
        table=Table(
            ["thread", *(f"load {k}" for k in range(factor))],
            [[t, *indices] for t, indices in taken.items()],
        ),
    )


def warp_shuffle() -> Picture:
    """Lanes exchange registers: after log2(lanes) exchanges each of them has the sum."""
    lanes = len(EXAMPLE)
    offsets = [lanes >> step for step in range(1, lanes.bit_length())]
    rows = [list(EXAMPLE)]
    for offset in offsets:
        before = rows[-1]
        rows.append([value + before[shuffle_partner(t, offset)] for t, value in enumerate(before)])

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.85, 7.9
        figure, axes = canvas(11.2, height, 4.3)
        top = height - 1.25
        for lane in range(lanes):
            axes.text(lane + 0.5, height - 0.4, str(lane), ha="center", va="center",
                      color=theme.muted)  # fmt: skip
        axes.text(8.35, height - 0.4, "lane", va="center", color=theme.muted)
        for step, values in enumerate(rows):
            y = top - step * pitch
            for lane, value in enumerate(values):
                cell(axes, theme, lane + 0.5, y, str(value), "green")
            if step:
                offset = offsets[step - 1]
                for lane in range(lanes):
                    for source in (lane, shuffle_partner(lane, offset)):
                        away = source != lane
                        arrow(axes, theme, (source + 0.5, y + pitch - 0.42),
                              (lane + 0.5, y + 0.42),
                              theme.drawn("green") if away else theme.grid)  # fmt: skip
                axes.text(8.35, y + pitch / 2, f"xor {offset}", va="center",
                          color=theme.written("green"))  # fmt: skip
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"{lanes} lanes add up {lanes} values in {len(offsets)} exchanges of registers, with "
            f"partners whose lane numbers differ by xor {listed([str(o) for o in offsets])}. At "
            f"the end every lane holds the sum, {rows[-1][0]}; no memory is touched."
        ),
        caption=(
            f"__shfl_xor_sync as in chapter05's warp_sum, drawn for {lanes} of a warp's "
            f"{patterns.WARP} lanes."
        ),
        table=Table(
            ["exchange", *(f"lane {lane}" for lane in range(lanes))],
            [
                ["before" if not step else f"xor {offsets[step - 1]}", *row]
                for step, row in enumerate(rows)
            ],
        ),
    )


# --------------------------------------------------------------------------------- Loads in flight


def _one_load_at_a_time(view: View, n: int) -> RecordedRun | None:
    """Chapter 2's grid-stride kernel, where the set has it at this size."""
    try:
        return view.find("chapter02_smem", "smem_stride", n)
    except MissingData:
        return None


def _allowed(axes: Axes, theme: Theme, bound: list[tuple[float, float]], peak: float) -> None:
    """The most that the latency allows."""
    axes.plot(
        [f for f, _ in bound],
        [y for _, y in bound],
        color=theme.drawn("blue"),
        ls=DASHES[1],
        zorder=2,
    )
    if bound:
        # To the left of the curve where there is room, else between it and the measured one.
        left = bound[0][1] < 0.45 * peak
        middle = min(bound, key=lambda point: abs(point[1] - 0.66 * peak))
        axes.annotate(
            "what the\nlatency\nallows",
            xy=middle if left else bound[-1],
            xytext=(-8, 2) if left else (8, -6),
            textcoords="offset points",
            ha="right" if left else "left",
            va="bottom" if left else "top",
            color=theme.written("blue"),
        )


def _measured(axes: Axes, theme: Theme, points: list[tuple[int, float]]) -> None:
    """The sweep, each point with its number."""
    axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        color=theme.drawn("vermillion"),
        marker="o",
        clip_on=False,
        zorder=3,
    )
    for x, y in points:
        axes.annotate(
            significant(y, 3),
            xy=(x, y),
            xytext=(0, -18),
            textcoords="offset points",
            ha="right" if x == points[-1][0] else "left" if x == points[0][0] else "center",
            color=theme.written("vermillion"),
            weight="bold",
        )


def _one_load(axes: Axes, theme: Theme, stride: RecordedRun) -> None:
    """The grid-stride kernel beside it."""
    axes.plot(1, rate_of(stride), marker=MARKERS[1], color=theme.drawn("green"),
              markersize=8, clip_on=False, zorder=3)  # fmt: skip
    axes.annotate(
        f"{name_of(stride)} {significant(rate_of(stride), 3)}",
        xy=(1, rate_of(stride)),
        xytext=(9, 1),
        textcoords="offset points",
        va="bottom",
        color=theme.written("green"),
        weight="bold",
    )


def _sweep_words(
    view: View,
    founds: list[RecordedRun],
    in_flight: dict[int, int],
    held: Callable[[RecordedRun], float],
    stride: RecordedRun | None,
    latency_ns: float,
) -> tuple[str, str]:
    """What the picture shows, and what its caption adds."""
    first, last = min(in_flight), max(in_flight)
    words = (
        f"On {view.device_name}, bandwidth goes from {rate_text(rate_of(founds[0]))} with {first} "
        f"load per thread to {rate_text(rate_of(founds[-1]))} with {last}; of the sweep, "
        f"{leaders_text(founds)}. A load takes {latency_ns:.0f} ns, so by Little's law "
        f"{bytes_text(held(founds[0]))} and {bytes_text(held(founds[-1]))} were "
        "in flight in each SM on "
        f"average, where all its threads together can have {bytes_text(in_flight[first])} and "
        f"{bytes_text(in_flight[last])}."
    )
    beside = ""
    if stride:
        words += (
            f" {name_of(stride)}, with one load per thread and few blocks, reaches "
            f"{rate_text(rate_of(stride))}."
        )
        beside = (
            f" The square is {name_of(stride)} of chapter 2, each of whose threads has one load "
            "in flight and hardly ever a tree."
        )
    return words, beside


def unroll_sweep(view: View) -> Picture:
    """Bandwidth against the loads that each thread has in flight, and what Little's law allows."""
    chapter = "chapter05_unroll4"
    n = view.large_n(chapter)
    found_of = {
        int(run["params"]["unroll"]): view.find(chapter, run["variant"], n)
        for run in view.runs(chapter)
        if "unroll" in run["params"]
    }
    if len(found_of) < 2:
        raise MissingData(f"{chapter}'s unroll sweep is not recorded in {view.known.name}")
    factors = sorted(found_of)
    founds = [found_of[factor] for factor in factors]
    chase = view.find("chapter00_timing", "pointer_chase")
    latency_ns = hop_ns(chase)
    threads = view.device["max_threads_per_sm"]
    in_flight = {factor: threads * factor * patterns.INT_BYTES for factor in factors}
    # Little's law: bytes in flight = bandwidth × latency. Bytes per nanosecond are GB/s.
    allowed = {
        factor: in_flight[factor] * view.device["sm_count"] / latency_ns for factor in factors
    }
    peak = view.device["peak_gb_per_s"]
    stride = _one_load_at_a_time(view, n) if 1 in found_of else None
    rows = [*zip(factors, founds, strict=True), *([(1, stride)] if stride else [])]

    def held(found: RecordedRun) -> float:
        """The same law the other way round: bytes in flight on average, in each SM."""
        return rate_of(found) * latency_ns / float(view.device["sm_count"])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(
            axes,
            factors,
            "loads per thread, and bytes possible per SM",
            name=lambda factor: f"{factor}\n{bytes_text(in_flight[factor])}",
        )
        roof_lines(axes, theme, view, None)
        # The bound is a straight line in the factor, so a curve on this axis.
        fine = [factors[0] * (factors[-1] / factors[0]) ** (i / 100) for i in range(101)]
        slope = allowed[factors[0]] / factors[0]
        bound = [(f, slope * f) for f in fine if slope * f <= peak]
        _allowed(axes, theme, bound, peak)
        points = [(factor, rate_of(found_of[factor])) for factor in factors]
        _measured(axes, theme, points)
        if stride:
            _one_load(axes, theme, stride)
        heading(axes, f"GB/s at n = {size(n)}")
        return figure

    words, beside = _sweep_words(view, founds, in_flight, held, stride, latency_ns)
    return Picture(
        draw=draw,
        alt=words,
        caption=(
            f"The unroll sweep at n = {size(n)}, {founds[0].run['block']} threads per block. The "
            "dashed curve is the most that Little's law allows: the bytes that all threads an SM "
            "has room for can have in flight, over the latency of one load as the pointer chase "
            f"has it. A thread that has its values and is in the tree has none in flight.{beside}"
        ),
        table=Table(
            [
                "kernel",
                "loads per thread",
                "median µs",
                "GB/s",
                "bytes in flight per SM",
                "bytes possible per SM",
                "GB/s allowed",
            ],
            [
                [
                    name_of(found),
                    loads,
                    time_of(found),
                    round(rate_of(found), 1),
                    round(held(found)),
                    in_flight[loads],
                    round(allowed[loads]),
                ]
                for loads, found in rows
            ],
        ),
        runs=[*founds, chase, *([stride] if stride else [])],
    )


CHAPTER = Chapter(
    NAME,
    spine=SPINE,
    swept=("smem", "first_add", "unroll4", "unroll8", "complete"),
    plots={
        "chapter05_unroll": unroll_sweep,
        "chapter05_pipe": pipe,
        "chapter05_in_flight": in_flight,
    },
    diagrams={"unroll_fold": unroll_fold, "warp_shuffle": warp_shuffle},
    patterns={
        "first_add": folding(2),
        **{f"unroll{factor}": folding(factor) for factor in (1, 2, 4, 8, 16)},
        "last_warp_sync": folding(4, UNROLLED),
        "last_warp_shuffle": folding(4, SHUFFLE),
        "complete": folding(4, SHUFFLE),
    },
)
