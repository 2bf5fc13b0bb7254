"""Cases that lie in a folder as CUDA sources, and what was recorded of them beside the sources."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path


def digest(sources: Path | Iterable[Path]) -> str:
    """Of a folder's *.cu and *.cuh: what was recorded of others tells nothing of these."""
    paths = sources.glob("*.cu*") if isinstance(sources, Path) else sources
    content = b"".join(path.read_bytes() for path in sorted(paths))
    return hashlib.sha256(content).hexdigest()[:16]


def read(text: str) -> tuple[str, dict[str, str], list[dict[str, str]]]:
    """What a file was recorded on, the digests of what was run there, and its rows.

    Its first line: ``# DEVICE; TOOL; cases DIGEST; written by record``, where TOOL and further sets
    may be there.
    """
    head, *lines = text.splitlines()
    heading, digests = [], {}
    for part in head.removeprefix("# ").removesuffix("; written by record").split("; "):
        if match := re.fullmatch(r"(\w+) ([0-9a-f]{16})", part):
            digests[match[1]] = match[2]
        else:
            heading.append(part)
    return "; ".join(heading), digests, list(csv.DictReader(lines))
