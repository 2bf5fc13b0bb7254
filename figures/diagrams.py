"""The pictures that need no measuring: drawn from the kernels' access patterns.

Which cell is read, which is written and what stands in it afterwards is followed through the
records of :mod:`figures.patterns`, so a diagram shows what its kernel does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from figures import coalescing, patterns, style
from figures.histogram import copies_in_banks
from figures.kit.words import listed
from figures.patterns import GLOBAL, LOAD, SHARED, STORE, Access
from figures.picture import Picture, Table
from figures.style import SERIES, Theme

#: What the small examples add up: short enough to check in the head.
EXAMPLE = (3, 1, 4, 1, 5, 9, 2, 6)

GLOBAL_HUE = "vermillion"
SHARED_HUE = "blue"


# ------------------------------------------------------------------------------ drawing tools


def _canvas(width: float, height: float, inches: float) -> tuple[Figure, Axes]:
    """Axes in the diagram's own units, from (0, 0) at the bottom left."""
    figure, axes = style.new_figure(inches)
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return figure, axes


def _cell(
    axes: Axes, theme: Theme, x: float, y: float, text: str, hue: str | None, *,
    size: float = 0.8, hollow: bool = False,
) -> None:  # fmt: skip
    """One element, centred at (x, y); without a hue it is there and takes no part."""
    axes.add_patch(
        Rectangle(
            (x - size / 2, y - size / 2),
            size,
            size,
            facecolor="none" if hollow or hue is None else theme.tint(hue, 0.75),
            edgecolor=theme.drawn(hue) if hue else theme.grid,
            linewidth=1.6 if hue else 1.0,
            linestyle=":" if hollow else "-",
        )
    )
    axes.text(
        x, y, text, ha="center", va="center", color=theme.ink if hue else theme.muted
    )  # fmt: skip


def _arrow(axes: Axes, theme: Theme, start: tuple[float, float], end: tuple[float, float],
           colour: str = "", width: float = 1.3) -> None:  # fmt: skip
    axes.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": "-|>,head_length=0.35,head_width=0.18",
            "color": colour or theme.muted,
            "lw": width,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )


def _box(
    axes: Axes, theme: Theme, x: float, y: float, width: float, height: float, text: str,
    hue: str | None = None, *, top: bool = False,
) -> None:  # fmt: skip
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=theme.tint(hue, 0.82) if hue else "none",
            edgecolor=theme.drawn(hue) if hue else theme.muted,
            linewidth=1.4,
        )
    )
    axes.text(
        x + width / 2,
        y + (height - 0.14 if top else height / 2),
        text,
        ha="center",
        va="top" if top else "center",
        linespacing=1.25,
    )


# ------------------------------------------------------------------------------------ trees


def _levels(accesses: Iterable[Access]) -> list[list[Access]]:
    return [list(group) for _, group in groupby(accesses, key=lambda access: access.level)]


def _values_after(levels: Sequence[list[Access]], arrays: dict[str, list[int]]) -> list[list[int]]:
    """What stands in the array that the tree works on, after each level."""
    rows = []
    for level in levels:
        patterns.follow(level, arrays)
        rows.append(list(arrays["tile" if "tile" in arrays else "data"]))
    return rows


def _tally(level: Iterable[Access]) -> tuple[int, int]:
    """Loads and stores of single lanes."""
    kinds = [access.kind for access in level]
    return kinds.count(LOAD), kinds.count(STORE)


def _tally_text(level: Iterable[Access]) -> str:
    """'2 loads,' over '1 store'; what there is none of is not named."""
    named = zip(_tally(level), ("load", "store"), strict=True)
    return ",\n".join(f"{count} {kind}{'s'[: count != 1]}" for count, kind in named if count)


def _steps(axes: Axes, theme: Theme, levels: Sequence[list[Access]], rows: Sequence[list[int]],
           hue: str, top: float, pitch: float) -> None:  # fmt: skip
    """The tree from its first level down, one row of cells for each; the first row is drawn."""
    for step, (level, values) in enumerate(zip(levels, rows, strict=True), start=1):
        y = top - step * pitch
        written = {access.index for access in level if access.kind == STORE}
        for index, value in enumerate(values):
            _cell(axes, theme, index + 0.5, y, str(value), hue if index in written else None)
        loads: dict[int, list[int]] = {}
        for access in level:
            if access.kind == LOAD:
                loads.setdefault(access.thread, []).append(access.index)
        for access in level:
            if access.kind == STORE:
                for source in loads[access.thread]:
                    _arrow(
                        axes,
                        theme,
                        (source + 0.5, y + pitch - 0.42),
                        (access.index + 0.5, y + 0.42),
                        theme.drawn(hue),
                    )


def _margin(axes: Axes, theme: Theme, y: float, text: str, hue: str | None = None) -> None:
    axes.text(8.35, y, text, va="center", color=theme.written(hue) if hue else theme.muted,
              linespacing=1.2)  # fmt: skip


def _result(
    axes: Axes, theme: Theme, bottom: float, pitch: float, total: int, accesses: str
) -> None:
    """The store of the block's sum, below the tree's last row."""
    y = bottom - pitch * 0.86
    _arrow(axes, theme, (0.5, bottom - 0.42), (0.5, y + 0.42), theme.drawn(GLOBAL_HUE))
    _cell(axes, theme, 0.5, y, str(total), GLOBAL_HUE)
    axes.text(1.1, y, "partial, in global memory", va="center", color=theme.written(GLOBAL_HUE))
    _margin(axes, theme, (bottom + y) / 2, accesses, GLOBAL_HUE)


def tree_gmem() -> Picture:
    """The tree in place: every step of it in global memory."""
    n = block = len(EXAMPLE)
    accesses = list(patterns.gmem(n, block, 0))
    *tree, result = _levels(accesses)
    arrays = {"data": list(EXAMPLE), "partial": [0]}
    rows = _values_after(tree, arrays)
    patterns.follow(result, arrays)
    total = arrays["partial"][0]
    loads, stores = _tally(accesses)

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.6, 8.0
        figure, axes = _canvas(11.2, height, 4.4)
        top = height - 1.15
        axes.text(0.1, height - 0.3, "data, in global memory", color=theme.written(GLOBAL_HUE),
                  va="center")  # fmt: skip
        for index, value in enumerate(EXAMPLE):
            _cell(axes, theme, index + 0.5, top, str(value), GLOBAL_HUE)
        _steps(axes, theme, tree, rows, GLOBAL_HUE, top, pitch)
        for step, level in enumerate(tree, start=1):
            _margin(axes, theme, top - (step - 0.5) * pitch, _tally_text(level), GLOBAL_HUE)
        _result(axes, theme, top - len(tree) * pitch, pitch, total, _tally_text(result))
        return figure

    halves = [_tally(level)[1] for level in tree]
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
                *([step, halves[step - 1], *_tally(level)] for step, level in enumerate(tree, 1)),
                ["result", 1, *_tally(result)],
            ],
        ),
    )


def tree_smem() -> Picture:
    """The same tree in shared memory: global memory is touched at its two ends alone."""
    n = block = len(EXAMPLE)
    accesses = list(patterns.smem(n, block, 0))
    load, *tree, result = _levels(accesses)
    arrays = {"in": list(EXAMPLE), "tile": [0] * block, "partial": [0]}
    rows = _values_after([load, *tree], arrays)[1:]
    patterns.follow(result, arrays)
    total = arrays["partial"][0]

    def tally(space: str) -> tuple[int, int]:
        return _tally(access for access in accesses if access.space == space)

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.6, 9.6
        figure, axes = _canvas(11.2, height, 5.2)
        top = height - 1.15
        axes.text(0.1, height - 0.3, "in, in global memory", color=theme.written(GLOBAL_HUE),
                  va="center")  # fmt: skip
        for access in load:
            if access.kind == LOAD:
                x = access.index + 0.5
                _cell(axes, theme, x, top, str(EXAMPLE[access.index]), GLOBAL_HUE)
                _arrow(axes, theme, (x, top - 0.42), (x, top - pitch + 0.42),
                       theme.drawn(GLOBAL_HUE))  # fmt: skip
        for index, value in enumerate(EXAMPLE):
            _cell(axes, theme, index + 0.5, top - pitch, str(value), SHARED_HUE)
        _margin(axes, theme, top - 0.5 * pitch,
                f"{_tally(a for a in load if a.space == GLOBAL)[0]} loads", GLOBAL_HUE)  # fmt: skip
        _margin(axes, theme, top - 1.25 * pitch, "tile, in\nshared\nmemory", SHARED_HUE)
        _steps(axes, theme, tree, rows, SHARED_HUE, top - pitch, pitch)
        _result(axes, theme, top - (len(tree) + 1) * pitch, pitch, total,
                _tally_text(a for a in result if a.space == GLOBAL))  # fmt: skip
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
            f"chapter02's smem with a block of {block} threads. Coloured cells are written in "
            "that step; grey ones keep what they had."
        ),
        table=Table(
            ["memory", "loads", "stores"],
            [["global", global_loads, global_stores], ["shared", shared_loads, shared_stores]],
        ),
    )


def tree_spreading() -> Picture:
    """The tree from next door outwards, and the two ways to say which thread makes an addition."""
    n = block = len(EXAMPLE)
    schemes = {
        "interleaved": ("vermillion", list(patterns.interleaved(n, block, 0))),
        "strided": ("green", list(patterns.strided(n, block, 0))),
    }
    load, *tree, _ = _levels(schemes["interleaved"][1])
    arrays = {"in": list(EXAMPLE), "tile": [0] * block, "partial": [0]}
    rows = _values_after([load, *tree], arrays)[1:]
    adding = {
        name: [
            [str(access.thread) for access in level if access.kind == STORE]
            for level in _levels(accesses)[1:-1]
        ]
        for name, (_, accesses) in schemes.items()
    }

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.6, 7.0
        figure, axes = _canvas(12.4, height, 3.9)
        top = height - 1.3
        axes.text(0.1, height - 0.35, "tile, in shared memory", color=theme.written(SHARED_HUE),
                  va="center")  # fmt: skip
        _margin(axes, theme, top + 0.25, "threads that add:")
        for index, value in enumerate(EXAMPLE):
            _cell(axes, theme, index + 0.5, top, str(value), SHARED_HUE)
        _steps(axes, theme, tree, rows, SHARED_HUE, top, pitch)
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
            f"A tree over {n} slots of shared memory that adds neighbours first, then slots 2 "
            f"apart, then 4; the sum, {rows[-1][0]}, ends in slot 0. In both schemes the same "
            f"slots are added. In the first step interleaved addressing has threads "
            f"{firsts['interleaved']} do it, the strided index threads {firsts['strided']}."
        ),
        caption=(
            f"chapter03's interleaved and strided with a block of {block} threads: the same "
            "additions at the same places, by other threads."
        ),
        table=Table(
            ["step", *(f"{name}: threads that add" for name in schemes)],
            [
                [step + 1, *(" ".join(adding[name][step]) for name in schemes)]
                for step in range(len(tree))
            ],
        ),
    )


# ----------------------------------------------------------------------------- lanes at work

#: The addressing schemes of chapter 3, and who makes their additions.
SCHEMES = {
    "interleaved": patterns.interleaved,
    "strided": patterns.strided,
    "smem, sequential": patterns.smem,
}


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
    steps = {
        name: patterns.work(kernel(block, block, 0), block) for name, kernel in SCHEMES.items()
    }
    pairs = {name: sum(len(step.lanes) for step in of) for name, of in steps.items()}

    def draw(theme: Theme) -> Figure:
        rows = len(next(iter(steps.values())))
        panel = rows + 2.6
        height = panel * len(steps) + 0.7
        figure, axes = _canvas(block + 84, height, 0.185 * height)
        hue = SHARED_HUE
        for place, (name, of) in enumerate(steps.items()):
            top = height - place * panel - 2
            axes.text(0, top + 0.7, name, va="center", weight="bold")
            axes.text(block + 6, top + 0.7, "lanes in warps", va="center", color=theme.muted)
            for step in of:
                y = top - step.step
                for warp in range(step.warps):
                    x = warp * patterns.WARP
                    busy = warp in step.lanes
                    axes.add_patch(
                        Rectangle(
                            (x + 1, y + 0.1), patterns.WARP - 2, 0.8, lw=0.5,
                            facecolor=theme.tint(hue, 0.75) if busy else "none",
                            edgecolor=theme.tint(hue, 0.4) if busy else theme.grid,
                        )
                    )  # fmt: skip
                    lane_width = (patterns.WARP - 2) / patterns.WARP
                    for first, many in _runs(step.lanes.get(warp, ())):
                        axes.add_patch(
                            Rectangle(
                                (x + 1 + first * lane_width, y + 0.1), many * lane_width, 0.8,
                                lw=0, facecolor=theme.drawn(hue),
                            )
                        )  # fmt: skip
                axes.text(block + 6, y + 0.5, f"{step.adding} in {len(step.lanes)}", va="center")
        axes.text(0, 0.35, "8 warps of 32 lanes, one row a step of the tree", va="center",
                  color=theme.muted)  # fmt: skip
        return figure

    additions = sum(step.adding for step in steps["interleaved"])
    busiest = max(pairs, key=pairs.__getitem__)
    others = [name for name in pairs if name != busiest]
    fewest = {pairs[name] for name in others}
    assert len(fewest) == 1, "the alt text says that they are level"
    return Picture(
        draw=draw,
        alt=(
            f"The {additions} additions of a block of {block} threads, by lane and step. "
            f"{busiest.capitalize()} addressing spreads them over {pairs[busiest]} pairs of a "
            f"warp and a step; {listed(others)} need {fewest.pop()}, for they keep whole warps at "
            "work while they can, and after that one warp."
        ),
        caption=(
            f"Lanes that add (dark), lanes that are idle in a warp with work (light) and warps "
            f"without any (empty), in a block of {block}: one row a step."
        ),
        table=Table(
            ["step", *(f"{name}: {what}" for name in steps for what in ("lanes", "warps"))],
            [
                [row[0].step, *(x for step in row for x in (step.adding, len(step.lanes)))]
                for row in zip(*steps.values(), strict=True)
            ],
        ),
    )


# ------------------------------------------------------------------------------ who takes what


def grid_to_elements() -> Picture:
    """Blocks and threads laid over the elements."""
    n, block = 10, 4
    grid = -(-n // block)
    loads = {
        (access.block, access.thread): access.index
        for index in range(grid)
        for access in patterns.smem(n, block, index)
        if access.space == GLOBAL and access.kind == LOAD
    }
    idle = grid * block - len(loads)

    def draw(theme: Theme) -> Figure:
        figure, axes = _canvas(grid * block + 0.4, 5.4, 2.6)
        for b in range(grid):
            hue = SERIES[b]
            _box(axes, theme, b * block + 0.3, 2.65, block - 0.2, 2.1, f"block {b}", hue, top=True)
            for t in range(block):
                x = b * block + t + 0.7
                index = loads.get((b, t))
                axes.text(x, 3.2, str(t), ha="center", va="center",
                          color=theme.ink if index is not None else theme.muted)  # fmt: skip
                if index is None:
                    _cell(axes, theme, x, 1.45, "", None, hollow=True)
                else:
                    _arrow(axes, theme, (x, 2.95), (x, 1.87), theme.drawn(hue))
                    _cell(axes, theme, index + 0.7, 1.45, str(index), hue)
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


def unroll_fold() -> Picture:
    """Four blocks of data folded into one tile by one thread block."""
    block, factor = 4, 4
    n = block * factor
    accesses = [a for a in patterns.unroll(n, block, 0, factor=factor) if a.level == 0]
    loads = [access for access in accesses if access.kind == LOAD]
    taken = {t: [a.index for a in loads if a.thread == t] for t in range(block)}

    def draw(theme: Theme) -> Figure:
        figure, axes = _canvas(n + 0.4, 8.2, 2.9)
        y_in, y_tile = 6.2, 2.4
        for k in range(factor):
            axes.text(k * block + block / 2 + 0.2, 7.55, f"data block {k}", ha="center",
                      va="center", color=theme.muted)  # fmt: skip
        tile_x = {t: n / 2 - block + 2 * t + 1.2 for t in range(block)}
        for access in loads:
            hue = SERIES[access.thread]
            _arrow(axes, theme, (access.index + 0.7, y_in - 0.45),
                   (tile_x[access.thread], y_tile + 0.62), theme.drawn(hue), 1.2)  # fmt: skip
            _cell(axes, theme, access.index + 0.7, y_in, str(access.index), hue, size=0.9)
        for t, x in tile_x.items():
            _cell(axes, theme, x, y_tile, f"t{t}", SERIES[t], size=1.15)
        axes.text(n / 2 + 0.2, 0.75, "one tile in shared memory, one slot a thread", ha="center",
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
            f"Unrolling by {factor} with {block} threads a block: each thread loads {factor} "
            "elements, a block's width apart, before the tree begins."
        ),
        table=Table(
            ["thread", *(f"load {k}" for k in range(factor))],
            [[t, *indices] for t, indices in taken.items()],
        ),
    )


def grid_stride() -> Picture:
    """A fixed grid walks over the input, its own width at a time."""
    n, block, grid = 21, 4, 2
    stride = grid * block
    loads = [
        access
        for index in range(grid)
        for access in patterns.smem_stride(n, block, index, grid=grid)
        if access.space == GLOBAL and access.kind == LOAD
    ]
    laps = -(-n // stride)

    def draw(theme: Theme) -> Figure:
        height = laps * 1.5 + 1.9
        figure, axes = _canvas(11.4, height, 3.0)
        for b in range(grid):
            axes.text(b * block + block / 2, height - 0.45, f"block {b}", ha="center", va="center",
                      color=theme.written(SERIES[b]))  # fmt: skip
        for access in loads:
            lap, place = divmod(access.index, stride)
            y = height - 1.5 - lap * 1.5
            _cell(axes, theme, place + 0.5, y, str(access.index), SERIES[access.block])
            if lap:
                _arrow(axes, theme, (place + 0.5, y + 1.1), (place + 0.5, y + 0.43),
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


def warp_shuffle() -> Picture:
    """Lanes exchange registers: after log2(lanes) exchanges each of them has the sum."""
    lanes = len(EXAMPLE)
    offsets = [lanes >> step for step in range(1, lanes.bit_length())]
    rows = [list(EXAMPLE)]
    for offset in offsets:
        before = rows[-1]
        rows.append(
            [value + before[patterns.shuffle_partner(t, offset)] for t, value in enumerate(before)]
        )

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.85, 7.9
        figure, axes = _canvas(11.2, height, 4.3)
        top = height - 1.25
        for lane in range(lanes):
            axes.text(lane + 0.5, height - 0.4, str(lane), ha="center", va="center",
                      color=theme.muted)  # fmt: skip
        axes.text(8.35, height - 0.4, "lane", va="center", color=theme.muted)
        for step, values in enumerate(rows):
            y = top - step * pitch
            for lane, value in enumerate(values):
                _cell(axes, theme, lane + 0.5, y, str(value), "green")
            if step:
                offset = offsets[step - 1]
                for lane in range(lanes):
                    for source in (lane, patterns.shuffle_partner(lane, offset)):
                        away = source != lane
                        _arrow(axes, theme, (source + 0.5, y + pitch - 0.42),
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


# ---------------------------------------------------------------------------------- the machine


def primer_machine() -> Picture:
    """Where things are: two memories, and the processors on one side."""

    def draw(theme: Theme) -> Figure:
        figure, axes = _canvas(10.8, 9.4, 4.8)
        # The host.
        axes.text(1.3, 9.05, "host", ha="center", va="center", weight="bold")
        _box(axes, theme, 0.1, 4.5, 2.4, 4.1, "CPU", None)
        _box(axes, theme, 0.1, 0.2, 2.4, 2.2, "host\nmemory", "green")
        # The device.
        axes.text(7.2, 9.05, "device", ha="center", va="center", weight="bold")
        _box(axes, theme, 3.9, 0.2, 6.8, 1.35, "global memory", GLOBAL_HUE)
        _box(axes, theme, 3.9, 2.1, 6.8, 0.85, "L2 cache", "orange")
        for number, x in enumerate((3.9, 7.4)):
            _box(axes, theme, x, 3.6, 3.3, 5.0, f"SM {number}", None, top=True)
            _box(axes, theme, x + 0.2, 3.8, 2.9, 0.95, "shared memory", SHARED_HUE)
            _box(axes, theme, x + 0.2, 5.0, 2.9, 2.85, "", "purple")
            axes.text(x + 1.65, 7.5, "a block", ha="center", va="center")
            for warp in range(2):
                y = 6.15 - warp * 0.95
                axes.add_patch(
                    Rectangle((x + 0.4, y), 2.5, 0.8, facecolor=theme.tint("purple", 0.6),
                              edgecolor=theme.drawn("purple"), lw=1)
                )  # fmt: skip
                axes.text(x + 1.65, y + 0.4, "a warp of 32", ha="center", va="center")
            _arrow(axes, theme, (x + 1.65, 2.98), (x + 1.65, 3.56))
            _arrow(axes, theme, (x + 1.65, 3.56), (x + 1.65, 2.98))
        _arrow(axes, theme, (7.3, 1.58), (7.3, 2.07))
        _arrow(axes, theme, (7.3, 2.07), (7.3, 1.58))
        _arrow(axes, theme, (2.55, 7.0), (3.85, 7.0), theme.ink, 1.8)
        axes.text(3.2, 7.35, "launch", ha="center", va="bottom")
        _arrow(axes, theme, (2.55, 0.9), (3.85, 0.9), theme.ink, 1.8)
        _arrow(axes, theme, (3.85, 0.9), (2.55, 0.9), theme.ink, 1.8)
        axes.text(3.2, 1.2, "copy", ha="center", va="bottom")
        _arrow(axes, theme, (1.3, 4.45), (1.3, 2.45))
        _arrow(axes, theme, (1.3, 2.45), (1.3, 4.45))
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


# ------------------------------------------------------------------------- the embedded device

WORD_BYTES = 4
SECTOR_BYTES = 32


def embedded_path() -> Picture:
    """From the PTX in a program to a counter: one warp's load of integers two apart."""
    stride = 2
    addresses = [lane * stride * WORD_BYTES for lane in range(patterns.WARP)]
    sectors = sorted({address // SECTOR_BYTES for address in addresses})
    touched = {address // WORD_BYTES for address in addresses}

    def draw(theme: Theme) -> Figure:
        width, height = 10.8, 12.2
        figure, axes = _canvas(width, height, 6.1)
        middle = width / 2

        def down(y: float, words: str) -> None:
            _arrow(axes, theme, (middle - 4.4, y), (middle - 4.4, y - 0.8), theme.ink, 1.6)
            axes.text(middle - 4.1, y - 0.42, words, va="center", color=theme.muted)

        _box(axes, theme, 0.1, 10.1, width - 0.2, 2.0, "")
        axes.text(0.4, 11.75, "your program", va="center", weight="bold")
        _box(axes, theme, 0.4, 10.3, 2.4, 1.1, "host code")
        _box(axes, theme, 3.1, 10.3, 7.3, 1.1, "")
        axes.text(3.3, 10.85, "fat binary", va="center")
        _box(axes, theme, 5.3, 10.42, 1.5, 0.86, "PTX", "green")
        _box(axes, theme, 7.1, 10.42, 3.1, 0.86, "machine code")
        down(10.05, "unpacked, and read once")
        _box(axes, theme, 0.1, 8.1, width - 0.2, 1.05, "ld.global.u32  %r1, [%rd4];", "green")
        down(8.05, "carried out for a warp, 32 lanes at once")
        lane_width = (width - 0.2) / patterns.WARP
        for lane in range(patterns.WARP):
            axes.add_patch(
                Rectangle((0.1 + lane * lane_width, 6.35), lane_width, 0.8,
                          facecolor=theme.tint("purple", 0.6), edgecolor=theme.drawn("purple"),
                          lw=0.9)
            )  # fmt: skip
        axes.text(
            0.1, 5.95, f"a byte address a lane: {addresses[0]}, {addresses[1]}, {addresses[2]}, "
            f"\u2026 {addresses[-1]}", va="center",
        )  # fmt: skip
        down(5.6, "each checked: is it inside an allocation?")
        per_sector = SECTOR_BYTES // WORD_BYTES
        gap = 0.12
        sector_width = (width - 0.2 - gap * (len(sectors) - 1)) / len(sectors)
        for place, sector in enumerate(sectors):
            x = 0.1 + place * (sector_width + gap)
            for word in range(per_sector):
                used = sector * per_sector + word in touched
                axes.add_patch(
                    Rectangle((x + word * sector_width / per_sector, 3.9),
                              sector_width / per_sector, 0.8,
                              facecolor=theme.tint(GLOBAL_HUE, 0.45) if used else "none",
                              edgecolor=theme.grid, lw=0.6)
                )  # fmt: skip
            axes.add_patch(
                Rectangle((x, 3.9), sector_width, 0.8, facecolor="none",
                          edgecolor=theme.drawn(GLOBAL_HUE), lw=1.4)
            )  # fmt: skip
        axes.text(
            0.1, 3.5, f"{len(sectors)} sectors of {SECTOR_BYTES} bytes, half of each wanted",
            va="center",
        )  # fmt: skip
        down(3.15, "the rules, applied")
        _box(axes, theme, 0.1, 1.2, 5.1, 1.05, "load requests  + 1", "blue")
        _box(axes, theme, 5.6, 1.2, 5.1, 1.05, f"load sectors  + {len(sectors)}", "blue")
        axes.text(
            0.1, 0.6, "blocks over the CPU's cores; counters summed at the end", va="center",
            color=theme.muted,
        )  # fmt: skip
        return figure

    return Picture(
        draw=draw,
        alt=(
            "The path from a program to a counter, from top to bottom. The PTX is taken from the "
            "fat binary in the program, and the machine code beside it is not used. A load in the "
            f"PTX is carried out for a warp of {patterns.WARP} lanes, whose addresses are {stride} "
            "integers apart. Each is checked against the allocations. Together they touch "
            f"{len(sectors)} sectors of {SECTOR_BYTES} bytes, so one request and {len(sectors)} "
            "sectors are added to the counters."
        ),
        caption=(
            f"From the PTX inside a program to a counter: a warp loads {patterns.WARP} integers, "
            f"{stride} apart."
        ),
        table=Table(
            ["sector", "its bytes", "lanes in it"],
            [
                [
                    sector,
                    f"{sector * SECTOR_BYTES} to {(sector + 1) * SECTOR_BYTES - 1}",
                    sum(address // SECTOR_BYTES == sector for address in addresses),
                ]
                for sector in sectors
            ],
        ),
    )


def embedded_divergence() -> Picture:
    """A branch sends odd lanes one way and even lanes the other, and they meet again."""
    lanes = 8
    code = (
        "if (lane % 2 == 0)",
        "  a = in[lane];",
        "else",
        "  a = in[lane + 32];",
        "out[lane] = a;",
    )
    even = [lane for lane in range(lanes) if lane % 2 == 0]
    odd = [lane for lane in range(lanes) if lane % 2 == 1]
    #: Line by line in the order of time: the line carried out, and the lanes that do.
    steps = [(1, list(range(lanes))), (2, even), (4, odd), (5, list(range(lanes)))]

    def draw(theme: Theme) -> Figure:
        height = 6.9
        figure, axes = _canvas(11.4, height, 3.9)
        for lane in range(lanes):
            axes.text(lane * 0.72 + 0.5, height - 0.4, str(lane), ha="center", va="center",
                      color=theme.muted)  # fmt: skip
        axes.text(6.15, height - 0.4, "lane", va="center", color=theme.muted)
        for step, (line, active) in enumerate(steps):
            y = height - 1.35 - step * 1.35
            for lane in range(lanes):
                runs = lane in active
                _cell(axes, theme, lane * 0.72 + 0.5, y, str(line) if runs else "",
                      "purple" if runs else None, size=0.64, hollow=not runs)  # fmt: skip
            axes.text(6.15, y, f"line {line}:  {code[line - 1].strip()}", va="center",
                      color=theme.ink)  # fmt: skip
            if step:
                _arrow(axes, theme, (0.0, y + 1.0), (0.0, y + 0.35), theme.muted)
        axes.text(0.15, 0.35, "from top to bottom; a cell holds the line that its lane runs",
                  va="center", color=theme.muted)  # fmt: skip
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"{lanes} lanes come to a branch together. First the even lanes carry out their side "
            "while the odd ones wait, then the odd ones theirs; at the line behind the branch all "
            f"{lanes} run together again. Two loads were issued where one would have done."
        ),
        caption=(
            f"Lanes part at a branch and meet behind it, drawn for {lanes} of a warp's "
            f"{patterns.WARP} lanes."
        ),
        table=Table(
            ["line", "code", "lanes that carry it out"],
            [
                [line, code[line - 1].strip(), listed([str(lane) for lane in active])]
                for line, active in steps
            ],
        ),
    )


def laid_out(block: int, order: Sequence[tuple[str, int]]) -> list[tuple[str, int, int, int]]:
    """Arrays of *block* slots one right behind the other: name, slot, first byte, bytes a slot."""
    slots, at = [], 0
    for name, width in order:
        for slot in range(block):
            slots.append((name, slot, at, width))
            at += width
    return slots


def two_arrays() -> Picture:
    """Two arrays in one allocation, in both orders."""
    block = 5
    wide, narrow = ("square", 8), ("sum", 4)
    rows = {
        "the wider type first": laid_out(block, (wide, narrow)),
        "the narrower type first": laid_out(block, (narrow, wide)),
    }
    hues = {"square": "blue", "sum": "green"}
    end = max(at + width for slots in rows.values() for _, _, at, width in slots)

    def crooked(slots: Sequence[tuple[str, int, int, int]]) -> list[int]:
        return [slot for _, slot, at, width in slots if at % width]

    def draw(theme: Theme) -> Figure:
        figure, axes = _canvas(end + 2, 9.8, 3.1)
        for (label, slots), y in zip(rows.items(), (6.6, 1.7), strict=True):
            axes.text(1, y + 2.15, label, va="center", color=theme.muted)
            for at in range(0, end + 1, 8):
                axes.plot([at + 1, at + 1], [y - 0.75, y + 1.45], color=theme.muted, lw=1.0,
                          ls=":", zorder=1)  # fmt: skip
                axes.text(at + 1, y - 1.1, str(at), ha="center", va="center", color=theme.muted)
            for name, slot, at, width in slots:
                wrong = at % width != 0
                hue = GLOBAL_HUE if wrong else hues[name]
                axes.add_patch(
                    Rectangle(
                        (at + 1.12, y - 0.35),
                        width - 0.24,
                        1.4,
                        facecolor=theme.tint(hue, 0.72),
                        edgecolor=theme.drawn(hue),
                        hatch="////" if wrong else None,
                        linewidth=1.4,
                        zorder=2,
                    )
                )
                axes.text(at + 1 + width / 2, y + 0.35, f"{'q' if width == 8 else 's'}{slot}",
                          ha="center", va="center", zorder=3)  # fmt: skip
        return figure

    good, bad = rows.values()
    first_wide = next(at for name, _, at, _ in bad if name == "square")
    assert not crooked(good)
    return Picture(
        draw=draw,
        alt=(
            f"Two arrays of {block} slots each in {end} bytes of shared memory. With the 8-byte "
            f"slots first, they begin at byte 0 and the 4-byte slots at byte {block * 8}: every "
            f"slot at a multiple of its size. With the 4-byte slots first, the 8-byte slots begin "
            f"at byte {first_wide}, and {len(crooked(bad))} of {block} lie at no multiple of 8."
        ),
        caption=(
            f"{block} threads, a slot q of 8 bytes and a slot s of 4 bytes for each. Numbers are "
            "bytes from the start; hatched slots are misaligned."
        ),
        table=Table(
            ["order", "array", "slot", "first byte", "bytes", "aligned"],
            [
                [label, name, slot, at, width, "no" if at % width else "yes"]
                for label, slots in rows.items()
                for name, slot, at, width in slots
            ],
        ),
    )


def passes_tree() -> Picture:
    """One kernel launched again and again, until one value is left."""
    share = 4
    values = [(7 * k + 3) % 10 for k in range(22)]
    rows = [values]
    while len(rows[-1]) > 1:
        last = rows[-1]
        rows.append([sum(last[k : k + share]) for k in range(0, len(last), share)])
    left = patterns.passes(len(values), share)
    assert left == [len(row) for row in rows]

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.9, 1.9 * len(rows)
        figure, axes = _canvas(len(values) + 3.6, height, 3.4)
        # Each value stands in the middle of the elements that it is the sum of.
        middle = [[k + 3.7 for k in range(len(values))]]
        for row in rows[1:]:
            above = middle[-1]
            groups = [above[k * share : (k + 1) * share] for k in range(len(row))]
            middle.append([(group[0] + group[-1]) / 2 for group in groups])
        for depth, row in enumerate(rows):
            y = height - 0.6 - depth * pitch
            hue = GLOBAL_HUE if depth in (0, len(rows) - 1) else SERIES[2]
            for place, value in enumerate(row):
                x = middle[depth][place]
                wide = 0.86 if depth == 0 else 2.0
                axes.add_patch(Rectangle((x - wide / 2, y - 0.43), wide, 0.86,
                                         facecolor=theme.tint(hue, 0.75),
                                         edgecolor=theme.drawn(hue), linewidth=1.4))  # fmt: skip
                axes.text(x, y, str(value), ha="center", va="center")
                if depth:
                    for source in middle[depth - 1][place * share : (place + 1) * share]:
                        _arrow(axes, theme, (source, y + pitch - 0.45), (x, y + 0.45), width=0.9)
            if depth:
                axes.text(0.1, y, f"pass {depth}", va="center", color=theme.muted)
        return figure

    steps = ", ".join(str(count) for count in left)
    return Picture(
        draw=draw,
        alt=(
            f"{left[0]} values and blocks that add up {share} each: {len(left) - 1} passes leave "
            f"{steps} values, and the last one is the sum, {rows[-1][0]}. The last block of a pass "
            "may have fewer values than the others."
        ),
        caption=(
            f"chapter08's passes with a share of {share} values a block. Each row is what one "
            "launch leaves for the next."
        ),
        table=Table(
            ["pass", "values before it", "blocks", "values after it"],
            [[k + 1, left[k], left[k + 1], left[k + 1]] for k in range(len(left) - 1)],
        ),
    )


def one_word() -> Picture:
    """A sum and a count in one word, as blocks add to them."""
    count_bits = 10
    sums = (5, -2, 9)
    states = [0]
    for value in sums:
        states.append((states[-1] + (value << count_bits) + 1) % 2**64)

    def parts(word: int) -> tuple[int, int]:
        signed = word - 2**64 if word >= 2**63 else word
        return signed >> count_bits, word % 2**count_bits

    assert parts(states[-1]) == (sum(sums), len(sums))

    def draw(theme: Theme) -> Figure:
        figure, axes = _canvas(16, 9.4, 3.3)
        axes.text(4.2, 8.9, "sum, 54 bits", ha="center", va="center", color=theme.written("blue"))
        axes.text(8.6, 8.9, "count, 10", ha="center", va="center",
                  color=theme.written(GLOBAL_HUE))  # fmt: skip
        for row, word in enumerate(states):
            y = 7.6 - 2.2 * row
            total, count = parts(word)
            for x, width, text, hue in ((1, 6.4, total, "blue"), (7.4, 2.4, count, GLOBAL_HUE)):
                axes.add_patch(Rectangle((x, y - 0.55), width, 1.1, facecolor=theme.tint(hue, 0.75),
                                         edgecolor=theme.drawn(hue), linewidth=1.4))  # fmt: skip
                axes.text(x + width / 2, y, str(text).replace("-", "−"), ha="center", va="center")
            if row:
                _arrow(axes, theme, (5.4, y + 1.6), (5.4, y + 0.6))
                value = str(sums[row - 1]).replace("-", "−")
                axes.text(10.3, y + 1.1, f"a block adds {value} and 1", va="center",
                          color=theme.muted)  # fmt: skip
        axes.text(10.3, y, "3 of 3: the last", va="center")
        return figure

    said = [f"{total} and {count}" for total, count in map(parts, states)]
    added = listed([str(value) for value in sums])
    return Picture(
        draw=draw,
        alt=(
            f"One word of 64 bits holds a sum and a count. As three blocks add {added}, each with "
            f"a one for the count, it holds {', then '.join(said)}. A negative sum leaves the "
            "count alone, since carries only go upwards."
        ),
        caption=(
            "chapter08's word: the count in the low 10 bits, the sum above. One atomic addition "
            "changes both, and its result says whether all blocks have come."
        ),
        table=Table(
            ["blocks that have added", "word", "sum", "count"],
            [[row, word, *parts(word)] for row, word in enumerate(states)],
        ),
    )


# ------------------------------------------------------------------------------ banks of memory


def _bank_grid(axes: Axes, theme: Theme, x: float, y: float, rows: int) -> None:
    """Empty words: a row of 32 banks for each 128 bytes."""
    for row in range(rows):
        for bank in range(patterns.BANKS):
            axes.add_patch(
                Rectangle((x + bank, y - row), 1, 1, facecolor="none", edgecolor=theme.grid, lw=0.5)
            )


def _bank_word(axes: Axes, theme: Theme, x: float, y: float, word: int, hue: str) -> None:
    row, bank = divmod(word, patterns.BANKS)
    axes.add_patch(
        Rectangle(
            (x + bank, y - row),
            1,
            1,
            lw=0.6,
            facecolor=theme.drawn(hue),
            edgecolor=theme.background,
        )
    )


def _by_pass(request: Sequence[Access]) -> dict[int, int]:
    """The pass in which each word of a load of 4 bytes a lane is had: bank by bank, in order."""
    queues: dict[int, list[int]] = {}
    for word in sorted({access.index for access in request}):
        queues.setdefault(word % patterns.BANKS, []).append(word)
    return {word: turn for queue in queues.values() for turn, word in enumerate(queue)}


#: Strides that show each case: neighbours, a common divisor with 32, none, and a large one.
SHOWN_STRIDES = (1, 2, 3, 8)


def bank_strides() -> Picture:
    """One load of a warp at several strides, on the map of the banks."""
    requests = {stride: patterns.stride_walk(stride) for stride in SHOWN_STRIDES}
    passes = {stride: patterns.wavefronts(request) for stride, request in requests.items()}
    rows = {stride: 1 + max(a.index for a in r) // patterns.BANKS for stride, r in requests.items()}
    banks = {stride: len({a.index % patterns.BANKS for a in r}) for stride, r in requests.items()}

    def draw(theme: Theme) -> Figure:
        height = sum(rows.values()) + 1.9 * len(rows) + 1.8
        figure, axes = _canvas(33.6, height, 0.165 * height)
        y = height - 1.0
        for stride, request in requests.items():
            text = f"{passes[stride]} pass{'es' if passes[stride] > 1 else ''}"
            axes.text(0.2, y, f"stride {stride}", va="center", weight="bold")
            axes.text(32.2, y, text, va="center", ha="right", color=theme.written("vermillion"),
                      weight="bold" if passes[stride] > 1 else "normal")  # fmt: skip
            y -= 1.7
            _bank_grid(axes, theme, 0.2, y, rows[stride])
            for word, turn in _by_pass(request).items():
                # The first pass is dark blue; the words that wait for a later one are not.
                _bank_word(axes, theme, 0.2, y, word, "blue" if turn == 0 else "orange")
            y -= rows[stride] + 0.2
        axes.text(0.2, 0.6, "bank 0", va="center", color=theme.muted)
        axes.text(32.2, 0.6, "bank 31", va="center", ha="right", color=theme.muted)
        return figure

    said = [
        f"at stride {stride} they lie in {banks[stride]} banks and take {passes[stride]} "
        f"pass{'es' if passes[stride] > 1 else ''}"
        for stride in SHOWN_STRIDES
    ]
    return Picture(
        draw=draw,
        alt=(
            f"The {patterns.WARP} words that a warp loads, on a map with a column for each of the "
            f"{patterns.BANKS} banks: {listed(said)}."
        ),
        caption=(
            f"The {patterns.WARP} words of one load, a column for each bank and a row for each "
            f"{patterns.BANKS * patterns.BANK_BYTES} bytes. Blue words are had in the first pass; "
            "orange ones wait, as their bank has another to give first."
        ),
        table=Table(
            ["lane", *(f"stride {stride}: word, bank" for stride in SHOWN_STRIDES)],
            [
                [
                    lane,
                    *(
                        f"{requests[stride][lane].index}, "
                        f"{requests[stride][lane].index % patterns.BANKS}"
                        for stride in SHOWN_STRIDES
                    ),
                ]
                for lane in range(patterns.WARP)
            ],
        ),
    )


#: The layouts of chapter 4's tile, as the page calls them, with bytes of a lane's load.
TILE_LAYOUTS = {
    "Plain": ("no padding", 4),
    "Padded": ("one word of padding", 4),
    "Swizzled": ("swizzled", 4),
    "SwizzledBy4": ("swizzled by fours", 16),
}


def tile_banks() -> Picture:
    """Which words of a tile a warp's load of one column touches, layout by layout."""
    column = 4
    requests = {
        name: patterns.tile_column(name, column, width) for name, (_, width) in TILE_LAYOUTS.items()
    }
    words = {
        name: [
            [access.byte_offset // patterns.BANK_BYTES + more for more in range(access.width // 4)]
            for access in request
        ]
        for name, request in requests.items()
    }
    passes = {name: patterns.wavefronts(request) for name, request in requests.items()}
    least = {name: len(patterns.groups(request)) for name, request in requests.items()}

    def draw(theme: Theme) -> Figure:
        side, gap, top = 33, 6, 4
        figure, axes = _canvas(2 * side + gap, 2 * (side + top) + 1, 6.0)
        for place, name in enumerate(requests):
            x = (place % 2) * (side + gap) + 0.5
            y = 2 * (side + top) - (place // 2) * (side + top) - top
            label, _width = TILE_LAYOUTS[name]
            axes.text(x, y + 2.6, label, va="center", weight="bold")
            axes.text(x + 32, y + 2.6, str(passes[name]), va="center", ha="right",
                      color=theme.written("vermillion"))  # fmt: skip
            axes.add_patch(
                Rectangle((x, y - 31), 32, 32, facecolor="none", edgecolor=theme.grid, lw=1)
            )
            for bank in range(0, 32, 4):
                axes.plot([x + bank, x + bank], [y - 31, y + 1], color=theme.grid, lw=0.5)
            for lane, mine in enumerate(words[name]):
                first = least[name] == 1 or lane < patterns.WARP // least[name]
                for word in mine:
                    if word < 32 * 32:
                        _bank_word(axes, theme, x, y, word, "blue" if first else "sky")
        return figure

    said = [
        f"{TILE_LAYOUTS[name][0]}: {passes[name]} pass{'es' if passes[name] > 1 else ''}, where "
        f"{least[name]} {'are' if least[name] > 1 else 'is'} the least"
        for name in requests
    ]
    return Picture(
        draw=draw,
        alt=(
            f"Where the 32 elements of a tile's column {column} lie on the map of banks, in four "
            f"layouts. {'; '.join(said)}. Without padding all are in one bank; a padding word "
            "moves each row on by one; a swizzle deals them out over all banks in the same space."
        ),
        caption=(
            f"Column {column} of a 32×32 tile on the map of banks: one row of 32 words each 128 "
            "bytes. Above each, the passes that it takes. The last panel shows loads of 16 bytes, "
            "of which a quarter of the warp (dark) goes at a time."
        ),
        table=Table(
            ["row of the tile", *(f"{label}: word, bank" for label, _ in TILE_LAYOUTS.values())],
            [
                [row, *(f"{words[n][row][0]}, {words[n][row][0] % 32}" for n in requests)]
                for row in range(32)
            ],
        ),
    )


#: The trees whose steps are compared, and how the page calls them.
STEPPED = {
    "strided": patterns.strided,
    "strided_padded": patterns.strided_padded,
    "smem": patterns.smem,
}


def bank_steps() -> Picture:
    """Passes through shared memory at each step of a tree, with a strided index and without."""
    block = 256
    steps = {name: patterns.tree_steps(kernel(block, block, 0)) for name, kernel in STEPPED.items()}
    strided = steps["strided"]
    ways = [step.wavefronts // step.requests for step in strided]
    others = [name for name in steps if name != "strided"]
    assert not any(step.conflicts for name in others for step in steps[name])
    assert len({tuple(step.wavefronts for step in steps[name]) for name in others}) == 1

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(3.4)
        for place, step in enumerate(strided):
            free = step.wavefronts - step.conflicts
            axes.bar(place, free, width=0.62, color=theme.drawn("blue"), zorder=2)
            if step.conflicts:
                axes.bar(place, step.conflicts, width=0.62, bottom=free, zorder=2, lw=1,
                         color=theme.tint("vermillion", 0.55), edgecolor=theme.drawn("vermillion"),
                         hatch="////")  # fmt: skip
            axes.annotate(
                f"{ways[place]}-way" if ways[place] > 1 else "none",
                xy=(place, step.wavefronts), xytext=(0, 4), textcoords="offset points",
                ha="center", color=theme.ink,
            )  # fmt: skip
        axes.set_xticks(range(len(strided)), [str(2 ** (step.step - 1)) for step in strided])
        axes.set_xlabel("s, the distance between partners")
        axes.set_ylim(0, max(step.wavefronts for step in strided) * 1.3)
        axes.set_title("passes a block: blue is what all trees need", loc="left", pad=10)
        return figure

    total = sum(step.conflicts for step in strided)
    return Picture(
        draw=draw,
        alt=(
            f"Passes through shared memory of one block of {block} threads of strided, step by "
            f"step: {listed([str(step.wavefronts) for step in strided])}. The conflicts are "
            f"{listed([f'{way}-way' for way in ways if way > 1])}; they double while there are "
            f"lanes enough, and make {total} of the passes. {listed(others)} make the other "
            f"{sum(step.wavefronts - step.conflicts for step in strided)} alone."
        ),
        caption=(
            f"chapter03's strided, a block of {block} threads: loads and stores of each step of "
            "its tree. Hatched are the passes that are there only for conflicts; without them, "
            f"the steps of {listed(others)} are left."
        ),
        table=Table(
            ["step", "requests", *(f"{name}: {what}" for name in steps
                                   for what in ("passes", "conflicts"))],
            [
                [row[0].step, row[0].requests,
                 *(x for step in row for x in (step.wavefronts, step.conflicts))]
                for row in zip(*steps.values(), strict=True)
            ],
        ),
    )  # fmt: skip


# ----------------------------------------------------------------- chapter 10's warps and sectors

HALF_HUES = ("blue", "green")


def coalescing_rules() -> Picture:
    """One warp's load under three generations' rules, for four patterns."""
    words = 72
    left, right = 17, 21
    made = {
        (example, capability): rule(addresses, WORD_BYTES)
        for example, addresses in coalescing.EXAMPLES.items()
        for capability, rule in coalescing.RULES.items()
    }

    def box(axes: Axes, theme: Theme, start: int, size: int, y: float, height: float, text: str,
            hue: str) -> None:  # fmt: skip
        axes.add_patch(
            Rectangle((left + start / WORD_BYTES + 0.25, y), size / WORD_BYTES - 0.5, height,
                      facecolor=theme.tint(hue, 0.7), edgecolor=theme.drawn(hue), lw=1.2)
        )  # fmt: skip
        axes.text(left + (start + size / 2) / WORD_BYTES, y + height / 2, text, ha="center",
                  va="center_baseline")  # fmt: skip

    def pattern(axes: Axes, theme: Theme, addresses: Sequence[int], top: float) -> None:
        """Lanes above, the words that they load below."""
        for lane, address in enumerate(addresses):
            hue = HALF_HUES[lane // coalescing.HALF_WARP]
            x = left + address / WORD_BYTES
            axes.plot(
                [left + lane + 0.5, x + 0.5], [top, top - 1.1], color=theme.drawn(hue), lw=0.8
            )
            axes.add_patch(
                Rectangle((x, top - 1.9), 1, 0.8, facecolor=theme.drawn(hue), lw=0)
            )  # fmt: skip
        for place in range(0, words + 1, coalescing.LEAST // WORD_BYTES):
            axes.plot([left + place] * 2, [top - 2, top - 1], color=theme.muted, lw=0.8)

    def draw(theme: Theme) -> Figure:
        panel = 8.2
        height = panel * len(coalescing.EXAMPLES) + 0.4
        figure, axes = _canvas(left + words + right, height, 0.235 * height)
        for place, (example, addresses) in enumerate(coalescing.EXAMPLES.items()):
            top = height - place * panel - 1.5
            axes.text(0, top + 0.7, example, va="center", weight="bold")
            axes.text(left + words + right, top + 0.7, "bytes", va="center", ha="right",
                      color=theme.muted)  # fmt: skip
            pattern(axes, theme, addresses, top)
            for row, capability in enumerate(coalescing.RULES):
                y = top - 3.4 - row * 1.45
                transactions = made[example, capability]
                axes.text(0, y + 0.6, capability, va="center", color=theme.muted)
                shown: dict[coalescing.Transaction, int] = {}
                for each in transactions:
                    shown[each] = shown.get(each, 0) + 1
                if capability == "1.2, 1.3":  # each half warp has its own, and they may overlap
                    halves = [
                        coalescing.second_rule(addresses[at : at + 16], WORD_BYTES)
                        for at in (0, coalescing.HALF_WARP)
                    ]
                    for half, own in enumerate(halves):
                        for each in own:
                            box(axes, theme, each.start, each.size, y + 0.6 - 0.6 * half, 0.55, "",
                                HALF_HUES[half])  # fmt: skip
                else:
                    for each, times in shown.items():
                        box(axes, theme, each.start, each.size, y, 1.15,
                            f"{times}×" if times > 1 else "", GLOBAL_HUE)  # fmt: skip
                axes.text(left + words + right, y + 0.6, str(coalescing.moved(transactions)),
                          va="center", ha="right")  # fmt: skip
        return figure

    def words_of(example: str) -> str:
        moved = [str(coalescing.moved(made[example, rule])) for rule in coalescing.RULES]
        return f"{example}: {listed(moved)}"

    return Picture(
        draw=draw,
        alt=(
            f"A warp of {patterns.WARP} lanes loads {patterns.WARP * WORD_BYTES} bytes in four "
            "patterns. Bytes moved under the rules of compute capability 1.0 and 1.1, of 1.2 and "
            f"1.3, and of today: {'; '.join(words_of(example) for example in coalescing.EXAMPLES)}."
        ),
        caption=(
            f"What a warp's load of {patterns.WARP * WORD_BYTES} bytes moved and moves. Above, "
            "lanes and the words they load, the first half warp in blue; ticks are 32 bytes apart. "
            "Below, the transactions under each rule; with ×, so many of the same piece. Rules of "
            "1.x: CUDA C Programming Guide 4.2, sections F.3.2.1 and F.3.2.2."
        ),
        table=Table(
            ["pattern", "compute capability", "transactions", "bytes moved", "bytes wanted"],
            [
                [example, capability, len(transactions), coalescing.moved(transactions),
                 patterns.WARP * WORD_BYTES]
                for (example, capability), transactions in made.items()
            ],
        ),
    )  # fmt: skip


#: The layouts of chapter 10's vectors, and what to call them.
LAYOUTS = {
    patterns.PACKED: "array of structs",
    patterns.ALIGNED: "structs of 16 bytes",
    patterns.ARRAYS: "struct of arrays",
    patterns.STAGED: "array of structs, as a row of ints",
}


def vec3_layouts() -> Picture:
    """The sectors that each load of a warp touches, in four ways to load a vector of three."""
    warp = patterns.WARP
    loads: dict[str, list[list[Access]]] = {}
    for layout in LAYOUTS:
        requests = patterns.by_request(patterns.vec3(warp, warp, 0, layout=layout))
        loads[layout] = [r for r in requests if (r[0].space, r[0].kind) == (GLOBAL, LOAD)]
    sectors = {
        layout: [patterns.sectors(request) for request in requests]
        for layout, requests in loads.items()
    }
    hues = ("vermillion", "green", "blue")  # of x, y and z

    def components(layout: str, access: Access) -> list[tuple[int, int]]:
        """The words of an access in the picture, each with whether it is x, y or z."""
        if layout == patterns.ALIGNED:
            return [(4 * access.index + k, k) for k in range(3)]
        if layout == patterns.ARRAYS:
            return [(access.index, "xyz".index(access.array))]
        return [(access.index, access.index % 3)]

    def draw(theme: Theme) -> Figure:
        words = 4 * warp
        rows = sum(len(requests) for requests in loads.values())
        height = 1.35 * rows + 2.3 * len(loads)
        figure, axes = _canvas(words + 26, height, 0.22 * height)
        y = height
        for layout, requests in loads.items():
            y -= 1.5
            axes.text(0, y + 0.1, LAYOUTS[layout], va="center", weight="bold")
            axes.text(words + 26, y + 0.1, "sectors", va="center", ha="right", color=theme.muted)
            for request, count in zip(requests, sectors[layout], strict=True):
                y -= 1.35
                touched = {a.byte_offset // patterns.SECTOR_BYTES for a in request}
                for sector in touched:
                    axes.add_patch(
                        Rectangle((8 * sector + 0.3, y), 7.4, 0.95, facecolor="none",
                                  edgecolor=theme.muted, lw=1.1)
                    )  # fmt: skip
                for access in request:
                    for word, k in components(layout, access):
                        axes.add_patch(
                            Rectangle((word + 0.3 + 0.05, y + 0.12), 0.7, 0.71, lw=0,
                                      facecolor=theme.drawn(hues[k]))
                        )  # fmt: skip
                axes.text(words + 26, y + 0.45, str(count), va="center", ha="right")
            y -= 0.8
        return figure

    totals = [
        f"{LAYOUTS[layout]} {sum(counts)} in {len(counts)} request{'s'[: len(counts) != 1]}"
        for layout, counts in sectors.items()
    ]
    least = 3 * warp * WORD_BYTES // patterns.SECTOR_BYTES
    return Picture(
        draw=draw,
        alt=(
            f"The sectors that a warp touches to load {warp} vectors of three ints, which fill "
            f"{least}: {'; '.join(totals)}."
        ),
        caption=(
            f"A warp loads {warp} vectors, x orange, y green and z blue: a row a request, a frame "
            "a sector, and what is coloured in it is wanted."
        ),
        table=Table(
            ["layout", "requests", "sectors touched", "sectors that the vectors fill"],
            [
                [LAYOUTS[layout], len(counts), sum(counts), least]
                for layout, counts in sectors.items()
            ],
        ),
    )


FIGURES: dict[str, Callable[[], Picture]] = {
    "primer_machine": primer_machine,
    "embedded_path": embedded_path,
    "embedded_divergence": embedded_divergence,
    "grid_to_elements": grid_to_elements,
    "passes_tree": passes_tree,
    "one_word": one_word,
    "tree_gmem": tree_gmem,
    "tree_smem": tree_smem,
    "tree_spreading": tree_spreading,
    "lanes_at_work": lanes_at_work,
    "unroll_fold": unroll_fold,
    "warp_shuffle": warp_shuffle,
    "grid_stride": grid_stride,
    "two_arrays": two_arrays,
    "copies_in_banks": copies_in_banks,
    "bank_strides": bank_strides,
    "bank_steps": bank_steps,
    "tile_banks": tile_banks,
    "coalescing_rules": coalescing_rules,
    "vec3_layouts": vec3_layouts,
}
