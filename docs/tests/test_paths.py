"""A file, a folder or a module that a page or a README names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.page_source import DOCS, ROOT

ROOMS = ("chapters", "common", "docs", "figures", "tools", ".ci")
TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for room in ROOMS for path in (ROOT / room).rglob("README.md")),
    *sorted(DOCS.rglob("*.rst")),
]

#: Named, and made only later.
MADE = {
    "figures/data/local": "the reader's own recording",
    "docs/_ext/ladder/locale": "a translation",
    "chapters/chapter15_scan": "the chapter that CONTRIBUTING.md has you make",
}

_PATH = re.compile(
    rf"(?<![\w./-])(?:\./)?((?:{'|'.join(map(re.escape, ROOMS))})/(?:[\w./*-]|<\w+>)*)"
)
_MODULE = re.compile(rf"-m ((?:{'|'.join(ROOMS[:-1])})\.[\w.]*\w)")
_TOCTREE = re.compile(r"^\.\. toctree::\n(?:(?: .*)?\n)*", re.MULTILINE)
#: ``chapterNN_name``, ``<device>``, ``NAME.txt``: the reader puts something in.
_BLANK = re.compile(r"NN_\w+|<\w+>|\b[A-Z]{4,}(?=[./]|$)(?<!README)")


def _is_there(path: str) -> bool:
    pattern = _BLANK.sub("*", path)
    # A page links another one by its path under docs/.
    return path in MADE or any(ROOT.glob(pattern)) or any(DOCS.glob(f"{pattern}.rst"))


def _file_of(module: str) -> str:
    path = module.replace(".", "/")
    return f"{path}/__main__.py" if (ROOT / path).is_dir() else f"{path}.py"


def gone(text: str) -> list[str]:
    """The paths and modules in a text that aren't in the repository."""
    text = _TOCTREE.sub("", text)
    paths = [found.rstrip("./") for found in _PATH.findall(text)]
    modules = [_file_of(found) for found in _MODULE.findall(text)]
    return sorted({path for path in [*paths, *modules] if not _is_there(path)})


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_named_is_there(path: Path) -> None:
    assert gone(path.read_text(encoding="utf-8")) == []


def test_the_pages_name_what_the_repository_is_made_of() -> None:
    named = [path for text in TEXTS for path in _PATH.findall(text.read_text(encoding="utf-8"))]
    assert len(named) > 100
    assert {path.split("/")[0] for path in named} >= {"chapters", "common", "docs", "tools"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("``tools/guide``, ``./tools/guide`` and ``chapters/``.", []),
        ("``tools/guides``", ["tools/guides"]),
        ("See `figures/plots_of_old.py`.", ["figures/plots_of_old.py"]),
        ("a link [x](docs/gone.rst)", ["docs/gone.rst"]),
        ("::\n\n    $ tools/emulate tools/emulator/examples/gone.cu",
         ["tools/emulator/examples/gone.cu"]),
        ("``chapters/chapterNN_name/kernels.cuh``", []),
        ("``chapters/chapterNN_name/kernel.cuh``", ["chapters/chapterNN_name/kernel.cuh"]),
        ("``figures/data/<device>/counters.json``", []),
        ("``figures/data/local/x.json``", ["figures/data/local/x.json"]),
        (":doc:`x <chapters/chapter02_smem>`", []),
        ("``build/chapters/chapter02_smem``", []),
        ("``python -m figures.draw``", []),
        ("``python -m figures.drawing``", ["figures/drawing.py"]),
        ("``python -m docs.lint``", []),
        ("``python -m docs.tests``", ["docs/tests/__main__.py"]),
        (".. toctree::\n   :glob:\n\n   chapters/chapter0[0-7]*\n\nand ``tools/x``", ["tools/x"]),
    ],
)  # fmt: skip
def test_what_is_not_there_is_named(text: str, found: list[str]) -> None:
    assert gone(text) == found
