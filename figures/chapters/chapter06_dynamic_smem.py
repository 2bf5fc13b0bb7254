"""Chapter 6: shared memory whose size is given at the launch, and what fits an SM."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from common.records.recordings import RecordedRun, counter_of
from common.records.schema import Device
from common.records.sets import NoSuchRun
from figures.kit import patterns, style
from figures.kit.axes import explain_marks, heading
from figures.kit.canvas import GLOBAL_HUE, canvas
from figures.kit.chapter import Chapter
from figures.kit.costs import tiles
from figures.kit.pictures import Picture, Table, View, name_of, time_of
from figures.kit.style import Theme
from figures.kit.words import bytes_text, listed, size, time_text, times_text

NAME = "chapter06_dynamic_smem"


#: Shared memory is given out in pieces of this size from compute capability 8.0 on.
SHARED_PIECE = 128


def blocks_that_fit(device: Device, block: int, shared_bytes: int) -> int:
    """Blocks an SM has room for by its threads and its shared memory, each the driver's share too.

    The 32 blocks that an SM takes at most, and registers, are left out: at this chapter's block
    size and with its kernels neither is ever the least.
    """
    pieces = -(-shared_bytes // SHARED_PIECE) * SHARED_PIECE
    by_shared = device["shared_per_sm"] // (pieces + device["shared_reserved"])
    return int(min(device["max_threads_per_sm"] // block, by_shared))


def _asked(view: View) -> list[RecordedRun]:
    """dynamic_unroll4 and the launches that ask for more than it, by bytes per block."""
    chapter = "chapter06_dynamic_smem"
    n = view.large_n(chapter)
    names = {run["variant"] for run in view.runs(chapter) if "shared_kib" in run["params"]}
    founds = [view.find(chapter, name, n) for name in (*names, "dynamic_unroll4")]
    if len(founds) < 3:
        raise NoSuchRun(f"{chapter}'s sweep of shared bytes is not recorded in {view.known.name}")
    if "shared_reserved" not in view.device or "blocks_per_sm" not in founds[0].run:
        raise NoSuchRun(f"{view.known.name} does not say how many blocks fit an SM")
    return sorted(founds, key=lambda found: _bytes(found))


def _bytes(found: RecordedRun) -> int:
    """Of shared memory that a block asks for."""
    return _given(found, found.run["shared_bytes"])


def _fit(found: RecordedRun) -> int:
    """Blocks that fit an SM."""
    return _given(found, found.run["blocks_per_sm"])


def _given(found: RecordedRun, number: int | None) -> int:
    if number is None:
        raise NoSuchRun(f"{name_of(found)} lacks its shared bytes, or the blocks that fit an SM")
    return number


def _kib(found: RecordedRun) -> float:
    return _bytes(found) / 1024


#: What the picture of the box shows: blocks of growing appetite, half as many fit each time.
IN_THE_BOX = ("dynamic_unroll4", "ask48k", "ask96k", "ask227k")


def shared_box(view: View) -> Picture:
    """An SM as a box: threads to the right, shared memory upwards, and a block per step."""
    asked = {name_of(found): found for found in _asked(view)}
    missing = [name for name in IN_THE_BOX if name not in asked]
    if missing:
        raise NoSuchRun(f"{view.known.name} lacks {listed(missing)}")
    founds = [asked[name] for name in IN_THE_BOX]
    device, block = view.device, founds[0].run["block"]
    threads = device["max_threads_per_sm"]
    whole, reserved = device["shared_per_sm"] / 1024, device["shared_reserved"] / 1024

    def draw(theme: Theme) -> Figure:
        figure, panels = style.new_panels(len(founds), 3.0)
        for axes, found in zip(panels, founds, strict=True):
            each = _kib(found) + reserved
            for step in range(_fit(found)):
                axes.add_patch(
                    Rectangle(
                        (step * block, step * each),
                        block,
                        each,
                        facecolor=style.mix(theme.chapter(6), theme.background, 0.45),
                        edgecolor=theme.chapter(6),
                        linewidth=1.4,
                        zorder=2,
                    )
                )
            axes.set_xlim(0, threads)
            axes.set_ylim(0, whole)
            axes.set_xticks([threads], [str(threads)], ha="right")
            axes.set_yticks([0, whole], ["0", f"{whole:.0f}"])
            axes.tick_params(length=0)
            for side in ("top", "right", "bottom", "left"):
                axes.spines[side].set_visible(True)
                axes.spines[side].set_linewidth(1.6)
            blocks = f"{_fit(found)} block{'s' * (_fit(found) > 1)}"
            axes.set_xlabel(f"{blocks},\n{bytes_text(_bytes(found))}\neach")
        panels[0].set_ylabel("shared memory, KiB")
        figure.suptitle(f"each box has room for {threads} threads", x=0.02, ha="left",
                        fontsize=style.FONT_PT)  # fmt: skip
        return figure

    words = [f"{_fit(f)} with {bytes_text(_bytes(f))}" for f in founds]
    return Picture(
        draw=draw,
        alt=(
            f"An SM of {view.device_name} as a box, {threads} threads wide and {whole:.0f} KiB of "
            f"shared memory high, packed with blocks of {block} threads until another has no "
            f"room. How many fit depends on what each block asks for: {listed(words)}."
        ),
        caption=(
            f"The same SM as a box, with ever greedier blocks. Each block is {block} threads wide, "
            "its height is the shared memory that it takes, and it starts at the corner of the "
            "block before. Packing stops at the first wall: the one on the right is threads, the "
            "ceiling is shared memory. A gap on the right is threads that the SM could run and "
            "doesn't."
        ),
        table=Table(
            ["variant", "shared bytes per block", "blocks per SM", "threads per SM"],
            [
                [name_of(found), found.run["shared_bytes"], _fit(found), _fit(found) * block]
                for found in founds
            ],
        ),
        runs=founds,
    )


def shared_fit(view: View) -> Picture:
    """An SM's shared memory, and the blocks that it is divided among."""
    founds = _asked(view)
    device = view.device
    whole = device["shared_per_sm"] / 1024
    reserved = device["shared_reserved"] / 1024
    block = founds[0].run["block"]
    by_threads = device["max_threads_per_sm"] // block

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.0 + 0.42 * len(founds))
        for place, found in enumerate(founds):
            each = _kib(found) + reserved
            for number in range(_fit(found)):
                axes.barh(
                    place,
                    each,
                    left=number * each,
                    height=0.66,
                    color=theme.tint("blue", 0.6),
                    edgecolor=theme.drawn("blue"),
                    linewidth=1.2,
                )
            rest = whole - _fit(found) * each
            axes.barh(place, rest, left=whole - rest, height=0.66, color="none", hatch="////",
                      edgecolor=theme.grid, linewidth=1.0)  # fmt: skip
            axes.annotate(
                str(_fit(found)),
                xy=(whole, place),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                weight="bold",
            )
        axes.set_yticks(range(len(founds)), [bytes_text(_bytes(f)) for f in founds])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, whole)
        ticks = [0, 64, 128, 192] if whole > 192 else [0, 32, 64, 96]
        axes.set_xticks([tick for tick in ticks if tick < whole])
        axes.set_xlabel(f"KiB of the {whole:.0f} that an SM has")
        axes.spines["left"].set_visible(False)
        axes.set_title("asked for per block", loc="left", pad=10)
        axes.set_title("blocks that fit", loc="right", pad=10)
        return figure

    words = [f"{_fit(f)} with {bytes_text(_bytes(f))}" for f in founds]
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, whose SMs have {whole:.0f} KiB of shared memory for blocks, "
            f"the number of blocks of {block} threads that fit an SM is {listed(words)} asked for "
            f"by each. More than {by_threads} never fit: that is all the threads that an SM holds."
        ),
        caption=(
            f"An SM's shared memory, divided among blocks of {block} threads. Each box is what one "
            f"block has asked for and the {reserved:.0f} KiB that the driver adds; what is hatched "
            "stays unused. The number of blocks is the occupancy calculator's."
        ),
        table=Table(
            ["variant", "shared bytes per block", "blocks per SM", "KiB unused"],
            [
                [
                    name_of(found),
                    found.run["shared_bytes"],
                    _fit(found),
                    round(whole - _fit(found) * (_kib(found) + reserved), 1),
                ]
                for found in founds
            ],
        ),
        runs=founds,
    )


def _draw_occupancy(
    sizes: list[int],
    stairs: list[tuple[int, float]],
    predicted: list[float],
    measured: list[float],
    times: list[float],
    theme: Theme,
) -> Figure:
    figure, panels = style.new_panels(2, shared=False)
    for axes in panels:
        axes.set_xlim(0, sizes[-1] * 1.02)
        marks = [b for b in (0, 48, 96, 227) if b * 1024 <= sizes[-1]]
        axes.set_xticks([1024 * mark for mark in marks], [str(mark) for mark in marks])
        axes.set_xlabel("KiB per block")
        axes.grid(axis="y")
    left, right = panels
    if stairs:
        left.step([x for x, _ in stairs], [y for _, y in stairs], where="post",
                  color=theme.drawn("blue"), lw=1.4, zorder=2)  # fmt: skip
    left.plot(sizes, predicted, ls="none", marker="o", markersize=9, color=theme.background,
              markeredgecolor=theme.drawn("blue"), markeredgewidth=1.8, zorder=3,
              clip_on=False)  # fmt: skip
    left.plot(sizes, measured, ls="none", marker="D", markersize=5.5,
              color=theme.drawn("vermillion"), zorder=4, clip_on=False)  # fmt: skip
    left.set_ylim(0, 105)
    explain_marks(left, theme, (("○ predicted", "blue", 0.93), ("◆ counted", "vermillion", 0.82)))
    heading(left, "Occupancy, %")
    # A line for the eye alone: what lies between the points comes in steps, as at the left.
    right.plot(sizes, times, color=theme.muted, lw=1.2, ls=":", zorder=2)
    right.plot(sizes, times, ls="none", marker="s", markersize=7, zorder=3, clip_on=False,
               color=theme.drawn("vermillion"))  # fmt: skip
    right.set_ylim(0, max(times) * 1.12)
    milli = max(times) >= 1000
    right.yaxis.set_major_formatter(
        lambda value, _place: f"{value / 1000:.1f}" if milli and value else f"{value:.0f}"
    )
    heading(right, f"Time, {'ms' if milli else 'µs'}")
    return figure


def shared_occupancy(view: View) -> Picture:
    """Occupancy, predicted and counted, and time, against the bytes that each block asks for."""
    chapter = "chapter06_dynamic_smem"
    founds = _asked(view)
    counted = [view.counters(chapter, name_of(found)) for found in founds]
    device, block = view.device, founds[0].run["block"]
    warps, room = block // patterns.WARP, int(device["max_threads_per_sm"]) // patterns.WARP
    n = founds[0].run["n"]
    sizes = [_bytes(found) for found in founds]

    def occupancy(blocks: int) -> float:
        return float(100 * blocks * warps / room)

    predicted = [occupancy(_fit(found)) for found in founds]
    measured = [counter_of(found, "occupancy_pct") for found in counted]
    # The stairs between the points are drawn where the rule gives the calculator's own numbers.
    known = all(
        blocks_that_fit(device, block, size) == found.run["blocks_per_sm"]
        for size, found in zip(sizes, founds, strict=True)
    )
    fine = [1024 * k for k in range(1, sizes[-1] // 1024 + 1)]
    stairs = [(b, occupancy(blocks_that_fit(device, block, b))) for b in fine] if known else []

    times = [time_of(found) for found in founds]
    first, last = founds[0], founds[-1]
    steps = [
        f"{bytes_text(size_)}: {want:.0f} % predicted and {got:.0f} % counted, "
        f"{time_text(time_of(found))}"
        for size_, want, got, found in zip(sizes, predicted, measured, founds, strict=True)
    ]
    return Picture(
        draw=partial(_draw_occupancy, sizes, stairs, predicted, measured, times),
        alt=(
            f"On {view.device_name}, occupancy and time of one kernel at n = {size(n)}, by the "
            f"shared memory that each block of {block} threads asks for: {'; '.join(steps)}. The "
            f"last takes {times_text(time_of(last) / time_of(first))} as long as the first."
        ),
        caption=(
            "Left: occupancy as the occupancy calculator predicts it (circles) and as the hardware "
            f"counts it (diamonds, n = {size(counted[0].run['n'])}). Right: the kernel's time at "
            f"n = {size(n)}. "
            f"{block} threads per block; the kernel uses {bytes_text(sizes[0])} of what it asks "
            "for."
        ),
        table=Table(
            [
                "variant",
                "shared bytes per block",
                "blocks per SM",
                "occupancy predicted, %",
                "occupancy counted, %",
                "median µs",
                "times as long",
            ],
            [
                [
                    name_of(found),
                    size_,
                    found.run["blocks_per_sm"],
                    round(want, 1),
                    round(got, 1),
                    time_of(found),
                    round(time_of(found) / time_of(first), 2),
                ]
                for found, size_, want, got in zip(founds, sizes, predicted, measured, strict=True)
            ],
        ),
        runs=[*founds, *counted],
    )


# -------------------------------------------------------------------------------------- Two arrays


def laid_out(block: int, order: Sequence[tuple[str, int]]) -> list[tuple[str, int, int, int]]:
    """Arrays of *block* slots back to back: name, slot, first byte, bytes per slot."""
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
        figure, axes = canvas(end + 2, 9.8, 3.1)
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


CHAPTER = Chapter(
    NAME,
    swept=("smem", "dynamic_smem", "unroll4", "dynamic_unroll4"),
    plots={
        "chapter06_box": shared_box,
        "chapter06_fit": shared_fit,
        "chapter06_occupancy": shared_occupancy,
    },
    diagrams={"two_arrays": two_arrays},
    patterns={
        **dict.fromkeys(("dynamic_smem", "typed_int", "dynamic_unroll4"), tiles()),
        **{f"ask{kib}k": tiles() for kib in (32, 48, 64, 96, 227)},
    },
)
