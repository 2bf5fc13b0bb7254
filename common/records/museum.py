"""The museum: mistakes that people make, as pairs of programs, and what was recorded of each tool.

tools/emulator/tests/museum has an exhibit per file. ``#ifdef FIXED`` tells its right form from the
wrong one, and a comment ``// @race @sum`` names the checks that report the line.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from . import cases

FOLDER = "tools/emulator/tests/museum"
SOURCES = "*.cu*"
_MARKS = re.compile(r" *// ((?:@\w+ ?)+)$")


@dataclass(frozen=True, slots=True)
class Run:
    """One tool on one form of an exhibit."""

    exhibit: str
    form: str  # wrong or right
    tool: str  # run (no tool), nvcc, check, or one of compute-sanitizer's
    found: bool | None  # None: it couldn't do its work; of a run: whether its status isn't 0
    text: str  # what it says


@dataclass(frozen=True, slots=True)
class Recording:
    heading: str  # what it was recorded with
    digest: str  # of the exhibits
    runs: tuple[Run, ...]

    def of(self, exhibit: str, form: str, tool: str) -> Run | None:
        for run in self.runs:
            if (run.exhibit, run.form, run.tool) == (exhibit, form, tool):
                return run
        return None


def names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.cu"))


def digest(folder: Path) -> str:
    return cases.digest(folder)


def unmarked(line: str) -> str:
    return _MARKS.sub("", line)


def form(source: str, fixed: bool) -> list[str]:
    """The lines of one form, without marks."""
    lines, shown, inside = [], [True], False
    for line in source.splitlines():
        if line.startswith(("#ifdef FIXED", "#ifndef FIXED")):
            shown, inside = [fixed == line.startswith("#ifdef")], True
        elif inside and line.startswith("#else"):
            shown = [not shown[0]]
        elif inside and line.startswith("#endif"):
            shown, inside = [True], False
        elif shown[0]:
            lines.append(unmarked(line))
    return lines


def marks(source: str) -> set[tuple[str, int]]:
    """The checks that must report a line, with its number."""
    return {
        (mark, number)
        for number, line in enumerate(source.splitlines(), 1)
        if (match := _MARKS.search(line))
        for mark in re.findall(r"@(\w+)", match[1])
    }


def read(text: str) -> Recording:
    found = json.loads(text)
    runs = tuple(Run(**run) for run in found["runs"])
    return Recording(found["heading"], found["digest"], runs)


def written(recording: Recording) -> str:
    """The text of a file that `read` reads, a run per line."""
    runs = ",\n  ".join(json.dumps(asdict(run), ensure_ascii=False) for run in recording.runs)
    head = json.dumps({"heading": recording.heading, "digest": recording.digest})
    return f'{head[:-1]}, "runs": [\n  {runs}\n]}}\n'
