"""Kernels that have changed since they were recorded: named in the summary, and no failure.

There isn't always a GPU to record on. Until the next recording the pages mark such numbers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from common.records.naming import REFERENCE
from common.records.recordings import Recordings, is_stale


def earlier_forms(root: Path) -> list[str]:
    """Every recorded variant whose kernel's source is no longer what was measured."""
    recordings = Recordings(root)
    names = {
        f"{record.data['chapter']}/{run['variant']}"
        for record in recordings.reference.chapters.values()
        for run in record.runs
        if is_stale(
            recordings.run(
                record.data["chapter"],
                run["variant"],
                run["n"],
                run["block"],
                run["params"],
                only=REFERENCE,
            )
        )
    }
    return sorted(names)


def test_kernels_are_those_that_were_recorded(repository: Path) -> None:
    if names := earlier_forms(repository):
        pytest.skip(f"measured on an earlier form, to be recorded again: {', '.join(names)}")
