"""Chapter 1: a tree in global memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

from figures.kit import patterns
from figures.kit.axes import bar_chart
from figures.kit.canvas import GLOBAL_HUE, SHARED_HUE, arrow, canvas, cell, rounded_box
from figures.kit.chapter import Chapter
from figures.kit.costs import each_block, sectors
from figures.kit.patterns import (
    GLOBAL,
    INT_BYTES,
    LOAD,
    SECTOR_BYTES,
    STORE,
    Access,
    Recorder,
    by_request,
    folded,
    halving_tree,
    tree_levels,
)
from figures.kit.pictures import (
    LARGE_N,
    Picture,
    Table,
    View,
    name_of,
    run_columns,
    run_row,
    time_of,
)
from figures.kit.style import SERIES, Theme
from figures.kit.trees import (
    EXAMPLE,
    by_level,
    draw_result,
    draw_steps,
    loads_and_stores,
    margin_note,
    tally_text,
    values_after,
)
from figures.kit.words import listed, size, time_text
from figures.records.recordings import counter_of


def _result(record: Recorder, block: int) -> Iterator[Access]:
    last = tree_levels(block) + 1
    yield from record(last, GLOBAL, LOAD, "data", [(0, record.block * block)])
    yield from record(last, GLOBAL, STORE, "partial", [(0, record.block)])


def gmem(n: int, block: int, index: int) -> Iterator[Access]:
    """In place in global memory; `gmem_unrolled` and `gmem_early_exit` touch the same."""
    record = Recorder(index)
    yield from halving_tree(record, GLOBAL, "data", index * block, n, block)
    yield from _result(record, block)


def gmem_interleaved(n: int, block: int, index: int) -> Iterator[Access]:
    """In place, the nearest neighbours first."""
    record = Recorder(index)
    first = index * block
    for level in range(1, tree_levels(block) + 1):
        s = 1 << (level - 1)
        near = [
            (t, first + t) for t in range(0, block, 2 * s) if t + s < block and first + t + s < n
        ]
        yield from record(level, GLOBAL, LOAD, "data", near)
        yield from record(level, GLOBAL, LOAD, "data", [(t, i + s) for t, i in near])
        yield from record(level, GLOBAL, STORE, "data", near)
    yield from _result(record, block)


def primer_machine() -> Picture:
    """Where things are: two memories, and the processors on one side."""

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(10.8, 9.4, 4.8)
        # The host.
        axes.text(1.3, 9.05, "host", ha="center", va="center", weight="bold")
        rounded_box(axes, theme, 0.1, 4.5, 2.4, 4.1, "CPU", None)
        rounded_box(axes, theme, 0.1, 0.2, 2.4, 2.2, "host\nmemory", "green")
        # The device.
        axes.text(7.2, 9.05, "device", ha="center", va="center", weight="bold")
        rounded_box(axes, theme, 3.9, 0.2, 6.8, 1.35, "global memory", GLOBAL_HUE)
        rounded_box(axes, theme, 3.9, 2.1, 6.8, 0.85, "L2 cache", "orange")
        for number, x in enumerate((3.9, 7.4)):
            rounded_box(axes, theme, x, 3.6, 3.3, 5.0, f"SM {number}", None, top=True)
            rounded_box(axes, theme, x + 0.2, 3.8, 2.9, 0.95, "shared memory", SHARED_HUE)
            rounded_box(axes, theme, x + 0.2, 5.0, 2.9, 2.85, "", "purple")
            axes.text(x + 1.65, 7.5, "a block", ha="center", va="center")
            for warp in range(2):
                y = 6.15 - warp * 0.95
                axes.add_patch(
                    Rectangle((x + 0.4, y), 2.5, 0.8, facecolor=theme.tint("purple", 0.6),
                              edgecolor=theme.drawn("purple"), lw=1)
                )  # fmt: skip
                axes.text(x + 1.65, y + 0.4, "a warp of 32", ha="center", va="center")
            arrow(axes, theme, (x + 1.65, 2.98), (x + 1.65, 3.56))
            arrow(axes, theme, (x + 1.65, 3.56), (x + 1.65, 2.98))
        arrow(axes, theme, (7.3, 1.58), (7.3, 2.07))
        arrow(axes, theme, (7.3, 2.07), (7.3, 1.58))
        arrow(axes, theme, (2.55, 7.0), (3.85, 7.0), theme.ink, 1.8)
        axes.text(3.2, 7.35, "launch", ha="center", va="bottom")
        arrow(axes, theme, (2.55, 0.9), (3.85, 0.9), theme.ink, 1.8)
        arrow(axes, theme, (3.85, 0.9), (2.55, 0.9), theme.ink, 1.8)
        axes.text(3.2, 1.2, "copy", ha="center", va="bottom")
        arrow(axes, theme, (1.3, 4.45), (1.3, 2.45))
        arrow(axes, theme, (1.3, 2.45), (1.3, 4.45))
        return figure

    return Picture(
        draw=draw,
        alt=(
            "Host and device have a memory each. The host's CPU launches kernels on the device, "
            "and data are copied between host memory and the device's global memory. The device "
            "has many streaming multiprocessors (SMs; two are drawn). A block of threads runs on "
            "one SM, in warps of 32 threads, with that SM's shared memory close by; all SMs reach "
            "global memory through one L2 cache."
        ),
        caption="Where a kernel runs, and where its data can be.",
        table=Table(
            ["where", "belongs to", "reached by"],
            [
                ["host memory", "host", "the CPU"],
                ["global memory", "device", "every thread; the host by copies"],
                ["L2 cache", "device", "every access to global memory"],
                ["shared memory", "one SM", "the threads of one block"],
            ],
        ),
    )


def grid_to_elements() -> Picture:
    """Blocks and threads laid over the elements."""
    n, block = 10, 4
    grid = -(-n // block)
    loads = {
        (access.block, access.thread): access.index
        for index in range(grid)
        for access in folded(n, block, index)
        if access.space == GLOBAL and access.kind == LOAD
    }
    idle = grid * block - len(loads)

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(grid * block + 0.4, 5.4, 2.6)
        for b in range(grid):
            hue = SERIES[b]
            rounded_box(
                axes, theme, b * block + 0.3, 2.65, block - 0.2, 2.1, f"block {b}", hue, top=True
            )
            for t in range(block):
                x = b * block + t + 0.7
                index = loads.get((b, t))
                axes.text(x, 3.2, str(t), ha="center", va="center",
                          color=theme.ink if index is not None else theme.muted)  # fmt: skip
                if index is None:
                    cell(axes, theme, x, 1.45, "", None, hollow=True)
                else:
                    arrow(axes, theme, (x, 2.95), (x, 1.87), theme.drawn(hue))
                    cell(axes, theme, index + 0.7, 1.45, str(index), hue)
        axes.text(0.3, 5.1, "thread t of each block …", va="center", color=theme.muted)
        axes.text(0.3, 0.45, "… takes element i = b · 4 + t", va="center", color=theme.muted)
        axes.text(grid * block + 0.2, 0.45, f"i < {n} fails", ha="right", va="center",
                  color=theme.muted)  # fmt: skip
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"{n} elements and {grid} blocks of {block} threads. Thread t of block b takes element "
            f"b times {block} plus t; the last {idle} threads of block {grid - 1} find their index "
            "past the end and take nothing."
        ),
        caption=(
            "From grid, block and thread to element: i = blockIdx.x * blockDim.x + threadIdx.x. "
            "Threads whose i is not below n are kept out by a guard."
        ),
        table=Table(
            ["block", "thread", "element"],
            [[b, t, loads.get((b, t), "none")] for b in range(grid) for t in range(block)],
        ),
    )


def tree_gmem() -> Picture:
    """The tree in place: every step of it in global memory."""
    n = block = len(EXAMPLE)
    accesses = list(gmem(n, block, 0))
    *tree, result = by_level(accesses)
    arrays = {"data": list(EXAMPLE), "partial": [0]}
    rows = values_after(tree, arrays)
    patterns.follow(result, arrays)
    total = arrays["partial"][0]
    loads, stores = loads_and_stores(accesses)

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.6, 8.0
        figure, axes = canvas(11.2, height, 4.4)
        top = height - 1.15
        axes.text(0.1, height - 0.3, "data, in global memory", color=theme.written(GLOBAL_HUE),
                  va="center")  # fmt: skip
        for index, value in enumerate(EXAMPLE):
            cell(axes, theme, index + 0.5, top, str(value), GLOBAL_HUE)
        draw_steps(axes, theme, tree, rows, GLOBAL_HUE, top, pitch)
        for step, level in enumerate(tree, start=1):
            margin_note(axes, theme, top - (step - 0.5) * pitch, tally_text(level), GLOBAL_HUE)
        draw_result(axes, theme, top - len(tree) * pitch, pitch, total, tally_text(result))
        return figure

    halves = [loads_and_stores(level)[1] for level in tree]
    return Picture(
        draw=draw,
        alt=(
            f"A tree over {n} elements in global memory, in place. In {len(tree)} steps "
            f"{listed([str(half) for half in halves])} threads each add an element of the other "
            f"half to their own, and the sum, {total}, ends in the first element. Every load and "
            f"every store goes to global memory: {loads} loads and {stores} stores in all, with "
            "the result's."
        ),
        caption=(
            f"chapter01's gmem with a block of {block} threads. Coloured cells are written in "
            "that step; grey ones keep what they had."
        ),
        table=Table(
            ["step", "threads that add", "global loads", "global stores"],
            [
                *(
                    [step, halves[step - 1], *loads_and_stores(level)]
                    for step, level in enumerate(tree, 1)
                ),
                ["result", 1, *loads_and_stores(result)],
            ],
        ),
    )


@dataclass(frozen=True)
class Walk:
    """One step of a block's tree: its additions, and the sectors that go to and fro for them."""

    additions: int
    loaded: int
    stored: int


def walks(block: int) -> list[Walk]:
    """The steps of gmem_interleaved's tree."""
    *tree, _result = by_level(list(gmem_interleaved(block, block, 0)))
    found = []
    for level in tree:
        moved = {
            kind: sum(
                sectors(request) for request in by_request(a for a in level if a.kind == kind)
            )
            for kind in (LOAD, STORE)
        }
        found.append(Walk(loads_and_stores(level)[1], moved[LOAD], moved[STORE]))
    return found


def _wide_arrow(
    axes: Axes, x: float, start: float, end: float, width: float, face: str, edge: str
) -> None:
    """An arrow as wide as what it carries."""
    head = 0.45 if end > start else -0.45
    half, flare = width / 2, width / 2 + 0.09
    axes.add_patch(
        Polygon(
            [(x - half, start), (x - half, end - head), (x - flare, end - head), (x, end),
             (x + flare, end - head), (x + half, end - head), (x + half, start)],
            facecolor=face, edgecolor=edge, lw=1.0,
        )
    )  # fmt: skip


def tree_walks() -> Picture:
    """What each step of the tree fetches from global memory, and brings back."""
    block = 256
    steps = walks(block)
    carried = sum(step.loaded + step.stored for step in steps)

    def draw(theme: Theme) -> Figure:
        pitch, left, size = 1.5, 0.1, 13
        figure, axes = canvas(left + pitch * len(steps) + 0.1, 9.4, 4.2)
        wide: dict[str, Any] = {"ha": "center", "va": "center", "size": size}
        across = pitch * len(steps)
        axes.text(left, 9.0, "additions, in steps 1 to 8", size=size, va="center")
        rounded_box(axes, theme, left, 7.35, across, 1.1, "", "purple")
        rounded_box(axes, theme, left, 0.95, across, 1.1, "", GLOBAL_HUE)
        axes.text(left, 0.4, "sectors loaded and stored in global memory", size=size, va="center")
        unit = 0.6 / max(step.loaded for step in steps)
        for place, step in enumerate(steps):
            x = left + pitch * (place + 0.5)
            axes.text(x, 7.9, str(step.additions), **wide)
            axes.text(x, 1.5, str(step.loaded + step.stored), **wide)
            up, down = unit * step.loaded, unit * step.stored
            gap = 0.16 + 0.1 * (up + down)
            colour = theme.drawn(GLOBAL_HUE)
            light = theme.tint(GLOBAL_HUE, 0.6)
            _wide_arrow(axes, x - (down + gap) / 2, 2.15, 7.25, up, colour, colour)
            _wide_arrow(axes, x + (up + gap) / 2, 7.25, 2.15, down, light, colour)
        return figure

    first, third = steps[0], steps[2]
    return Picture(
        draw=draw,
        alt=(
            f"A block of {block} threads at work on its tree in global memory, step by step. The "
            f"additions halve each time, from {first.additions} down to {steps[-1].additions}. "
            "Every step loads from global memory and stores to it again, and the first three move "
            f"the same {third.loaded + third.stored} sectors, although the third step has only "
            f"{third.additions} additions left. After that the sectors halve too, down to "
            f"{steps[-1].loaded + steps[-1].stored}. All steps together move {carried} sectors, "
            f"and the block's elements fill {block * INT_BYTES // SECTOR_BYTES}."
        ),
        caption=(
            f"One block of {block} threads of gmem_interleaved. An upward arrow is as wide as the "
            "sectors that the step loads, a pale downward one as those that it stores. The "
            "additions halve from the start. For three steps, the traffic doesn't."
        ),
        table=Table(
            ["step", "additions", "sectors loaded", "sectors stored"],
            [
                [number, step.additions, step.loaded, step.stored]
                for number, step in enumerate(steps, 1)
            ],
        ),
    )


#: From the first kernel of the book to the fastest tree in place.
IN_PLACE = ("gmem_interleaved", "gmem", "gmem_unrolled", "gmem_early_exit")


def in_place(view: View) -> Picture:
    """The first passes that stay in global memory, with what they issue."""
    chapter = "chapter01_gmem"

    def issued_by_a_block(name: str) -> float:
        counted = view.counters(chapter, name)
        return counter_of(counted, "instructions") / counted.run["launches"][0]["grid"][0]

    rows = [(view.find(chapter, name, LARGE_N), issued_by_a_block(name)) for name in IN_PLACE]

    def draw(theme: Theme) -> Figure:
        lead = min(time_of(found) for found, _ in rows)
        bars = [
            (
                name_of(found),
                time_of(found),
                f"{time_text(time_of(found))}, {issued:.0f}",
                time_of(found) == lead,
            )
            for found, issued in rows
        ]
        return bar_chart(theme, bars, "Time, and instructions per block")

    said = "; ".join(
        f"{name_of(found)} {time_text(time_of(found))} and {issued:.0f} instructions per block"
        for found, issued in rows
    )
    return Picture(
        draw=draw,
        alt=f"First passes in place on {view.device_name}, at n = {size(LARGE_N)}: {said}.",
        caption=(
            f"First passes over {size(LARGE_N)} integers, {rows[0][0].run['block']} threads per "
            "block. Behind each time stand the instructions that a block issues."
        ),
        table=Table(
            [*run_columns(), "instructions per block"],
            [[*run_row(found, view.device), round(issued)] for found, issued in rows],
        ),
        runs=[found for found, _ in rows],
    )


CHAPTER = Chapter(
    "chapter01_gmem",
    spine={"gmem_interleaved_sum": "a tree in global memory"},
    plots={"chapter01_in_place": in_place},
    diagrams={
        "primer_machine": primer_machine,
        "grid_to_elements": grid_to_elements,
        "tree_gmem": tree_gmem,
        "tree_walks": tree_walks,
    },
    patterns={
        **dict.fromkeys(("gmem", "gmem_unrolled", "gmem_early_exit"), each_block(gmem)),
        "gmem_interleaved": each_block(gmem_interleaved),
    },
)
