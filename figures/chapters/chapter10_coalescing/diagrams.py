"""A warp's words, and the sectors and transactions that they make."""

from __future__ import annotations

from collections.abc import Sequence

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


def coalescing_rules() -> Picture:
    """One warp's load under three generations' rules, for four patterns."""
    words = 72
    left, right = 17, 21
    made = {
        (example, capability): rule(addresses, INT_BYTES)
        for example, addresses in rules.EXAMPLES.items()
        for capability, rule in rules.RULES.items()
    }

    def box(axes: Axes, theme: Theme, start: int, size: int, y: float, height: float, text: str,
            hue: str) -> None:  # fmt: skip
        axes.add_patch(
            Rectangle((left + start / INT_BYTES + 0.25, y), size / INT_BYTES - 0.5, height,
                      facecolor=theme.tint(hue, 0.7), edgecolor=theme.drawn(hue), lw=1.2)
        )  # fmt: skip
        axes.text(left + (start + size / 2) / INT_BYTES, y + height / 2, text, ha="center",
                  va="center_baseline")  # fmt: skip

    def pattern(axes: Axes, theme: Theme, addresses: Sequence[int], top: float) -> None:
        """Lanes above, the words that they load below."""
        for lane, address in enumerate(addresses):
            hue = HALF_HUES[lane // rules.HALF_WARP]
            x = left + address / INT_BYTES
            axes.plot(
                [left + lane + 0.5, x + 0.5], [top, top - 1.1], color=theme.drawn(hue), lw=0.8
            )
            axes.add_patch(
                Rectangle((x, top - 1.9), 1, 0.8, facecolor=theme.drawn(hue), lw=0)
            )  # fmt: skip
        for place in range(0, words + 1, rules.LEAST // INT_BYTES):
            axes.plot([left + place] * 2, [top - 2, top - 1], color=theme.muted, lw=0.8)

    def draw(theme: Theme) -> Figure:
        panel = 8.2
        height = panel * len(rules.EXAMPLES) + 0.4
        figure, axes = canvas(left + words + right, height, 0.235 * height)
        for place, (example, addresses) in enumerate(rules.EXAMPLES.items()):
            top = height - place * panel - 1.5
            axes.text(0, top + 0.7, example, va="center", weight="bold")
            axes.text(left + words + right, top + 0.7, "bytes", va="center", ha="right",
                      color=theme.muted)  # fmt: skip
            pattern(axes, theme, addresses, top)
            for row, capability in enumerate(rules.RULES):
                y = top - 3.4 - row * 1.45
                transactions = made[example, capability]
                axes.text(0, y + 0.6, capability, va="center", color=theme.muted)
                shown: dict[rules.Transaction, int] = {}
                for each in transactions:
                    shown[each] = shown.get(each, 0) + 1
                if capability == "1.2, 1.3":  # each half warp has its own, and they may overlap
                    halves = [
                        rules.second_rule(addresses[at : at + 16], INT_BYTES)
                        for at in (0, rules.HALF_WARP)
                    ]
                    for half, own in enumerate(halves):
                        for each in own:
                            box(axes, theme, each.start, each.size, y + 0.6 - 0.6 * half, 0.55, "",
                                HALF_HUES[half])  # fmt: skip
                else:
                    for each, times in shown.items():
                        box(axes, theme, each.start, each.size, y, 1.15,
                            f"{times}×" if times > 1 else "", GLOBAL_HUE)  # fmt: skip
                axes.text(left + words + right, y + 0.6, str(rules.moved(transactions)),
                          va="center", ha="right")  # fmt: skip
        return figure

    def words_of(example: str) -> str:
        moved = [str(rules.moved(made[example, rule])) for rule in rules.RULES]
        return f"{example}: {listed(moved)}"

    return Picture(
        draw=draw,
        alt=(
            f"A warp of {WARP} lanes loads {WARP * INT_BYTES} bytes in four "
            "patterns. Bytes moved under the rules of compute capability 1.0 and 1.1, of 1.2 and "
            f"1.3, and of today: {'; '.join(words_of(example) for example in rules.EXAMPLES)}."
        ),
        caption=(
            f"What a warp's load of {WARP * INT_BYTES} bytes moved and moves. Above, "
            "lanes and the words they load, the first half warp in blue; ticks are 32 bytes apart. "
            "Below, the transactions under each rule; with ×, so many of the same piece. Rules of "
            "1.x: CUDA C Programming Guide 4.2, sections F.3.2.1 and F.3.2.2."
        ),
        table=Table(
            ["pattern", "compute capability", "transactions", "bytes moved", "bytes wanted"],
            [
                [example, capability, len(transactions), rules.moved(transactions),
                 WARP * INT_BYTES]
                for (example, capability), transactions in made.items()
            ],
        ),
    )  # fmt: skip


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
    hues = ("vermillion", "green", "blue")  # of x, y and z

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
    least = 3 * warp * INT_BYTES // SECTOR_BYTES
    return Picture(
        draw=draw,
        alt=(
            f"The sectors that a warp touches to load {warp} vectors of three ints, which fill "
            f"{least}: {'; '.join(totals)}."
        ),
        caption=(
            f"A warp loads {warp} vectors, x orange, y green and z blue. Each row is one "
            "request and each frame one sector. Coloured words are the ones the warp asked for."
        ),
        table=Table(
            ["layout", "requests", "sectors touched", "sectors that the vectors fill"],
            [
                [LAYOUTS[layout], len(counts), sum(counts), least]
                for layout, counts in sectors.items()
            ],
        ),
    )
