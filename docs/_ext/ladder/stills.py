"""A still picture of a stepper: what stands in a panel's place where no script runs.

``docs/stills.json.gz`` has one step of a panel's kernel, read off the stepper itself: of each warp
the lanes that are active, what the lanes touch, and the words around it. A test steps there again
and compares; ``python -m docs.tests.stills`` writes the file.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes

from common.records import columns

from . import inputs
from .book import Book
from .strings import _

FILE = "docs/stills.json.gz"
LEGEND = "Filled: active now. Outlined: active in this warp\u2019s latest instruction."
#: Of a lane: active now, active in its warp's latest instruction, or neither.
CELLS = {"#": ' class="on"', "+": ' class="was"', ".": ""}


@cache
def _read(path: Path, _changed: int) -> dict[str, dict[str, Any]]:
    stills: dict[str, dict[str, Any]] = json.loads(columns.unpacked(path))
    return stills


def still(book: Book, panel: str) -> list[nodes.Node]:
    """The picture for a panel of the page that is read, if there is one."""
    path = book.root / FILE
    inputs.note(book.env, [path])
    if not path.exists():
        return []
    found = _read(path, path.stat().st_mtime_ns).get(book.env.docname, {}).get(panel)
    return [nodes.raw("", draw(found), format="html")] if found else []


def draw(still: dict[str, Any]) -> str:
    source, code = still["source"]
    parts = [
        f'<p class="step-head">{escape(still["head"])}</p>',
        f'<p class="step-said">{escape(still["said"])}</p>',
        *([f'<p class="step-said">{escape(still["race"])}</p>'] if still["race"] else []),
        f'<p class="step-source">{escape(source)}<code>{escape(code)}</code></p>',
        _rows("step-grid", still["warps"]),
        f'<p class="step-legend">{escape(_(LEGEND))}</p>',
    ]
    if still["lanes"]:
        cells = "".join(_lane(lane, *what) for lane, what in enumerate(still["lanes"]))
        parts.append(f'<ol class="step-lanes" aria-hidden="true">{cells}</ol>')
        parts.append(f'<p class="step-legend">{escape(still["key"])}</p>')
    parts += [_access(one) for one in still["access"]]
    return f'<div class="run-still">{"".join(parts)}</div>'


def _rows(name: str, rows: list[list[str]]) -> str:
    drawn = ""
    for at, (label, cells) in enumerate(rows):
        late = " front-late" if at and name == "step-banks" else ""
        lanes = "".join(f"<i{CELLS[cell]}></i>" for cell in cells)
        said = f'<span class="step-label">{escape(label)}</span>'
        drawn += f'<div class="step-row{late}">{said}{lanes}</div>'
    return f'<div class="{name}" aria-hidden="true">{drawn}</div>'


def _lane(lane: int, text: str, turn: str, kind: str) -> str:
    spans = "".join(f"<span>{escape(one)}</span>" for one in (text, turn))
    return f'<li class="{kind}"><span class="step-lane">{lane}</span>{spans}</li>'


def _access(one: dict[str, Any]) -> str:
    sectors = "".join(
        f'<li><span class="step-words" aria-hidden="true">'
        f"{''.join(f'<i{CELLS[word]}></i>' for word in words)}</span>"
        f"<span>{escape(text)}</span></li>"
        for words, text in one["sectors"]
    )
    listed = f'<ul class="step-sectors">{sectors}</ul>' if sectors else ""
    banks = _rows("step-banks", one["banks"]) if one["banks"] else ""
    return f'<div class="step-access"><p>{escape(one["text"])}</p>{banks}{listed}</div>'
