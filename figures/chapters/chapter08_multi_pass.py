"""Chapter 8: until one value is left."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures.kit import patterns, style
from figures.kit.axes import draw_curves, heading, l2_line, label_ends, sizes_axis
from figures.kit.canvas import GLOBAL_HUE, arrow, canvas
from figures.kit.chapter import Chapter
from figures.kit.pictures import Picture, Table, View, name_of, run_columns, run_row, time_of
from figures.kit.style import SERIES, Theme
from figures.kit.words import listed, size, time_text
from figures.records.recordings import RecordedRun, is_faster

NAME = "chapter08_multi_pass"


#: The forms that can be told apart in a picture; the page's table has all.
FORMS = ("passes", "grid_sync", "last_block", "one_word", "whole", "cub")


SMALL_N = 2**20


def whole_times(view: View) -> Picture:
    """The time of a finished sum against n, where a launch's own cost is most of it."""
    sweeps = [
        [found for found in view.over_n(NAME, name) if found.run["n"] <= SMALL_N] for name in FORMS
    ]
    floor = view.find("chapter00_timing", "empty_launch")
    sizes = sorted({found.run["n"] for sweep in sweeps for found in sweep})

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(axes, sizes, step=2)
        axes.axhline(time_of(floor), color=theme.muted, lw=1.2, ls="--", zorder=1)
        axes.annotate(
            f"an empty launch, {time_text(time_of(floor))}",
            xy=(0, time_of(floor)),
            xycoords=("axes fraction", "data"),
            xytext=(4, -4),
            textcoords="offset points",
            va="top",
            color=theme.muted,
        )
        curves = [
            (name_of(sweep[0]), [(found.run["n"], time_of(found)) for found in sweep])
            for sweep in sweeps
        ]
        axes.set_ylim(0, 1.05 * max(y for _, points in curves for _, y in points))
        label_ends(axes, theme, draw_curves(axes, theme, curves))
        heading(axes, "µs until the sum is there: less is better")
        return figure

    words = []
    for n in (sizes[0], sizes[-1]):
        here = {
            name_of(found): time_of(found) for s in sweeps for found in s if found.run["n"] == n
        }
        order = sorted(here, key=lambda name: here[name])
        times = [f"{name} {time_text(here[name])}" for name in order]
        words.append(f"At n = {size(n)}, from the fastest: {', '.join(times)}.")
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, time against n for {listed(FORMS)}, and an empty launch, "
            f"which takes {time_text(time_of(floor))}. {' '.join(words)}"
        ),
        caption=(
            "Median time until the whole sum is in memory, 64-bit, cold, against n. The dashed "
            "line is an empty launch, below which no form can be."
        ),
        table=Table(
            run_columns(), [run_row(found, view.device) for sweep in sweeps for found in sweep]
        ),
        runs=[*(found for sweep in sweeps for found in sweep), floor],
    )


def _won(pairs: Sequence[tuple[RecordedRun, RecordedRun]], against: str) -> str:
    """'faster than cub at every n but 2³⁰, and slower nowhere', from (ours, CUB's) by size."""
    sizes = [ours.run["n"] for ours, _ in pairs]
    ahead = [ours.run["n"] for ours, theirs in pairs if is_faster(ours, theirs)]
    behind = [ours.run["n"] for ours, theirs in pairs if is_faster(theirs, ours)]

    def where(names: Sequence[int]) -> str:
        if not names:
            return "nowhere"
        rest = [size(n) for n in sizes if n not in names]
        if len(rest) < len(names):
            return "at every n" + (f" but {listed(rest)}" if rest else "")
        return f"at n = {listed([size(n) for n in names])}"

    return f"faster than {against} {where(ahead)}, and slower {where(behind)}"


def cub_ratio(view: View) -> Picture:
    """How many times as fast as CUB's sum ours is, size by size."""
    kinds = {"64-bit sum": ("whole", "cub"), "32-bit sum": ("whole32", "cub32")}
    pairs: dict[str, list[tuple[RecordedRun, RecordedRun]]] = {}
    for label, (ours, theirs) in kinds.items():
        mine = {found.run["n"]: found for found in view.over_n(NAME, ours)}
        cubs = {found.run["n"]: found for found in view.over_n(NAME, theirs)}
        pairs[label] = [(mine[n], cubs[n]) for n in sorted(mine.keys() & cubs.keys())]
    sizes = sorted({ours.run["n"] for each in pairs.values() for ours, _ in each})
    in_l2 = view.device["l2_bytes"] / patterns.INT_BYTES

    def ratio(pair: tuple[RecordedRun, RecordedRun]) -> float:
        return time_of(pair[1]) / time_of(pair[0])

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(axes, sizes, step=4)
        axes.axhline(1, color=theme.muted, lw=1.2, ls="--", zorder=1)
        l2_line(axes, theme, in_l2, "input = L2", top=True)
        curves = [
            (label, [(pair[0].run["n"], ratio(pair)) for pair in each])
            for label, each in pairs.items()
        ]
        low = min(y for _, points in curves for _, y in points)
        high = max(y for _, points in curves for _, y in points)
        axes.set_ylim(min(0.9, low - 0.05), max(1.1, high + 0.08))
        label_ends(axes, theme, draw_curves(axes, theme, curves))
        heading(axes, "CUB's time over ours: above 1 ours is faster")
        return figure

    words = []
    for label, each in pairs.items():
        best, worst = max(each, key=ratio), min(each, key=ratio)
        words.append(
            f"For the {label}, {name_of(best[0])} is {_won(each, name_of(best[1]))}; the ratio is "
            f"{ratio(best):.2f} at best, at n = {size(best[0].run['n'])}, and {ratio(worst):.2f} "
            f"at worst, at n = {size(worst[0].run['n'])}"
        )
    return Picture(
        draw=draw,
        alt=f"On {view.device_name}, CUB's time over ours against n. {'. '.join(words)}.",
        caption=(
            "CUB's cub::DeviceReduce::Sum over this chapter's kernel: medians, cold, one sum to "
            "its end, storage allocated beforehand, with the same types in, between and out."
        ),
        table=Table(
            ["sum", "n", "ours, µs", "CUB, µs", "ratio", "ours faster"],
            [
                [
                    label,
                    ours.run["n"],
                    time_of(ours),
                    time_of(theirs),
                    round(ratio((ours, theirs)), 3),
                    "yes" if is_faster(ours, theirs) else "no",
                ]
                for label, each in pairs.items()
                for ours, theirs in each
            ],
        ),
        runs=[found for each in pairs.values() for pair in each for found in pair],
    )


# -------------------------------------------------------------------------------- Passes and words


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


CHAPTER = Chapter(
    NAME,
    spine={"whole_sum": "one launch, to the end"},
    library="cub_sum",
    swept=FORMS,
    timed=(*FORMS, "atomic_thread", "atomic_block"),
    plots={"chapter08_small": whole_times, "chapter08_ratio": cub_ratio},
    diagrams={"passes_tree": passes_tree, "one_word": one_word},
)
