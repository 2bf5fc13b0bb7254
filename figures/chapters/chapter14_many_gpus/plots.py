"""One GPU and two over n, what it takes to bring their sums together, and a model of many GPUs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from common.records.other_libraries import path_of
from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures.kit import style
from figures.kit.axes import bar_chart, draw_curves, heading, label_ends, sizes_axis
from figures.kit.pictures import Picture, Table, View, time_of
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import listed, short_size, significant, size

NAME = "chapter14_many_gpus"
LEAST = 2**14

#: What is drawn over n, and what it is called: before the reader knows of other ways, and after.
FIRST_WAY = {"atomics_1": "one GPU", "atomics_2": "two GPUs"}
ALL_WAYS = {
    "atomics_1": "one GPU",
    "atomics_2": "two, atomics",
    "stores_2": "two, stores",
    "host_2": "two, by the host",
}
#: Where the ways part.
NEAR = (2**20, 2**27)


def over(view: View, variant: str, least: int = 0) -> list[RecordedRun]:
    """A variant's runs over the powers of two among n."""
    runs = view.over_n(NAME, variant)
    return [found for found in runs if (n := found.run["n"]) >= least and n & (n - 1) == 0]


@dataclass(frozen=True)
class Ways:
    """Times of one GPU and of two, by the way in which two hand over."""

    view: View
    names: dict[str, str]
    least: int
    most: int | None = None

    @cached_property
    def series(self) -> dict[str, list[RecordedRun]]:
        return {
            variant: [
                found
                for found in over(self.view, variant, self.least)
                if self.most is None or found.run["n"] <= self.most
            ]
            for variant in self.names
        }

    def times(self, variant: str) -> dict[int, float]:
        return {found.run["n"]: time_of(found) for found in self.series[variant]}

    def ahead(self, variant: str) -> str:
        """From what n on two GPUs that hand over so are faster than one."""
        one, two = self.times("atomics_1"), self.times(variant)
        both = sorted(one.keys() & two.keys())
        first = next((n for n in both if all(two[m] < one[m] for m in both if m >= n)), None)
        return f"from {short_size(first)} elements on" if first else "at none of these sizes"

    def draw(self, theme: Theme, ticks: list[int], sizes: list[int]) -> Figure:
        figure, axes = style.new_figure(4.6)
        ends = draw_curves(axes, theme, [
            (name, [(float(n), us) for n, us in self.times(variant).items()])
            for variant, name in self.names.items()
        ])  # fmt: skip
        axes.set_yscale("log")
        sizes_axis(axes, sizes, "n, the number of elements")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_yticks(ticks, [str(each) for each in ticks])
        highest = max(us for variant in self.names for us in self.times(variant).values())
        axes.set_ylim(4, 1.2 * highest)
        heading(axes, "µs")
        label_ends(axes, theme, ends)
        return figure

    def table(self) -> Table:
        return Table(
            ["kernel", "n", "µs"],
            [
                [variant, size(n), significant(us)]
                for variant in self.names
                for n, us in self.times(variant).items()
            ],
        )

    def runs(self) -> list[RecordedRun]:
        return [found for runs in self.series.values() for found in runs]


def over_n(view: View) -> Picture:
    """One GPU, and two that meet by events."""
    ways = Ways(view, FIRST_WAY, LEAST)
    one, two = ways.times("atomics_1"), ways.times("atomics_2")
    last = max(one.keys() & two.keys())
    return Picture(
        draw=lambda theme: ways.draw(
            theme, [3, 10, 30, 100, 300, 1000, 3000], [LEAST, 2**20, 2**26, last]
        ),
        alt=(
            f"On two cards ({view.device_name}), sums of {short_size(LEAST)} to "
            f"{short_size(last)} elements. Two GPUs that meet by events are faster than one "
            f"{ways.ahead('atomics_2')}. At {short_size(last)} one takes {significant(one[last])} "
            f"µs and two take {significant(two[last])} µs, {significant(one[last] / two[last])} "
            "times as fast."
        ),
        caption=(
            "The same array on one GPU, and half of it on each of two. On the left, the meeting "
            "costs more than the second memory saves. On the right, two GPUs take half as long."
        ),
        table=ways.table(),
        runs=ways.runs(),
    )


def all_ways(view: View) -> Picture:
    """The ways of two GPUs to hand over, where they differ."""
    ways = Ways(view, ALL_WAYS, *NEAR)
    return Picture(
        draw=lambda theme: ways.draw(
            theme, [5, 10, 20, 50, 100, 200], [2**20, 2**22, 2**24, 2**27]
        ),
        alt=(
            f"On two cards ({view.device_name}), sums of {short_size(NEAR[0])} to "
            f"{short_size(NEAR[1])} elements. Two GPUs that hand over by a store are faster than "
            f"one {ways.ahead('stores_2')}, by atomics {ways.ahead('atomics_2')}, by the host "
            f"{ways.ahead('host_2')}."
        ),
        caption=(
            "Three ways for two GPUs to hand over. Follow the line of one GPU to the right: a way "
            "pays where its line is below."
        ),
        table=ways.table(),
        runs=ways.runs(),
    )


#: A line of the program's table: variant, n, block, grid, median.
_LINE = re.compile(r"^(?P<name>\w+)(?: \(\w+\))?\s+\S+\s+\d+\s+\d+\s+(?P<us>\d+\.\d+)\s", re.M)


def of_processes(root: Path, device: str) -> dict[str, float]:
    """What one process per GPU took, by variant, in microseconds; none where it wasn't recorded."""
    path = path_of(root, NAME, device, "processes")
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return {found["name"]: float(found["us"]) for found in _LINE.finditer(text)}


#: By variant, in the order in which they are shown.
LAST = {
    "nothing_1": "nothing, one GPU",
    "nothing_2": "nothing, two GPUs",
    "last_stores_2": "a store",
    "last_reduce_2": "NCCL, reduce",
    "last_all_reduce_2": "NCCL, all-reduce",
    "last_atomics_2": "atomics",
    "last_host_2": "by the host",
}


def last_steps(view: View) -> Picture:
    """What it takes until two GPUs' sums are one."""
    found = {variant: view.find(NAME, variant) for variant in LAST}
    by_name = {name: time_of(found[variant]) for variant, name in LAST.items()}

    def draw(theme: Theme) -> Figure:
        rows = [
            (name, us, f"{significant(us)} µs", name == "a store") for name, us in by_name.items()
        ]
        return bar_chart(theme, rows, "until GPU 0 has the total")

    return Picture(
        draw=draw,
        alt=(
            f"On two cards ({view.device_name}), each with its sum. A store hands over in "
            f"{significant(by_name['a store'])} µs, NCCL's all-reduce in "
            f"{significant(by_name['NCCL, all-reduce'])} µs, atomics in "
            f"{significant(by_name['atomics'])} µs, the host in "
            f"{significant(by_name['by the host'])} µs. Empty kernels on both GPUs take "
            f"{significant(by_name['nothing, two GPUs'])} µs, on one "
            f"{significant(by_name['nothing, one GPU'])} µs."
        ),
        caption=(
            "Each GPU has its sum. How long until GPU 0 has the total? The top two bars are empty "
            "kernels. Only atomics and the host take longer than the second."
        ),
        table=Table(
            ["step", "µs"],
            [[name, significant(us)] for name, us in by_name.items()],
        ),
        runs=list(found.values()),
    )


@dataclass(frozen=True)
class Model:
    """time = floor + bytes ÷ (GPUs × bandwidth) + step × log₂ GPUs, and what it takes to start
    several GPUs."""

    floor_us: float
    us_per_element: float
    step_us: float
    start_us: float = 0

    def us(self, n: float, gpus: int) -> float:
        start = self.start_us if gpus > 1 else 0
        reading = self.us_per_element * n / gpus
        return self.floor_us + reading + start + self.step_us * math.log2(gpus)

    def best(self, n: float, most: int) -> int:
        """The power of two among the numbers of GPUs that takes the least time."""
        numbers = [1 << k for k in range(most.bit_length())]
        return min(numbers, key=lambda gpus: self.us(n, gpus))


MOST_GPUS = 1024
MODELLED = (2**24, 2**28, 2**31, 2**34)


def fitted(view: View) -> tuple[Model, list[RecordedRun]]:
    """The model's numbers, each from recorded times, and those. What a step takes shows where the
    GPUs' processes have met already, and without their times all that a second GPU adds is one."""
    one = over(view, "all_reduce_1")
    few, many = one[0], one[-1]
    alone, both = (view.find(NAME, f"last_all_reduce_{gpus}") for gpus in (1, 2))
    added = time_of(both) - time_of(alone)
    met = of_processes(view.recordings.root, view.known.name)
    two = {"last_all_reduce_2", "nothing_2"} <= met.keys()
    step = met["last_all_reduce_2"] - met["nothing_2"] if two else added
    made = Model(
        floor_us=time_of(few),
        us_per_element=(time_of(many) - time_of(few)) / many.run["n"],
        step_us=step,
        start_us=added - step,
    )
    return made, [few, many, alone, both]


#: How many GPUs the model is made from, and how many it may be asked about.
MADE_FROM, ASKED_ABOUT = (1, 2), (4, 8)


def asked_about(view: View) -> dict[tuple[int, int], RecordedRun]:
    """What more GPUs than two took, by n and their number: in this set or, for the book's, in
    another of the same card."""
    others = () if view.known.is_local else view.recordings.second.values()
    alike = [known for known in others if known.chapters and known.device == view.device]
    for known in (view.known, *alike):
        if NAME in known.chapters:
            there = View(view.recordings, known)
            shapes = {(run["variant"], run["n"]) for run in there.runs(NAME)}
            found = {
                (n, gpus): there.find(NAME, f"all_reduce_{gpus}", n)
                for gpus in ASKED_ABOUT
                for n in MODELLED
                if (f"all_reduce_{gpus}", n) in shapes
            }
            if found:
                return found
    return {}


def model(view: View) -> Picture:
    """A model of up to a thousand GPUs, beside what one and two of them took, and what more did."""
    made, from_runs = fitted(view)
    measured = {
        (found.run["n"], gpus): found
        for gpus in MADE_FROM
        for found in over(view, f"all_reduce_{gpus}")
        if found.run["n"] in MODELLED
    }
    more = asked_about(view)
    if not measured or not more:  # the page speaks of both
        raise NoSuchRun(f"{view.known.name} has nothing to hold the model to")
    told = measured | more
    numbers = [2**k for k in range(MOST_GPUS.bit_length())]

    def off(runs: dict[tuple[int, int], RecordedRun]) -> str:
        furthest = max(abs(made.us(n, gpus) / time_of(run) - 1) for (n, gpus), run in runs.items())
        return f"within {math.ceil(100 * furthest)} %"

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(4.6)
        ends = []
        for place, n in enumerate(MODELLED):
            hue = theme.drawn(SERIES[place])
            axes.plot(numbers, [made.us(n, gpus) for gpus in numbers], color=hue,
                      ls=(0, (4, 3)), lw=1.6, zorder=2)  # fmt: skip
            for runs, fill in ((measured, hue), (more, theme.background)):
                there = [(gpus, time_of(run)) for (m, gpus), run in runs.items() if m == n]
                if there:
                    axes.plot(*zip(*there, strict=True), ls="none", color=hue, mfc=fill,
                              marker=MARKERS[place], markersize=6, clip_on=False,
                              zorder=3)  # fmt: skip
            ends.append((size(n), SERIES[place], float(MOST_GPUS), made.us(n, MOST_GPUS)))
        axes.set_yscale("log")
        sizes_axis(axes, [1, 2, 4, 8, 32, 128, MOST_GPUS], "GPUs", name=str)
        ticks = [10, 100, 1000, 10000]
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_yticks(ticks, ["10", "100", "1000", "10 000"])
        axes.set_ylim(8, 1.6 * made.us(MODELLED[-1], 1))
        heading(axes, "µs, a model")
        label_ends(axes, theme, ends)
        return figure

    late = [n for n in MODELLED if made.best(n, MOST_GPUS) == MOST_GPUS]
    turns = (
        f"For {listed([size(n) for n in late])} that happens beyond the right edge." if late else ""
    )
    best = listed([f"{made.best(n, MOST_GPUS)} at {short_size(n)}" for n in MODELLED])
    many = sorted({gpus for _n, gpus in more})
    here = all(run.set_name == view.known.name for run in more.values())
    start = (
        f", {significant(made.start_us)} µs once for starting more than one"
        if made.start_us
        else ""
    )
    others = f"{listed([str(gpus) for gpus in many])} {'' if here else 'other '}GPUs"
    return Picture(
        draw=draw,
        alt=(
            f"A model from times of {view.device_name}: {significant(made.floor_us)} µs, plus the "
            f"bytes at {4 / made.us_per_element / 1000:.0f} GB/s per GPU{start}, plus "
            f"{significant(made.step_us)} µs for each doubling of the GPUs. It is {off(measured)} "
            f"of what one and two took, and {off(more)} of what {others} of the same type took. "
            f"By it these are the best numbers of GPUs, of up to {MOST_GPUS}: {best}."
        ),
        caption=(
            f"A model, not a measurement: a floor of {significant(made.floor_us)} µs, the bytes "
            f"shared by all GPUs{start}, and {significant(made.step_us)} µs more whenever their "
            "number doubles. Filled marks "
            f"are NCCL's sums on one and two GPUs. Open marks are sums on {others} of the same "
            f"type, and the model is {off(more)} of them. A curve turns upwards where another "
            f"doubling costs more than it saves. {turns}"
        ),
        table=Table(
            ["n", "GPUs", "µs by the model", "µs measured"],
            [
                [size(n), gpus, significant(made.us(n, gpus)),
                 significant(time_of(told[n, gpus])) if (n, gpus) in told else ""]
                for n in MODELLED
                for gpus in numbers
            ],
        ),
        runs=[*from_runs, *told.values()],
    )  # fmt: skip
