"""Names the packages that this Python's environment lacks, one a line, as pip takes them.

usage: python tools/packages.py LIST...

Of the LISTs (requirements.txt and the like) those that are not installed in their version; of all
that is installed, those of which a file is gone.
"""

from __future__ import annotations

import csv
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path


def normal(name: str) -> str:
    """A package's name as they are compared: case and separators don't count."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(path: Path) -> dict[str, str]:
    """The versions that a list asks for."""
    lines = path.read_text(encoding="utf-8")
    return {
        normal(name): version
        for name, version in re.findall(r"^([\w.-]+)==([^\s;#]+)", lines, re.MULTILINE)
    }


def whole(package: Distribution) -> bool:
    """Is every file there that its installer has written down? Not what Python makes of them."""
    rows = csv.reader((package.read_text("RECORD") or "").splitlines())
    return all(
        Path(str(package.locate_file(row[0]))).exists() for row in rows if row[0][-4:] != ".pyc"
    )


def lacking(lists: list[Path]) -> list[str]:
    wanted = {name: version for path in lists for name, version in pinned(path).items()}
    there: dict[str, str] = {}
    damaged: dict[str, str] = {}
    for package in distributions():
        name = package.metadata["Name"]
        if name is None:  # its own description is among what is gone
            continue
        there.setdefault(normal(name), package.version)
        if not whole(package):
            damaged[normal(name)] = package.version
    missing = {name: version for name, version in wanted.items() if there.get(name) != version}
    return [f"{name}=={version}" for name, version in sorted({**damaged, **missing}.items())]


if __name__ == "__main__":
    print("\n".join(lacking([Path(path) for path in sys.argv[1:]])), end="")
