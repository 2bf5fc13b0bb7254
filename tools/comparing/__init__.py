"""What tools/compare is made of; ``command`` is its command line."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Refused(Exception):
    """Why nothing was compared, in one line."""
