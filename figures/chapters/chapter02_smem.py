"""Chapter 2: the same tree in shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial as bind
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from common.records import machine_code
from figures.kit import patterns, slots
from figures.kit.axes import bar_chart
from figures.kit.canvas import GLOBAL_HUE, SHARED_HUE, arrow, canvas, cell
from figures.kit.chapter import Chapter
from figures.kit.costs import tiles, work
from figures.kit.patterns import (
    GLOBAL,
    LOAD,
    LOOP,
    SHARED,
    UNROLLED,
    WARP,
    Access,
    Finish,
    Recorder,
    finish_spreading,
    folded,
    load_tile,
)
from figures.kit.pictures import LARGE_N, Picture, Table, View, run_columns, run_row, time_of
from figures.kit.style import LIGHT, OKABE_ITO, SERIES, Theme, readable
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

#: chapter 1's first tree, in shared memory.
INTERLEAVED: Finish = bind(finish_spreading, strided=False)
interleaved = bind(folded, finish=INTERLEAVED)
smem = folded
smem_unrolled = bind(folded, finish=UNROLLED)


def smem_stride(n: int, block: int, index: int, *, grid: int) -> Iterator[Access]:
    """The grid-stride load: block b takes the tiles b, b + grid, b + 2 grid, …"""
    record = Recorder(index)
    for tile in range(index, -(-n // block), grid):
        yield from load_tile(record, n, block, tile)
    yield from LOOP(record, block)


def tree_smem() -> Picture:
    """The same tree in shared memory: global memory is touched at its two ends alone."""
    n = block = len(EXAMPLE)
    accesses = list(smem(n, block, 0))
    load, *tree, result = by_level(accesses)
    arrays = {"in": list(EXAMPLE), "tile": [0] * block, "partial": [0]}
    rows = values_after([load, *tree], arrays)[1:]
    patterns.follow(result, arrays)
    total = arrays["partial"][0]

    def tally(space: str) -> tuple[int, int]:
        return loads_and_stores(access for access in accesses if access.space == space)

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.6, 9.6
        figure, axes = canvas(11.2, height, 5.2)
        top = height - 1.15
        axes.text(0.1, height - 0.3, "in, in global memory", color=theme.written(GLOBAL_HUE),
                  va="center")  # fmt: skip
        for access in load:
            if access.kind == LOAD:
                x = access.index + 0.5
                cell(axes, theme, x, top, str(EXAMPLE[access.index]), GLOBAL_HUE)
                arrow(axes, theme, (x, top - 0.42), (x, top - pitch + 0.42),
                      theme.drawn(GLOBAL_HUE))  # fmt: skip
        for index, value in enumerate(EXAMPLE):
            cell(axes, theme, index + 0.5, top - pitch, str(value), SHARED_HUE)
        margin_note(axes, theme, top - 0.5 * pitch,
                    f"{loads_and_stores(a for a in load if a.space == GLOBAL)[0]} loads",
                    GLOBAL_HUE)  # fmt: skip
        margin_note(axes, theme, top - 1.25 * pitch, "tile, in\nshared\nmemory", SHARED_HUE)
        draw_steps(axes, theme, tree, rows, SHARED_HUE, top - pitch, pitch)
        draw_result(axes, theme, top - (len(tree) + 1) * pitch, pitch, total,
                    tally_text(a for a in result if a.space == GLOBAL))  # fmt: skip
        return figure

    (global_loads, global_stores), (shared_loads, shared_stores) = tally(GLOBAL), tally(SHARED)
    return Picture(
        draw=draw,
        alt=(
            f"A tree over {n} elements in shared memory. Global memory is touched at the two ends "
            f"alone: {global_loads} loads before the first step, {global_stores} store of the sum, "
            f"{total}, after the last. All else, {shared_loads} loads and {shared_stores} stores, "
            "stays in shared memory."
        ),
        caption=(
            f"chapter02's smem with a block of {block} threads. Shaded cells are written in "
            "that step; the others keep what they had."
        ),
        table=Table(
            ["memory", "loads", "stores"],
            [["global", global_loads, global_stores], ["shared", shared_loads, shared_stores]],
        ),
    )


def grid_stride() -> Picture:
    """A fixed grid walks over the input, its own width at a time."""
    n, block, grid = 21, 4, 2
    stride = grid * block
    loads = [
        access
        for index in range(grid)
        for access in smem_stride(n, block, index, grid=grid)
        if access.space == GLOBAL and access.kind == LOAD
    ]
    laps = -(-n // stride)

    def draw(theme: Theme) -> Figure:
        height = laps * 1.5 + 1.9
        figure, axes = canvas(11.4, height, 3.0)
        for b in range(grid):
            axes.text(b * block + block / 2, height - 0.45, f"block {b}", ha="center", va="center",
                      color=theme.written(SERIES[b]))  # fmt: skip
        for access in loads:
            lap, place = divmod(access.index, stride)
            y = height - 1.5 - lap * 1.5
            cell(axes, theme, place + 0.5, y, str(access.index), SERIES[access.block])
            if lap:
                arrow(axes, theme, (place + 0.5, y + 1.1), (place + 0.5, y + 0.43),
                      theme.drawn(SERIES[access.block]))  # fmt: skip
        for lap in range(laps):
            axes.text(8.35, height - 1.5 - lap * 1.5, f"load {lap}", va="center",
                      color=theme.muted)  # fmt: skip
        axes.text(0.1, 0.35, f"i += {stride}, all the grid's threads, while i < {n}", va="center",
                  color=theme.muted)  # fmt: skip
        return figure

    def mine(block_index: int, thread: int) -> list[str]:
        return [str(a.index) for a in loads if (a.block, a.thread) == (block_index, thread)]

    return Picture(
        draw=draw,
        alt=(
            f"{grid} blocks of {block} threads cover {n} elements in {laps} strides of {stride}: "
            f"thread 0 of block 0 takes elements {listed(mine(0, 0))}, thread 0 of block 1 "
            f"elements {listed(mine(1, 0))}. The last stride is short, and threads past the end "
            "stop."
        ),
        caption=(
            "The grid-stride load: a grid of any size covers any n. Each row is one load of every "
            "thread."
        ),
        table=Table(
            ["block", "thread", "elements"],
            [[b, t, " ".join(mine(b, t))] for b in range(grid) for t in range(block)],
        ),
    )


def promise(view: View) -> Picture:
    """What moving the tree was to gain by the count of its reads, and what it gained."""
    before = view.find("chapter01_gmem", "gmem_interleaved_sum", LARGE_N)
    after = view.find("chapter02_smem", "interleaved_sum", LARGE_N)
    promised = time_of(before) / 2
    rows = [("in global memory", before), ("in shared memory", after)]

    def draw(theme: Theme) -> Figure:
        return bar_chart(
            theme,
            [(name, time_of(one), time_text(time_of(one)), one is after) for name, one in rows],
            f"Time to add up {size(LARGE_N)} integers",
            [None, promised],
            "◇ half of the time above",
        )

    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, the tree in global memory adds up {size(LARGE_N)} integers in "
            f"{time_text(time_of(before))} and the same tree in shared memory in "
            f"{time_text(time_of(after))}. Half of the reads would be half of the time, "
            f"{time_text(promised)}."
        ),
        caption=(
            f"Finished sums of {size(LARGE_N)} integers, {before.run['block']} threads per block. "
            "The diamond is at half of the first time: what half of the reads promised."
        ),
        table=Table(
            ["tree", *run_columns()],
            [[name, *run_row(one, view.device)] for name, one in rows],
        ),
        runs=[before, after],
    )


ROOT = Path(__file__).resolve().parents[2]
SCHEDULERS = 4  # per SM


def slot_colours(theme: Theme) -> dict[str, str]:
    """A colour for each kind of slot. Printed in grey, they are still four shades."""
    # On a dark page purple is the lighter of two: it stays as light as it is.
    strong, light = (9.0, 3.0) if theme is LIGHT else (12.2, 7.6)
    hues = {
        slots.SHARED: (SHARED_HUE, strong),
        slots.ADD: ("vermillion", 5.0),
        slots.BARRIER: ("purple", light),
    }
    shades = {
        kind: readable(OKABE_ITO[hue], theme.background, ratio)
        for kind, (hue, ratio) in hues.items()
    }
    return {**shades, slots.REST: theme.grid}


def issue_slots() -> Picture:
    """The instructions that a block issues for its tree, one cell each."""
    block = 256
    body = slots.kinds(machine_code.load(ROOT).kernel("chapter03_divergence", "interleaved"))
    steps = work(interleaved(block, block, 0), block)
    warps = block // WARP
    issued = len(body) * warps * len(steps)
    adding = sum(len(step.lanes) for step in steps)
    counts = {kind: body.count(kind) for kind in dict.fromkeys(body)}

    def draw(theme: Theme) -> Figure:
        colours = slot_colours(theme)
        apart, each = 2, warps // SCHEDULERS  # warps per scheduler, with a gap between them
        columns, pitch = (len(body) + apart) * each - apart, SCHEDULERS + 2.2
        height = pitch * len(steps)
        figure, axes = canvas(columns + 17, height + 7.5, 5.6)
        text: dict[str, Any] = {"size": 13, "va": "center"}
        axes.text(columns + 2, height + 3.2, "additions", **text)
        for x, kind, word in (
            (0, slots.ADD, "adds"),
            (12, slots.SHARED, "loads, stores"),
            (34, slots.BARRIER, "waits"),
            (46, slots.REST, "overhead"),
        ):
            axes.add_patch(Rectangle((x, height + 2.2), 2, 2, facecolor=colours[kind], lw=0))
            axes.text(x + 3, height + 3.2, word, **text)
        axes.text(0, height + 6.2, "one cell per instruction", **text)
        for row, step in enumerate(steps):
            top = height - row * pitch
            for warp in range(warps):
                left, lane = warp // SCHEDULERS * (len(body) + apart), warp % SCHEDULERS
                axes.add_patch(
                    Rectangle((left, top - lane - 1), len(body), 1,
                              facecolor=colours[slots.REST], lw=0)
                )  # fmt: skip
                for place, kind in enumerate(body):
                    if kind == slots.REST:
                        continue
                    # What none of its lanes takes part in, a warp issues all the same.
                    idle = kind != slots.BARRIER and warp not in step.lanes
                    axes.add_patch(
                        Rectangle((left + place, top - lane - 1), 1, 0.4 if idle else 1,
                                  facecolor=colours[kind], lw=0)
                    )  # fmt: skip
            axes.text(columns + 2, top - SCHEDULERS / 2, f"{step.adding}", **text)
            edges = [top - row_edge for row_edge in range(SCHEDULERS + 1)]
            axes.hlines(edges, 0, columns, color=theme.background, lw=0.7, zorder=3)
        axes.vlines(range(columns + 1), 0, height, color=theme.background, lw=0.7, zorder=3)
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"The {issued} instructions that the {warps} warps of a block issue in the "
            f"{len(steps)} steps of its tree, as cells: {len(body)} per warp and step. "
            f"{adding} of them add. In every step the loop's own instructions fill "
            f"{counts[slots.REST]} of each warp's {len(body)} slots, and from the sixth step on "
            "most warps issue them, and the addition with its loads and its store, for nothing."
        ),
        caption=(
            f"The instructions that one block of {block} threads issues for its tree in shared "
            f"memory. Each group is a step, and in it each strip of {len(body)} cells is one of "
            f"the {warps} warps. The palest cells are overhead: {counts[slots.REST]} of "
            f"{len(body)}. A warp with nothing to add in a step has low cells. At the right: the "
            "additions in that step."
        ),
        table=Table(
            ["step", "numbers added", "instructions issued", "of these, additions"],
            [[step.step, step.adding, len(body) * warps, len(step.lanes)] for step in steps],
        ),
    )


CHAPTER = Chapter(
    "chapter02_smem",
    spine={"interleaved_sum": "the tree in shared memory"},
    plots={"chapter02_promise": promise},
    diagrams={
        "tree_smem": tree_smem,
        "grid_stride": grid_stride,
        "issue_slots": issue_slots,
    },
    patterns={
        "interleaved": tiles(INTERLEAVED, interleaved),
        "smem": tiles(LOOP, smem),
        "smem_unrolled": tiles(UNROLLED, smem_unrolled),
        "smem_stride": tiles(),  # which tiles a block loads depends on the grid
    },
)
