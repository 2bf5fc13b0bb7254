"""What the judge has accepted, in a small file beside the reader's own."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FILE = ".judge.json"


def accepted(folder: Path) -> dict[str, str]:
    """Puzzles, and the file that solved each. What can't be read counts for nothing."""
    return {
        key: each["file"]
        for key, each in _known(folder).items()
        if isinstance(each, dict) and isinstance(each.get("file"), str)
    }


def _known(folder: Path) -> dict[str, Any]:
    """The entries of the file, if it is one."""
    file = folder / FILE
    try:
        data = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        return dict(data["accepted"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def remember(folder: Path, puzzle: str, file: str) -> str:
    """Notes an accepted file. Gives the reason where it can't."""
    try:
        known = _known(folder)
        known[puzzle] = {"file": file, "date": datetime.now(UTC).strftime("%Y-%m-%d")}
        with tempfile.NamedTemporaryFile(
            "w", dir=folder, prefix=".judge-", delete=False, encoding="utf-8"
        ) as part:
            json.dump({"accepted": known}, part, indent=1)
        Path(part.name).replace(folder / FILE)
    except OSError as error:
        return f"your progress can't be noted in {folder}: {error.strerror}"
    return ""
