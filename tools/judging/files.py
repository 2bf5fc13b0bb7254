"""A folder of the judge's own while it works."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.judging import Failure


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder that goes away. What goes wrong in it is said of it, and of no kernel."""
    folder = os.environ.get("TMPDIR") or "/tmp"
    try:
        with tempfile.TemporaryDirectory(prefix="judge-", dir=folder) as name:
            yield Path(name)
    except OSError as error:
        raise _unusable(folder, error) from None


def must_have_room(folder: Path) -> None:
    """Fails where nothing more can be written to a folder of `scratch`."""
    probe = folder / "probe"
    try:
        probe.write_bytes(bytes(1 << 20))
        probe.unlink()
    except OSError as error:
        raise _unusable(str(folder.parent), error) from None


def _unusable(folder: str, error: OSError) -> Failure:
    why = error.strerror or type(error).__name__
    return Failure(
        f"{folder} can't hold the judge's temporary files: {why}; "
        "set TMPDIR to a folder that has room"
    )
