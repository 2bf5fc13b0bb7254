"""The last method over sizes and over grids."""

from __future__ import annotations

from matplotlib.figure import Figure

from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures.chapters.chapter07_effective_bandwidth.kernels import BLOCK, NAME
from figures.kit import style
from figures.kit.axes import note, sizes_axis
from figures.kit.pictures import LARGE_N, Picture, Table, View, rate_of, run_columns, run_row
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import rate_text, short_size, size

STATES = {
    "reduce7_warm": "warm",
    "reduce7": "emptied by reading",
    "reduce7_after_write": "emptied by writing",
}


def l2_step(view: View) -> Picture:
    """Bandwidth of one kernel against n, with the L2 in three states."""
    sweeps = {name: view.over_n(NAME, name) for name in STATES}
    sizes = [found.run["n"] for found in sweeps["reduce7"]]
    peak = view.device["peak_gb_per_s"]
    in_l2 = view.device["l2_bytes"] / 4
    highest = max(sweeps["reduce7_warm"], key=rate_of)

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(axes, sizes, step=3)
        axes.axhline(peak, color=theme.muted, lw=1.2, ls="--", zorder=1)
        note(axes, theme, f"peak {peak:.0f}", (sizes[0], peak), (4, 4))
        axes.axvline(in_l2, color=theme.muted, lw=1.2, ls=(0, (1, 2)), zorder=1)
        note(axes, theme, "input = L2", (in_l2, peak), (-5, -5), side="right", over=False)
        for place, (name, state) in enumerate(STATES.items()):
            points = [(found.run["n"], rate_of(found)) for found in sweeps[name]]
            hue = SERIES[place]
            axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                color=theme.drawn(hue),
                marker=MARKERS[place],
                markersize=5,
                clip_on=False,
                zorder=3,
                label=state,
            )
        axes.set_ylim(0, max(peak, rate_of(highest)) * 1.1)
        axes.legend(frameon=False, loc="lower right", title="the L2 before each sample")
        axes.set_title("GB/s, useful bytes over time", loc="left", pad=10)
        return figure

    def rate_at(name: str, n: int) -> float:
        return next(rate_of(found) for found in sweeps[name] if found.run["n"] == n)

    beyond = [n for n in sizes if n > 4 * in_l2]
    alike = max(abs(rate_at("reduce7_warm", n) / rate_at("reduce7", n) - 1) for n in beyond)
    most = max(
        (n for n in sizes), key=lambda n: rate_at("reduce7", n) / rate_at("reduce7_after_write", n)
    )
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, reduce7 with its input still in the L2 reaches "
            f"{rate_text(rate_of(highest))} at n = {size(highest.run['n'])}, where it has "
            f"{rate_text(rate_at('reduce7', highest.run['n']))} when the L2 was emptied by "
            f"reading. From n = {size(beyond[0])} on the two are within {100 * alike:.1f} % of "
            "each other. Emptying by writing costs most at "
            f"n = {size(most)}: {rate_text(rate_at('reduce7_after_write', most))} in place of "
            f"{rate_text(rate_at('reduce7', most))}."
        ),
        caption=(
            f"One kernel, {BLOCK} threads per block, three states of the L2 before each sample: "
            "left warm by the sample before, emptied by reading a clean buffer (as everywhere in "
            "the book), emptied by writing one. The vertical line marks the input that just fills "
            f"the L2. The data have % of the theoretical peak."
        ),
        table=Table(
            ["the L2 before", *run_columns()],
            [
                [state, *run_row(found, view.device)]
                for name, state in STATES.items()
                for found in sweeps[name]
            ],
        ),
        runs=[found for sweep in sweeps.values() for found in sweep],
    )


# ------------------------------------------------------------------------------------------- Grids


def grid_sweep(view: View) -> Picture:
    """reduce7's bandwidth against the threads that its grid has for each SM."""
    n = LARGE_N
    by_block: dict[int, list[RecordedRun]] = {}
    for run in view.runs(NAME):
        if "blocks_an_sm" in run["params"] and run["n"] == n and run["block"] >= BLOCK:
            found = view.find(NAME, run["variant"], n, run["block"])
            by_block.setdefault(run["block"], []).append(found)
    if not by_block:
        raise NoSuchRun(f"the sweep of grids is not recorded in {view.known.name}")
    resident = view.device["max_threads_per_sm"]

    def threads(found: RecordedRun) -> int:
        return int(found.run["params"]["blocks_an_sm"]) * int(found.run["block"])

    for sweep in by_block.values():
        sweep.sort(key=threads)
    once = view.find(NAME, "reduce7_one_each", n, BLOCK)
    peak = view.device["peak_gb_per_s"]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        ticks = sorted({threads(found) for sweep in by_block.values() for found in sweep})
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
        axes.set_xticks(ticks[::2], [short_size(t) for t in ticks[::2]])
        axes.set_xlabel("threads that the grid has for each SM")
        axes.axhline(peak, color=theme.muted, lw=1.2, ls="--", zorder=1)
        note(axes, theme, f"peak {peak:.0f}", (ticks[0], peak), (4, 4))
        axes.axvline(resident, color=theme.muted, lw=1.2, ls=(0, (1, 2)), zorder=1)
        note(axes, theme, "an SM is full", (resident, 0), (-5, 5), side="right")
        for place, (block, sweep) in enumerate(sorted(by_block.items())):
            hue = SERIES[place]
            axes.plot(
                [threads(found) for found in sweep],
                [rate_of(found) for found in sweep],
                color=theme.drawn(hue),
                marker=MARKERS[place],
                markersize=5,
                clip_on=False,
                zorder=3,
                label=str(block),
            )
        axes.set_ylim(0, peak * 1.13)
        axes.legend(frameon=False, loc="lower right", title="threads per block")
        axes.set_title(f"GB/s at n = {size(n)}", loc="left", pad=10)
        return figure

    classic = by_block[BLOCK]
    least, best = classic[0], max(classic, key=rate_of)
    full = [found for found in classic if threads(found) == resident]
    words = f", {rate_text(rate_of(full[0]))} with a full SM" if full else ""
    return Picture(
        draw=draw,
        alt=(
            f"On {view.device_name}, at n = {size(n)} and {BLOCK} threads per block, reduce7 goes "
            f"from {rate_text(rate_of(least))} with {least.run['params']['blocks_an_sm']} block "
            f"per SM{words} to {rate_text(rate_of(best))} at best, with "
            f"{best.run['params']['blocks_an_sm']}. With one element per thread, as the classic "
            f"program launched it, it has {rate_text(rate_of(once))}."
        ),
        caption=(
            f"reduce7 on grids of 1 to 128 blocks per SM, n = {size(n)}. To the right of the "
            f"vertical line not all blocks fit at once: the rest wait. In the data's last row the "
            "grid has one thread per element."
        ),
        table=Table(
            ["blocks per SM", "threads per SM", "blocks", *run_columns()],
            [
                [
                    found.run["params"]["blocks_an_sm"],
                    threads(found),
                    found.run["grid"],
                    *run_row(found, view.device),
                ]
                for block in sorted(by_block)
                for found in by_block[block]
            ]
            + [["", "", once.run["grid"], *run_row(once, view.device)]],
        ),
        runs=[*(found for sweep in by_block.values() for found in sweep), once],
    )
