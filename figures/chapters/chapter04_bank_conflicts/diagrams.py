"""Words on the map of the banks."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures.chapters.chapter02_smem import smem
from figures.chapters.chapter03_divergence import strided
from figures.chapters.chapter04_bank_conflicts.kernels import (
    stride_walk,
    strided_padded,
    tile_column,
)
from figures.kit import costs, patterns, style
from figures.kit.canvas import canvas
from figures.kit.patterns import Access, Kernel
from figures.kit.pictures import Picture, Table
from figures.kit.style import Theme
from figures.kit.words import listed


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
    """The pass in which each word of a load of 4 bytes per lane arrives: bank by bank, in order."""
    queues: dict[int, list[int]] = {}
    for word in sorted({access.index for access in request}):
        queues.setdefault(word % patterns.BANKS, []).append(word)
    return {word: turn for queue in queues.values() for turn, word in enumerate(queue)}


#: Strides that show each case: neighbours, a common divisor with 32, none, and a large one.
SHOWN_STRIDES = (1, 2, 3, 8)


def bank_strides() -> Picture:
    """One load of a warp at several strides, on the map of the banks."""
    requests = {stride: stride_walk(stride) for stride in SHOWN_STRIDES}
    passes = {stride: costs.wavefronts(request) for stride, request in requests.items()}
    rows = {stride: 1 + max(a.index for a in r) // patterns.BANKS for stride, r in requests.items()}
    banks = {stride: len({a.index % patterns.BANKS for a in r}) for stride, r in requests.items()}

    def draw(theme: Theme) -> Figure:
        height = sum(rows.values()) + 1.9 * len(rows) + 1.8
        figure, axes = canvas(33.6, height, 0.165 * height)
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
            f"{patterns.BANKS * patterns.BANK_BYTES} bytes. Dark blue words arrive in the "
            "first pass. Light orange words wait: their bank is busy with another word."
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


#: The layouts of chapter 4's tile: what stands above each, and bytes of a lane's load.
TILE_LAYOUTS = {
    "Plain": ("no padding", 4),
    "Padded": ("one spare word per row", 4),
    "Swizzled": ("swizzled", 4),
    "SwizzledBy4": ("swizzled by fours", 16),
}
COLUMN = 4


def _passes_text(passes: int) -> str:
    return f"{passes} pass{'es' if passes > 1 else ''}"


def _tile_maps(names: Sequence[str], said: str, caption: str) -> Picture:
    """Which words of a tile a warp's load of one column touches, layout by layout."""
    requests = {name: tile_column(name, COLUMN, TILE_LAYOUTS[name][1]) for name in names}
    words = {
        name: [
            [access.byte_offset // patterns.BANK_BYTES + more for more in range(access.width // 4)]
            for access in request
        ]
        for name, request in requests.items()
    }
    passes = {name: costs.wavefronts(request) for name, request in requests.items()}
    least = {name: len(costs.groups(request)) for name, request in requests.items()}

    def draw(theme: Theme) -> Figure:
        side, gap, top, foot = 33, 6, 7, 3
        figure, axes = canvas(len(names) * (side + gap) - gap, side + top + foot, 3.25)
        for place, name in enumerate(names):
            x, y = place * (side + gap) + 0.5, side + foot - 1
            axes.text(x, y + 5.2, TILE_LAYOUTS[name][0], va="center", weight="bold")
            axes.text(x, y + 2.5, _passes_text(passes[name]), va="center",
                      color=theme.written("vermillion"))  # fmt: skip
            for bank in range(4, 32, 4):
                axes.plot([x + bank, x + bank], [y - 31, y + 1], color=theme.grid, lw=0.8)
            axes.add_patch(
                Rectangle((x, y - 31), 32, 32, facecolor="none", edgecolor=theme.muted, lw=1)
            )
            for lane, mine in enumerate(words[name]):
                first = least[name] == 1 or lane < patterns.WARP // least[name]
                for word in mine:
                    if word < 32 * 32:
                        _bank_word(axes, theme, x, y, word, "blue" if first else "sky")
            axes.text(x, y - 32.8, "bank 0", va="center", color=theme.muted)
            axes.text(x + 32, y - 32.8, "bank 31", va="center", ha="right", color=theme.muted)
        return figure

    takes = "; ".join(f"{TILE_LAYOUTS[name][0]}: {_passes_text(passes[name])}" for name in names)
    return Picture(
        draw=draw,
        alt=(
            f"The {patterns.WARP} elements of column {COLUMN} of a tile, on a map of the banks "
            f"({takes}). {said}"
        ),
        caption=f"Column {COLUMN} of a 32×32 tile on the map of banks. {caption}",
        table=Table(
            ["row of the tile", *(f"{TILE_LAYOUTS[name][0]}: word, bank" for name in names)],
            [
                [row, *(f"{words[n][row][0]}, {words[n][row][0] % 32}" for n in names)]
                for row in range(32)
            ],
        ),
    )


def tile_banks() -> Picture:
    """A column of a tile: all in one bank, and on the diagonal."""
    return _tile_maps(
        ("Plain", "Padded"),
        "Without padding all of them lie in one bank. With a spare word after each row they lie on "
        "a diagonal, each in a bank of its own.",
        "Each square is the word that one lane reads; words below each other share a bank, "
        "and wait for each other.",
    )


def tile_swizzles() -> Picture:
    """The same column where each row keeps its columns in a different order."""
    return _tile_maps(
        ("Swizzled", "SwizzledBy4"),
        "A swizzle spreads the column over all banks and needs no more memory than the plain tile.",
        "On the right each lane loads 16 bytes: a quarter of the warp (dark) at a time, four "
        "passes, the least that such a load can take.",
    )


#: The trees whose steps are compared, and how the page calls them.
STEPPED: dict[str, Kernel] = {
    "strided": strided,
    "strided_padded": strided_padded,
    "smem": smem,
}


def bank_steps() -> Picture:
    """Passes through shared memory at each step of a tree, with a strided index and without."""
    block = 256
    steps = {name: costs.tree_steps(kernel(block, block, 0)) for name, kernel in STEPPED.items()}
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
        axes.set_title("passes per block; solid: what every tree needs", loc="left", pad=10)
        return figure

    total = sum(step.conflicts for step in strided)
    return Picture(
        draw=draw,
        alt=(
            f"Passes through shared memory of one block of {block} threads of strided, step by "
            f"step: {listed([str(step.wavefronts) for step in strided])}. The conflicts are "
            f"{listed([f'{way}-way' for way in ways if way > 1])}; they double while there are "
            f"lanes enough, and are {total} of the passes. {listed(others)} make only the other "
            f"{sum(step.wavefronts - step.conflicts for step in strided)}."
        ),
        caption=(
            f"strided, a block of {block} threads: passes for the loads and stores of each step of "
            "its tree. Conflicts cause the hatched ones. Without those, what is left is what "
            f"{listed(others)} need."
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
