"""Files that the tools write. Python's standard library alone."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(file: Path, text: str) -> None:
    """Writes a file and makes its folder. What was there stays until all is written."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{os.getpid()}.new")  # this process's own, and never too long
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
