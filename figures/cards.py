"""The climb on several cards side by side: times, shares of each card's own read roof, and sizes.

``tools/compare`` draws these of any recordings; the guide draws them of the book's two cards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from common.records.naming import DEFAULT_BLOCK
from common.records.recordings import RecordedRun
from common.records.sets import NoSuchRun
from figures import chapters
from figures.kit import style
from figures.kit.axes import heading, label_ends, sizes_axis
from figures.kit.chapter import Plot
from figures.kit.pictures import Picture, Table, View, rate_of, run_columns, run_row, time_of
from figures.kit.style import MARKERS, SERIES, Theme
from figures.kit.words import card, rate_text, size, time_text, times_text

#: As many cards as a picture shows apart.
MOST_CARDS = 4
#: A rung stands beneath the roof where it reaches so much of it.
NEAR = 0.9
_LONGEST_NAME = 26
_HATCHES = ("", "////", "....", "xxxx")


def names_of(views: Sequence[View]) -> list[str]:
    """What each card is called, told apart; a dollar sign would be mathematics to Matplotlib."""
    short = [card(view.device_name)[:_LONGEST_NAME].strip() for view in views]
    names = [
        f"{name} ({view.known.name})" if short.count(name) > 1 else name
        for name, view in zip(short, views, strict=True)
    ]
    return [name.replace("$", "").replace("\\", "") for name in names]


@dataclass(frozen=True)
class Rung:
    """A rung of the climb, with what each card took for it: None where it is not recorded."""

    chapter: str
    change: str
    founds: tuple[RecordedRun | None, ...]


def _at(view: View, chapter: str, variant: str, n: int) -> RecordedRun | None:
    try:
        return view.find(chapter, variant, n, DEFAULT_BLOCK)
    except NoSuchRun:
        return None


def _sizes(view: View, chapter: str, variant: str) -> set[int]:
    record = view.known.chapters.get(chapter)
    return {
        run["n"]
        for run in (record.shown if record else [])
        if (run["variant"], run["block"]) == (variant, DEFAULT_BLOCK)
    }


def common_climb(views: Sequence[View]) -> tuple[int, list[Rung]]:
    """The rungs that any card has, at the largest of the sizes at which all have most of them."""
    spine = [
        (name, variant, change)
        for name, chapter in chapters.known().items()
        for variant, change in chapter.spine.items()
    ]
    at_size: dict[int, int] = {}
    for name, variant, _change in spine:
        for n in set.intersection(*(_sizes(view, name, variant) for view in views)):
            at_size[n] = at_size.get(n, 0) + 1
    if not at_size:
        raise NoSuchRun("no rung of the climb is recorded at the same size on all of these cards")
    n = max(at_size, key=lambda size: (at_size[size], size))
    rungs = [
        Rung(name, change, tuple(_at(view, name, variant, n) for view in views))
        for name, variant, change in spine
    ]
    return n, [rung for rung in rungs if any(rung.founds)]


def _runs(rungs: Sequence[Rung]) -> list[RecordedRun]:
    return [found for rung in rungs for found in rung.founds if found]


def _labelled_rungs(axes: Axes, theme: Theme, rungs: Sequence[Rung], top: float) -> None:
    """Each rung's words over its row, from the top down."""
    for place, rung in enumerate(rungs):
        axes.annotate(
            rung.change,
            xy=(0, place - top),
            xycoords=("axes fraction", "data"),
            va="bottom",
            color=theme.ink,
        )
    axes.set_ylim(len(rungs) - 0.4, -0.65)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


# ------------------------------------------------------------------------------------ times


def climb_times(views: Sequence[View]) -> Picture:
    """The time of every rung on each card, at the largest size that all have."""
    names = names_of(views)
    n, rungs = common_climb(views)
    times = [time_of(found) for found in _runs(rungs)]

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(0.5 + (0.34 + 0.22 * len(views)) * len(rungs))
        height = 0.62 / len(views)
        for place, rung in enumerate(rungs):
            for which, found in enumerate(rung.founds):
                at = place - 0.2 + height * which
                hue = SERIES[which]
                taken = time_of(found) if found else 0.0
                axes.barh(
                    at,
                    taken,
                    height=height * 0.86,
                    color=theme.tint(hue, 0.45),
                    edgecolor=theme.drawn(hue),
                    hatch=_HATCHES[which],
                    linewidth=1.0,
                )
                axes.annotate(
                    f"{names[which]}, {time_text(taken) if found else 'not measured'}",
                    xy=(taken, at),
                    xytext=(6, 0),
                    textcoords="offset points",
                    va="center",
                    color=theme.written(hue),
                )
        _labelled_rungs(axes, theme, rungs, 0.24 + height / 2)
        longest = max(map(len, names))
        axes.set_xlim(0, max(times) * (1.38 + 0.035 * longest))
        axes.xaxis.set_visible(False)
        axes.spines["bottom"].set_visible(False)
        heading(axes, f"Time to add up {size(n)} integers")
        return figure

    return Picture(
        draw=draw,
        alt=f"The climb at {size(n)} integers. {_times_said(views, rungs)}",
        caption=(
            f"Finished sums of {size(n)} integers, {DEFAULT_BLOCK} threads per block: median time "
            "of each rung, card by card."
        ),
        table=Table(
            ["change", "card", *run_columns()],
            [
                [rung.change, name, *run_row(found, view.device)]
                for rung in rungs
                for name, view, found in zip(names, views, rung.founds, strict=True)
                if found
            ],
        ),
        runs=_runs(rungs),
    )


def _times_said(views: Sequence[View], rungs: Sequence[Rung]) -> str:
    said = []
    for which, view in enumerate(views):
        mine = [(rung.change, found) for rung in rungs if (found := rung.founds[which])]
        if not mine:
            said.append(f"On {view.device_name}, no rung is recorded at this size.")
            continue
        first, last = time_of(mine[0][1]), time_of(mine[-1][1])
        said.append(
            f"On {view.device_name}, {mine[0][0]} takes {time_text(first)} and {mine[-1][0]} "
            f"{time_text(last)}: {times_text(first / last)} as fast."
        )
    return " ".join(said)


# ------------------------------------------------------------------------------------ shares


def climb_shares(views: Sequence[View]) -> Picture:
    """The bandwidth of every rung, as a share of its own card's read roof."""
    names = names_of(views)
    n, rungs = common_climb(views)
    roofs = [view.read_roof() for view in views]

    def share(rung: Rung, which: int) -> float | None:
        found = rung.founds[which]
        return rate_of(found) / rate_of(roofs[which]) if found else None

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure(1.15 + 0.46 * len(rungs))
        for which, name in enumerate(names):
            points = [
                (100 * value, place)
                for place, rung in enumerate(rungs)
                if (value := share(rung, which)) is not None
            ]
            axes.plot(
                [x for x, _ in points],
                [place + 0.09 for _, place in points],
                ls="none",
                marker=MARKERS[which],
                markersize=9,
                color=theme.drawn(SERIES[which]),
                fillstyle="full" if which == 0 else "none",
                markeredgewidth=1.8,
                label=name,
                clip_on=False,
                zorder=3 + which,
            )
        for place in range(len(rungs)):
            axes.axhline(place + 0.09, color=theme.grid, lw=1, zorder=1)
        axes.axvline(100, color=theme.muted, lw=1.2, ls=":", zorder=2)
        _labelled_rungs(axes, theme, rungs, 0.13)
        axes.set_xlim(0, 104)
        axes.set_xticks([0, 25, 50, 75, 100], ["0", "25 %", "50 %", "75 %", "roof"])
        legend = axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=min(len(names), 2),
            frameon=False,
            borderaxespad=0,
            handletextpad=0.2,
        )
        for text, hue in zip(legend.get_texts(), SERIES, strict=False):
            text.set_color(theme.written(hue))
        return figure

    said = []
    for which, view in enumerate(views):
        mine = [(rung, value) for rung in rungs if (value := share(rung, which)) is not None]
        near = next((rung.change for rung, value in mine if value >= NEAR), None)
        best = max((value for _, value in mine), default=0)
        said.append(
            f"On {view.device_name}, the read roof is {rate_text(rate_of(roofs[which]))}; "
            + (
                f"the first rung within 10 % of it is {near}"
                if near
                else f"no rung comes within 10 % of it, and the best reaches {100 * best:.0f} %"
            )
            + "."
        )
    return Picture(
        draw=draw,
        alt=f"How close each rung comes to its card's own read roof, at {size(n)} integers. "
        + " ".join(said),
        caption=(
            f"The bandwidth of each rung at {size(n)} integers, as a share of its own card's read "
            "roof. Cards of unlike speed compare by shape: where a card's marks stop moving to the "
            "right, its memory is the limit."
        ),
        table=Table(
            ["change", *(f"{name}, % of roof" for name in names)],
            [
                [rung.change]
                + [
                    None if (value := share(rung, which)) is None else round(100 * value, 1)
                    for which in range(len(views))
                ]
                for rung in rungs
            ],
        ),
        runs=[*_runs(rungs), *roofs],
    )


# ------------------------------------------------------------------------------------- sizes


def last_rung() -> tuple[str, str, str]:
    """The chapter of the climb's last rung, its variant, and the library's sum beside it."""
    for name, chapter in reversed(chapters.known().items()):
        if chapter.spine and chapter.library:
            return name, list(chapter.spine)[-1], chapter.library
    raise NoSuchRun("no chapter names a library's sum")


def sizes_with_library(views: Sequence[View]) -> Picture:
    """The last rung's bandwidth against the size on each card, beside the library's sum."""
    names = names_of(views)
    chapter, ours, theirs = last_rung()
    curves: list[tuple[str, int, bool, list[RecordedRun]]] = []
    for which, view in enumerate(views):
        for variant in (ours, theirs):
            sizes = sorted(_sizes(view, chapter, variant))
            founds = [view.find(chapter, variant, n, DEFAULT_BLOCK) for n in sizes]
            if founds:
                label = names[which] if variant == ours else f"{names[which]}, CUB"
                curves.append((label, which, variant == theirs, founds))
    if not any(len(founds) > 1 for *_, founds in curves):
        raise NoSuchRun(f"{chapter}/{ours} is recorded at no two sizes on any of these cards")
    ns = sorted({found.run["n"] for *_, founds in curves for found in founds})

    def draw(theme: Theme) -> Figure:
        figure, axes = style.new_figure()
        sizes_axis(axes, ns, step=max(1, round(len(ns) / 5)))
        ends = []
        for label, which, is_library, founds in curves:
            hue = SERIES[which]
            points = [(found.run["n"], rate_of(found)) for found in founds]
            axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                color=theme.drawn(hue),
                ls="--" if is_library else "-",
                marker=MARKERS[which],
                markersize=5,
                fillstyle="none" if is_library else "full",
                clip_on=False,
                zorder=3,
            )
            ends.append((label, hue, float(points[-1][0]), points[-1][1]))
        axes.set_ylim(0, 1.08 * max(rate_of(found) for *_, founds in curves for found in founds))
        label_ends(axes, theme, ends)
        heading(axes, "GB/s of finished sums")
        return figure

    said = []
    for which, view in enumerate(views):
        pair = {library: founds for _, at, library, founds in curves if at == which}
        if len(pair) < 2:
            said.append(f"On {view.device_name}, one of the two sums is not recorded.")
            continue
        by_n = {found.run["n"]: found for found in pair[True]}
        both = [(found, by_n[n]) for found in pair[False] if (n := found.run["n"]) in by_n]
        if not both:
            said.append(f"On {view.device_name}, no size has both sums.")
            continue
        ratios = [time_of(cub) / time_of(found) for found, cub in both]
        best = ratios.index(max(ratios))
        found, cub = both[-1]
        said.append(
            f"On {view.device_name}, the last rung is most ahead of CUB at n = "
            f"{size(both[best][0].run['n'])}, {times_text(ratios[best])} as fast; at n = "
            f"{size(found.run['n'])} it moves {rate_text(rate_of(found))} and CUB "
            f"{rate_text(rate_of(cub))}."
        )
    return Picture(
        draw=draw,
        alt="Bandwidth of the climb's last rung and of CUB's sum against n. " + " ".join(said),
        caption=(
            "The last rung of the climb against the size, card by card, with CUB's sum dashed. "
            f"{DEFAULT_BLOCK} threads per block."
        ),
        table=Table(
            ["card", *run_columns()],
            [
                [label, *run_row(found, views[which].device)]
                for label, which, _, founds in curves
                for found in founds
            ],
        ),
        runs=[found for *_, founds in curves for found in founds],
    )


ManyCards = Callable[[Sequence[View]], Picture]
#: By name, in the order in which a comparison shows them.
PICTURES: dict[str, ManyCards] = {
    "cards_times": climb_times,
    "cards_shares": climb_shares,
    "cards_sizes": sizes_with_library,
}


def _of_the_book(make: ManyCards) -> Plot:
    """The picture of the book's own cards, also where readers have recorded theirs."""

    def plot(view: View) -> Picture:
        if view.known.is_local:
            raise NoSuchRun("the guide draws the book's two cards; tools/compare draws yours")
        others = [
            View(view.recordings, known)
            for known in view.recordings.second.values()
            if known.chapters.keys() & view.known.chapters.keys()  # a pair has not climbed
        ]
        return make([view, *others])

    return plot


PLOTS: dict[str, Plot] = {name: _of_the_book(make) for name, make in PICTURES.items()}
