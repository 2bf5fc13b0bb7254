"""The picture of the page on mutants: what each of the checks catches by itself."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from common.records import mutants
from figures.kit.axes import bar_chart
from figures.kit.pictures import Picture, Table
from figures.kit.style import Theme
from figures.kit.words import listed

ROOT = Path(__file__).resolve().parents[1]


def mutation_nets() -> Picture:
    """The share of all caught changes that each net catches, and what no other net would."""
    record = mutants.read((ROOT / mutants.FILE).read_text(encoding="utf-8"))
    caught = record.caught
    by, alone = record.by_net(caught), record.alone(caught)
    order = sorted((net for net in mutants.NETS if by[net]), key=lambda net: -by[net])
    beyond = sum(not {"result", "stopped"} & set(each.by) for each in caught)
    names = [f"{mutants.NETS[net]} ({alone[net]} by no other net)" for net in order[:3]]

    def draw(theme: Theme) -> Figure:
        rows = [
            (mutants.NETS[net], by[net] / len(caught), f"{by[net]}, {alone[net]} alone",
             net == order[0])
            for net in order
        ]  # fmt: skip
        return bar_chart(theme, rows, f"Of {len(caught)} faults, caught by")

    return Picture(
        draw=draw,
        alt=(
            f"Bars, one per check, for the {len(caught)} changes that were caught. The "
            f"longest bars: {listed(names)}. {beyond} give the right "
            "result and run to their end, while lanes run together."
        ),
        caption=(
            f"What each check catches by itself. The result alone is not enough: {beyond} of "
            f"{len(caught)} faults leave it right when lanes run together."
        ),
        table=Table(
            ["check", "catches", "no other check does"],
            [[mutants.NETS[net], by[net], alone[net]] for net in order],
        ),
    )


DIAGRAMS = {"mutation_nets": mutation_nets}
