"""Chapter 0: how to measure, and how not to."""

from __future__ import annotations

import math

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from common.records.recordings import RecordedRun
from figures.kit import patterns, style
from figures.kit.axes import draw_curves, heading, l2_line, label_ends, sizes_axis
from figures.kit.canvas import GLOBAL_HUE, SHARED_HUE, arrow, canvas, rounded_box
from figures.kit.chapter import Chapter
from figures.kit.pictures import Picture, Table, View, name_of, time_of
from figures.kit.style import SERIES, Theme
from figures.kit.words import bytes_text, listed, size, time_text

NAME = "chapter00_timing"


METHODS = {
    "first_launch": "first launch",
    "debug_build": "built with -G",
    "host_clock": "host clock",
    "after_write": "L2 emptied by writing",
    "after_read": "L2 emptied by reading",
    "warm": "L2 left warm",
    "empty_launch": "an empty launch",
}


REFERENCE_METHOD = "after_read"


def kernel(found: RecordedRun) -> str:
    """The kernel that a variant of chapter 0 runs, and the chapter that is about it."""
    name, chapter = {"smem-loop": ("smem", 4), "unroll-factor": ("unroll8", 5)}[
        str(found.run["region"])
    ]
    return f"{name} of chapter {chapter}"


def _power_text(power: int) -> str:
    """10^power microseconds."""
    return f"{10**power} µs" if power < 3 else f"{10 ** (power - 3)} ms"


def timing_methods(view: View) -> Picture:
    """One kernel, timed in every way, right and wrong."""
    chapter = "chapter00_timing"
    founds = [view.find(chapter, variant) for variant in METHODS]
    right = next(found for found in founds if name_of(found) == REFERENCE_METHOD)
    n = right.run["n"]
    same_kernel = [found for found in founds if name_of(found) != "empty_launch"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.3 + 0.4 * len(founds))
        for place, found in enumerate(founds):
            stressed = found is right
            hue = "vermillion" if stressed else "blue"
            axes.plot(
                found.run["samples_us"],
                [place] * len(found.run["samples_us"]),
                ls="none",
                marker="|",
                markersize=20,
                color=theme.drawn(hue),
                alpha=0.35,
            )
            axes.plot(
                time_of(found),
                place,
                marker="D" if stressed else "o",
                markersize=5,
                color=theme.drawn(hue),
            )
            axes.annotate(
                time_text(time_of(found)),
                xy=(max(found.run["samples_us"]), place),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                weight="bold" if stressed else "normal",
            )
        axes.axvline(time_of(right), color=theme.muted, lw=1.0, ls=":", zorder=1)
        axes.set_xscale("log")
        low, high = min(map(time_of, founds)), max(max(f.run["samples_us"]) for f in founds)
        shortest, longest = low / 1.6, high * (high / low) ** 0.34
        axes.set_xlim(shortest, longest)
        powers = range(max(math.ceil(math.log10(shortest)), 0), math.floor(math.log10(longest)) + 1)
        axes.set_xticks([10.0**p for p in powers], [_power_text(p) for p in powers])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_yticks(range(len(founds)), [METHODS[name_of(found)] for found in founds])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        heading(axes, f"One kernel, one input (n = {size(n)})")
        return figure

    worst = max(same_kernel, key=time_of)
    least = min(same_kernel, key=time_of)
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, the same kernel with the same {size(n)} elements seems to "
            f"take from {time_text(time_of(least))} ({METHODS[name_of(least)]}) to "
            f"{time_text(time_of(worst))} ({METHODS[name_of(worst)]}), depending on how it is "
            f"timed. The book's way, {METHODS[REFERENCE_METHOD]}, gives "
            f"{time_text(time_of(right))}."
        ),
        caption=(
            f"One kernel ({kernel(right)}), n = {size(n)}, timed in different ways, and an empty "
            "launch for comparison. Each thin line is one sample, each mark a median. The time "
            "axis is logarithmic."
        ),
        table=Table(
            ["method", "variant", "median µs", "samples", "times the time after a read"],
            [
                [
                    METHODS[name_of(found)],
                    name_of(found),
                    time_of(found),
                    len(found.run["samples_us"]),
                    round(time_of(found) / time_of(right), 2),
                ]
                for found in founds
            ],
        ),
        runs=founds,
    )


def timing_l2(view: View) -> Picture:
    """What the L2's state does to the time of a slow and of a fast kernel, against n."""
    chapter = "chapter00_timing"
    kernels = {"slow": "", "fast": "fast_"}
    states = {"emptied by writing": "after_write", "left warm": "warm"}
    sweeps = {
        prefix + state: {found.run["n"]: found for found in view.over_n(chapter, prefix + state)}
        for prefix in kernels.values()
        for state in (REFERENCE_METHOD, *states.values())
    }

    def ratios(kernel: str, state: str) -> list[tuple[int, float]]:
        one = sweeps[kernels[kernel] + states[state]]
        base = sweeps[kernels[kernel] + REFERENCE_METHOD]
        return [(n, time_of(one[n]) / time_of(base[n])) for n in sorted(set(one) & set(base))]

    curves = {kernel: {state: ratios(kernel, state) for state in states} for kernel in kernels}
    sizes = sorted({n for two in curves.values() for points in two.values() for n, _ in points})
    in_l2 = view.device["l2_bytes"] / patterns.INT_BYTES

    def farthest(points: list[tuple[int, float]]) -> tuple[int, float]:
        return max(points, key=lambda point: abs(point[1] - 1))

    def draw(theme: Theme) -> Figure:
        figure, panels = style.new_panels(len(kernels))
        everywhere = [y for two in curves.values() for points in two.values() for _, y in points]
        low, high = min(everywhere), max(everywhere)
        for axes, (kernel, two) in zip(panels, curves.items(), strict=True):
            sizes_axis(axes, sizes, "n", step=10)
            axes.set_ylim(low - 0.3 * (high - low), high + 0.2 * (high - low))
            axes.axhline(1, color=theme.muted, lw=1.2, ls="--", zorder=1)
            l2_line(axes, theme, in_l2, "input = L2")
            draw_curves(axes, theme, list(two.items()))
            for place, (state, points) in enumerate(two.items()):
                above = farthest(points)[1] > 1
                choose = max if above else min
                axes.annotate(
                    state,
                    xy=(0.5, choose(y for _, y in points)),
                    xycoords=("axes fraction", "data"),
                    xytext=(0, 8 if above else -8),
                    textcoords="offset points",
                    ha="center",
                    va="bottom" if above else "top",
                    color=theme.written(SERIES[place]),
                )
            heading(axes, f"{kernel} kernel")
        panels[0].set_ylabel("time, where 1 is emptied by reading")
        return figure

    def words(kernel: str, state: str) -> str:
        n, ratio = farthest(curves[kernel][state])
        side = "longer" if ratio > 1 else "shorter"
        return f"the {kernel} kernel's up to {100 * abs(ratio - 1):.0f} % {side} (n = {size(n)})"

    def both(state: str) -> str:
        return listed([words(kernel, state) for kernel in kernels])

    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, times measured with the L2 emptied by writing differ from "
            f"those with the L2 emptied by reading: {both('emptied by writing')}. With the L2 "
            f"left warm, {both('left warm')}."
        ),
        caption=(
            "Time with the L2 emptied by writing, or left warm, over the time with the L2 emptied "
            f"by reading, for a slow kernel ({kernel(sweeps['after_read'][sizes[0]])}) and a fast "
            f"one ({kernel(sweeps['fast_after_read'][sizes[0]])})."
        ),
        table=Table(
            ["n", *(f"{name} µs" for name in sweeps)],
            [
                [n, *(time_of(sweep[n]) if n in sweep else None for sweep in sweeps.values())]
                for n in sizes
            ],
        ),
        runs=[found for sweep in sweeps.values() for found in sweep.values()],
    )


CHASES = {"pointer_chase": "L2 emptied", "pointer_chase_l2": "L2 warm"}


def hop_ns(found: RecordedRun) -> float:
    """The latency of one load of a pointer chase."""
    return 1000 * found.value("latency")


def timing_latency(view: View) -> Picture:
    """How long one load takes from start to end, against the memory that the chase covers."""
    chapter = "chapter00_timing"
    sweeps = {label: view.over_n(chapter, variant) for variant, label in CHASES.items()}
    sizes = sorted({found.run["n"] for sweep in sweeps.values() for found in sweep})
    l2 = view.device["l2_bytes"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        footprints = [n * patterns.INT_BYTES for n in sizes]
        sizes_axis(axes, footprints, "bytes that the chase covers", step=5, name=bytes_text)
        curves = [
            (label, [(f.run["n"] * patterns.INT_BYTES, hop_ns(f)) for f in sweep])
            for label, sweep in sweeps.items()
        ]
        axes.set_ylim(0, 1.1 * max(y for _, points in curves for _, y in points))
        l2_line(axes, theme, l2, "L2")
        label_ends(axes, theme, draw_curves(axes, theme, curves))
        axes.grid(axis="y")
        heading(axes, "Nanoseconds per load")
        return figure

    cold, warm = (sweeps[label][-1] for label in CHASES.values())
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, one load of a pointer chase over "
            f"{bytes_text(cold.run['n'] * patterns.INT_BYTES)} takes {hop_ns(cold):.0f} ns after "
            f"the L2 was emptied, and {hop_ns(warm):.0f} ns over "
            f"{bytes_text(warm.run['n'] * patterns.INT_BYTES)} with the L2 warm."
        ),
        caption=(
            "Latency of one load in a chain, where each load returns the address of the next, "
            f"against the memory that the chain is spread over. The L2 holds {bytes_text(l2)}."
        ),
        table=Table(
            ["cache", "bytes covered", "hops", "ns per load"],
            [
                [
                    label,
                    found.run["n"] * patterns.INT_BYTES,
                    found.run["params"]["hops"],
                    round(hop_ns(found), 1),
                ]
                for label, sweep in sweeps.items()
                for found in sweep
            ],
        ),
        runs=[found for sweep in sweeps.values() for found in sweep],
    )


#: What the host does for one sample, in order, and what the GPU does meanwhile.
SAMPLE = (
    ("queues a read of a large buffer", "reads it: the L2 is cold and clean"),
    ("queues a kernel that holds the stream", "spins in it"),
    ("queues the start event", "still spins"),
    ("queues the launch", "still spins"),
    ("queues the stop event", "still spins"),
    ("lets go", "notes its clock at the start event"),
    ("waits", "runs the kernel"),
    ("waits", "notes its clock at the stop event"),
    ("reads the difference: one sample", "rests"),
)


def one_sample() -> Picture:
    """How one time is taken: who does what, from top to bottom."""

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(10.8, 11.0, 5.5)
        host, left, width = 2.35, 5.6, 3.0
        middle = left + width / 2
        axes.text(host, 10.6, "host", ha="center", va="center", weight="bold")
        axes.text(middle, 10.6, "GPU", ha="center", va="center", weight="bold")
        rounded_box(axes, theme, left, 8.45, width, 1.55, "reads a\nlarge buffer", SHARED_HUE)
        rounded_box(axes, theme, left, 4.3, width, 4.0, "held: spins\nuntil told\nto go on", None)
        rounded_box(axes, theme, left, 1.55, width, 1.95, "your\nkernel", GLOBAL_HUE)
        queued = ("read", "hold", "start event", "launch", "stop event")
        for place, what in enumerate(queued):
            axes.text(host, 9.2 - 0.86 * place, f"queue: {what}", ha="center", va="center")
        axes.text(host, 4.6, "let go", ha="center", va="center", weight="bold")
        arrow(axes, theme, (host + 1.1, 4.6), (left - 0.06, 4.6), theme.ink, 1.8)
        for y, what in ((3.9, "start event"), (1.15, "stop event")):
            axes.plot([left, left + width + 0.5], [y, y], color=theme.ink, lw=1.8)
            axes.text(left - 0.25, y, what, ha="right", va="center")
        for end in (3.9, 1.15):
            arrow(axes, theme, (left + width + 0.35, 2.52), (left + width + 0.35, end), theme.ink)
        axes.text(left + width + 0.65, 2.52, "one\nsample", ha="left", va="center", weight="bold")
        axes.text(host, 0.4, "read both events", ha="center", va="center")
        arrow(axes, theme, (0.15, 10.2), (0.15, 0.3))
        axes.text(0.4, 2.52, "time", ha="left", va="center", color=theme.muted)
        return figure

    return Picture(
        draw=draw,
        alt=(
            "One sample, from top to bottom. The host queues a read of a large buffer, a kernel "
            "that holds the stream, a start event, the launch and a stop event. All that time the "
            "GPU reads the buffer and then spins in the holding kernel. Only when all is queued "
            "does the host let go. Then the GPU passes the start event, runs the kernel and passes "
            "the stop event, and the time between the two events is one sample."
        ),
        caption=(
            "One sample. What the host does while the GPU is held costs your kernel nothing: the "
            "clock starts only after the host has let go."
        ),
        table=Table(["the host", "the GPU"], [list(step) for step in SAMPLE]),
    )


CHAPTER = Chapter(
    NAME,
    usual=False,  # times of one kernel in many ways are not to be compared as kernels are
    plots={
        "chapter00_methods": timing_methods,
        "chapter00_l2": timing_l2,
        "chapter00_latency": timing_latency,
    },
    diagrams={"one_sample": one_sample},
)
