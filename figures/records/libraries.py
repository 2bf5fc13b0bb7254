"""What other people's libraries took, as ``tools/measuring/libraries.py`` printed it on a device.

The file lies with the chapter whose problems they are:
``chapters/chapterNN_x/transcripts/<set>/libraries.txt``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Table(NamedTuple):
    """What was asked of a library: the method, and the table's shape."""

    library: str
    method: str
    rows: int
    columns: int


def path_of(root: Path, chapter: str, device: str) -> Path:
    return root / "chapters" / chapter / "transcripts" / device / "libraries.txt"


def times(text: str) -> dict[Table, float]:
    """The median of each, in microseconds. ValueError names a line that is neither a head, a
    comment nor a time."""
    found: dict[Table, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or line.startswith("#") or words[0] == "library":
            continue
        try:
            library, method, rows, columns, median, _low, _high = words
            key = Table(library, method, int(rows), int(columns))
            found[key] = float(median)
        except ValueError:
            raise ValueError(f"line {number} gives no time: {line!r}") from None
    return found


def recorded(root: Path, chapter: str, device: str) -> dict[Table, float]:
    """Those of a set; none where nothing was recorded."""
    path = path_of(root, chapter, device)
    return times(path.read_text(encoding="utf-8")) if path.is_file() else {}
