"""The rendered guide: no link leads nowhere, and every figure says what it shows."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.built("guide")

ROOT = Path(__file__).resolve().parents[2]
GUIDE = Path(os.environ.get("GUIDE_HTML", ROOT / "build" / "guide")).resolve()
guide_is_there = pytest.mark.skipif(
    not (GUIDE / "index.html").exists(), reason=f"no guide in {GUIDE}"
)


@cache
def _parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "lxml")


@cache
def _anchors(path: Path) -> frozenset[str]:
    page = _parsed(path)
    named = {tag["id"] for tag in page.select("[id]")} | {
        tag["name"] for tag in page.select("a[name]")
    }
    return frozenset(str(name) for name in named)


def broken(path: Path) -> list[str]:
    """A page's links and pictures that lead nowhere; of the web's, those that aren't addresses."""
    page = _parsed(path)
    links = [tag["href"] for tag in page.select("a[href]")]
    links += [tag["src"] for tag in page.select("img[src]")]
    found = []
    for link in map(str, links):
        parts = urlsplit(link)
        if parts.scheme in ("http", "https"):
            if parts.scheme == "http" or "." not in parts.netloc:
                found.append(link)
            continue
        if parts.scheme:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        missing = not target.exists()
        if parts.fragment and not missing and target.suffix == ".html":
            missing = unquote(parts.fragment) not in _anchors(target)
        if missing:
            found.append(link)
    return found


def mute(path: Path) -> list[str]:
    """Figures without an alternative text for each drawing, a caption or their data as a table."""
    found = []
    for figure in _parsed(path).select("figure.picture"):
        drawings = figure.select("img")
        said = len(drawings) == 2 and all(len(str(one.get("alt", ""))) > 40 for one in drawings)
        cells = [cell.get_text(strip=True) for cell in figure.select("details.data table td")]
        if not (said and figure.select_one("figcaption") and any(cells)):
            found.append(str(drawings[0]["src"]) if drawings else "a figure without a drawing")
    return found


def _pages() -> list[Path]:
    found = sorted(path for path in GUIDE.rglob("*.html") if "_static" not in path.parts)
    assert len(found) > 10
    return found


@guide_is_there
def test_no_link_leads_nowhere() -> None:
    found = {path.name: links for path in _pages() if (links := broken(path))}
    assert found == {}


@guide_is_there
def test_every_figure_has_its_words_and_its_data() -> None:
    assert {path.name: figures for path in _pages() if (figures := mute(path))} == {}
    assert any(_parsed(path).select("figure.picture") for path in _pages())


@guide_is_there
def test_every_chapter_of_the_climb_shows_where_it_stands() -> None:
    """At its top with its own bars blank, and at its end with all that it has reached."""
    found = {}
    for path in sorted((GUIDE / "chapters").glob("chapter0[1-8]*.html")):
        strips = _parsed(path).select(".climb-strip")
        number = str(int(path.name[7:9]))
        blank = {one.get_text() for one in strips[0].select(".blank .climb-chapter")}
        own = {one.get_text() for one in strips[0].select(".climb-chapter")} & {number}
        found[path.name] = (len(strips), blank == own, strips[-1].select(".blank"))
    assert found
    assert {name: said for name, said in found.items() if said != (2, True, [])} == {}


@guide_is_there
def test_home_names_each_chapter_of_the_climb_once() -> None:
    """What it is about stands beside its first bar, without its number, which is there already, and
    beside its others which change they are."""
    bars = _parsed(GUIDE / "index.html").select(".climb-bar.asked")
    named: dict[str, list[str]] = {}
    for bar in bars:
        (number,), (about,) = bar.select(".climb-chapter"), bar.select(".climb-named")
        named.setdefault(number.get_text(), []).append(about.get_text())
    for number, (first, *others) in named.items():
        (path,) = (GUIDE / "chapters").glob(f"chapter{int(number):02}_*.html")
        title = next(iter(_parsed(path).select("h1"))).find(string=True)
        assert title == f"Chapter {number}. {first}"
        of = len(others) + 1
        assert others == [f"change {nth} of {of}" for nth in range(2, of + 1)], number
    assert len(named) > 5


FIGURE = """
<figure class="picture"><img src="x.svg" alt="{alt}"><img src="x.svg" alt="{alt}">
<figcaption>What it shows.</figcaption>{data}</figure>
"""
SAID = "smem is the fastest of the four kernels, by a third."
DATA = '<details class="data"><table><tr><td>1</td></tr></table></details>'


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ('<a href="#here">x</a><p id="here">', []),
        ('<a href="#there">x</a>', ["#there"]),
        ('<a href="other.html">x</a>', ["other.html"]),
        ('<a href="page.html#gone">x</a>', ["page.html#gone"]),
        ('<img src="gone.svg">', ["gone.svg"]),
        ('<a href="https://doi.org/10.1145/7902.7903">x</a>', []),
        ('<a href="http://doi.org/x">x</a><a href="https://nowhere/x">x</a>',
         ["http://doi.org/x", "https://nowhere/x"]),
    ],
)  # fmt: skip
def test_a_broken_link_is_named(tmp_path: Path, html: str, links: list[str]) -> None:
    path = tmp_path / "page.html"
    path.write_text(html)
    assert broken(path) == links


@pytest.mark.parametrize(
    ("html", "figures"),
    [
        (FIGURE.format(alt=SAID, data=DATA), []),
        (FIGURE.format(alt="", data=DATA), ["x.svg"]),
        (FIGURE.format(alt=SAID, data=""), ["x.svg"]),
        (FIGURE.format(alt=SAID, data=DATA).replace("<td>1</td>", ""), ["x.svg"]),
        (FIGURE.format(alt=SAID, data=DATA).replace("figcaption", "p"), ["x.svg"]),
    ],
)
def test_a_figure_without_words_is_named(tmp_path: Path, html: str, figures: list[str]) -> None:
    path = tmp_path / "page.html"
    path.write_text(html)
    assert mute(path) == figures
