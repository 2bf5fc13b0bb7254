"""Which source is being measured: its commit, and whether anything differs from it.

Where there is no ``.git``, a stamp written before, where there was one, says it. The stamp holds
the hash of every tracked file, so that a source changed since then is noticed.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common.files import write_whole
from tools.measuring import Failure

STAMP = "figures/data/.stamp.json"


@dataclass(frozen=True)
class Source:
    """What is measured; ``commit`` is None where nothing says it, and ``note`` then why."""

    commit: str | None
    changed: tuple[str, ...] = ()  # files that differ from the commit
    dirty: bool = False  # a stamp knows this much and no names
    note: str = ""

    def record(self) -> dict[str, Any] | None:
        """As recorded files have it."""
        return None if self.commit is None else {"commit": self.commit, "dirty": self.dirty}


def utc_now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def source_of(root: Path, set_name: str) -> Source:
    """The source at *root*. What is measured into *set_name* is no part of it."""
    commit = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    if commit is not None:
        changed = tuple(_changed(root, set_name))
        return Source(commit.strip(), changed, dirty=bool(changed))
    if (root / STAMP).exists():
        return _stamped(root, set_name)
    why = _why_not(root)
    return Source(None, note=f"{why}, and no stamp (tools/measure --stamp writes one beside git)")


def write_stamp(root: Path) -> str:
    """Writes the stamp; returns the line that says so."""
    commit = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    if commit is None:
        raise Failure(f"--stamp needs a commit that git can name: {_why_not(root)}", 2)
    tracked = (_git(root, "ls-files", "-z") or "").split("\0")
    hashes = {name: _hash(root / name) for name in sorted(filter(None, tracked))}
    files = {name: digest for name, digest in hashes.items() if digest}
    dirty = bool(_changed(root, "local"))
    stamp = {"commit": commit.strip(), "dirty": dirty, "date": utc_now(), "files": files}
    write_whole(root / STAMP, json.dumps(stamp, indent=1) + "\n")
    state = "with changes that are not in it" if dirty else "clean"
    return f"{STAMP}: commit {commit[:12]}, {state}, {len(files)} files"


def _stamped(root: Path, set_name: str) -> Source:
    again = "write it again with tools/measure --stamp, where git is"
    try:
        stamp = json.loads((root / STAMP).read_text(encoding="utf-8"))
        commit, dirty, files = str(stamp["commit"]), bool(stamp["dirty"]), dict(stamp["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failure(f"{STAMP} can't be read ({error}): {again}", 2) from None
    ours = f"figures/data/{set_name}/"
    differ = [
        name
        for name, digest in files.items()
        if not name.startswith(ours) and _hash(root / name) != digest
    ]
    if differ:
        more = f" and {len(differ) - 5} more" if len(differ) > 5 else ""
        raise Failure(f"not what {STAMP} tells of: {', '.join(differ[:5])}{more}; {again}", 2)
    return Source(commit, dirty=dirty)


def _hash(path: Path) -> str | None:
    """SHA-256 of a file, of a link's target for a link; None where there is neither."""
    if path.is_symlink():
        return hashlib.sha256(str(path.readlink()).encode()).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _changed(root: Path, set_name: str) -> list[str]:
    """Files that differ from the commit, new ones included; not what measuring itself writes."""
    outputs = ["figures/data/local", f"figures/data/{set_name}", STAMP, "figures/data/*/.partial"]
    pathspec = [".", *(f":(exclude){name}" for name in dict.fromkeys(outputs))]
    status = _git(root, "status", "--porcelain", "-z", "--no-renames", "-uall", "--", *pathspec)
    if status is None:
        raise Failure("git status failed: can't tell whether the source is clean", 2)
    return [entry[3:] for entry in status.split("\0") if entry]


def _why_not(root: Path) -> str:
    """Why git names no commit here."""
    if not (root / ".git").exists():
        return "there is no .git"
    try:
        command = ["git", "-C", str(root), "rev-parse", "HEAD"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    except OSError:
        return "git is not installed"
    if "dubious ownership" in said:
        return (
            "this checkout belongs to another user, and git refuses it until "
            f"you allow it: git config --global --add safe.directory {shlex.quote(str(root))}"
        )
    return f"git says {said.strip().splitlines()[0]!r}" if said.strip() else "git names none"


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints; None where it is missing or fails."""
    # Without optional locks: measuring must not get in the way of a commit.
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
