"""Chapter 3: what a warp does at a branch."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial as bind
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from common.records.counters import STALLS
from common.records.recordings import RecordedRun, counter_of
from common.records.schema import CountedRun
from common.records.sets import NoSuchRun
from figures.chapters.chapter02_smem import INTERLEAVED, interleaved
from figures.kit import costs, patterns, style
from figures.kit.axes import heading, letters_for_a_box
from figures.kit.canvas import SHARED_HUE, canvas, cell
from figures.kit.chapter import Chapter
from figures.kit.costs import tiles
from figures.kit.patterns import STORE, Finish, Kernel, finish_spreading, folded
from figures.kit.pictures import Picture, Table, View, name_of, run_columns, run_row, time_of
from figures.kit.style import Theme
from figures.kit.trees import EXAMPLE, by_level, draw_steps, margin_note, values_after
from figures.kit.words import listed, size, time_text, times_text

NAME = "chapter03_divergence"
#: Points: letters that are readable on a telephone still.
LETTERS = 13.0

#: The same additions, by the block's first threads.
STRIDED: Finish = bind(finish_spreading, strided=True)

strided = bind(folded, finish=STRIDED)


def tree_spreading() -> Picture:
    """The tree from next door outwards, and the two ways to say which thread makes an addition."""
    n = block = len(EXAMPLE)
    schemes = {
        "interleaved": ("vermillion", list(interleaved(n, block, 0))),
        "strided": ("green", list(strided(n, block, 0))),
    }
    load, *tree, _ = by_level(schemes["interleaved"][1])
    arrays = {"in": list(EXAMPLE), "tile": [0] * block, "partial": [0]}
    rows = values_after([load, *tree], arrays)[1:]
    adding = {
        name: [
            [str(access.thread) for access in level if access.kind == STORE]
            for level in by_level(accesses)[1:-1]
        ]
        for name, (_, accesses) in schemes.items()
    }

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.6, 7.0
        figure, axes = canvas(12.4, height, 3.9)
        top = height - 1.3
        axes.text(0.1, height - 0.35, "tile, in shared memory", color=theme.written(SHARED_HUE),
                  va="center")  # fmt: skip
        margin_note(axes, theme, top + 0.25, "threads that add:")
        for index, value in enumerate(EXAMPLE):
            cell(axes, theme, index + 0.5, top, str(value), SHARED_HUE)
        draw_steps(axes, theme, tree, rows, SHARED_HUE, top, pitch)
        for step in range(len(tree)):
            for line, (name, (hue, _)) in enumerate(schemes.items()):
                axes.text(8.35, top - (step + 0.55) * pitch - 0.55 * line,
                          f"{name} {' '.join(adding[name][step])}", va="center",
                          color=theme.written(hue))  # fmt: skip
        return figure

    firsts = {name: listed(steps[0]) for name, steps in adding.items()}
    return Picture(
        draw=draw,
        alt=(
            f"A tree over {n} slots of shared memory that adds neighbours first, then sums of "
            f"neighbours, and so on outwards; the sum, {rows[-1][0]}, ends in slot 0. Both schemes "
            f"add the same slots. In the first step interleaved addressing has threads "
            f"{firsts['interleaved']} do it, the strided index threads {firsts['strided']}."
        ),
        caption=(
            f"interleaved and strided with a block of {block} threads: the same additions at the "
            "same places, by different threads."
        ),
        table=Table(
            ["step", *(f"{name}: threads that add" for name in schemes)],
            [
                [step + 1, *(" ".join(adding[name][step]) for name in schemes)]
                for step in range(len(tree))
            ],
        ),
    )


# ----------------------------------------------------------------------------------- Lanes at work


#: The addressing schemes of chapter 3, and who makes their additions.
SCHEMES: dict[str, Kernel] = {"interleaved": interleaved, "strided": strided}


def _runs(lanes: Iterable[int]) -> list[tuple[int, int]]:
    """Neighbouring lanes as (first, how many)."""
    runs: list[tuple[int, int]] = []
    for lane in sorted(lanes):
        if runs and sum(runs[-1]) == lane:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((lane, 1))
    return runs


def lanes_at_work() -> Picture:
    """Every lane of a block at every step of its tree: adding, idle in a warp that adds, or idle
    with its whole warp."""
    block = 256
    steps = {name: costs.work(kernel(block, block, 0), block) for name, kernel in SCHEMES.items()}
    pairs = {name: sum(len(step.lanes) for step in of) for name, of in steps.items()}

    def draw(theme: Theme) -> Figure:
        rows = len(next(iter(steps.values())))
        panel = rows + 2.6
        height = panel * len(steps) + 0.7
        figure, axes = canvas(block + 92, height, 0.2 * height)
        hue = SHARED_HUE
        for place, (name, of) in enumerate(steps.items()):
            top = height - place * panel - 2
            axes.text(0, top + 0.7, name, va="center", weight="bold", size=LETTERS)
            axes.text(block + 6, top + 0.7, "lanes in warps", va="center", color=theme.muted,
                      size=LETTERS)  # fmt: skip
            for step in of:
                y = top - step.step
                for warp in range(step.warps):
                    x = warp * patterns.WARP
                    busy = warp in step.lanes
                    axes.add_patch(
                        Rectangle(
                            (x + 1, y + 0.1), patterns.WARP - 2, 0.8, lw=0.5,
                            facecolor=theme.tint(hue, 0.65) if busy else "none",
                            edgecolor=theme.drawn(hue) if busy else theme.muted,
                        )
                    )  # fmt: skip
                    lane_width = (patterns.WARP - 2) / patterns.WARP
                    for first, many in _runs(step.lanes.get(warp, ())):
                        axes.add_patch(
                            Rectangle(
                                (x + 1 + first * lane_width, y + 0.1), many * lane_width, 0.8,
                                lw=0, facecolor=theme.written(hue),
                            )
                        )  # fmt: skip
                axes.text(block + 6, y + 0.5, f"{step.adding} in {len(step.lanes)}", va="center",
                          size=LETTERS)  # fmt: skip
        axes.text(0, 0.35, "8 warps of 32 lanes, one row per step of the tree", va="center",
                  color=theme.muted, size=LETTERS)  # fmt: skip
        return figure

    additions = sum(step.adding for step in steps["interleaved"])
    return Picture(
        draw=draw,
        alt=(
            f"The {additions} additions of a block of {block} threads, by lane and step. "
            "A warp counts once per step: interleaved addressing keeps warps busy "
            f"{pairs['interleaved']} times, mostly with a few lanes only. The strided index "
            f"fills whole warps while it can, then one warp: {pairs['strided']} times."
        ),
        caption=(
            f"A block of {block} threads, one row per step of its tree. Solid lanes add. "
            "Faint lanes are off while others in their warp add. Empty frames are warps "
            "with nothing to add."
        ),
        table=Table(
            ["step", *(f"{name}: {what}" for name in steps for what in ("lanes", "warps"))],
            [
                [row[0].step, *(x for step in row for x in (step.adding, len(step.lanes)))]
                for row in zip(*steps.values(), strict=True)
            ],
        ),
    )


# ------------------------------------------------------------------------------------------- Paths


def paths_sweep(view: View) -> Picture:
    """Time against the paths that a warp's lanes take, and the same work dealt out by warps."""
    chapter = "chapter03_divergence"
    n = view.large_n(chapter)
    found_of = {
        (run["region"], int(run["params"]["paths"])): view.find(chapter, run["variant"], n)
        for run in view.runs(chapter)
        if "paths" in run["params"]
    }
    mixed = {paths: one for (region, paths), one in found_of.items() if region == "mixed-paths"}
    by_warp = {paths: one for (region, paths), one in found_of.items() if region == "sorted-paths"}
    if len(mixed) < 2 or not by_warp:
        raise NoSuchRun(f"{chapter}'s paths are not recorded in {view.known.name}")
    counts = sorted(mixed)
    founds = [mixed[paths] for paths in counts]
    apart = by_warp[max(by_warp)]
    first, last = founds[0], founds[-1]
    each = (time_of(last) - time_of(first)) / (counts[-1] - counts[0])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        series = (
            ("mixed", "vermillion", "o", list(zip(counts, founds, strict=True))),
            (name_of(apart), "blue", "s", [(max(by_warp), apart)]),
        )
        for label, hue, marker, points in series:
            axes.plot(
                [x for x, _ in points],
                [time_of(found) / 1e3 for _, found in points],
                color=theme.drawn(hue),
                marker=marker,
                clip_on=False,
                zorder=3,
            )
            x, found = points[-1]
            axes.annotate(
                f"{label}\n{time_text(time_of(found))}",
                xy=(x, time_of(found) / 1e3),
                xytext=(-10, 0),
                textcoords="offset points",
                ha="right",
                va="center" if hue == "blue" else "bottom",
                color=theme.written(hue),
                weight="bold",
            )
        axes.set_xlim(0, counts[-1])
        axes.set_ylim(0, time_of(last) / 1e3 * 1.16)
        axes.set_xticks([paths for paths in counts if paths in (1, counts[-1]) or paths % 8 == 0])
        axes.set_xlabel("kinds of work")
        axes.grid(axis="y")
        heading(axes, f"Milliseconds at n = {size(n)}")
        letters_for_a_box(axes)
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, at n = {size(n)}, a kernel whose lanes all take one path "
            f"takes {time_text(time_of(first))}. With {counts[-1]} paths in every warp it takes "
            f"{time_text(time_of(last))}, {times_text(time_of(last) / time_of(first))} as long, "
            f"which is {time_text(each)} per additional path. {name_of(apart)} has the same "
            f"{max(by_warp)} kinds of work, one kind per warp, and takes "
            f"{time_text(time_of(apart))}."
        ),
        caption=(
            f"Work of several kinds at n = {size(n)}, {first.run['block']} threads per block. In "
            "mixed, neighbouring lanes do different kinds of work. In "
            f"{name_of(apart)}, all lanes of a warp do the same kind."
        ),
        table=Table(
            ["kernel", "kinds of work", "paths per warp", *run_columns()[1:]],
            [
                [*row[:2], row[1] if row[2] else 1, *run_row(found, view.device)[1:]]
                for row, found in [
                    *(((name_of(one), paths, True), one) for paths, one in mixed.items()),
                    *(((name_of(one), paths, False), one) for paths, one in by_warp.items()),
                ]
            ],
        ),
        runs=[*founds, apart],
    )


# ------------------------------------------------------------------------------------------- Stalls


#: What a warp's time is divided into: the hue, and ncu's reasons.
WAITS: dict[str, tuple[str, tuple[str, ...]]] = {
    "shared memory": ("vermillion", ("stall_short_scoreboard", "stall_mio_throttle")),
    "the barrier": ("orange", ("stall_barrier",)),
    "global memory": ("green", ("stall_long_scoreboard",)),
}
#: Executing instructions, waiting for the one before, and waiting for a turn to issue.
REST = "everything else"
#: Two trees with the same additions, and as many instructions.
STALLED = ("interleaved_mask", "strided")


def _lifetime(found: RecordedRun[CountedRun]) -> dict[str, float]:
    """Cycles of an average warp, by what it spent them on.

    ncu gives the cycles that a warp waits per instruction issued.
    """
    stalls = {name: counter_of(found, name) for name in STALLS}
    instructions = counter_of(found, "instructions")
    (launch,) = found.run["launches"]
    warps = launch["grid"][0] * launch["block"][0] / patterns.WARP
    cycles = {
        what: sum(stalls[name] for name in names) * instructions / warps
        for what, (_, names) in WAITS.items()
    }
    cycles[REST] = sum(stalls.values()) * instructions / warps - sum(cycles.values())
    return cycles


def warps_wait(view: View) -> Picture:
    """What an average warp of two trees spends its time on."""
    founds = [view.counters(NAME, variant) for variant in STALLED]
    spent = {name_of(found): _lifetime(found) for found in founds}
    totals = {name: sum(cycles.values()) for name, cycles in spent.items()}
    hues = {what: hue for what, (hue, _) in WAITS.items()} | {REST: "blue"}
    hatches = dict(zip(hues, ("////", "....", "\\\\\\\\", ""), strict=True))

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.3 + 0.85 * len(spent))
        looks: dict[str, Any] = {
            what: {
                "facecolor": theme.tint(hue, 0.6),
                "edgecolor": theme.drawn(hue),
                "hatch": hatches[what],
                "linewidth": 1.2,
            }
            for what, hue in hues.items()
        }
        behind = {"facecolor": theme.background, "edgecolor": "none", "pad": 1.5}
        for place, (name, cycles) in enumerate(spent.items()):
            left = 0.0
            for what, value in cycles.items():
                axes.barh(place, value, left=left, height=0.5, **looks[what])
                axes.text(left + value / 2, place, f"{value:.0f}", ha="center", va="center",
                          size=LETTERS, bbox=behind)  # fmt: skip
                left += value
            axes.text(0, place - 0.32, f"{name}: {totals[name]:.0f} cycles", va="bottom",
                      weight="bold", size=LETTERS)  # fmt: skip
        kinds = axes.legend(
            handles=[Patch(label=what, **look) for what, look in looks.items()],
            loc="upper left", bbox_to_anchor=(0, 0), ncols=2, frameon=False, fontsize=LETTERS,
            borderpad=0, borderaxespad=0.6, handlelength=1.6, handleheight=1.1,
        )  # fmt: skip
        for text, hue in zip(kinds.get_texts(), hues.values(), strict=True):
            text.set_color(theme.written(hue))
        axes.set_xlim(0, max(totals.values()) * 1.01)
        axes.set_ylim(len(spent) - 0.65, -0.75)
        axes.axis("off")
        return figure

    first, second = spent
    more = {what: spent[second][what] - spent[first][what] for what in hues}
    said = listed([f"{value:+.0f} {what}" for what, value in more.items()])
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, an average warp of {first} lives for {totals[first]:.0f} "
            f"cycles and one of {second} for {totals[second]:.0f}. The difference, part by part: "
            f"{said}."
        ),
        caption=(
            f"Where an average warp's cycles go at n = {size(founds[0].run['n'])}: waits for "
            "shared memory, at the barrier and for global memory. Everything else is executing "
            "instructions and waiting for a turn to issue them."
        ),
        table=Table(
            ["kernel", "cycles per warp", *hues],
            [
                [name, round(totals[name]), *(round(cycles[what]) for what in hues)]
                for name, cycles in spent.items()
            ],
        ),
        runs=founds,
    )


#: The kernels of one tree; the others do other work besides.
TREES = ("interleaved", "interleaved_mask", "strided", "smem")

CHAPTER = Chapter(
    NAME,
    spine={"interleaved_mask_sum": "a mask in place of a division"},
    swept=TREES,
    timed=TREES,
    plots={"chapter03_paths": paths_sweep, "chapter03_waits": warps_wait},
    diagrams={"tree_spreading": tree_spreading, "lanes_at_work": lanes_at_work},
    patterns={
        "interleaved": tiles(INTERLEAVED, interleaved),
        "interleaved_mask": tiles(INTERLEAVED),
        "strided": tiles(STRIDED, strided),
        **{f"mixed{paths}": tiles() for paths in (1, 2, 4, 8, 16, 32)},
        "sorted32": tiles(),
    },
)
