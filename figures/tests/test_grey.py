"""Seen without colours: what a picture tells apart still looks different.

A key is held on the light page, which is the one that is printed. What stands in one row of a
picture is held on both: a screen can be set to grey.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from common.records.recordings import Recordings
from common.records.sets import NoSuchRun
from figures import catalogue, draw
from figures.kit.pictures import Picture
from figures.kit.style import LIGHT, THEMES, Theme, contrast, look

pytestmark = pytest.mark.all

#: From here on two greys are two greys, side by side on paper.
APART = 1.5
#: What begins a key that is written, not drawn: the form of its marks.
SYMBOLS = "●■▲◆▼○□△◇"


def form(shown: Artist) -> tuple[str, tuple[object, ...]]:
    """The colour of an entry of a key, and what else its look is made of."""
    if isinstance(shown, Line2D):
        filled = shown.get_markerfacecolor()
        hollow = shown.get_marker() not in ("None", "", None) and filled == LIGHT.background
        dashes = shown._unscaled_dash_pattern  # type: ignore[attr-defined]
        return str(shown.get_color()), (shown.get_marker(), shown.get_linestyle(), dashes, hollow)
    assert isinstance(shown, Patch), shown
    return to_hex(shown.get_facecolor()), (shown.get_hatch(),)


def alike(figure: Figure) -> Iterator[str]:
    """The entries of a figure's keys that only a colour tells apart."""
    for axes in figure.axes:
        key = axes.get_legend()
        entries = zip(key.legend_handles, key.get_texts(), strict=True) if key else ()
        for (one, said), (other, too) in combinations(entries, 2):
            assert one and other
            (colour, look), (second, looks) = form(one), form(other)
            if look == looks and contrast(colour, second) < APART:
                yield f"{said.get_text()} and {too.get_text()}"
        written = [text.get_text() for text in axes.texts]
        begun = [text for text in written if re.match(f"[{SYMBOLS}] ", text)]
        for first, then in combinations(begun, 2):
            if first[0] == then[0]:
                yield f"{first} and {then}"


@dataclass(frozen=True)
class Mark:
    """An area or a point of a picture: where it reaches from and to in height, and its look."""

    low: float
    high: float
    form: tuple[object, ...]
    fill: str
    edge: str
    is_labelled: bool

    def is_beside(self, other: Mark) -> bool:
        """Whether they stand in one row."""
        shared = min(self.high, other.high) - max(self.low, other.low)
        return shared >= min(self.high - self.low, other.high - other.low) / 2

    def is_told_from(self, other: Mark) -> bool:
        """Whether anything but their colours' hue and their places does."""
        greys = max(contrast(self.fill, other.fill), contrast(self.edge, other.edge))
        return self.form != other.form or greys >= APART or self.is_labelled or other.is_labelled


def marks(axes: Axes, theme: Theme) -> Iterator[Mark]:
    """The areas and the points drawn; what isn't filled shows the page."""

    def seen(colour: object) -> str:
        name = to_hex(colour, keep_alpha=True)  # type: ignore[arg-type]
        return theme.background if name.endswith("00") else name[:7]

    words = [text.get_position() for text in axes.texts if text.get_text().strip()]
    for patch in axes.patches:
        box = patch.get_path().transformed(patch.get_patch_transform()).get_extents()
        fill = seen(patch.get_facecolor()) if patch.get_fill() else theme.background
        edge = seen(patch.get_edgecolor()) if patch.get_linewidth() else fill
        shape = (type(patch), patch.get_hatch(), patch.get_linestyle())
        yield Mark(box.y0, box.y1, shape, fill, edge, any(box.contains(*at) for at in words))
    for line in axes.lines:
        heights = list(line.get_ydata())  # type: ignore[arg-type]
        if len(heights) == 1:
            height = float(heights[0])  # type: ignore[arg-type]
            fill, edge = seen(line.get_markerfacecolor()), seen(line.get_markeredgecolor())
            yield Mark(height, height, (line.get_marker(),), fill, edge, False)


def alike_in_a_row(figure: Figure, theme: Theme) -> set[tuple[str, str]]:
    """The colours of neighbours that nothing else tells apart."""
    found = set()
    for axes in figure.axes:
        of: dict[tuple[str, str], list[Mark]] = defaultdict(list)
        for mark in marks(axes, theme):
            of[mark.fill, mark.edge].append(mark)
        found |= {
            (one[0].fill, other[0].fill)
            for one, other in combinations(of.values(), 2)
            if any(not a.is_told_from(b) and a.is_beside(b) for a in one for b in other)
        }
    return found


#: A colour that a sentence goes by, without a shade that shows in grey.
COLOURED = re.compile(
    r"(?<!dark )(?<!light )\b(blue|orange|green|purple|vermillion|red|yellow|gr[ea]y|coloured)\b",
    re.IGNORECASE,
)


def coloured(picture: Picture, figure: Figure) -> list[str]:
    """The words in a picture and beneath it that name a colour alone."""
    drawn = [text.get_text() for axes in figure.axes for text in (axes.title, *axes.texts)]
    drawn += [axes.get_title(loc="left") for axes in figure.axes]
    return [found[0] for words in (picture.caption, *drawn) for found in COLOURED.finditer(words)]


def test_no_picture_needs_colours(repository: Path) -> None:
    recordings = Recordings(repository)
    keyed, beside, named, keys = {}, {}, {}, 0
    names = [*catalogue.plots(repository), *catalogue.diagrams()]
    for name in names:
        try:
            picture, _ = draw.make(name, repository, recordings)
        except NoSuchRun:
            continue
        for theme in THEMES:
            with look(theme):
                figure = picture.draw(theme)
            beside[name, theme.name] = alike_in_a_row(figure, theme)
            named[name] = coloured(picture, figure)
            if theme is LIGHT:
                keys += sum(axes.get_legend() is not None for axes in figure.axes)
                keyed[name] = list(alike(figure))
            plt.close(figure)
    assert len(keyed) > 80 and keys > 3 and catalogue.diagrams().keys() <= keyed.keys()
    assert {name: pairs for name, pairs in keyed.items() if pairs} == {}
    assert {name: pairs for name, pairs in beside.items() if pairs} == {}
    assert {name: words for name, words in named.items() if words} == {}


def test_neighbours_of_one_grey_are_seen() -> None:
    blue, vermillion = "#0072B2", "#D55E00"
    figure, axes = plt.subplots()
    first, then = axes.bar([0, 1], [2, 2], color=[blue, vermillion])
    pair = {(blue.lower(), vermillion.lower())}
    assert alike_in_a_row(figure, LIGHT) == pair
    for change, back in (
        (lambda: then.set_hatch("//"), lambda: then.set_hatch(None)),
        (lambda: then.set_facecolor("#7fb8d8"), lambda: then.set_facecolor(vermillion)),
        (lambda: then.set_y(5), lambda: then.set_y(0)),
        (lambda: axes.text(0, 1, "first"), lambda: axes.texts[0].remove()),
    ):
        change()
        assert alike_in_a_row(figure, LIGHT) == set()
        back()
        assert alike_in_a_row(figure, LIGHT) == pair
    first.remove()
    then.remove()
    for place, colour in enumerate((blue, vermillion)):
        axes.plot([place], [0], "o", color=colour)
    assert alike_in_a_row(figure, LIGHT) == pair
    axes.lines[0].set_markerfacecolor(LIGHT.background)
    assert alike_in_a_row(figure, LIGHT) == set()
    plt.close(figure)


def test_a_colour_in_words_is_seen() -> None:
    assert [found[0] for found in COLOURED.finditer("Blue words first; dark blue; grey")] == [
        "Blue",
        "grey",
    ]


@pytest.mark.parametrize("look", [{"color": "#0072B2"}, {"color": "#D55E00", "marker": "o"}])
def test_a_key_of_colours_alone_is_seen(look: dict[str, str]) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    for place, hue in enumerate(("#0072B2", "#D55E00")):
        left.plot([0, 1], [0, place], label=hue, **{**look, "color": hue})
        right.text(0, place, f"■ {hue}")
    left.legend()
    assert list(alike(figure)) == ["#0072B2 and #D55E00", "■ #0072B2 and ■ #D55E00"]
    left.lines[1].set_linestyle("--")
    left.legend()
    right.texts[1].set_text("● other")
    assert list(alike(figure)) == []
    plt.close(figure)
