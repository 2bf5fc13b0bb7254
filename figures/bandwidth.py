"""Chapter 7's pictures: every kernel of the book against what the memory can give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import recorded, style
from figures.kit.words import (
    listed,
    rate_text,
    short_size,
    significant,
    size,
    time_text,
    times_text,
)
from figures.picture import (
    LARGE_N,
    MissingData,
    Picture,
    Table,
    View,
    name_of,
    rate_of,
    run_columns,
    run_row,
    time_of,
)
from figures.recorded import DEFAULT_BLOCK, Found, Run
from figures.style import DASHES, MARKERS, SERIES, Theme

CHAPTER = "chapter07_effective_bandwidth"
#: The classic programs' block and sizes.
BLOCK = 128
NINE = tuple(2**power for power in range(17, 26))
METHODS = tuple(f"reduce{number}" for number in range(1, 8))
ROOFS = ("read", "copy", "triad")
#: n numbers of 8 bytes are as many bytes as twice n integers.
LARGE_DOUBLES = LARGE_N // 2


# -------------------------------------------------------------------------------- the kernels


def chapter_number(chapter: str) -> int:
    return int(chapter[len("chapter") : len("chapter") + 2])


def roofs(view: View) -> list[Found]:
    """What reading, copying and the triad reach with as many bytes an array as the book's sums."""
    return [view.find(CHAPTER, roof, LARGE_DOUBLES) for roof in ROOFS]


def _chosen(runs: Sequence[Run]) -> Run:
    """Of one variant's runs the largest up to the book's large size, at the book's block."""
    n = max([run["n"] for run in runs if run["n"] <= LARGE_N] or [min(run["n"] for run in runs)])
    here = [run for run in runs if run["n"] == n]
    return next((run for run in here if run["block"] == DEFAULT_BLOCK), here[0])


def every_kernel(view: View) -> list[tuple[str, Found]]:
    """Each kernel in the chapter that it is from, at one large size, the L2 emptied.

    Chapter 0's are not about bytes; the roofs are what the others are held against.
    """
    kernels = []
    for chapter in sorted(view.known.chapters):
        if chapter_number(chapter) == 0:
            continue
        by_variant: dict[str, list[Run]] = {}
        for run in view.runs(chapter):
            a_roof = chapter == CHAPTER and run["variant"] in ROOFS
            own = run["from"] == chapter and not a_roof
            if own and run["cache"] == "cold" and run["clock"] == "events" and run["bytes_read"]:
                by_variant.setdefault(run["variant"], []).append(run)
        for variant, runs in by_variant.items():
            run = _chosen(runs)
            kernels.append((chapter, view.find(chapter, variant, run["n"], run["block"])))
    if not kernels:
        raise MissingData(f"no kernel's bytes are recorded in {view.known.name}")
    return kernels


def _fastest_of_each(kernels: Sequence[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Of the kernels that share a listing one, the best of those that no parameter sets apart."""
    alike: dict[tuple[str, str], list[Found]] = {}
    for chapter, found in kernels:
        alike.setdefault((chapter, found.run["region"] or name_of(found)), []).append(found)
    best = []
    for (chapter, _), founds in alike.items():
        plain = [found for found in founds if not found.run["params"]]
        best.append((chapter, max(plain or founds, key=rate_of)))
    return best


def _hues(chapters: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A hue and a marker for each chapter."""
    return {
        chapter: (SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)])
        for place, chapter in enumerate(sorted(set(chapters)))
    }


def kernels_and_roofs(view: View) -> Picture:
    """GB/s of every kernel of the book, and how far that is from the roofs."""
    kernels = every_kernel(view)
    shown = _fastest_of_each(kernels)
    above = roofs(view)
    peak = view.device["peak_gb_per_s"]
    hues = _hues([chapter for chapter, _ in shown])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.5 + 0.27 * len(shown))
        for place, height in enumerate([peak, *map(rate_of, above)]):
            axes.axvline(height, color=theme.muted, lw=1.2, ls=DASHES[place], zorder=1)
        for place, (chapter, found) in enumerate(shown):
            hue, marker = hues[chapter]
            rate = rate_of(found)
            axes.plot([0, rate], [place, place], color=theme.grid, lw=1.5, zorder=1)
            axes.plot(rate, place, marker=marker, color=theme.drawn(hue), ls="none", zorder=3)
            axes.annotate(
                f"{rate:.0f}",
                xy=(1, place),
                xycoords=("axes fraction", "data"),
                xytext=(38, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                color=theme.written(hue),
                annotation_clip=False,
            )
        names = [f"{name_of(found)}  {chapter_number(chapter)}" for chapter, found in shown]
        axes.set_yticks(range(len(shown)), names)
        for letters, (chapter, _) in zip(axes.get_yticklabels(), shown, strict=True):
            letters.set_color(theme.written(hues[chapter][0]))
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlim(0, peak * 1.02)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("GB/s, useful bytes over time")
        axes.set_title("kernel, and its chapter", loc="left", pad=10)
        axes.spines["left"].set_visible(False)
        return figure

    fastest = max(shown, key=lambda kernel: rate_of(kernel[1]))[1]
    slowest = min(shown, key=lambda kernel: rate_of(kernel[1]))[1]
    half = sum(rate_of(found) > peak / 2 for _, found in shown)
    levels = listed([f"{name_of(roof)} {rate_text(rate_of(roof))}" for roof in above])
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, whose theoretical peak is {rate_text(peak)}, the memory gives "
            f"{levels}. Of {len(shown)} kernels of the book {half} pass half of the peak; the "
            f"fastest, {name_of(fastest)}, reaches {rate_text(rate_of(fastest))}, "
            f"{100 * rate_of(fastest) / peak:.0f} % of the peak and "
            f"{times_text(rate_of(fastest) / rate_of(above[0]))} what the plain read reaches; "
            f"the slowest, {name_of(slowest)}, {rate_text(rate_of(slowest))}."
        ),
        caption=(
            "Effective bandwidth of every kernel, from the chapter whose number stands behind its "
            "name; of variants with one listing the best. The lines from right to left: the "
            "theoretical peak, and in dashes and dots what reading, copying and the triad reach. "
            "The data have every variant."
        ),
        table=Table(
            ["chapter", *run_columns(), "% of read"],
            [
                [
                    chapter,
                    *run_row(found, view.device),
                    round(100 * rate_of(found) / rate_of(above[0]), 1),
                ]
                for chapter, found in [*kernels, *((CHAPTER, roof) for roof in above)]
            ],
        ),
        runs=[*(found for _, found in kernels), *above],
    )


# ----------------------------------------------------------------------------- the L2's step

STATES = {
    "reduce7_warm": "warm",
    "reduce7": "emptied by reading",
    "reduce7_after_write": "emptied by writing",
}


def l2_step(view: View) -> Picture:
    """Bandwidth of one kernel against n, with the L2 in three states."""
    sweeps = {name: view.over_n(CHAPTER, name) for name in STATES}
    sizes = [found.run["n"] for found in sweeps["reduce7"]]
    peak = view.device["peak_gb_per_s"]
    in_l2 = view.device["l2_bytes"] / 4
    highest = max(sweeps["reduce7_warm"], key=rate_of)

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        _sizes(axes, sizes, step=3)
        axes.axhline(peak, color=theme.muted, lw=1.2, ls="--", zorder=1)
        _note(axes, theme, f"peak {peak:.0f}", (sizes[0], peak), (4, 4))
        axes.axvline(in_l2, color=theme.muted, lw=1.2, ls=(0, (1, 2)), zorder=1)
        _note(axes, theme, "input = L2", (in_l2, peak), (-5, -5), side="right", over=False)
        for place, (name, state) in enumerate(STATES.items()):
            points = [(found.run["n"], rate_of(found)) for found in sweeps[name]]
            hue = SERIES[place]
            axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                color=theme.drawn(hue),
                marker=MARKERS[place],
                markersize=5,
                clip_on=False,
                zorder=3,
                label=state,
            )
        axes.set_ylim(0, max(peak, rate_of(highest)) * 1.1)
        axes.legend(frameon=False, loc="lower right", title="the L2 before each sample")
        axes.set_title("GB/s, useful bytes over time", loc="left", pad=10)
        return figure

    def rate_at(name: str, n: int) -> float:
        return next(rate_of(found) for found in sweeps[name] if found.run["n"] == n)

    beyond = [n for n in sizes if n > 4 * in_l2]
    alike = max(abs(rate_at("reduce7_warm", n) / rate_at("reduce7", n) - 1) for n in beyond)
    most = max(
        (n for n in sizes), key=lambda n: rate_at("reduce7", n) / rate_at("reduce7_after_write", n)
    )
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, reduce7 with its input still in the L2 reaches "
            f"{rate_text(rate_of(highest))} at n = {size(highest.run['n'])}, where it has "
            f"{rate_text(rate_at('reduce7', highest.run['n']))} when the L2 was emptied by "
            f"reading. From n = {size(beyond[0])} on the two are within {100 * alike:.1f} % of "
            "each other. Emptying by writing costs most at "
            f"n = {size(most)}: {rate_text(rate_at('reduce7_after_write', most))} in place of "
            f"{rate_text(rate_at('reduce7', most))}."
        ),
        caption=(
            f"One kernel, {BLOCK} threads a block, three states of the L2 before each sample: "
            "left warm by the sample before, emptied by reading a clean buffer (as everywhere in "
            "the book), emptied by writing one. The vertical line marks the input that just fills "
            f"the L2. The data have % of the theoretical peak."
        ),
        table=Table(
            ["the L2 before", *run_columns()],
            [
                [state, *run_row(found, view.device)]
                for name, state in STATES.items()
                for found in sweeps[name]
            ],
        ),
        runs=[found for sweep in sweeps.values() for found in sweep],
    )


# ------------------------------------------------------------------------------ the grid sweep


def grid_sweep(view: View) -> Picture:
    """reduce7's bandwidth against the threads that its grid has for each SM."""
    n = LARGE_N
    by_block: dict[int, list[Found]] = {}
    for run in view.runs(CHAPTER):
        if "blocks_an_sm" in run["params"] and run["n"] == n and run["block"] >= BLOCK:
            found = view.find(CHAPTER, run["variant"], n, run["block"])
            by_block.setdefault(run["block"], []).append(found)
    if not by_block:
        raise MissingData(f"the sweep of grids is not recorded in {view.known.name}")
    resident = view.device["max_threads_per_sm"]

    def threads(found: Found) -> int:
        return int(found.run["params"]["blocks_an_sm"]) * int(found.run["block"])

    for sweep in by_block.values():
        sweep.sort(key=threads)
    once = view.find(CHAPTER, "reduce7_one_each", n, BLOCK)
    peak = view.device["peak_gb_per_s"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        ticks = sorted({threads(found) for sweep in by_block.values() for found in sweep})
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
        axes.set_xticks(ticks[::2], [short_size(t) for t in ticks[::2]])
        axes.set_xlabel("threads that the grid has for each SM")
        axes.axhline(peak, color=theme.muted, lw=1.2, ls="--", zorder=1)
        _note(axes, theme, f"peak {peak:.0f}", (ticks[0], peak), (4, 4))
        axes.axvline(resident, color=theme.muted, lw=1.2, ls=(0, (1, 2)), zorder=1)
        _note(axes, theme, "an SM is full", (resident, 0), (-5, 5), side="right")
        for place, (block, sweep) in enumerate(sorted(by_block.items())):
            hue = SERIES[place]
            axes.plot(
                [threads(found) for found in sweep],
                [rate_of(found) for found in sweep],
                color=theme.drawn(hue),
                marker=MARKERS[place],
                markersize=5,
                clip_on=False,
                zorder=3,
                label=str(block),
            )
        axes.set_ylim(0, peak * 1.13)
        axes.legend(frameon=False, loc="lower right", title="threads a block")
        axes.set_title(f"GB/s at n = {size(n)}", loc="left", pad=10)
        return figure

    classic = by_block[BLOCK]
    least, best = classic[0], max(classic, key=rate_of)
    full = [found for found in classic if threads(found) == resident]
    words = f", {rate_text(rate_of(full[0]))} with a full SM" if full else ""
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, at n = {size(n)} and {BLOCK} threads a block, reduce7 goes "
            f"from {rate_text(rate_of(least))} with {least.run['params']['blocks_an_sm']} block an "
            f"SM{words} to {rate_text(rate_of(best))} at best, with "
            f"{best.run['params']['blocks_an_sm']}. With one element a thread, as the classic "
            f"program launched it, it has {rate_text(rate_of(once))}."
        ),
        caption=(
            f"reduce7 on grids of 1 to 128 blocks an SM, n = {size(n)}. To the right of the "
            f"vertical line not all blocks fit at once: the rest wait. In the data's last row the "
            "grid has a block for every block of input."
        ),
        table=Table(
            ["blocks an SM", "threads an SM", "blocks", *run_columns()],
            [
                [
                    found.run["params"]["blocks_an_sm"],
                    threads(found),
                    found.run["grid"],
                    *run_row(found, view.device),
                ]
                for block in sorted(by_block)
                for found in by_block[block]
            ]
            + [["", "", once.run["grid"], *run_row(once, view.device)]],
        ),
        runs=[*(found for sweep in by_block.values() for found in sweep), once],
    )


# ------------------------------------------------------------------ nine sizes, seven methods


def _nine_by_seven(view: View) -> dict[int, list[Found]]:
    return {n: [view.find(CHAPTER, method, n, BLOCK) for method in METHODS] for n in NINE}


def methods(view: View) -> Picture:
    """How many times as fast as the first each method is, at each of the nine sizes."""
    by_size = _nine_by_seven(view)

    def gains(n: int) -> list[float]:
        founds = by_size[n]
        return [time_of(founds[0]) / time_of(found) for found in founds]

    def wins(place: int) -> int:
        """At how many sizes a method is faster than the one before it."""
        return sum(recorded.faster(by_size[n][place], by_size[n][place - 1]) for n in NINE)

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        places = range(1, len(METHODS) + 1)
        for rank, n in enumerate(NINE):
            ends = n in (NINE[0], NINE[-1])
            axes.plot(
                places,
                gains(n),
                color=theme.drawn("vermillion" if n == NINE[-1] else "blue")
                if ends
                else theme.tint("blue", 0.65 - 0.05 * rank),
                lw=2.2 if ends else 1.3,
                marker="o" if ends else None,
                markersize=5,
                clip_on=False,
                zorder=4 if ends else 3,
            )
        for n, hue in ((NINE[0], "blue"), (NINE[-1], "vermillion")):
            axes.annotate(
                f"n = {size(n)}",
                xy=(len(METHODS), gains(n)[-1]),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                color=theme.written(hue),
                annotation_clip=False,
                weight="bold",
            )
        axes.set_xticks(list(places))
        axes.set_xlim(1, len(METHODS) + 1.35)
        axes.spines["bottom"].set_bounds(1, len(METHODS))
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        axes.set_xlabel("method")
        axes.set_title("times as fast as method 1", loc="left", pad=10)
        return figure

    most = gains(NINE[-1])[-1]
    least = gains(NINE[0])[-1]
    steps = listed([f"{METHODS[i]} at {wins(i)}" for i in range(1, len(METHODS))])
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, with {BLOCK} threads a block, the seventh method is "
            f"{times_text(least)} as fast as the first at n = {size(NINE[0])} and "
            f"{times_text(most)} at n = {size(NINE[-1])}. Of the nine sizes, a method is faster "
            f"than the one before it: {steps}."
        ),
        caption=(
            f"The seven methods' kernels alone, {BLOCK} threads a block, as many times as fast as "
            "the first: a line for each of the nine classic sizes, the largest and the smallest "
            "with marks."
        ),
        table=Table(
            ["n", *(f"{method} µs" for method in METHODS), *(f"{m} gain" for m in METHODS[1:])],
            [
                [
                    n,
                    *(time_of(found) for found in founds),
                    *(
                        round(time_of(founds[i - 1]) / time_of(founds[i]), 2)
                        for i in range(1, len(METHODS))
                    ),
                ]
                for n, founds in by_size.items()
            ],
        ),
        runs=[found for founds in by_size.values() for found in founds],
    )


FINISHED = ("sum3", "sum4", "sum5", "sum6", "sum7")


def finished(view: View) -> Picture:
    """Finished sums against CUB's: how many times its time they take."""
    library = {found.run["n"]: found for found in view.over_n(CHAPTER, "sum_cub")}
    sweeps = {name: view.over_n(CHAPTER, name) for name in FINISHED}
    sizes = sorted(library)

    def ratio(found: Found) -> float:
        return time_of(found) / time_of(library[found.run["n"]])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        _sizes(axes, sizes, step=3)
        axes.axhline(1, color=theme.muted, lw=1.6, zorder=2)
        _note(axes, theme, "CUB", (sizes[0], 1), (4, -4), over=False)
        for place, (name, sweep) in enumerate(sweeps.items()):
            hue = SERIES[place]
            axes.plot(
                [found.run["n"] for found in sweep],
                [ratio(found) for found in sweep],
                color=theme.drawn(hue),
                marker=MARKERS[place],
                markersize=5,
                clip_on=False,
                zorder=3,
                label=name,
            )
        axes.set_ylim(0, max(ratio(found) for sweep in sweeps.values() for found in sweep) * 1.08)
        axes.legend(frameon=False, loc="upper left", ncols=2)
        axes.set_title("time of a finished sum, over CUB's", loc="left", pad=10)
        return figure

    def at(n: int) -> tuple[Found, float]:
        best = min((found for s in sweeps.values() for found in s if found.run["n"] == n),
                   key=time_of)  # fmt: skip
        return best, ratio(best)

    small, large = at(sizes[0]), at(LARGE_N if LARGE_N in library else sizes[-1])
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, finished sums in 64 bits against CUB's: at "
            f"n = {size(small[0].run['n'])} the best of the ladder, {name_of(small[0])}, takes "
            f"{small[1]:.2f} times CUB's time, {time_text(time_of(small[0]))} against "
            f"{time_text(time_of(library[sizes[0]]))}; at n = {size(large[0].run['n'])} "
            f"{name_of(large[0])} takes {large[1]:.2f} times CUB's."
        ),
        caption=(
            f"Finished sums, {BLOCK} threads a block: a method's kernel and the finishing kernel "
            "that all share, over the time of cub::DeviceReduce::Sum with the same input and "
            "64-bit result, its memory allocated beforehand. Below 1 is faster than CUB."
        ),
        table=Table(
            [*run_columns(), "times CUB's time"],
            [
                [*run_row(found, view.device), round(ratio(found), 3)]
                for sweep in [*sweeps.values(), list(library.values())]
                for found in sweep
            ],
        ),
        runs=[*(found for sweep in sweeps.values() for found in sweep), *library.values()],
    )


# --------------------------------------------------------------------------------- the roofline


def issue_rate(device: dict[str, Any]) -> float:
    """Warp instructions a nanosecond that the schedulers can issue: 4 an SM since 5.0, 2 in 6.0."""
    schedulers = 2 if device["compute_capability"] == "6.0" else 4
    return float(device["sm_count"] * schedulers * device["sm_clock_khz"] / 1e6)


#: Rows and threads a block of chapter 4's products.
PRODUCT = (2048, 1024)


def _counted(view: View) -> list[tuple[str, Found, float, float]]:
    """Chapter, run, warp instructions and bytes to and from DRAM, of each kernel at 2^24.

    Matrix products are at 2048 rows, the size at which they are timed and counted.
    """
    rows = []
    for run in (view.known.counters or {}).get("runs", []):
        chapter, variant = run["chapter"], run["variant"]
        blocks = (BLOCK, DEFAULT_BLOCK) if chapter == CHAPTER else (DEFAULT_BLOCK,)
        usual = run["n"] == recorded.DEFAULT_N and run["block"] in blocks
        if not usual and (run["n"], run["block"]) != PRODUCT:
            continue
        if chapter_number(chapter) == 0:
            continue
        try:
            found = view.find(chapter, variant, run["n"], run["block"])
            counts = view.books.counters(
                chapter, variant, run["n"], run["block"], run["params"], only=view.known.name
            )
            work = recorded.counter(counts, "instructions")
            moved = recorded.counter(counts, "dram_read_bytes")
            moved += recorded.counter(counts, "dram_write_bytes")
        except (MissingData, recorded.NoSuchRun):
            continue  # a faulty form or another block, which were not timed; or not counted
        # A kernel that an earlier chapter teaches is shown there; chapter 7's methods here, too.
        own = chapter == CHAPTER or found.run["from"] == chapter
        if own and found.run["bytes_read"]:
            rows.append((chapter, found, work, moved))
    missing = {*METHODS, *ROOFS} - {name_of(row[1]) for row in rows if row[0] == CHAPTER}
    if missing:
        raise MissingData(f"{listed(sorted(missing))} are not counted in {view.known.name}")
    return rows


def roofline(view: View) -> Picture:
    """Warp instructions a second against warp instructions a byte, and the two roofs."""
    rows = _counted(view)
    peak = view.device["peak_gb_per_s"]
    issue = issue_rate(view.device)
    ridge = issue / peak

    def at(row: tuple[str, Found, float, float]) -> tuple[float, float]:
        _, found, work, moved = row
        return work / moved, work / (time_of(found) * 1e3)

    points = {(row[0], name_of(row[1])): at(row) for row in rows}
    labelled = (*METHODS, *ROOFS)
    marked = [points[CHAPTER, name] for name in labelled]
    # Around the marked ones; a kernel that waits for something else altogether may lie outside.
    low, high = min(x for x, _ in marked) / 2, 20 * max(x for x, _ in marked)
    floor, top = min(y for _, y in marked) / 6, issue * 1.8

    def inside(x: float, y: float) -> bool:
        return low <= x <= high and floor <= y <= top

    outside = sum(not inside(x, y) for x, y in points.values())

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(5.0)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.plot([low, ridge, high], [low * peak, issue, issue], color=theme.muted, lw=2, zorder=2)
        _note(axes, theme, f"issue: {issue:.0f}", (high, issue), (-4, 4), side="right")
        _note(axes, theme, f"memory:\n{peak:.0f} GB/s", (low, issue), (6, -4), over=False)
        for (chapter, name), (x, y) in points.items():
            if not inside(x, y):
                continue
            own = name in labelled and chapter == CHAPTER
            axes.plot(
                x,
                y,
                ls="none",
                marker="o" if own else ".",
                markersize=7 if own else 6,
                color=theme.drawn("vermillion" if name in METHODS else "green")
                if own
                else theme.tint("blue", 0.3),
                zorder=4 if own else 3,
            )
        right, crowded = math.inf, False  # of the method before
        for name in METHODS:
            x, y = points[CHAPTER, name]
            crowded = right < (2.1 if crowded else 1.5) * x  # a label on the left takes room, too
            right = x
            axes.annotate(
                name.removeprefix("reduce"),
                xy=(x, y),
                xytext=(-8 if crowded else 8, 0),
                textcoords="offset points",
                ha="right" if crowded else "left",
                va="center",
                color=theme.written("vermillion"),
                weight="bold",
            )
        left = [points[CHAPTER, name] for name in ROOFS]
        axes.annotate(
            ", ".join(ROOFS),
            xy=(min(x for x, _ in left), min(y for _, y in left)),
            xytext=(-6, -12),
            textcoords="offset points",
            va="top",
            color=theme.written("green"),
            weight="bold",
        )
        ticks = [tick for tick in (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30) if low <= tick <= high]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        heights = [height for height in (1, 3, 10, 30, 100, 300, 1000) if floor <= height <= top]
        axes.set_yticks(heights, [f"{height:g}" for height in heights])
        axes.set_xlim(low, high)
        axes.set_ylim(floor, top)
        axes.set_xlabel("warp instructions a byte of DRAM traffic")
        axes.set_title("10⁹ warp instructions a second", loc="left", pad=10)
        axes.grid()
        return figure

    def share(name: str) -> tuple[float, float]:
        x, y = points[CHAPTER, name]
        return 100 * y / min(issue, x * peak), x / ridge

    first, last = METHODS[0], METHODS[-1]
    right = sum(x > ridge for x, _ in points.values())
    return Picture(
        draw=draw,
        alt=(
            f"A roofline of {len(points)} kernels on {view.device_name}, n = "
            f"{size(recorded.DEFAULT_N)}, matrix products of {PRODUCT[0]} rows. The roofs meet "
            f"at {significant(ridge, 2)} warp instructions a byte; {right} kernels lie to the "
            f"right of that, where the instructions and not the bytes are the limit. {first}, with "
            f"{significant(points[CHAPTER, first][0], 2)} a byte, is at {share(first)[0]:.0f} % of "
            f"the roof above it; {last}, with {significant(points[CHAPTER, last][0], 2)}, at "
            f"{share(last)[0]:.0f} %."
        ),
        caption=(
            "The roofline in instructions: each kernel's warp instructions for each byte between "
            "the L2 and DRAM, and how many it executes in a second; both axes logarithmic. The "
            "numbers are the seven methods, the small dots all others of the book's kernels that "
            "read the memory and that hardware has counted. The slope is the theoretical peak, the "
            "level line what all schedulers can issue."
            + (f" {outside} of the others lie outside the picture." if outside else "")
        ),
        table=Table(
            [
                "chapter",
                "kernel",
                "n",
                "warp instructions",
                "DRAM bytes",
                "instructions a byte",
                "10⁹ instructions/s",
                "% of roof",
            ],
            [
                [
                    row[0],
                    name_of(row[1]),
                    size(row[1].run["n"]),
                    int(row[2]),
                    int(row[3]),
                    round(at(row)[0], 4),
                    round(at(row)[1], 1),
                    round(100 * at(row)[1] / min(issue, at(row)[0] * peak), 1),
                ]
                for row in rows
            ],
        ),
        runs=[row[1] for row in rows],
    )


# -------------------------------------------------------------------------------------- tools


def _sizes(axes: Axes, values: Sequence[int], *, step: int) -> None:
    axes.set_xscale("log", base=2)
    axes.minorticks_off()
    axes.set_xticks(values[::step], [short_size(value) for value in values[::step]])
    axes.set_xlim(values[0], values[-1])
    axes.set_xlabel("n, the number of elements")


def _note(
    axes: Axes,
    theme: Theme,
    text: str,
    at: tuple[float, float],
    shift: tuple[float, float],
    *,
    side: str = "left",
    over: bool = True,
) -> None:
    """Muted words beside a line."""
    axes.annotate(
        text,
        xy=at,
        xytext=shift,
        textcoords="offset points",
        ha=side,
        va="bottom" if over else "top",
        color=theme.muted,
    )


PLOTS = {
    "chapter07_kernels": kernels_and_roofs,
    "chapter07_l2": l2_step,
    "chapter07_grid": grid_sweep,
    "chapter07_methods": methods,
    "chapter07_finished": finished,
    "chapter07_roofline": roofline,
}
