"""What the judge has accepted, in a small file beside the reader's own."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

FILE = ".judge.json"


def accepted(folder: Path) -> dict[str, str]:
    """Puzzles, and the file that solved each. What can't be read counts for nothing."""
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return {key: each["file"] for key, each in data["accepted"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def remember(folder: Path, puzzle: str, file: str) -> str:
    """Notes an accepted file. Gives the reason where it can't."""
    try:
        try:
            data = json.loads((folder / FILE).read_text(encoding="utf-8"))
            known = dict(data["accepted"])
        except (OSError, ValueError, KeyError, TypeError):
            known = {}
        known[puzzle] = {"file": file, "date": datetime.now(UTC).strftime("%Y-%m-%d")}
        with tempfile.NamedTemporaryFile(
            "w", dir=folder, prefix=".judge-", delete=False, encoding="utf-8"
        ) as part:
            json.dump({"accepted": known}, part, indent=1)
        Path(part.name).replace(folder / FILE)
    except OSError as error:
        return f"your progress can't be noted in {folder}: {error.strerror}"
    return ""
