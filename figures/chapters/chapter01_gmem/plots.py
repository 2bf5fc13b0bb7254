"""Chapter 1's own plot."""

from __future__ import annotations

from matplotlib.figure import Figure

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
from figures.records.recordings import counter_of

#: From the first kernel of the book to the fastest tree in place.
IN_PLACE = ("gmem_interleaved", "gmem", "gmem_unrolled", "gmem_early_exit")


def in_place(view: View) -> Picture:
    """The first passes that stay in global memory, with what they issue."""
    chapter = "chapter01_gmem"

    def issued_by_a_block(name: str) -> float:
        counted = view.counters(chapter, name)
        return counter_of(counted, "instructions") / counted.run["launches"][0]["grid"][0]

    rows = [(view.find(chapter, name, LARGE_N), issued_by_a_block(name)) for name in IN_PLACE]

    def draw(theme: Theme) -> Figure:
        lead = min(time_of(found) for found, _ in rows)
        bars = [
            (
                name_of(found),
                time_of(found),
                f"{time_text(time_of(found))}, {issued:.0f} issued",
                time_of(found) == lead,
            )
            for found, issued in rows
        ]
        return bar_chart(theme, bars, "Time, and instructions issued per block")

    said = "; ".join(
        f"{name_of(found)} {time_text(time_of(found))} and {issued:.0f} instructions per block"
        for found, issued in rows
    )
    return Picture(
        draw=draw,
        alt=f"First passes in place on {view.device_name}, at n = {size(LARGE_N)}: {said}.",
        caption=(
            f"First passes over {size(LARGE_N)} integers, {rows[0][0].run['block']} threads per "
            "block. After each time: the instructions that one block issues."
        ),
        table=Table(
            [*run_columns(), "instructions per block"],
            [[*run_row(found, view.device), round(issued)] for found, issued in rows],
        ),
        runs=[found for found, _ in rows],
    )
