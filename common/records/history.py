"""What git knows of a recording: whether its commit exists, and its kernels as they were then."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from common.records import regions
from common.records.reading import DataError
from common.records.sets import RecordedSet

_USES = re.compile(r"^(\s*// begin \S+) uses .*$", re.MULTILINE)


def unknown(folder: Path, commit: str) -> str:
    """Why *commit* is none of this repository's; empty where it is, or where git can't tell."""
    if len(set(commit)) == 1:
        return f"{commit} is a placeholder, not a commit"
    root = folder.absolute().parents[2]
    if not (root / ".git").exists() or _git(root, "rev-parse", "HEAD") is None:
        return ""
    if _git(root, "cat-file", "-e", f"{commit}^{{commit}}") is not None:
        return ""
    if (_git(root, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true":
        return ""  # a shallow clone has no history to look in
    return f"{commit} is not in this repository's history"


def regions_at(root: Path, commit: str) -> dict[str, regions.Region] | None:
    """The chapters' regions as *commit* has them; None where there is no git to ask."""
    packed = _git(root, "archive", commit, "chapters")
    if packed is None:
        return None
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(packed)) as files:
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        files.extractall(folder, **safely)  # Debian 12's Python has no filters; git wrote the file
        for path in Path(folder).glob("chapters/chapter*/*.cu*"):
            # Markers once named what a region uses; now its code is searched for that.
            text = path.read_text(encoding="utf-8")
            path.write_text(_USES.sub(r"\1", text), encoding="utf-8")
        return regions.regions(folder)


def check_hashes(folder: Path, loaded: RecordedSet, then: dict[str, regions.Region]) -> None:
    """Every kernel hash is of the region as it was at the recorded commit, which *then* has.

    A launch of a library's is left out where the file was migrated: its text was written anew,
    and the call in it is the same.
    """
    for record in loaded.chapters.values():
        seen = set()
        for run in record.runs:
            name, recorded = run["region"], run["kernel_hash"]
            if name is None or (name, recorded) in seen:
                continue
            seen.add((name, recorded))
            region = then.get(name)
            if region and region.kind == regions.LAUNCHES and "migrated" in record.data:
                continue
            if recorded != (region.hash if region else None):
                commit = record.data["source"]["commit"] if record.data["source"] else ""
                what = f"{recorded} is not the kernel's at commit {commit[:7]}"
                where = f"{run['variant']}, region '{name}', field 'kernel_hash'"
                raise DataError(record.path, where, what)


def _git(root: Path, *arguments: str) -> bytes | None:
    """What git prints; None where it is missing or fails."""
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
