"""How sets and runs are named, in messages and on pages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

REFERENCE = "nvidia-h200"
#: Further cards' committed sets: what a page says must hold there too, or the page says otherwise.
#: Several cards in one machine have what is about several GPUs, and nothing else. Their first set
#: tells that.
SECOND = ("nvidia-h100", "nvidia-h200-pair", "nvidia-h100-pair", "nvidia-h200-four")
LOCAL = "local"
EMBEDDED = "embedded"
DEFAULT_N = 2**24
DEFAULT_BLOCK = 256


def size_text(n: int) -> str:
    """2^24 where n is a power of two from 2^10 on, else the plain number."""
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)


def run_name(run: Mapping[str, Any], chapter: str = "") -> str:
    """How messages name a run; it has to cope with runs that lack fields."""
    name = run.get("variant", run.get("probe", "a run with no name"))
    named = [chapter or str(run.get("chapter", "")), str(name)]
    parts = ["/".join(part for part in named if part)]
    parts += [f"{key}={run[key]}" for key in ("n", "block") if key in run]
    params = run.get("params")
    if isinstance(params, dict):
        parts += [f"{key}={value}" for key, value in sorted(params.items())]
    parts += [f"{key} {run[key]}" for key in ("repeat", "tool") if key in run]
    return " ".join(parts)


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name."""
    return _nearest(name, tuple(names))


@cache  # who looks whether a run is recorded asks often, and mostly in vain
def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    if near:
        return f"; near it: {', '.join(near)}"
    return f"; there are: {', '.join(known)}" if known else "; nothing is recorded there"
