"""The diagrams of the embedded device's page."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures.kit.canvas import GLOBAL_HUE, arrow, canvas, cell, rounded_box
from figures.kit.patterns import INT_BYTES, SECTOR_BYTES, WARP
from figures.kit.pictures import Picture, Table
from figures.kit.style import Theme
from figures.kit.words import listed


def embedded_path() -> Picture:
    """From the PTX in a program to a counter: one warp's load of integers two apart."""
    stride = 2
    addresses = [lane * stride * INT_BYTES for lane in range(WARP)]
    sectors = sorted({address // SECTOR_BYTES for address in addresses})
    touched = {address // INT_BYTES for address in addresses}

    def draw(theme: Theme) -> Figure:
        width, height = 10.8, 12.2
        figure, axes = canvas(width, height, 6.1)
        middle = width / 2

        def down(y: float, words: str) -> None:
            arrow(axes, theme, (middle - 4.4, y), (middle - 4.4, y - 0.8), theme.ink, 1.6)
            axes.text(middle - 4.1, y - 0.42, words, va="center", color=theme.muted)

        rounded_box(axes, theme, 0.1, 10.1, width - 0.2, 2.0, "")
        axes.text(0.4, 11.75, "your program", va="center", weight="bold")
        rounded_box(axes, theme, 0.4, 10.3, 2.4, 1.1, "host code")
        rounded_box(axes, theme, 3.1, 10.3, 7.3, 1.1, "")
        axes.text(3.3, 10.85, "fat binary", va="center")
        rounded_box(axes, theme, 5.3, 10.42, 1.5, 0.86, "PTX", "green")
        rounded_box(axes, theme, 7.1, 10.42, 3.1, 0.86, "machine code")
        down(10.05, "unpacked, and read once")
        rounded_box(
            axes, theme, 0.1, 8.1, width - 0.2, 1.05, "ld.global.u32  %r1, [%rd4];", "green"
        )
        down(8.05, "carried out for a warp, 32 lanes at once")
        lane_width = (width - 0.2) / WARP
        for lane in range(WARP):
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
        per_sector = SECTOR_BYTES // INT_BYTES
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
        rounded_box(axes, theme, 0.1, 1.2, 5.1, 1.05, "load requests  + 1", "blue")
        rounded_box(axes, theme, 5.6, 1.2, 5.1, 1.05, f"load sectors  + {len(sectors)}", "blue")
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
            f"PTX is carried out for a warp of {WARP} lanes, whose addresses are {stride} "
            "integers apart. Each is checked against the allocations. Together they touch "
            f"{len(sectors)} sectors of {SECTOR_BYTES} bytes, so one request and {len(sectors)} "
            "sectors are added to the counters."
        ),
        caption=(
            f"From the PTX inside a program to a counter: a warp loads {WARP} integers, "
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
        figure, axes = canvas(11.4, height, 3.9)
        for lane in range(lanes):
            axes.text(lane * 0.72 + 0.5, height - 0.4, str(lane), ha="center", va="center",
                      color=theme.muted)  # fmt: skip
        axes.text(6.15, height - 0.4, "lane", va="center", color=theme.muted)
        for step, (line, active) in enumerate(steps):
            y = height - 1.35 - step * 1.35
            for lane in range(lanes):
                runs = lane in active
                cell(axes, theme, lane * 0.72 + 0.5, y, str(line) if runs else "",
                     "purple" if runs else None, size=0.64, hollow=not runs)  # fmt: skip
            axes.text(6.15, y, f"line {line}:  {code[line - 1].strip()}", va="center",
                      color=theme.ink)  # fmt: skip
            if step:
                arrow(axes, theme, (0.0, y + 1.0), (0.0, y + 0.35), theme.muted)
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
            f"{WARP} lanes."
        ),
        table=Table(
            ["line", "code", "lanes that carry it out"],
            [
                [line, code[line - 1].strip(), listed([str(lane) for lane in active])]
                for line, active in steps
            ],
        ),
    )


DIAGRAMS = {
    "embedded_path": embedded_path,
    "embedded_divergence": embedded_divergence,
}
