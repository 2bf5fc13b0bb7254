"""Starts programs, and ends them with all that they started when the work is interrupted."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

_running: set[subprocess.Popen[str]] = set()
_stopping = threading.Event()


class Stopped(Exception):
    """The program was ended because the work is being interrupted."""


@dataclass(frozen=True)
class Finished:
    """What a program left behind."""

    status: int
    stdout: str
    stderr: str

    @property
    def last_line(self) -> str:
        """Where a program that failed says why."""
        lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        return lines[-1].strip() if lines else "it printed nothing"


def run(command: list[str], cwd: Path, timeout: float | None = None) -> Finished:
    """Runs *command* to its end. Raises TimeoutExpired, OSError or Stopped."""
    if _stopping.is_set():
        raise Stopped
    # A process group of its own: profilers start the program as a child, which must not outlive
    # them.
    # LC_ALL: numbers are printed with a decimal point.
    child = subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    _running.add(child)
    try:
        if _stopping.is_set():  # since the child was started: stop_all didn't see it
            raise Stopped
        out, err = child.communicate(timeout=timeout)
    except BaseException:
        _end(child)
        child.communicate()
        raise
    finally:
        _running.discard(child)
    if _stopping.is_set():
        raise Stopped
    return Finished(child.returncode, out, err)


def stop_all() -> None:
    """Ends every program that is running; those that wait for one get Stopped."""
    _stopping.set()
    for child in list(_running):
        _end(child)


def _end(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
