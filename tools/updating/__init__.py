"""What tools/update is made of; ``command`` is its command line."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Refused(Exception):
    """Why it goes no further, in a few lines, and the status to exit with."""

    def __init__(self, why: str, status: int = 1) -> None:
        super().__init__(why)
        self.status = status
