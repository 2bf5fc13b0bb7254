"""Chapter 1's own plots."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from common.records.recordings import counter_of
from figures.kit.axes import bar_chart
from figures.kit.pictures import (
    LARGE_N,
    Picture,
    Table,
    View,
    name_of,
    run_columns,
    run_row,
    time_of,
)
from figures.kit.style import Theme
from figures.kit.words import size, time_text

#: The same tree in the same memory, by other threads.
PLAYERS = ("gmem_interleaved", "gmem")
#: To the fastest tree in place.
IN_PLACE = (*PLAYERS, "gmem_unrolled", "gmem_early_exit")
_ACTS = {"moved": "moves", "issued": "issues"}
SECTORS = ("global_load_sectors", "global_store_sectors")


def players(view: View) -> Picture:
    """What it does to the first kernel that other threads add, with the sectors they move."""
    return _first_passes(view, PLAYERS, SECTORS, "sectors", "moved")


def in_place(view: View) -> Picture:
    """The first passes that stay in global memory, with what they issue."""
    return _first_passes(view, IN_PLACE, ("instructions",), "instructions", "issued")


def _first_passes(
    view: View, names: Sequence[str], counters: Sequence[str], things: str, done: str
) -> Picture:
    """Times, each with the sum of some counters per block: so many `things` are `done`."""
    chapter = "chapter01_gmem"

    def by_a_block(name: str) -> float:
        counted = view.counters(chapter, name)
        total = sum(counter_of(counted, counter) for counter in counters)
        return total / counted.run["launches"][0]["grid"][0]

    rows = [(view.find(chapter, name, LARGE_N), by_a_block(name)) for name in names]

    def draw(theme: Theme) -> Figure:
        lead = min(time_of(found) for found, _ in rows)
        bars = [
            (
                name_of(found),
                time_of(found),
                f"{time_text(time_of(found))}, {each:.0f} {done}",
                time_of(found) == lead,
            )
            for found, each in rows
        ]
        return bar_chart(theme, bars, f"Time, and {things} {done} per block")

    said = "; ".join(
        f"{name_of(found)} {time_text(time_of(found))} and {each:.0f} {things} per block"
        for found, each in rows
    )
    return Picture(
        draw=draw,
        alt=f"First passes in place on {view.device_name}, at n = {size(LARGE_N)}: {said}.",
        caption=(
            f"First passes over {size(LARGE_N)} integers, {rows[0][0].run['block']} threads per "
            f"block. After each time: the {things} that one block {_ACTS[done]}."
        ),
        table=Table(
            [*run_columns(), f"{things} per block"],
            [[*run_row(found, view.device), round(each)] for found, each in rows],
        ),
        runs=[found for found, _ in rows],
    )
