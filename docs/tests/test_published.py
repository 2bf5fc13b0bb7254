"""Published figures: quoted from one table, which is as the sources have it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.tests.conftest import Book, write

ROOT = Path(__file__).resolve().parents[2]

from ladder import published  # noqa: E402  (conftest.py makes it known)

pytestmark = pytest.mark.all

#: As the sources have them, written down a second time so that an edited table shows.
SOURCES = {
    "face2ai": "gmem 4.2577 smem 2.8817 unroll4 0.79469 copy 13.5",
    "slides-ru": "reduce1 5.28 reduce2 2.52 reduce3 1.88 reduce4 0.99 reduce5 0.65 "
    "tile 596.60 tile_padded 92.50",
    "harris": "reduce1 8.054 reduce2 3.456 reduce3 1.722 reduce4 0.965 reduce5 0.536 "
    "reduce6 0.381 reduce7 0.268 reduce7_rate 62.7 peak 86.4",
}
KNOWN = published.figures(ROOT)


def _differing(known: published.Figures) -> list[str]:
    """Figures that are not as the sources have them."""
    differing = []
    for source, line in SOURCES.items():
        words = line.split()
        for name, number in zip(words[::2], words[1::2], strict=True):
            if known[source][name].split()[0] != number:
                differing.append(f"{source} {name}: {known[source][name]}, published as {number}")
    return differing


def _gains(known: published.Figures) -> list[str]:
    """Published gains that the published times, as rounded as they are, can't make."""
    times = known["harris"]
    wrong = []
    for name, gain in times.items():
        if name.endswith("_gain"):
            ends = [
                (published.value(times["reduce1"]) + one)
                / (published.value(times[name.removesuffix("_gain")]) - one)
                for one in (-0.0005, 0.0005)
            ]
            unit = 10.0 ** -len(gain.rstrip("×").partition(".")[2])
            if not ends[0] - unit / 2 <= published.value(gain) <= ends[1] + unit / 2:
                wrong.append(f"{name}: {gain}, from {ends[0]:.3f} to {ends[1]:.3f}")
    return wrong


def test_the_table_is_as_the_sources_have_it() -> None:
    assert _differing(KNOWN) == []
    assert _gains(KNOWN) == []
    told = {source: set(line.split()[::2]) for source, line in SOURCES.items()}
    for source, figures in KNOWN.items():
        assert {name for name in figures if not name.endswith("_gain")} == told[source]


@pytest.mark.parametrize("source", SOURCES)
def test_a_published_time_edited_is_named(source: str) -> None:
    name = "smem" if source == "face2ai" else "reduce2"
    edited = {**KNOWN, source: {**KNOWN[source], name: "2.5 ms"}}
    assert [line.split(":")[0] for line in _differing(edited)] == [f"{source} {name}"]


def test_a_published_gain_edited_is_named() -> None:
    edited = {**KNOWN, "harris": {**KNOWN["harris"], "reduce4_gain": "8.44×"}}
    assert [line.split(":")[0] for line in _gains(edited)] == ["reduce4_gain"]


def _typed(text: str) -> Iterator[str]:
    """Published figures with a unit that a page has as digits."""
    for figures in KNOWN.values():
        for name, figure in figures.items():
            number = re.escape(str(figure).split()[0].rstrip("×"))
            units = "×" if name.endswith("_gain") else "[\\s\u00a0]*(?:ms|GB/s|→|milliseconds)"
            if len(figure.rstrip("×")) > 4 and re.search(rf"(?<![\d.]){number}{units}", text):
                yield figure


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.rst")), ids=lambda path: path.stem)
def test_pages_take_published_figures_from_the_table(page: Path) -> None:
    assert list(_typed(page.read_text(encoding="utf-8"))) == []


def test_a_figure_typed_into_a_page_is_seen() -> None:
    assert list(_typed("The source has 596.60 ms without it.")) == ["596.60 ms"]
    assert list(_typed("4.2577 ms → 2.8817 ms")) == ["4.2577 ms", "2.8817 ms"]


def test_the_role(book: Book) -> None:
    write(book.root / published.FILE, (ROOT / published.FILE).read_text(encoding="utf-8"))
    book.record()
    built = book.build(
        index="Page\n====\n\nIt took :published:`face2ai gmem`, then :published:`face2ai gmem / "
        "smem` as\nfast, :published:`harris reduce7_rate of peak` of the peak.\n"
    )
    assert built.warnings == []
    assert "It took 4.2577 ms, then 1.48× as fast, 72.6 % of the peak." in built.text()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("face2a gmem", "no published figures of 'face2a'; nearest: face2ai"),
        ("face2ai gmm", "face2ai has no figure 'gmm'; nearest: gmem"),
        ("harris reduce7 / peak", "of one unit"),
        ("harris", "should read SOURCE FIGURE"),
    ],
)
def test_a_wrong_name_is_a_warning(book: Book, asked: str, words: str) -> None:
    write(book.root / published.FILE, (ROOT / published.FILE).read_text(encoding="utf-8"))
    book.record()
    built = book.build(index=f"Page\n====\n\n:published:`{asked}`\n")
    assert any(words in warning for warning in built.warnings), built.warnings
