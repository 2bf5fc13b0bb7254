"""nvcc: from the reader's file to PTX, and what it says where that fails."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.judging import NOT_AVAILABLE, ROOT, Failure

#: As the book's programs are compiled. PTX for 90 is what the embedded device takes first.
OPTIONS = ("-ptx", "-arch=compute_90", "-std=c++20", "-lineinfo")
LIMIT_S = 120


def nvcc() -> Path:
    """The compiler that CMake would find: CUDACXX, CUDA_HOME, PATH, the usual place, the wheels."""
    if named := os.environ.get("CUDACXX"):
        found = shutil.which(named)
        if not found:
            raise Failure(f"CUDACXX names {named}, which is not a program", NOT_AVAILABLE)
        return Path(found)
    home = os.environ.get("CUDA_HOME")
    places = [f"{home}/bin"] if home else []
    places += [os.environ.get("PATH", ""), "/usr/local/cuda/bin"]
    places += map(str, ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu*/bin"))
    found = shutil.which("nvcc", path=os.pathsep.join(places))
    if not found:
        raise Failure(
            "no CUDA compiler: run tools/setup, which fetches one, or set CUDACXX to your nvcc",
            NOT_AVAILABLE,
        )
    return Path(found)


@dataclass(frozen=True)
class Refusal:
    """The compiler's first error, and all that it said."""

    line: int
    message: str
    said: str


def compile_to_ptx(file: Path) -> str | Refusal:
    """What nvcc makes of a file, which it alone reads. Nothing of it runs."""
    with tempfile.TemporaryDirectory(prefix="judge-") as folder:
        out = Path(folder) / "kernel.ptx"
        command = [str(nvcc()), *OPTIONS, "-x", "cu", str(file.resolve()), "-o", str(out)]
        try:
            started = subprocess.Popen(
                command,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,  # with the programs that it starts
            )
            try:
                said_of = started.communicate(timeout=LIMIT_S)
            except BaseException as stop:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(started.pid, signal.SIGKILL)
                started.communicate()
                if not isinstance(stop, subprocess.TimeoutExpired):
                    raise
                return Refusal(0, "the compiler didn't end within two minutes", "")
        except OSError as error:
            raise Failure(
                f"{command[0]} can't be started: {error.strerror}", NOT_AVAILABLE
            ) from None
        if started.returncode == 0 and out.is_file():
            return out.read_text(encoding="utf-8", errors="replace")
    said = (said_of[1] + said_of[0]).strip()
    return (
        _refusal(said, file.name)
        if said
        else Refusal(0, "the compiler failed and said nothing", "")
    )


def _refusal(said: str, name: str) -> Refusal:
    own = rf"{re.escape(name)}[(:](\d+)\)?[:\d]*: (?:fatal )?error:? ?(?:#[\w-]+: )?(.*)"
    if found := re.search(own, said):
        return Refusal(int(found[1]), found[2].strip(), said)
    found = re.search(r"(?:fatal )?error\s*:? *(.*)", said)
    return Refusal(0, (found[1] if found else said.splitlines()[0]).strip(), said)
