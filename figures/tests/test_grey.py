"""Printed in black and white: what a picture's key tells apart still looks different."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from matplotlib.artist import Artist
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from figures import catalogue, draw
from figures.kit.pictures import MissingData
from figures.kit.style import LIGHT, contrast
from figures.records.recordings import Recordings
from figures.records.sets import NoSuchRun

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


def test_no_key_needs_colours(repository: Path) -> None:
    recordings = Recordings(repository)
    found, keys = {}, 0
    for name in [*catalogue.plots(repository), *catalogue.diagrams()]:
        try:
            picture, _ = draw.make(name, repository, recordings)
        except (MissingData, NoSuchRun):
            continue
        figure = picture.draw(LIGHT)
        keys += sum(axes.get_legend() is not None for axes in figure.axes)
        found[name] = list(alike(figure))
        plt.close(figure)
    assert len(found) > 80 and keys > 3
    assert {name: pairs for name, pairs in found.items() if pairs} == {}


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
