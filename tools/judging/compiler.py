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
from tools.judging.form import blanked, lines_of

#: As the book's programs are compiled. PTX for 90 is what the embedded device takes first.
OPTIONS = ("-ptx", "-arch=compute_90", "-std=c++20", "-lineinfo")
#: The time of the processor that all programs of the compiler may take together, and how long they
#: may take none at all: a pipe that is included never says anything.
LIMIT_S, IDLE_S = 10, 5
#: What each program of the compiler may take: a file can include what never ends.
MOST_MEMORY = 6 << 30
#: Where nvcc finds options that are for other work.
_ADDS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")


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
    if refusal := _endless(file, source):
        return refusal
    with scratch() as folder:
        status, said = _run([*OPTIONS, "-o", "made.ptx"], file, source, folder)
        out = folder / "made.ptx"
        made = out.read_text(encoding="utf-8", errors="replace") if out.is_file() else ""
        if status == 0 and made:
            return made
        must_have_room(folder)
    if status is None:
        return Refusal(0, said, "")
    said = re.sub(r"\bbeside\d+/", "", said)
    refusal = _refusal(said, plain(file.name), made) if said else None
    if status == 0 or refusal is None or refusal.line == 0:
        _must_be_nvcc()
    return refusal or Refusal(0, "the compiler failed and said nothing", "")


def _must_be_nvcc() -> None:
    """Of a compiler that has made nothing, or said nothing about the file."""
    with scratch() as folder:
        _status, said = _wait_for([str(nvcc()), "--version"], folder)
    if "NVIDIA" not in said:
        raise Failure(f"{nvcc()} isn't a CUDA compiler: set CUDACXX to your nvcc", NOT_AVAILABLE)


@dataclass(frozen=True)
class Resources:
    """What a kernel takes on a card of compute capability 9.0."""

    registers: int
    shared: int  #: bytes that its code declares
    frames: dict[str, int]  #: bytes of a thread's stack that each function takes


def resources(ptx: str, kernel: str) -> Resources | str:
    """What ptxas says, or why no card can have the kernel."""
    ptxas = _ptxas()
    with scratch() as folder:
        (folder / "made.ptx").write_text(ptx, encoding="utf-8")
        command = [ptxas, "-v", "-arch=sm_90", "-o", "made.cubin", "made.ptx"]
        status, said = _wait_for(command, folder)
    if status != 0:
        if much := re.search(r"uses too much (\w+) data \((\w+) bytes, (\w+) max\)", said):
            kind, takes, most = much[1], int(much[2], 16), int(much[3], 16)
            whose = "a block" if kind == "shared" else "a thread"
            return f"it declares {takes} bytes of {kind} memory, and {whose} has {most}"
        found = re.search(r"(?:error|fatal)\s*: (.*)", said)
        return f"the assembler says: {found[1].strip() if found else said}"
    own = said.partition(f"Compiling entry function '{kernel}'")[2]
    used = re.search(r"Used (\d+) registers[^\n]*", own)
    if used is None:
        raise Failure(f"{ptxas} doesn't say what a kernel takes: {said}", NOT_AVAILABLE)
    shared = re.search(r"(\d+) bytes smem", used[0])
    frames = re.findall(r"properties for ([\w$]+)\n\s*(\d+) bytes stack frame", said)
    return Resources(
        int(used[1]), int(shared[1]) if shared else 0, {name: int(size) for name, size in frames}
    )


def _ptxas() -> str:
    """The assembler of the compiler, or of another one: a script may stand for nvcc."""
    beside = nvcc().resolve().parent
    places = (str(beside), os.environ.get("PATH", ""), "/usr/local/cuda/bin")
    found = shutil.which("ptxas", path=os.pathsep.join(places))
    if not found:
        raise Failure(f"no ptxas beside {nvcc()}: set CUDACXX to a toolkit's nvcc", NOT_AVAILABLE)
    return found


_INCLUDES = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


def _endless(file: Path, source: str) -> Refusal | None:
    """A header that is a device or a pipe: a compiler would read until it has no memory left."""
    code = blanked(source)
    for found in _INCLUDES.finditer(source):
        if code[found.start() : found.end()].strip() == "":  # in a comment
            continue
        for folder in (file.absolute().parent, file.resolve().parent):
            header = folder / found[1]
            if header.exists() and not (header.is_file() or header.is_dir()):
                line = source.count("\n", 0, found.start()) + 1
                return Refusal(line, f"{found[1]} is not a regular file", "")
    return None


def preprocessed(file: Path, source: str) -> str:
    """A file's own lines where they stand, without those that its #if leaves out, and with macros
    in place. Of a file that can't be read so, the text as it is."""
    with scratch() as folder:
        options = [*OPTIONS[1:-1], "-E", "-o", "whole"]
        status, _said = _run(options, file, source, folder)
        out = folder / "whole"
        if status != 0 or not out.is_file():
            return source
        whole = out.read_text(encoding="utf-8", errors="replace")
    own: dict[int, str] = {}
    name, line = "", 0
    for text in whole.split("\n"):
        if found := re.match(r'# (\d+) "((?:[^"\\]|\\.)*)"', text):
            line, name = int(found[1]), found[2]
            continue
        if name == plain(file.name):
            own[line] = own.get(line, "") + text
        line += 1
    return "\n".join(own.get(number, "") for number in range(1, max(own, default=0) + 1))


#: Directives that name another file or line for what follows.
_RENAMES = re.compile(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:line\b|\d)[^\n]*", re.MULTILINE)


def _run(options: list[str], file: Path, source: str, folder: Path) -> tuple[int | None, str]:
    """The compiler's status on a text, none where it was stopped, and what it said."""
    name = plain(file.name)
    text = list(source)  # messages speak of the lines that the reader sees
    for found in _RENAMES.finditer(blanked(source)):
        text[found.start() : found.end()] = " " * (found.end() - found.start())
    (folder / name).write_text("".join(text), encoding="utf-8", newline="")
    command = [str(nvcc()), *options, "-x", "cu", name]
    beside = dict.fromkeys((file.absolute().parent, file.resolve().parent))
    for number, place in enumerate(beside):  # headers of the reader's own, between quotes
        (folder / f"beside{number}").symlink_to(place)
        command.append(f"-Xcompiler=-iquote,beside{number}")
    return _wait_for(command, folder)


def _wait_for(command: list[str], folder: Path) -> tuple[int | None, str]:
    environment = {name: set_to for name, set_to in os.environ.items() if name not in _ADDS}
    # Who stops the judge while the compiler starts is heard once it can be stopped, too.
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        started = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**environment, "TMPDIR": str(folder)},
            start_new_session=True,  # with the programs that it starts
        )
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        raise Failure(f"{command[0]} can't be started: {error.strerror}", NOT_AVAILABLE) from None
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(started.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        out, err = _communicated(started)
    except BaseException as stop:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        if not isinstance(stop, TimeoutError):
            raise
        return None, str(stop)
    return started.returncode, (err + out).strip()


def _communicated(started: subprocess.Popen[str]) -> tuple[str, str]:
    """What it says. Raises TimeoutError where it takes too long, whatever else the machine does."""
    spent, idle = 0.0, 0
    while True:
        try:
            return started.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            before, spent = spent, max(spent, _seconds(started.pid))
            idle = idle + 1 if spent == before else 0
        if spent > LIMIT_S:
            raise TimeoutError(f"the compiler was stopped: it had worked on it for {LIMIT_S} s")
        if idle > IDLE_S:
            raise TimeoutError("the compiler waits for ever: does the file #include a pipe?")


def _seconds(session: int) -> float:
    """The processor's time of all programs of a session, those that have ended with them."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


_ERROR = r"[(:](\d+)\)?[:\d]*: (?:fatal )?error:? ?(?:#[\w-]+: )?(.*)"


def _refusal(said: str, name: str, made: str) -> Refusal:
    """The first error, at the reader's line if there is one."""
    own = re.escape(name)
    if found := re.search(own + _ERROR, said):
        return Refusal(int(found[1]), found[2].strip(), said)
    if found := re.search(r"At end of source: error:? ?(?:#[\w-]+: )?(.*)", said):
        opened = re.search(rf'{own}\((\d+)\): note [^\n]*to match this ("."?)', said)
        if opened:
            what = f"{found[1].strip()} to match this {opened[2]}, and the file ends"
            return Refusal(int(opened[1]), what, said)
        return Refusal(0, f"at the end of the file: {found[1].strip()}", said)
    if found := re.search(rf"^(?:.*/)?([^/\n]+?){_ERROR}", said, re.MULTILINE):
        within = f"{found[1]}:{found[2]}: {found[3].strip()}"
        called = re.search(rf'at line (\d+) of "?{own}|In file included from {own}:(\d+)', said)
        return Refusal(int(called[1] or called[2]) if called else 0, within, said)
    if found := re.search(r"ptxas \S+, line (\d+); (?:error|fatal)\s*: (.*)", said):
        lines = made.split("\n")[: int(found[1])]
        own_line = next(iter(lines_of(made, name)[len(lines) - 1 :]), 0)
        return Refusal(own_line, f"the assembler says: {found[2].strip()}", said)
    found = re.search(r"(?:fatal )?error\s*:? *(.*)", said)
    return Refusal(0, (found[1] if found else said.splitlines()[0]).strip(), said)
