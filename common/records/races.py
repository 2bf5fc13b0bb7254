"""The pairs of programs with and without a race, and what was recorded of each checker on them.

tools/emulator/tests/races has two sets of them. A recording says of which sources it is, set by
set: one that was made before a set was there has nothing to say of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import cases

FOLDER = "tools/emulator/tests/races"
#: The sources of each set, as a folder below and a pattern. The names stand in recordings.
SETS = {"cases": ("", "*.cu*"), "streams": ("streams", "*.cu*")}
COLUMNS = ("name", "class", "scope", "space", "planted", "found")


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    kind: str
    scope: str
    space: str
    planted: bool
    found: bool

    @property
    def set(self) -> str:
        return "streams" if self.space == "streams" else "cases"


@dataclass(frozen=True, slots=True)
class Recording:
    """What one checker found."""

    heading: str  # the checker, and what it ran on
    digests: Mapping[str, str]  # of the sets that it was given
    cases: tuple[Case, ...]


def digests(folder: Path) -> dict[str, str]:
    """Of all sets, as they are in the folder of the pairs."""
    return {
        name: cases.digest((folder / below).glob(pattern))
        for name, (below, pattern) in SETS.items()
    }


def read(text: str) -> Recording:
    heading, found, rows = cases.read(text)
    return Recording(
        heading,
        found,
        tuple(
            Case(
                row["name"],
                row["class"],
                row["scope"],
                row["space"],
                row["planted"] == "1",
                row["found"] == "1",
            )
            for row in rows
        ),
    )


def written(recording: Recording) -> str:
    """The text of a file that `read` reads."""
    sets = [f"{name} {value}" for name, value in recording.digests.items()]
    lines = [f"# {'; '.join([recording.heading, *sets])}; written by record", ",".join(COLUMNS)]
    for case in recording.cases:
        facts = (case.name, case.kind, case.scope, case.space)
        lines.append(",".join([*facts, str(int(case.planted)), str(int(case.found))]))
    return "\n".join(lines) + "\n"
