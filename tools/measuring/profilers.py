"""What ncu and compute-sanitizer print, read with care: silence is never taken for a zero."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from typing import Any

from common.records.counters import OF_HARDWARE

SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
#: compute-sanitizer's exit status when it has found something.
FOUND = 4

NO_PERMISSION = "ERR_NVGPUCTRPERM"


def ncu_options(metrics: Sequence[str] = OF_HARDWARE) -> list[str]:
    return [
        *("--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"),
        *("--metrics", ",".join(metrics)),
    ]


def unknown_metrics(text: str, metrics: Sequence[str]) -> list[str]:
    """Those of *metrics* that ncu's errors name: it counts nothing at all then."""
    errors = [line for line in text.splitlines() if line.startswith("==ERROR==")]
    words = set(re.findall(r"[\w.]+", " ".join(errors)))
    # A full stop may end the sentence.
    return [name for name in metrics if name in words or f"{name}." in words]


def sanitizer_options(tool: str) -> list[str]:
    return ["--tool", tool, "--error-exitcode", str(FOUND)]


def ncu_launches(text: str, metrics: Sequence[str] = OF_HARDWARE) -> list[dict[str, Any]]:
    """The launches in ncu's CSV; none where there is no table. Raises ValueError on a torn one.

    Before the table stand ncu's own ``==PROF==`` lines and whatever the program printed. Its first
    line has the names, its second the units. A metric that this GPU hasn't got is left out.
    """
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith('"ID","Process ID"')]
    if not starts:
        return []
    names, _units, *rows = csv.reader(line for line in lines[starts[0] :] if line[:1] == '"')
    launches = []
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"a row of {len(row)} columns under {len(names)} names")
        cells = dict(zip(names, row, strict=True))
        numbers = ((name, _number(cells.get(name, ""))) for name in metrics)
        launches.append(
            {
                "kernel": kernel_name(cells["Kernel Name"]),
                "grid": _extent(cells["Grid Size"]),
                "block": _extent(cells["Block Size"]),
                "metrics": {name: value for name, value in numbers if value is not None},
            }
        )
    return launches


def kernel_name(demangled: str) -> str:
    """``void chapter05::unroll<4>(const int *, int *)`` is ``unroll<4>`` in a record.

    With no namespace in it, as ncu has it within template arguments.
    """
    name = re.sub(r"^void ", "", demangled.strip())
    name = re.sub(r"(\b[A-Za-z_]\w*|\(anonymous namespace\)|<unnamed>)::", "", name)
    # The parameters begin at the first round bracket that is in no template argument: `f<(int)4>(`.
    depth = 0
    for position, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            name = name[:position]
            break
    return re.sub(r"\((?:unsigned )?\w+\)", "", name)  # f<(int)4> is f<4>


def _number(cell: str) -> float | None:
    try:
        value = float(cell.replace(",", ""))
    except ValueError:
        return None  # "n/a", or nothing
    return value if math.isfinite(value) else None


def _extent(cell: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", cell)]


_SUMMARY = {
    "racecheck": re.compile(r"^RACECHECK SUMMARY: (\d+) hazards? displayed"),
    # Whole lines: it may be followed by "ERROR SUMMARY: 37 errors were not printed. …".
    "": re.compile(r"^ERROR SUMMARY: (\d+) errors?$"),
}
#: What the tools print besides findings.
_NO_FINDING = ("COMPUTE-SANITIZER", "Target application returned an error")
_RACES = re.compile(r"\((\d+) errors?, (\d+) warnings?\)")


def sanitizer_verdict(tool: str, text: str, status: int) -> tuple[int | None, list[str]]:
    """How much a tool found, and its first messages; None where it didn't do its work.

    The summary counts, and not the status, which a hazard that is a mere warning need not change.
    A summary of 0 counts only beside a program that did its work (0, or 1 for a wrong result).
    """
    said = [line[9:].rstrip() for line in text.splitlines() if line.startswith("=========")]
    said = [line[1:] if line.startswith(" ") else line for line in said]
    messages = [
        line
        for line in said
        if line and not line.startswith((" ", *_NO_FINDING)) and " SUMMARY: " not in line
    ]
    messages = list(dict.fromkeys(_without_folders(line) for line in messages))[:5]

    pattern = _SUMMARY.get(tool, _SUMMARY[""])
    found = [match for line in said if (match := pattern.search(line))]
    refused = any("not supported" in line for line in said)
    if not found or refused:
        return None, messages
    findings = max(int(match[1]) for match in found)
    for match in found:
        if races := _RACES.search(match.string):
            findings = max(findings, int(races[1]) + int(races[2]))
    if findings == 0 and status not in (0, 1):
        return None, messages
    return findings, messages


def _without_folders(message: str) -> str:
    """The message with no folder of this machine in it, only the file's name."""
    return re.sub(r"/(?:[^\s/:]+/)*([^\s/:]+)", r"\1", message)
