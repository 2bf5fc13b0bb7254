"""Passes, and a word that holds a sum and a count."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures.kit.canvas import GLOBAL_HUE, arrow, canvas
from figures.kit.pictures import Picture, Table
from figures.kit.style import SERIES, Theme
from figures.kit.words import listed


def passes(n: int, share: int) -> list[int]:
    """How many values there are before the first pass of chapter08's sum_pass and after each."""
    left = [n]
    while len(left) == 1 or left[-1] > 1:
        left.append(-(-left[-1] // share))
    return left


def passes_tree() -> Picture:
    """One kernel launched again and again, until one value is left."""
    share = 4
    values = [(7 * k + 3) % 10 for k in range(22)]
    rows = [values]
    while len(rows[-1]) > 1:
        last = rows[-1]
        rows.append([sum(last[k : k + share]) for k in range(0, len(last), share)])
    left = passes(len(values), share)
    assert left == [len(row) for row in rows]

    def draw(theme: Theme) -> Figure:
        pitch, height = 1.9, 1.9 * len(rows)
        figure, axes = canvas(len(values) + 3.6, height, 3.4)
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
                        arrow(axes, theme, (source, y + pitch - 0.45), (x, y + 0.45), width=0.9)
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
            f"chapter08's passes with a share of {share} values per block. Each row is what one "
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
        figure, axes = canvas(16, 9.4, 3.3)
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
                arrow(axes, theme, (5.4, y + 1.6), (5.4, y + 0.6))
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
