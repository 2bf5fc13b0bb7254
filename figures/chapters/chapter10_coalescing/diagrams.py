"""A warp's words, and the sectors and transactions that they make."""

from __future__ import annotations

from collections import Counter

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures.chapters.chapter10_coalescing import rules
from figures.chapters.chapter10_coalescing.kernels import ALIGNED, ARRAYS, PACKED, STAGED, vec3
from figures.kit import costs, patterns
from figures.kit.canvas import GLOBAL_HUE, canvas
from figures.kit.patterns import GLOBAL, INT_BYTES, LOAD, SECTOR_BYTES, WARP, Access
from figures.kit.pictures import Picture, Table
from figures.kit.style import Theme
from figures.kit.words import listed

HALF_HUES = ("blue", "green")


LEFT, WORDS, RIGHT = 17, 72, 21
#: Of one request's panel, in the drawing's units: its height without rules, and that of a rule.
PANEL, ROW = 3.85, 1.45


def _made(example: str) -> dict[str, list[rules.Transaction]]:
    """The transactions of one request, by compute capability."""
    return {
        capability: rule(rules.EXAMPLES[example], INT_BYTES)
        for capability, rule in rules.RULES.items()
    }


def _box(axes: Axes, theme: Theme, piece: rules.Transaction, y: float, height: float, text: str,
         hue: str) -> None:  # fmt: skip
    start, size = piece.start / INT_BYTES, piece.size / INT_BYTES
    axes.add_patch(
        Rectangle((LEFT + start + 0.25, y), size - 0.5, height,
                  facecolor=theme.tint(hue, 0.7), edgecolor=theme.drawn(hue), lw=1.2)
    )  # fmt: skip
    axes.text(LEFT + start + size / 2, y + height / 2, text, ha="center", va="center_baseline")


def _request(axes: Axes, theme: Theme, example: str, top: float) -> None:
    """Lanes, the words that they load, and below them what each generation moved."""
    addresses = rules.EXAMPLES[example]
    for lane, address in enumerate(addresses):
        hue = HALF_HUES[lane // rules.HALF_WARP]
        x = LEFT + address / INT_BYTES
        axes.plot([LEFT + lane + 0.5, x + 0.5], [top, top - 1.1], color=theme.drawn(hue), lw=0.8)
        axes.add_patch(Rectangle((x, top - 1.9), 1, 0.8, facecolor=theme.drawn(hue), lw=0))
    for place in range(0, WORDS + 1, rules.LEAST // INT_BYTES):
        axes.plot([LEFT + place] * 2, [top - 2, top - 1], color=theme.muted, lw=0.8)
    for row, (capability, transactions) in enumerate(_made(example).items()):
        y = top - 3.4 - row * ROW
        axes.text(0, y + 0.6, capability, va="center", color=theme.muted)
        if capability == "1.2, 1.3":  # each half warp has its own, and they may overlap
            for half in (0, 1):
                at = half * rules.HALF_WARP
                for each in rules.second_rule(addresses[at : at + rules.HALF_WARP], INT_BYTES):
                    _box(axes, theme, each, y + 0.6 - 0.6 * half, 0.55, "", HALF_HUES[half])
        else:
            for each, times in Counter(transactions).items():
                _box(axes, theme, each, y, 1.15, f"{times}×" if times > 1 else "", GLOBAL_HUE)
        axes.text(LEFT + WORDS + RIGHT, y + 0.6, f"{rules.moved(transactions)} B", va="center",
                  ha="right")  # fmt: skip


HOW_TO_READ = (
    "At the top are the lanes and the words that they load, the first half warp in dark blue. "
    "Ticks are 32 bytes apart. Each row below shows the transactions of one generation, named by "
    "its compute capability. 7× means seven transactions of the same piece."
)


def coalescing_rules() -> Picture:
    """One warp's load under four generations' rules, for four patterns."""
    moved = {
        example: [str(rules.moved(transactions)) for transactions in _made(example).values()]
        for example in rules.EXAMPLES
    }

    def draw(theme: Theme) -> Figure:
        panel = PANEL + 0.5 + ROW * len(rules.RULES)
        height = panel * len(rules.EXAMPLES) + 0.4
        figure, axes = canvas(LEFT + WORDS + RIGHT, height, 0.235 * height)
        for place, example in enumerate(rules.EXAMPLES):
            top = height - place * panel - 1.5
            axes.text(0, top + 0.7, example, va="center", weight="bold")
            _request(axes, theme, example, top)
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"A warp of {WARP} lanes loads {WARP * INT_BYTES} bytes in four patterns. Bytes moved "
            "under the rules of compute capability 1.0 and 1.1, of 1.2 and 1.3, of 2.x and of "
            f"today: {'; '.join(f'{example}: {listed(each)}' for example, each in moved.items())}."
        ),
        caption=(
            f"What a warp's load of {WARP * INT_BYTES} bytes moved and moves. {HOW_TO_READ} Rules: "
            "CUDA C Programming Guide 4.2, sections F.3.2.1, F.3.2.2 and F.4.2."
        ),
        table=Table(
            ["pattern", "compute capability", "transactions", "bytes moved", "bytes wanted"],
            [
                [example, capability, len(transactions), rules.moved(transactions),
                 WARP * INT_BYTES]
                for example in rules.EXAMPLES
                for capability, transactions in _made(example).items()
            ],
        ),
    )  # fmt: skip


def four_generations() -> Picture:
    """The request that begins one int late, as four generations of hardware serve it."""
    made = _made(rules.LATE)
    moved = [
        f"{rules.moved(transactions)} on {capability}" for capability, transactions in made.items()
    ]

    def draw(theme: Theme) -> Figure:
        height = PANEL + ROW * len(rules.RULES)
        figure, axes = canvas(LEFT + WORDS + RIGHT, height, 0.3 * height)
        _request(axes, theme, rules.LATE, height - 1.5)
        return figure

    return Picture(
        draw=draw,
        alt=(
            f"A warp loads {WARP} neighbouring ints, {WARP * INT_BYTES} bytes, that begin one int "
            f"past the start of an allocation. Bytes moved, by compute capability: {listed(moved)}."
        ),
        caption=(
            f"The same request, for {WARP * INT_BYTES} bytes that begin one int late, on four "
            f"generations. {HOW_TO_READ} On the right are the bytes that they move."
        ),
        table=Table(
            ["compute capability", "transactions", "bytes moved"],
            [
                [capability, len(transactions), rules.moved(transactions)]
                for capability, transactions in made.items()
            ],
        ),
    )


#: The layouts of chapter 10's vectors, and what to call them.
LAYOUTS = {
    PACKED: "array of structs",
    ALIGNED: "structs of 16 bytes",
    ARRAYS: "struct of arrays",
    STAGED: "array of structs, as a row of ints",
}


def vec3_layouts() -> Picture:
    """The sectors that each load of a warp touches, in four ways to load a vector of three."""
    warp = WARP
    loads: dict[str, list[list[Access]]] = {}
    for layout in LAYOUTS:
        requests = patterns.by_request(vec3(warp, warp, 0, layout=layout))
        loads[layout] = [r for r in requests if (r[0].space, r[0].kind) == (GLOBAL, LOAD)]
    sectors = {
        layout: [costs.sectors(request) for request in requests]
        for layout, requests in loads.items()
    }
    hues = ("vermillion", "green", "blue")  # of x, y and z, from the top of a row to its bottom

    def components(layout: str, access: Access) -> list[tuple[int, int]]:
        """The words of an access in the picture, each with whether it is x, y or z."""
        if layout == ALIGNED:
            return [(4 * access.index + k, k) for k in range(3)]
        if layout == ARRAYS:
            return [(access.index, "xyz".index(access.array))]
        return [(access.index, access.index % 3)]

    def draw(theme: Theme) -> Figure:
        words = 4 * warp
        rows = sum(len(requests) for requests in loads.values())
        height = 1.35 * rows + 2.3 * len(loads)
        figure, axes = canvas(words + 26, height, 0.22 * height)
        y = height
        for layout, requests in loads.items():
            y -= 1.5
            axes.text(0, y + 0.1, LAYOUTS[layout], va="center", weight="bold")
            axes.text(words + 26, y + 0.1, "sectors", va="center", ha="right", color=theme.muted)
            for request, count in zip(requests, sectors[layout], strict=True):
                y -= 1.35
                touched = {a.byte_offset // SECTOR_BYTES for a in request}
                for sector in touched:
                    axes.add_patch(
                        Rectangle((8 * sector + 0.3, y), 7.4, 0.95, facecolor="none",
                                  edgecolor=theme.muted, lw=1.1)
                    )  # fmt: skip
                for access in request:
                    for word, k in components(layout, access):
                        axes.add_patch(
                            Rectangle((word + 0.3 + 0.05, y + 0.61 - 0.245 * k), 0.7, 0.225, lw=0,
                                      facecolor=theme.drawn(hues[k]))
                        )  # fmt: skip
                axes.text(words + 26, y + 0.45, str(count), va="center", ha="right")
            y -= 0.8
        return figure

    totals = [
        f"{LAYOUTS[layout]} {sum(counts)} in {len(counts)} request{'s'[: len(counts) != 1]}"
        for layout, counts in sectors.items()
    ]
    least = 3 * warp * INT_BYTES // SECTOR_BYTES
    return Picture(
        draw=draw,
        alt=(
            f"The sectors that a warp touches to load {warp} vectors of three ints, which fill "
            f"{least}: {'; '.join(totals)}."
        ),
        caption=(
            f"A warp loads {warp} vectors. Each row is one request and each frame one sector. A "
            "mark is a word that the warp asked for: x at the top of its frame, y in the middle, "
            "z at the bottom."
        ),
        table=Table(
            ["layout", "requests", "sectors touched", "sectors that the vectors fill"],
            [
                [LAYOUTS[layout], len(counts), sum(counts), least]
                for layout, counts in sectors.items()
            ],
        ),
    )
