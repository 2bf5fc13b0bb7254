"""What tools/compare is made of; ``command`` is its command line."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Refused(Exception):
    """Why nothing was compared, in one line, and the status to leave with."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status
