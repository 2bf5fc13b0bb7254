"""Times over the number of elements, what has to be in flight, and other people's sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from common.records.other_libraries import WholeSum, steady_times, whole_sums
from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures.kit import style
from figures.kit.axes import draw_curves, heading, label_ends, note, sizes_axis
from figures.kit.pictures import Picture, Table, View, name_of, rate_of, time_of
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import listed, short_size, significant, size

NAME = "chapter13_small_and_large"

#: Of the small end, from few launches to many.
SMALL = ("one_block", "few_blocks", "whole", "two_dependent_in_graph", "two_launches", "cub")
MOST_SMALL = 2**20
STAGES = (1, 2, 4, 8, 12)
STAGE_KIB = 16


def points(runs: Sequence[RecordedRun], most: int = 2**40) -> list[tuple[float, float]]:
    return [(float(found.run["n"]), time_of(found)) for found in runs if found.run["n"] <= most]


def rows_of(series: dict[str, list[RecordedRun]], most: int = 2**40) -> list[list[str]]:
    return [
        [name, size(found.run["n"]), str(found.run["block"]), significant(time_of(found))]
        for name, runs in series.items()
        for found in runs
        if found.run["n"] <= most
    ]


#: The least n at which whole needs several blocks, and so their atomics.
SEVERAL_BLOCKS = 2**13


def over_all(view: View) -> Picture:
    """whole's time from one element to a billion, beside a floor and a bandwidth."""
    series = {
        "whole": view.over_n(NAME, "whole", 256),
        "one_block": view.over_n(NAME, "one_block", 256),
    }
    series["CUB"] = view.over_n(NAME, "cub")
    whole = {found.run["n"]: time_of(found) for found in series["whole"]}
    first, last = SEVERAL_BLOCKS, max(whole)
    floor = whole[first]
    per_element = (whole[last] - floor) / last  # microseconds
    half = floor / per_element
    model = [(n, floor + per_element * n) for n in (2**k for k in range(31)) if first <= n <= last]
    off = max(abs(whole[n] / (floor + per_element * n) - 1) for n in whole if n >= first)
    nothing = view.find(NAME, "empty")

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        axes.plot(*zip(*model, strict=True), color=theme.muted, lw=1.4, ls=(0, (4, 3)), zorder=2)
        ends = draw_curves(axes, theme, [(name, points(runs)) for name, runs in series.items()
                                         if name != "one_block"])  # fmt: skip
        axes.axhline(time_of(nothing), color=theme.muted, lw=1.2, zorder=1)
        axes.set_yscale("log")
        sizes_axis(axes, [1, 2**10, 2**20, 2**30], "n, the number of elements")
        axes.axvline(half, color=theme.muted, lw=1.2, ls=(0, (1, 2)), zorder=1)
        note(axes, theme, "an empty launch", (1, time_of(nothing)), (4, -3), over=False)
        top = max(time_of(found) for found in series["CUB"])
        note(axes, theme, "floor and bytes\ncost the same", (half, top), (-6, 0), side="right",
             over=False)  # fmt: skip
        ticks = [3, 10, 30, 100, 300, 1000]
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_yticks(ticks, [str(one) for one in ticks])
        axes.set_ylim(1.5, 1.4 * top)
        heading(axes, "µs")
        label_ends(axes, theme, ends)
        return figure

    rate = 4 / per_element / 1000
    del series["one_block"]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, whole takes {significant(whole[min(whole)])} µs for one "
            f"element, {significant(floor)} µs for {short_size(first)} and "
            f"{significant(whole[last])} µs for {short_size(last)}. A floor plus the bytes at "
            f"{rate:.0f} GB/s is within {100 * off:.0f} % of it from there on. Both parts are "
            f"equal at {half / 1e6:.1f} million elements. An empty launch takes "
            f"{significant(time_of(nothing))} µs."
        ),
        caption=(
            f"A floor, then a slope. The dashed line is the floor, taken from {short_size(first)} "
            f"elements, plus the bytes at {rate:.0f} GB/s, taken from {short_size(last)}. It is "
            f"never more than {100 * off:.0f} % off. The dotted line stands where both parts are "
            "equal."
        ),
        table=Table(["kernel", "n", "block", "µs"], rows_of(series)),
        runs=[nothing, *(found for runs in series.values() for found in runs)],
    )


def small(view: View) -> Picture:
    """Times at the small end."""
    series = {variant: view.over_n(NAME, variant) for variant in SMALL}
    ours = ("one_block", "few_blocks", "whole")
    series |= {variant: view.over_n(NAME, variant, 256) for variant in ours}
    nothing = view.find(NAME, "empty")
    top = 10.0

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        shown = []
        for name, runs in series.items():
            inside = [(x, y) for x, y in points(runs, MOST_SMALL) if y <= top]
            shown.append(
                (
                    name.replace("two_dependent_in_graph", "two, best")
                    .replace("two_launches", "two")
                    .replace("cub", "CUB"),
                    inside,
                )
            )
        ends = draw_curves(axes, theme, shown)
        axes.axhline(time_of(nothing), color=theme.muted, lw=1.2, zorder=1)
        note(axes, theme, "an empty launch", (1, time_of(nothing)), (4, -3), over=False)
        sizes_axis(axes, [1, 2**5, 2**10, 2**15, 2**20])
        axes.set_ylim(0, top)
        heading(axes, "µs")
        label_ends(axes, theme, ends)
        return figure

    sizes = [found.run["n"] for found in series["few_blocks"] if found.run["n"] <= MOST_SMALL]
    best = {
        n: min((time_of(f), name) for name in SMALL for f in series[name] if f.run["n"] == n)
        for n in sizes
    }
    lead = [n for n in sizes if best[n][1] not in ours]
    led = f"except at {listed([short_size(n) for n in lead])}" if lead else "at every size"
    ratios = [
        time_of(f) / min(time_of(o) for name in ours for o in series[name]
                         if o.run["n"] == f.run["n"])
        for f in series["cub"]
        if f.run["n"] in sizes
    ]  # fmt: skip
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, sums of up to {short_size(MOST_SMALL)} elements. One block, "
            f"few_blocks or whole is the fastest {led}. CUB takes {min(ratios):.2f} to "
            f"{max(ratios):.2f} times as long as the fastest of the three."
        ),
        caption=(
            f"One block keeps up until it needs a second trip to memory, at "
            f"{short_size(SEVERAL_BLOCKS)} elements. From there on few_blocks and whole rise only "
            "slowly. \u201cTwo\u201d is the textbook's pair of launches, and \u201ctwo, "
            "best\u201d the same pair in a graph, with a dependent launch."
        ),
        table=Table(["kernel", "n", "block", "µs"], rows_of(series, MOST_SMALL)),
        runs=[nothing, *(found for runs in series.values() for found in runs)],
    )


def in_flight(view: View, n: int) -> Picture:
    """GB/s over the bytes that a ring keeps in flight per SM."""
    rings = {stages: view.find(NAME, f"block_ring_{stages}x16384", n) for stages in STAGES}
    others = {name: view.find(NAME, name, n) for name in ("whole", "cub")}

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(3.8)
        xs = [STAGE_KIB * stages for stages in rings]
        axes.plot(xs, [rate_of(found) for found in rings.values()], color=theme.drawn(SERIES[0]),
                  marker=MARKERS[0], markersize=6, zorder=3, clip_on=False)  # fmt: skip
        best = max(map(rate_of, rings.values()))
        for name, found in others.items():
            axes.axhline(rate_of(found), color=theme.muted, lw=1.2, ls=(0, (4, 3)), zorder=1)
            above = name == "whole"
            note(axes, theme, "CUB" if name == "cub" else name, (0, rate_of(found)),
                 (4, 3 if above else -3), over=above)  # fmt: skip
        axes.set_ylim(0, 1.15 * max(best, *map(rate_of, others.values())))
        axes.set_xlim(0, xs[-1])
        axes.set_xticks(xs, [str(x) for x in xs])
        axes.set_xlabel("KiB of stages per SM")
        heading(axes, "GB/s")
        return figure

    fastest = max(rings.values(), key=rate_of)
    shares = [
        f"{STAGE_KIB * stages} KiB {100 * rate_of(found) / rate_of(fastest):.0f} %"
        for stages, found in rings.items()
    ]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, a ring of bulk copies at n = {size(n)} by the KiB of its "
            f"stages per SM, as a share of the fastest ring's speed: {'; '.join(shares)}. The "
            f"fastest ring runs at {significant(rate_of(fastest))} GB/s, whole at "
            f"{significant(rate_of(others['whole']))} and CUB at "
            f"{significant(rate_of(others['cub']))}."
        ),
        caption=(
            f"One ring per SM at n = {size(n)}, with 1 to 12 stages of 16 KiB. "
            "Dashed: *whole*, which reads by ordinary loads, and CUB."
        ),
        table=Table(
            ["kernel", "KiB of stages per SM", "µs", "GB/s"],
            [
                [name_of(found), STAGE_KIB * stages, significant(time_of(found)),
                 round(rate_of(found), 1)]
                for stages, found in rings.items()
            ]
            + [
                [name, "", significant(time_of(found)), round(rate_of(found), 1)]
                for name, found in others.items()
            ],
        ),
        runs=[*rings.values(), *others.values()],
    )  # fmt: skip


#: What the transcript's methods are called, by library; an order to tell them in.
RIVALS = {
    ("cub", "sum"): "CUB",
    ("cub", "sum,not_guaranteed"): "CUB, atomics",
    ("cub", "sum,tuned_512x32"): "CUB, tuned",
    ("thrust", "reduce"): "Thrust",
    ("torch", "sum"): "PyTorch",
    ("cupy", "sum"): "CuPy",
}
TOP_RATIO = 8.0
#: Up to here the launch is everything.
ALL_LAUNCH = 2**17


def with_times(view: View, times: Callable[[Path, str, str], Sequence[object]]) -> View:
    """The view, or one of the second card where only that has such times."""
    for known in (view.known, view.other):
        if known and times(view.recordings.root, NAME, known.name):
            return View(view.recordings, known)
    return view


def rivals(view: View) -> Picture:
    """Other people's times divided by our fastest's, over n."""
    view = with_times(view, whole_sums)
    sums = whole_sums(view.recordings.root, NAME, view.known.name)
    ours: dict[int, float] = {}
    for one in sums:
        if one.library == "book":
            ours[one.n] = min(one.median_us, ours.get(one.n, one.median_us))
    if not ours:
        raise NoSuchRun(f"{NAME} has no times of other libraries in {view.known.name}")
    series: dict[str, list[WholeSum]] = {}
    for asked, name in RIVALS.items():
        found = [one for one in sums if (one.library, one.method) == asked and one.n in ours]
        if found:
            series[name] = sorted(found, key=lambda one: one.n)

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        ends = draw_curves(axes, theme, [
            (name, [(one.n, min(one.median_us / ours[one.n], TOP_RATIO)) for one in found])
            for name, found in series.items()
        ])  # fmt: skip
        axes.axhline(1, color=theme.ink, lw=1.2, zorder=1)
        sizes_axis(axes, [min(ours), 2**10, 2**20, 2**30])
        axes.set_yscale("log")
        ticks = [1, 2, 4, TOP_RATIO]
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_yticks(ticks, ["ours", "2×", "4×", "8× or more"])
        axes.set_ylim(0.8, TOP_RATIO)
        heading(axes, "time, as a multiple of our fastest sum's")
        label_ends(axes, theme, ends)
        return figure

    spans = [
        f"{name} {min(of):.2f} to {max(of):.2f}"
        for name, found in series.items()
        if (of := [one.median_us / ours[one.n] for one in found])
    ]
    best: dict[int, float] = {}  # of every mode of any CUB
    for one in sums:
        if one.library.startswith("cub") and one.n <= ALL_LAUNCH:
            best[one.n] = min(one.median_us, best.get(one.n, one.median_us))
    factors = sorted((us / ours[n], n) for n, us in best.items() if n in ours)
    small = (
        f"Up to {size(ALL_LAUNCH)}, CUB's fastest mode (some are only in the table) "
        f"takes {factors[0][0]:.2f} (at {size(factors[0][1])}) to {factors[-1][0]:.2f} (at "
        f"{size(factors[-1][1])}) times as long as our fastest."
        if factors
        else ""
    )
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, other people's sums of 32-bit integers in 64 bits, as "
            f"multiples of our fastest sum's time at the same size: {'; '.join(spans)}. {small}"
        ),
        caption=(
            f"Sums of 32-bit integers in 64 bits on {view.device_name}, timed alike in one "
            "sitting. Lower is better, and 1 is our fastest. CUB is the newest CCCL's: as it "
            "comes, with atomics, and tuned to 512 threads of 32 integers. Thrust also allocates "
            f"memory and hands the sum to the host. {small}"
        ),
        table=Table(
            ["library", "method", "n", "µs", "times our fastest"],
            [
                [one.library, one.method, size(one.n), significant(one.median_us),
                 f"{one.median_us / ours[one.n]:.2f}"]
                for one in sums
            ],
        ),
        runs=[],
    )  # fmt: skip


def _panel(axes: Axes, theme: Theme, title: str, names: list[str], times: list[float]) -> None:
    axes.plot(range(len(times)), times, ls="none", marker="o", markersize=5,
              color=theme.drawn(SERIES[0]), clip_on=False)  # fmt: skip
    axes.set_title(title, loc="left", pad=10)
    if names:
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right")


def steady(view: View) -> Picture:
    """Whether the time depends on the values, on the place, and on how long the card has worked."""
    view = with_times(view, steady_times)
    lines = steady_times(view.recordings.root, NAME, view.known.name)
    if not lines:
        raise NoSuchRun(f"{NAME} has no steadiness in {view.known.name}")
    values: dict[str, list[float]] = {}
    for one in lines:
        if one.what == "values":
            values.setdefault(one.which.replace("_", " "), []).append(one.median_us)
    places = [one for one in lines if one.what == "place"]
    by_offset: dict[int, list[float]] = {}
    for one in places:
        offset = int(one.which.partition("+")[2].removesuffix("B"))
        by_offset.setdefault(offset, []).append(one.median_us)
    seconds = [one for one in lines if one.what == "second"]
    everything = [one.median_us for one in lines]

    def draw(theme: Theme) -> Figure:
        figure, panels = style.new_panels(3, 3.6)
        for place, (name, times) in enumerate(values.items()):
            panels[0].plot([place] * len(times), times, ls="none", marker="o", markersize=5,
                           color=theme.drawn(SERIES[0]))  # fmt: skip
            panels[0].annotate(name, xy=(place, 0.02), xycoords=("data", "axes fraction"),
                               rotation=90, ha="center", va="bottom",
                               color=theme.muted)  # fmt: skip
        panels[0].set_xlim(-0.6, len(values) - 0.4)
        panels[0].set_xticks([])
        panels[0].set_title("values, µs", loc="left", pad=10)
        for at, times in enumerate(by_offset.values()):
            panels[1].plot([at] * len(times), times, ls="none", marker="o", markersize=5,
                           color=theme.drawn(SERIES[0]))  # fmt: skip
        panels[1].set_xlim(-0.6, len(by_offset) - 0.4)
        panels[1].set_xticks(range(len(by_offset)), [str(offset) for offset in by_offset])
        panels[1].set_title("place", loc="left", pad=10)
        panels[1].tick_params(axis="x", labelrotation=90)
        panels[1].set_xlabel("bytes past a page")
        panels[2].plot([int(one.which) for one in seconds], [one.median_us for one in seconds],
                       color=theme.drawn(SERIES[0]), lw=1.6)  # fmt: skip
        panels[2].set_title("time", loc="left", pad=10)
        panels[2].set_xlabel("seconds of load")
        low, high = min(everything), max(everything)
        panels[0].set_ylim(math.floor(low * 0.85), math.ceil(high * 1.02))
        return figure

    middle = {name: sum(times) / len(times) for name, times in values.items()}
    spans = listed([f"{significant(us, 4)} µs for {name}" for name, us in middle.items()])
    clocks = sorted({one.sm_mhz for one in seconds})
    speed = f"{clocks[0]:.0f}" + (f" to {clocks[-1]:.0f}" if clocks[1:] else "")
    watts = [one.watts for one in seconds]
    apart = max(one.median_us for one in places) / min(one.median_us for one in places) - 1
    by_bytes = "; ".join(
        f"{offset} bytes from a page's start {significant(min(times), 4)} to "
        f"{significant(max(times), 4)} µs"
        for offset, times in by_offset.items()
    )
    drift = max(one.median_us for one in seconds) / min(one.median_us for one in seconds) - 1
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, whole at n = 2²⁸ takes {spans} on average of three tries. "
            f"Among {len(places)} places in memory times differ by {100 * apart:.1f} %: "
            f"{by_bytes}. Through a "
            f"minute of load they differ by {100 * drift:.1f} %, at {speed} MHz and up to "
            f"{max(watts):.0f} W."
        ),
        caption=(
            f"whole at n = 2²⁸. Left: three kinds of values, in turn. Middle: {len(by_offset[0])} "
            "places all over the card's memory, and in each of them arrays that begin so many "
            "bytes from the start of a page. Right: once a second through a minute of load."
        ),
        table=Table(
            ["what", "which", "µs", "MHz", "W", "°C"],
            [
                [one.what, one.which.replace("_", " "), significant(one.median_us, 4),
                 f"{one.sm_mhz:.0f}", f"{one.watts:.0f}", f"{one.celsius:.0f}"]
                for one in lines
            ],
        ),
        runs=[],
    )  # fmt: skip
