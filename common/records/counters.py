"""The counters' table, ``common/counters.json``: what each is called here and by ncu.

Python's standard library alone: ``tools/measure`` has nothing else.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, NamedTuple

FILE = Path(__file__).resolve().parents[1] / "counters.json"


class Counter(NamedTuple):
    """One of them; what recorded files have it under is its name by ncu."""

    name: str
    ncu: str
    unit: str  # none of a plain count
    counts: str
    #: How the embedded device counts it: as hardware does, of the PTX, or not.
    embedded: Literal["exact", "PTX", "no"]


COUNTERS = {
    each["name"]: Counter(**each)
    for each in json.loads(FILE.read_text(encoding="utf-8"))["counters"]
}
#: ncu's name of each, by the book's.
NCU = {name: each.ncu for name, each in COUNTERS.items()}
#: What only the embedded device counts.
OF_PTX = tuple(each.ncu for each in COUNTERS.values() if each.embedded == "PTX")
#: What hardware counts; and of that, what the embedded device counts exactly.
OF_HARDWARE = tuple(each.ncu for each in COUNTERS.values() if each.embedded != "PTX")
OF_BOTH = tuple(each.ncu for each in COUNTERS.values() if each.embedded == "exact")
#: The unit of what warps wait for.
CYCLES = "cycles per instruction"
#: What warps wait for: ncu's name of each, by the book's.
STALLS = {name: each.ncu for name, each in COUNTERS.items() if each.unit == CYCLES}


def ncu_name(name: str) -> str:
    """Of a counter that is asked for by the book's name or by ncu's own."""
    return NCU.get(name, name)


def unit_of(name: str) -> str:
    """Of a counter that is asked for by the book's name. By ncu's own it is a plain count, unless
    that name says otherwise."""
    if name in COUNTERS:
        return COUNTERS[name].unit
    if name.endswith(".pct") or ".pct_of" in name:
        return "%"
    return CYCLES if name in STALLS.values() else ""
