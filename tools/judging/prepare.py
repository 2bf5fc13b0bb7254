"""Compiles for the tests what they judge: answers, skeletons, and submissions of either kind.

``python3 -m tools.judging.prepare FOLDER``: only what has changed since the last time, in as few
runs of nvcc as there are kinds.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from tools.judging import ROOT, Failure
from tools.judging.compiler import OPTIONS, nvcc
from tools.judging.puzzles import all_puzzles

CHEATS = ROOT / "tools/judging/tests/cheats"
HONEST = ROOT / "tools/judging/tests/honest"


def sources() -> dict[str, dict[str, str]]:
    """The files of each kind, by name."""
    puzzles = all_puzzles()

    def of(folder: Path) -> dict[str, str]:
        shared = {f"../{file.name}": file for file in folder.parent.glob("*.cuh")}
        files = shared | {file.name: file for file in folder.glob("*.cu*")}
        return {name: files[name].read_text(encoding="utf-8") for name in sorted(files)}

    return {
        "answers": {puzzle.file_name: puzzle.answer for puzzle in puzzles},
        "skeletons": {puzzle.file_name: puzzle.skeleton() for puzzle in puzzles},
        "cheats": of(CHEATS),
        "honest": of(HONEST),
    }


def _compile(folder: Path, files: dict[str, str], compiler: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    headers = "".join(text for name, text in files.items() if name.endswith(".cuh"))
    stale: dict[Path, str] = {}
    for name, text in files.items():
        file = folder / name
        file.write_text(text, encoding="utf-8")
        if name.endswith(".cuh") or "// rejected: compile" in text:
            continue
        made = hashlib.sha256("\0".join((text, headers, *OPTIONS, str(compiler))).encode())
        stamp = file.with_suffix(".made")
        if not stamp.is_file() or stamp.read_text() != made.hexdigest():
            stale[file] = made.hexdigest()
    if stale:
        command = [str(compiler), *OPTIONS, "-w", "--threads=2", *(file.name for file in stale)]
        subprocess.run(command, cwd=folder, check=True)
    for file, digest in stale.items():
        file.with_suffix(".made").write_text(digest)


def main() -> int:
    folder = Path(sys.argv[1])
    try:
        for kind, files in sources().items():
            _compile(folder / kind, files, nvcc())
    except Failure as failure:
        print(f"prepare: {failure}", file=sys.stderr)
        return failure.status
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
