"""How the book's pictures look: colours, letters, and SVG that is the same every time.

The hues are Okabe and Ito's, which stay apart for colour-blind readers. Each is darkened or
lightened, for the light and the dark page, until it stands out enough from the page: 3:1 for what
is drawn and 4.5:1 for what is written (WCAG 2.2, 1.4.11 and 1.4.3).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

DRAWN = 3.0
WRITTEN = 4.5

OKABE_ITO = {
    "vermillion": "#D55E00",
    "blue": "#0072B2",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
}
#: The order in which series take colours, with a marker each, so that colour is never alone.
SERIES = ("vermillion", "blue", "green", "purple", "orange", "sky")
#: A colour for each chapter, by its number: the climb goes once around the colour wheel.
CHAPTERS = (
    "#6B7480", "#B23A48", "#D1662B", "#B98A00", "#6B9A23", "#159A6B", "#128FA6", "#2F6FC4",
    "#6557C9", "#A04BB0", "#8A6A4A",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)))

#: Inches. Narrow on purpose: on a telephone the picture shrinks to two thirds, and its letters
#: have to be readable still.
WIDTH = 5.4
HEIGHT = 4.2
FONT_PT = 12.0

# Only what a viewer has is shown when an SVG stands in an <img>. Verdana, on most machines that
# lack DejaVu Sans, is as wide; the rest are narrower, so nothing grows beyond its place.
FONTS = "'DejaVu Sans', Verdana, Arial, sans-serif"


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mix(one: str, other: str, share: float) -> str:
    """*one* with that share of *other* in it."""
    (r, g, b), (r2, g2, b2) = to_rgb(one), to_rgb(other)
    keep = 1 - share
    return to_hex((r * keep + r2 * share, g * keep + g2 * share, b * keep + b2 * share))


def readable(colour: str, background: str, ratio: float) -> str:
    """The colour, moved towards black or white no further than that contrast needs."""
    away = "#000000" if luminance(background) > 0.5 else "#ffffff"
    steps = (mix(colour, away, step / 50) for step in range(51))
    return next(moved for moved in steps if contrast(moved, background) >= ratio)


@dataclass(frozen=True)
class Theme:
    """One of the page's two looks."""

    name: str
    background: str  # furo's page
    ink: str
    muted: str
    grid: str

    def drawn(self, hue: str) -> str:
        """For lines, markers and areas."""
        return readable(OKABE_ITO[hue], self.background, DRAWN)

    def written(self, hue: str) -> str:
        """For letters of a series' colour."""
        return readable(OKABE_ITO[hue], self.background, WRITTEN)

    def chapter(self, number: int) -> str:
        """A chapter's own colour, for letters and areas."""
        return readable(CHAPTERS[number % len(CHAPTERS)], self.background, WRITTEN)

    def tint(self, hue: str, share: float = 0.8) -> str:
        """An area behind letters: the page's colour with a breath of the hue."""
        return mix(OKABE_ITO[hue], self.background, share)


LIGHT = Theme("light", "#ffffff", "#1a1c1e", "#5c6066", "#d9dce0")
DARK = Theme("dark", "#131416", "#e4e6e9", "#9ca1a8", "#34373c")
THEMES = (LIGHT, DARK)


@contextmanager
def look(theme: Theme) -> Iterator[None]:
    """Matplotlib's settings while a picture is drawn and saved."""
    settings: Any = {
        "svg.hashsalt": "the reduction ladder",
        "svg.fonttype": "none",
        "font.family": "DejaVu Sans",
        "font.size": FONT_PT,
        "axes.titlesize": FONT_PT,
        "axes.labelsize": FONT_PT,
        "xtick.labelsize": FONT_PT,
        "ytick.labelsize": FONT_PT,
        "text.color": theme.ink,
        "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.muted,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "xtick.labelcolor": theme.ink,
        "ytick.labelcolor": theme.ink,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "grid.color": theme.grid,
        "lines.linewidth": 2.0,
        "lines.markersize": 6.0,
        "hatch.color": theme.muted,
        "hatch.linewidth": 0.8,
        "figure.constrained_layout.use": True,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
    }
    with mpl.rc_context():
        mpl.rcdefaults()  # no reader's matplotlibrc gets between the data and the bytes
        mpl.rcParams.update(settings)
        yield


def new_figure(height: float = HEIGHT) -> tuple[Figure, Axes]:
    """A figure of the book's width with one pair of axes."""
    figure = Figure(figsize=(WIDTH, height))
    return figure, figure.add_subplot()


def new_panels(
    count: int, height: float = HEIGHT, *, shared: bool = True
) -> tuple[Figure, list[Axes]]:
    """A figure of the book's width with that many pairs of axes side by side.

    *shared* heights are labelled once, at the left.
    """
    # The outermost tick labels of neighbours need more room between them than by default.
    layout = ConstrainedLayoutEngine(wspace=0.1)
    figure = Figure(figsize=(WIDTH, height), layout=layout)
    return figure, list(figure.subplots(1, count, sharey=shared))


def to_png(figure: Figure, dpi: int) -> bytes:
    """The figure on its page's colour; the same figure always gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, facecolor=LIGHT.background,
                   metadata={"Software": None})  # fmt: skip
    return buffer.getvalue()


def to_svg(figure: Figure) -> str:
    """The figure as SVG; the same figure always gives the same text."""
    buffer = io.StringIO()
    # As `savefig` does, but that would draw it all once more, unseen, to lay it out.
    canvas = FigureCanvasSVG(figure)
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    figure.set_layout_engine("none")
    said = {"Date": None, "Creator": None}
    canvas.print_svg(buffer, metadata=said)  # type: ignore[no-untyped-call]
    lines = buffer.getvalue().replace("'DejaVu Sans'", FONTS).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"
