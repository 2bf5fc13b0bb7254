"""nvcc: from the reader's file to PTX, and what it says where that fails."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.judging import NOT_AVAILABLE, ROOT, Failure
from tools.judging.files import must_have_room, scratch

#: As the book's programs are compiled. PTX for 90 is what the embedded device takes first.
OPTIONS = ("-ptx", "-arch=compute_90", "-std=c++20", "-lineinfo")
LIMIT_S = 120
#: What each program of the compiler may take: a file can include what never ends.
MOST_MEMORY = 6 << 30


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


def plain(name: str) -> str:
    """A file's name where a compiler may meet it: the same, or another where it has odd letters."""
    return name if re.fullmatch(r"\w[\w.+-]*\.cuh?", name, re.ASCII) else "your_kernel.cu"


def compile_to_ptx(file: Path, source: str) -> str | Refusal:
    """What nvcc makes of a file's text, which it reads from a folder of the judge's. Nothing of it
    runs. Messages and line numbers speak of `plain` of the file's name."""
    name = plain(file.name)
    beside = dict.fromkeys((file.absolute().parent, file.resolve().parent))
    with scratch() as folder:
        (folder / name).write_text(source, encoding="utf-8", newline="")
        command = [str(nvcc()), *OPTIONS, "-x", "cu", name, "-o", "made.ptx"]
        for number, place in enumerate(beside):  # headers of the reader's own, between quotes
            (folder / f"beside{number}").symlink_to(place)
            command.append(f"-Xcompiler=-iquote,beside{number}")
        status, said = _run(command, folder)
        out = folder / "made.ptx"
        if status == 0 and out.is_file():
            return out.read_text(encoding="utf-8", errors="replace")
        must_have_room(folder)
    if status is None:
        return Refusal(0, "the compiler didn't end within two minutes", "")
    said = re.sub(r"\bbeside\d+/", "", said)
    return _refusal(said, name) if said else Refusal(0, "the compiler failed and said nothing", "")


def _run(command: list[str], folder: Path) -> tuple[int | None, str]:
    """Its status, none where it was stopped, and what it said."""
    try:
        started = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "TMPDIR": str(folder)},
            start_new_session=True,  # with the programs that it starts
        )
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(started.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    except OSError as error:
        raise Failure(f"{command[0]} can't be started: {error.strerror}", NOT_AVAILABLE) from None
    try:
        out, err = started.communicate(timeout=LIMIT_S)
    except BaseException as stop:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        if not isinstance(stop, subprocess.TimeoutExpired):
            raise
        return None, ""
    return started.returncode, (err + out).strip()


def _refusal(said: str, name: str) -> Refusal:
    own = rf"{re.escape(name)}[(:](\d+)\)?[:\d]*: (?:fatal )?error:? ?(?:#[\w-]+: )?(.*)"
    if found := re.search(own, said):
        return Refusal(int(found[1]), found[2].strip(), said)
    found = re.search(r"(?:fatal )?error\s*:? *(.*)", said)
    return Refusal(0, (found[1] if found else said.splitlines()[0]).strip(), said)
