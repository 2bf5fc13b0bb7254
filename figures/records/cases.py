"""Cases that lie in a folder as CUDA sources, and what was recorded of them beside the sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest(sources: Path | Iterable[Path]) -> str:
    """Of a folder's *.cu and *.cuh: what was recorded of others tells nothing of these."""
    paths = sources.glob("*.cu*") if isinstance(sources, Path) else sources
    content = b"".join(path.read_bytes() for path in sorted(paths))
    return hashlib.sha256(content).hexdigest()[:16]
