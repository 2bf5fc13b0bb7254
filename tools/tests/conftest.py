"""What tests of set-up and build share: copies of the checkout, and machines with less in them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
NAME = "the book"  # of every copy: with a space in it, as a reader's may have


def tracked_files() -> list[str]:
    """What a commit of the work tree would hold; of an archive, all but what is made in it."""
    if not (ROOT / ".git").exists():
        made = re.compile(r"build|\.venv/|(.*/)?__pycache__/|\.\w+_cache/|\.writable")
        paths = (path for path in ROOT.rglob("*") if path.is_file())
        names = (str(path.relative_to(ROOT)) for path in paths)
        return [name for name in names if not made.match(name)]
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    # Set-up tries whether it may write by a file of this name, here too while these tests run.
    names = [name for name in listing.stdout.split("\0") if name and name != ".writable"]
    return [name for name in names if (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def public() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are its user's alone."""
    with tempfile.TemporaryDirectory(prefix="book-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def checkout(public: Path) -> Callable[..., Path]:
    """Makes a fresh copy of the checkout, or of a part."""

    def make(name: str, part: str = "", owner: int | None = None) -> Path:
        copy = public / name / NAME
        for file in tracked_files():
            if file.startswith(part):
                (copy / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, copy / file)
        if owner is not None:
            subprocess.run(["chown", "-R", str(owner), copy], check=True)
        return copy

    return make


@pytest.fixture
def environment() -> Callable[..., None]:
    """Makes a copy's .venv of links to what is installed here, but NVIDIA's wheels.

    The package `own` is a copy: what is to be changed must be no link.
    """

    def make(copy: Path, own: str = "?") -> None:
        venv = copy / ".venv"
        python = [sys.executable, "-m", "venv", "--without-pip", venv]
        subprocess.run(python, check=True)
        here = Path(sys.prefix)
        for folder in (
            here,
            here / "bin",
            here / "include",
            *here.glob("lib/python3*/site-packages"),
        ):
            for path in folder.iterdir():
                link = venv / path.relative_to(here)
                if path.name.startswith(own):
                    shutil.copytree(path, link)
                elif not link.exists() and not re.match(r"nvidia|cuda|\.", path.name):
                    link.symlink_to(path)
        version = [venv / "bin" / "python", "--version"]
        said = subprocess.run(version, capture_output=True, text=True, check=True)
        (venv / ".python").write_text(said.stdout)

    return make


@pytest.fixture
def commands(public: Path, request: pytest.FixtureRequest) -> Callable[..., Path]:
    """Makes a folder for PATH: the system's commands but some, and some stand-ins.

    The system's alone: wrappers that look for the real command in PATH (pyenv's) would find
    themselves here, for ever.
    """

    def make(without: Sequence[str] = (), **stand_ins: str) -> Path:
        folder = public / f"{request.node.name}-commands"
        folder.mkdir()
        for place in ("/usr/bin", "/usr/sbin"):
            for command in Path(place).iterdir():
                link = folder / command.name
                if command.name not in (*without, *stand_ins) and not link.is_symlink():
                    link.symlink_to(command)
        for name, script in stand_ins.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        return folder

    return make


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def run() -> Run:
    """Runs a command, if asked without network, with paths out of sight, or as another user.

    `replace` puts folders in the place of others, for that command alone, in the order given.
    """

    def go(
        *command: str | Path,
        cwd: Path,
        network: bool = True,
        hide: Sequence[Path] = (),
        replace: dict[Path, Path] | None = None,
        user: int | None = None,
        without: Sequence[str] = (),
        timeout: int = LIMIT,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        argv = [str(word) for word in command]
        if user is not None:
            argv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *argv]
        if hide or replace or not network:
            mounts = [f"mount -t tmpfs none {shlex.quote(str(path))}" for path in hide]
            mounts += [
                f"mount --rbind {shlex.quote(str(new))} {shlex.quote(str(old))}"
                for old, new in (replace or {}).items()
            ]
            there = f"cd {shlex.quote(str(cwd))}"  # what lies there now
            script = " && ".join([*mounts, there, f"exec {shlex.join(argv)}"])
            argv = ["unshare", "-m", *([] if network else ["-n"]), "bash", "-c", script]
            if subprocess.run(["unshare", "-m", "-n", "true"], check=False).returncode:
                pytest.skip("unshare is not permitted here")
        if user is not None and os.geteuid() != 0:
            pytest.skip("only root can act as another user")
        kept = {name: value for name, value in os.environ.items() if name not in without}
        # What a copy compiles is what the checkout has compiled (tools/steps.sh).
        kept["CCACHE_BASEDIR"] = str(next((p for p in (cwd, *cwd.parents) if p.name == NAME), cwd))
        if "CUDACXX" not in without:
            kept.setdefault("CUDACXX", str(nvcc()))
        with subprocess.Popen(
            argv,
            cwd=cwd,
            env={**kept, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)  # and all that it started
                raise
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    return go
