"""The stories on paper and in e-readers: ``tools/guide --pdf`` and ``tools/guide --epub``.

``stories`` takes the pages of the rendered guide and makes them stand still, ``paper`` sets a PDF
of them, and ``ebook`` packs an EPUB. The notebooks and the rest of the lab stay on the web.
"""

from __future__ import annotations

from pathlib import Path

from common.files import require_writable, write_whole

TITLE = "The Reduction Ladder"
SUBTITLE = "CUDA performance from one sum"


class Failure(Exception):
    """An edition can't be made: one sentence for the reader, and the status to leave with."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def put(out: Path, content: str | bytes | None = None) -> None:
    """Raises Failure where the file can't be written; without content that alone."""
    try:
        require_writable(out) if content is None else write_whole(out, content)
    except OSError as error:
        raise Failure(f"can't write {out}: {error.strerror}", 2) from None
