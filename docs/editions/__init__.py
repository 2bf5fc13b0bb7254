"""The stories on paper and in e-readers: ``tools/guide --pdf`` and ``tools/guide --epub``.

``stories`` takes the pages of the rendered guide and makes them stand still, ``paper`` sets a PDF
of them, and ``ebook`` packs an EPUB. The notebooks and the rest of the lab stay on the web.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

TITLE = "The Reduction Ladder"
SUBTITLE = "CUDA performance from one sum"


class Failure(Exception):
    """An edition can't be made: one sentence for the reader."""


def replaced(out: Path, write: Callable[[Path], object]) -> None:
    """Replaces ``out`` by the file that ``write`` makes, once that is whole.

    Raises Failure where the file can't be written.
    """
    aside = out.with_name(f".{out.name}.new")
    try:
        write(aside)
        aside.replace(out)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise Failure(f"can't write {out}: {error.strerror or error}") from None
