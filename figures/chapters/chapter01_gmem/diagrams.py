"""The machine, its threads, and trees over a few elements."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures.chapters.chapter01_gmem.kernels import gmem, gmem_interleaved
from figures.kit import patterns
from figures.kit.canvas import GLOBAL_HUE, SHARED_HUE, arrow, canvas, cell, rounded_box
from figures.kit.patterns import (
    GLOBAL,
    LOAD,
    Kernel,
    folded,
)
from figures.kit.pictures import (
    Picture,
    Table,
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
from figures.kit.words import listed


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


def _tree(kernel: Kernel, name: str, partner: str) -> Picture:
    """A tree in place: every step of it in global memory."""
    n = block = len(EXAMPLE)
    accesses = list(kernel(n, block, 0))
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
            f"{listed([str(half) for half in halves])} threads each add {partner} to their own, "
            f"and the sum, {total}, ends in the first element. Every load and every store goes to "
            f"global memory: {loads} loads and {stores} stores in all, the result's included."
        ),
        caption=(
            f"chapter01's {name} with a block of {block} threads. Shaded cells are written in "
            "that step. The others keep what they had."
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


def tree_gmem() -> Picture:
    return _tree(gmem, "gmem", "an element of the other half")


def tournament() -> Picture:
    return _tree(gmem_interleaved, "gmem_interleaved", "a neighbour's element")
