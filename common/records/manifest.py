"""The manifest of a recorded set: the hash of every file, as ``tools/measure`` left it.

A set's files are those in its folder and the transcripts that its device printed, which lie with
the chapters. Only the standard library is used here: ``tools/measure`` has nothing else.

Run as a program with a set's name, this module writes the manifest of the files as they are. That
is for what people record beside ``tools/measure``, such as a new transcript.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from common.records import columns

NAME = "manifest.json"
VERSION = 1
SUFFIXES = (".json", ".txt", ".gz")


def paths(folder: Path) -> dict[str, Path]:
    """Every file of the set but its manifest, by the name that the manifest gives it."""
    here = {
        path.name: path
        for path in folder.glob("*.*")
        if path.suffix in SUFFIXES and path.name != NAME
    }
    root = folder.absolute().parents[2]
    printed = root.glob(f"chapters/chapter*/transcripts/{folder.name}/*.txt")
    return here | {path.relative_to(root).as_posix(): path for path in printed}


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of the set as it lies on the disk."""
    return {name: _hash(path.read_bytes()) for name, path in sorted(paths(folder).items())}


def text(folder: Path, fresh: Mapping[str, bytes], passes: int, commit: str | None) -> str:
    """The manifest of a set whose files are replaced by *fresh*, by their names."""
    files = hashes(folder) if folder.is_dir() else {}
    files |= {name: _hash(written) for name, written in fresh.items()}
    manifest: dict[str, Any] = {
        "schema": VERSION,
        "passes": passes,
        "commit": commit,
        "files": dict(sorted(files.items())),
    }
    return json.dumps(manifest, indent=1) + "\n"


def told(folder: Path) -> tuple[int, str | None]:
    """Passes and commit, by the files with times."""
    records = [columns.read(path) for path in sorted(folder.glob("chapter*.json"))]
    passes = 1 + max(run["repeat"] for record in records for run in record["runs"])
    source = records[0]["source"]
    return passes, source["commit"] if source else None


def write(folder: Path) -> None:
    """The manifest of the files as they are; passes and commit are what the files say."""
    (folder / NAME).write_text(text(folder, {}, *told(folder)), encoding="utf-8")


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes the manifest of a recorded set.")
    parser.add_argument("set", help="a folder under figures/data, e.g. nvidia-h200")
    write(Path(__file__).parents[2] / "figures/data" / parser.parse_args().set)
