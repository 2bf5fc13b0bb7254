"""``:published:``: a figure that others published, from ``docs/published.toml``.

``:published:`face2ai gmem``` is the figure as it was published. Two with a slash between them, as
``:published:`face2ai gmem / smem```, are how many times as fast the second is; with ``of`` between
them, as ``:published:`harris reduce7_rate of peak```, the first is a share of the second.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from . import inputs, units
from .book import Book, Lost, nearest
from .names import BadName
from .numbers import RecordedRole

FILE = "docs/published.toml"
Figures = dict[str, dict[str, str]]


@lru_cache(maxsize=1)
def _read(path: Path, _written: int) -> Figures:
    with path.open("rb") as file:
        return tomllib.load(file)


def figures(root: Path) -> Figures:
    """Every published figure, by source and name."""
    path = root / FILE
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Lost(f"{FILE}: {error}") from None


def value(figure: str) -> float:
    """The number in a figure, whatever its unit."""
    return float(figure.replace("×", " ").split()[0])


def quoted(known: Figures, asked: str) -> str:
    """What stands on the page for a role's text."""
    source, *rest = asked.split()
    if source not in known:
        raise Lost(f"no published figures of '{source}'{nearest(source, known)}")
    for name in rest[::2]:
        if name not in known[source]:
            raise Lost(f"{source} has no figure '{name}'{nearest(name, known[source])}")
    match [known[source].get(each, each) for each in rest]:
        case [figure]:
            return figure.replace(" ", units.NO_BREAK)
        case [slower, "/", faster] if _unit(slower) == _unit(faster):
            return units.ratio(value(slower) / value(faster))
        case [part, "of", whole] if _unit(part) == _unit(whole):
            return units.percent(100 * value(part) / value(whole))
    raise BadName(f"'{asked}' should read SOURCE FIGURE, or SOURCE FIGURE / FIGURE of one unit")


def _unit(figure: str) -> str:
    return figure.split()[-1]


class Published(RecordedRole):
    """A published figure, as published; a quotient of two as the book writes its own."""

    def find(self, book: Book) -> list[nodes.Node]:
        inputs.note(self.env, [book.root / FILE])
        text = quoted(figures(book.root), self.text)
        return [nodes.inline(self.rawtext, text, classes=["published"])]


def setup(app: Sphinx) -> None:
    app.add_role("published", Published())
