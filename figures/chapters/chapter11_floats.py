"""Chapter 11: where a float's bits lie, and what each way to add them costs and is worth."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import partial as bind
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from common.input import SEED, input_bits
from common.records.naming import REFERENCE, SECOND
from common.records.other_libraries import FloatSum, recorded_sums, same_bits_of
from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures.kit import style
from figures.kit.axes import draw_curves, heading, label_ends, sizes_axis
from figures.kit.canvas import canvas
from figures.kit.chapter import Chapter
from figures.kit.pictures import Picture, Table, View, rate_of
from figures.kit.style import MARKERS, Theme
from figures.kit.words import listed, power, size

NAME = "chapter11_floats"


def wide_at(seed: int, position: int) -> int:
    """The bits of the float at a position of the wide data, as problem.cuh makes them."""
    bits: int = input_bits(seed, position)
    power = ((bits & 0xFFFF) * 120) >> 16
    return (bits >> 32) & 0x807FFFFF | (67 + power) << 23


def uniform_at(seed: int, position: int) -> int:
    """The bits of the float at a position of the uniform data."""
    value = (input_bits(seed, position) >> 40) * 2.0**-24
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


#: The ruler: powers of two from that of the smallest float to the one above the largest.
LOWEST, HIGHEST = -149, 128
BINS = 16
#: Exponents per bin.
PER_BIN = 16
#: Bits of a float.
DIGITS = 24
FLOATS = 4


def span(word: int) -> tuple[int, int]:
    """The powers of two of a float's lowest bit and of the place above its highest."""
    exponent = max((word >> 23) & 255, 1)
    return exponent - 150, exponent - 150 + DIGITS


def bin_of(word: int) -> int:
    """As the kernel has it: the upper four bits of the exponent."""
    return (word >> 27) & 15


def bin_span(which: int) -> tuple[int, int]:
    """The powers of two that elements of a bin reach, from its lowest bit to above its highest."""
    low = max(PER_BIN * which - 150, LOWEST)
    last = min(PER_BIN * which + PER_BIN - 1, 254)  # 255 is infinity or NaN
    return low, last - 150 + DIGITS


def number_text(word: int) -> str:
    value = struct.unpack("<f", struct.pack("<I", word))[0]
    shown, _e, exponent = f"{value:.1e}".partition("e")
    return f"{shown.replace('-', '−')} × {power(10, int(exponent))}"


LEFT, RIGHT = 14, 6
#: Of bins in the picture, so that neighbours don't cover each other.
ROWS = 3


def floats_on_a_ruler() -> Picture:
    """The bits of a few elements, on a ruler of all bits that floats have, with the bins above."""
    chosen = [("wide", wide_at(SEED, at)) for at in range(FLOATS)]
    chosen += [("uniform", uniform_at(SEED, at)) for at in range(2)]
    used = {kind: sorted({bin_of(word) for each, word in chosen if each == kind})
            for kind in ("wide", "uniform")}  # fmt: skip

    def draw(theme: Theme) -> Figure:
        rows = len(chosen)
        height = 7.4 + 1.5 * rows
        figure, axes = canvas(HIGHEST - LOWEST + LEFT + RIGHT, height, 0.3 * height)
        axes.set_xlim(LOWEST - LEFT, HIGHEST + RIGHT)
        ground = height - 5.4
        axes.text(LOWEST, height - 0.1, f"{BINS} bins, which overlap",
                  va="top", weight="bold")  # fmt: skip
        for which in range(BINS):
            low, high = bin_span(which)
            lift = ground + 1.4 + 0.9 * (2 - which % ROWS)
            hit = any(bin_of(word) == which for _kind, word in chosen)
            axes.add_patch(
                Rectangle((low, lift), high - low, 0.72, lw=1.0,
                          facecolor=theme.tint("blue", 0.55) if hit else "none",
                          edgecolor=theme.drawn("blue") if hit else theme.muted)
            )  # fmt: skip
            axes.text((low + high) / 2, lift + 0.34, str(which), ha="center", va="center_baseline",
                      color=theme.ink if hit else theme.muted)  # fmt: skip
        axes.plot([LOWEST, HIGHEST], [ground + 0.9] * 2, color=theme.ink, lw=1.4)
        for place in range(LOWEST, HIGHEST + 1):
            long = place % 16 == 0 or place in (LOWEST, HIGHEST)
            axes.plot([place] * 2, [ground + 0.9, ground + (0.45 if long else 0.7)],
                      color=theme.ink if long else theme.grid, lw=0.9 if long else 0.5)  # fmt: skip
        for place in (LOWEST, -96, -48, 0, 48, HIGHEST):
            axes.text(place, ground + 0.3, power(2, place), ha="center", va="top")
        for row, (kind, word) in enumerate(chosen):
            low, high = span(word)
            foot = ground - 1.9 - 1.5 * row
            hue = "vermillion" if kind == "wide" else "green"
            axes.plot([low, low], [foot + 0.9, ground + 0.9], color=theme.grid, lw=0.8, zorder=0)
            axes.plot([high, high], [foot + 0.9, ground + 0.9], color=theme.grid, lw=0.8, zorder=0)
            axes.add_patch(
                Rectangle((low, foot), high - low, 0.9, lw=1.2, zorder=2,
                          facecolor=theme.tint(hue, 0.3), edgecolor=theme.drawn(hue))
            )  # fmt: skip
            side = "right" if low > 0 else "left"
            axes.text(low - 3 if side == "right" else high + 3, foot + 0.42,
                      f"{kind}: {number_text(word)}", ha=side, va="center_baseline",
                      color=theme.written(hue), zorder=3)  # fmt: skip
        return figure

    bits = HIGHEST - LOWEST + 1
    return Picture(
        draw=draw,
        alt=(
            f"A ruler of powers of two from 2^{LOWEST} to 2^{HIGHEST}, and six floats as bars of "
            f"{DIGITS} bits. {FLOATS} wide ones lie far apart, in bins "
            f"{listed([str(one) for one in used['wide']])}. Two uniform ones lie close "
            f"together, in bin {listed([str(one) for one in used['uniform']])}. Each bar fits the "
            "bin that its exponent names."
        ),
        caption=(
            f"Every float is {DIGITS} bits somewhere on a ruler of {bits} bits, counting the sign. "
            f"A bin takes {PER_BIN} exponents, so its floats span 39 bits and neighbouring bins "
            "overlap. That is why they are drawn in three rows. Look up from a bar: it fits into "
            f"one of the shaded bins. The bars are the first {FLOATS} floats of the wide data, and "
            "the first two of the uniform."
        ),
        table=Table(
            ["data", "float", "lowest bit", "highest bit", "bin"],
            [
                [kind, number_text(word), f"2^{span(word)[0]}", f"2^{span(word)[1] - 1}",
                 bin_of(word)]
                for kind, word in chosen
            ],
        ),
    )  # fmt: skip


#: In the order of the page.
METHODS = ("plain", "kahan", "neumaier", "double", "exact", "atomics", "cub")
DATA = ("uniform", "mixed", "wide", "ill")
#: What gives the same bits for every block, grid and card; and what differs between two launches.
SAME_BITS = ("exact",)
OTHER_BITS = ("atomics",)
HUES = ("blue", "green", "orange", "vermillion")
#: Half of the last of a float's bits: the nearest float is no further from the exact sum.
HALF_ULP = 2.0**-24
APART = 0.17


#: What other people's libraries are called.
THEIRS = {"torch": "PyTorch", "cupy": "CuPy", "cub": "CUB"}
#: Launches of the same data, as tools/measuring/libraries.py has it.
AGAIN = 20
#: What is said of a sum behind its library's name: in what it adds, or what it promises.
SAID = {
    "double": "double",
    "not_guaranteed": "no promise",
    "run_to_run": "run to run",
    "gpu_to_gpu": "GPU to GPU",
}


#: Where the marks of the tries stand, right of the axes and of the speeds, in points.
TRIES_FROM, TRIES_STEP = 54, 15


def _error(found: RecordedRun) -> float:
    """The largest of all passes."""
    return max(run["error"] for run in found.repeats)


def _power(value: float) -> str:
    return f"{value:.0e}".replace("e-0", "e-")


#: What was done to the data between two launches: a recorded sum's fields.
TRIES = ("again", "moved", "order")


class Row(NamedTuple):
    """A way to add: its name, and by data its error and speed in GB/s."""

    name: str
    errors: dict[str, float]
    rates: dict[str, float]
    bits: str = ""  #: what is to be said of them
    kept: tuple[bool, ...] = ()  #: by try, whether all data kept their bits; empty: not tried

    @property
    def speed(self) -> str:
        low, high = min(self.rates.values()), max(self.rates.values())
        middle = sum(self.rates.values()) / len(self.rates)
        return f"{middle:.0f}" if high < 1.03 * low else f"{low:.0f}–{high:.0f}"


def _kept(row: Iterable[FloatSum]) -> tuple[bool, ...]:
    """By try, whether the bits were the same on all data."""
    tried = list(row)
    return tuple(all(getattr(one, field) == 1 for one in tried) for field in TRIES if tried)


def _kept_told(rows: list[Row]) -> str:
    """In an alt text, what left the bits of each as they were."""
    each = []
    for row in rows:
        kept = [name for name, same in zip(TRIES, row.kept, strict=False) if same]
        if row.kept:
            each.append(f"{row.name}: {listed(kept) if kept else 'nothing'}")
    return f" What left the bits as they were: {'; '.join(each)}." if each else ""


def _ours(founds: dict[str, dict[str, RecordedRun]], tried: list[FloatSum]) -> Iterator[Row]:
    for method, row in founds.items():
        same = "same bits" if method in SAME_BITS else ""
        yield Row(
            method,
            {data: _error(found) for data, found in row.items()},
            {data: rate_of(found) for data, found in row.items()},
            "other bits" if method in OTHER_BITS else same,
            _kept(one for one in tried if one.method == method),
        )


def _theirs(sums: list[FloatSum], n: int) -> Iterator[Row]:
    """A row for each way of each library that has all data."""
    ways = dict.fromkeys((s.library, s.method) for s in sums if s.library in THEIRS)
    for library, method in ways:
        row = {s.data: s for s in sums if (s.library, s.method, s.n) == (library, method, n)}
        if all(data in row for data in DATA):
            yield Row(
                " ".join(filter(None, (THEIRS[library], SAID.get(method)))),
                {data: row[data].error for data in DATA},
                {data: 4 * n / row[data].median_us / 1000 for data in DATA},
                kept=_kept(row.values()),
            )


def _bits_told(sums: list[FloatSum], n: int) -> str:
    """What there is to say of bits that were tried, in sentences."""
    text = ""
    if any(s.n == n for s in sums):
        text += (
            " The three dots: did the bits stay the same when we launched *again*, when we *moved* "
            "the array by four bytes, and when we changed its *order*? Filled means yes, on all "
            "four kinds of data. Sums without dots weren't tried."
        )
    free = [s.again for s in sums if s.n == n and s.method == "not_guaranteed"]
    if free:
        text += (
            f" CUB without a promise had {min(free)} to {max(free)} results in {AGAIN} launches."
        )
    promised = {s.data: s for s in sums if s.n == n and s.method == "gpu_to_gpu"}
    ours = {s.data: s for s in sums if s.n == n and (s.library, s.method) == ("book", "exact")}
    if promised and promised.keys() <= ours.keys():
        times = [s.median_us / ours[data].median_us for data, s in promised.items()]
        text += (
            " With *GPU to GPU*, its strongest promise, it took "
            f"{min(times):.2f} to {max(times):.2f} times as long as *exact* in the same session."
        )
    return text


def _draw_rows(axes: Axes, rows: Sequence[Row], floor: float, theme: Theme) -> None:
    for place, row in enumerate(rows):
        errors = [max(row.errors[data], floor) for data in DATA]
        axes.plot([min(errors), max(errors)], [place] * 2, color=theme.grid, lw=4, zorder=1)
        for turn, (hue, marker, x) in enumerate(zip(HUES, MARKERS, errors, strict=False)):
            axes.plot([x], [place + APART * (turn - 1.5)], ls="none", marker=marker,
                      markersize=7, color=theme.drawn(hue), zorder=3,
                      clip_on=False)  # fmt: skip
        axes.annotate(
            row.speed, xy=(1.03, place), xycoords=("axes fraction", "data"), va="center",
            annotation_clip=False, weight="bold" if row.bits == "same bits" else "normal",
        )  # fmt: skip
        for which, same in enumerate(row.kept):
            axes.annotate("●" if same else "○", xy=(1, place),
                          xytext=(TRIES_FROM + TRIES_STEP * which, 0), ha="center",
                          xycoords=("axes fraction", "data"), textcoords="offset points",
                          va="center_baseline", annotation_clip=False)  # fmt: skip


def _draw_errors(ours: Sequence[Row], theirs: Sequence[Row], floor: float, theme: Theme) -> Figure:
    rows = [*ours, *theirs]
    figure, axes = style.new_figure(1.6 + 0.45 * len(rows))
    axes.axvspan(floor / 2, HALF_ULP, color=theme.tint("green", 0.85), lw=0, zorder=0)
    _draw_rows(axes, rows, floor, theme)
    if theirs:
        axes.axhline(len(ours) - 0.5, color=theme.muted, lw=0.8)
    axes.annotate("GB/s", xy=(1.03, -0.85), xycoords=("axes fraction", "data"), va="center",
                  color=theme.muted, annotation_clip=False)  # fmt: skip
    if any(row.kept for row in rows):
        for which, name in enumerate(TRIES):
            axes.annotate(name, xy=(1, -0.6), xytext=(TRIES_FROM + TRIES_STEP * which, 0),
                          xycoords=("axes fraction", "data"), textcoords="offset points",
                          rotation=90, ha="center", va="bottom",
                          color=theme.muted, annotation_clip=False)  # fmt: skip
    axes.text(math.sqrt(floor / 2 * HALF_ULP), METHODS.index("atomics"),
              "the nearest\nfloat lies\nin here", color=theme.written("green"),
              ha="center", va="center")  # fmt: skip
    axes.set_yticks(
        range(len(rows)),
        [f"{r.name}\n{r.bits}" if r.bits else r.name.replace(" ", "\n", 1) for r in rows],
    )
    axes.set_ylim(len(rows) - 0.45, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xscale("log")
    axes.set_xlim(floor / 2, 1e-3)
    decades = range(round(math.log10(floor)), -2)
    axes.set_xticks([10.0**one for one in decades], [power(10, one) for one in decades])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="x")
    axes.set_xlabel("off by, relative to the exact sum")
    symbols = ("●", "■", "▲", "◆")
    for place, (data, hue, symbol) in enumerate(zip(DATA, HUES, symbols, strict=True)):
        axes.annotate(f"{symbol} {data}", xy=(-0.2 + 0.33 * place, 1.02),
                      xycoords="axes fraction", color=theme.written(hue),
                      va="bottom")  # fmt: skip
    return figure


def error_and_speed(view: View, n: int) -> Picture:
    """How far off each way to add is on each kind of data, beside its speed; ours and others'."""
    found_of: dict[str, dict[str, RecordedRun]] = {}
    for method in METHODS:
        for data in DATA:
            block = 512 if method == "exact" else None
            found_of.setdefault(method, {})[data] = view.find(NAME, f"{method}_{data}", n, block)
    if any("error" not in run for row in found_of.values() for f in row.values()
           for run in f.repeats):  # fmt: skip
        raise NoSuchRun(f"{NAME} at n = {size(n)} is recorded without errors")
    founds = [found for row in found_of.values() for found in row.values()]
    root = view.recordings.root
    sums = recorded_sums(root, NAME, view.known.name)
    sums += recorded_sums(root, NAME, view.known.name, "rivals")
    tried = [one for one in sums if (one.library, one.n) == ("book", n)]
    ours, theirs = list(_ours(found_of, tried)), list(_theirs(sums, n))
    rows = ours + theirs
    floor = 10 ** math.floor(math.log10(min(e for r in rows for e in r.errors.values() if e)))

    right = [r.name for r in ours if r.errors == ours[METHODS.index("exact")].errors]
    ill = ", ".join(
        f"{r.name} by {_power(r.errors['ill'])}" for r in rows if r.errors["ill"] > HALF_ULP
    )
    slow = min(min(r.rates.values()) for r in ours)
    fast = max(max(r.rates.values()) for r in ours)
    beside = f", and {listed([r.name for r in theirs])}," if theirs else ""
    slow_ones = [f"{r.name} {r.speed} GB/s" for r in theirs]
    return Picture(
        draw=bind(_draw_errors, ours, theirs, floor),
        alt=(
            f"On {view.device_name}, sums of n = {size(n)} floats by seven methods{beside} on four "
            f"kinds of data. {listed(right).capitalize()} give the nearest float on all of them. "
            f"On the ill-conditioned data some are off: {ill}. These seven run at "
            f"{slow:.0f} to {fast:.0f} GB/s. "
            + (f"{listed(slow_ones)}. " if theirs else "")
            + "Only exact has the same bits for every block and grid; atomics may have others in "
            "each launch." + _kept_told(rows)
        ),
        caption=(
            f"n = {size(n)}. Each mark is the largest error of the passes on one kind of data. "
            "Left is better, and the nearest float always lies in the shaded area. Speeds are at "
            "the right. *Same bits*: every block, grid and card gives the same result. *Other "
            "bits*: even the same launch may give another. The other rows above the line, of which "
            "*cub* is the toolkit's, repeat their bits while card, block and grid stay the same."
            + _bits_told(sums, n)
        ),
        table=Table(
            ["method", "data", "off by", "GB/s"],
            [
                [row.name, data, f"{row.errors[data]:.1e}", f"{row.rates[data]:.0f}"]
                for row in rows
                for data in DATA
            ],
        ),
        runs=founds,
    )  # fmt: skip


# ----------------------------------------------------------------------- The same floats, otherwise


def same_bits(view: View) -> Picture:
    """How many different sums the same floats have, over n, by each of two methods."""
    root = view.recordings.root
    lines = same_bits_of(root, NAME, view.known.name)
    if not lines:
        raise NoSuchRun(f"{NAME} has no same_bits in {view.known.name}")
    sums: dict[tuple[str, int], tuple[set[str], set[str]]] = {}
    for line in lines:
        exact, plain = sums.setdefault((line.data, line.n), (set(), set()))
        exact.add(line.exact)
        plain.add(line.plain)
    sizes = sorted({n for _data, n in sums})
    launches = len(lines) // len(sums)

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.0)
        ends = draw_curves(axes, theme, [
            (data, [(n, len(sums[data, n][1])) for n in sizes]) for data in DATA
        ])  # fmt: skip
        most = max(len(exact) for exact, _plain in sums.values())
        axes.axhline(most, color=theme.ink, lw=2, zorder=1)
        axes.annotate("exact", xy=(sizes[0], most), xytext=(6, 5), textcoords="offset points",
                      color=theme.ink, weight="bold")  # fmt: skip
        sizes_axis(axes, sizes)
        named = [n for n in sizes if n not in (4097, 16385, 65537)]  # their neighbours are near
        axes.set_xticks(named, [f"{n:,}".replace(",", " ") for n in named])
        axes.set_ylim(0, None)
        heading(axes, f"different sums among {launches} launches")
        label_ends(axes, theme, ends)
        return figure

    others = []
    for name in (REFERENCE, *SECOND):
        if name != view.known.name and (theirs := same_bits_of(root, NAME, name)):
            same = [line[:5] for line in theirs] == [line[:5] for line in lines]
            others.append((name.removeprefix("nvidia-").upper(), same))
    agree = [name for name, same in others if same]
    differ = [name for name, same in others if not same]
    exact_count = sum(len(exact) for exact, _plain in sums.values())
    plain_count = sum(len(plain) for _exact, plain in sums.values())
    outcome = (
        f"In {len(lines)} launches on {len(sums)} arrays, the exact sum gave {exact_count} results"
        f"{', one per array' if exact_count == len(sums) else ''}, and the plain sum "
        f"{plain_count}."
        + (
            f" Every launch of the exact sum on the {listed(agree)} gave these bits, too."
            if agree
            else ""
        )
        + (f" The {listed(differ)} did not give the same bits." if differ else "")
    )
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, how many different sums {launches} launches with other blocks "
            f"and grids give of the same floats. Plain: "
            + "; ".join(
                f"{data} {listed([str(len(sums[data, n][1])) for n in sizes])}" for data in DATA
            )
            + f", for n = {listed([str(n) for n in sizes])}. {outcome}"
        ),
        caption=(
            f"We added up each array in {launches} launches, with six block sizes and grids of 1 "
            "to 264 blocks, and counted the different results. Curves: the plain sum on four kinds "
            f"of data. The level line: the exact sum on all of them. {outcome}"
        ),
        table=Table(
            ["data", "n", "exact: different sums", "plain: different sums"],
            [
                [data, n, len(exact), len(plain)] for (data, n), (exact, plain) in sums.items()
            ],
        ),
        runs=[],
    )  # fmt: skip


CHAPTER = Chapter(
    NAME,
    swept=("plain_uniform", "kahan_uniform", "neumaier_uniform", "double_uniform", "exact_uniform",
           "cub_uniform"),
    plots={
        "chapter11_error_and_speed": bind(error_and_speed, n=2**28),
        "chapter11_same_bits": same_bits,
    },
    diagrams={"floats_on_a_ruler": floats_on_a_ruler},
)  # fmt: skip
