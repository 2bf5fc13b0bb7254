"""Work with an end: in a process of its own, which the system stops when its time is over."""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import resource
import signal
from collections.abc import Callable
from typing import TypeVar

from tools.judging import Failure

T = TypeVar("T")

#: What the work is at: in memory that it shares with who waits for it.
_NOW = mmap.mmap(-1, 256)
_so_far = [""]


class TimeIsOver(Exception):
    """The work was stopped; the text is what it was at."""


def at(what: object) -> None:
    """Says what the work is at now."""
    text = f"{what}{_so_far[0]}".encode()[: len(_NOW) - 1]
    _NOW[: len(text) + 1] = text + b"\0"


def so_far(what: str) -> None:
    """Says what it has done, which is added to what it is at from then on."""
    _so_far[0] = what


def within(seconds: int, work: Callable[[], T]) -> T:
    """The work's result. Raises TimeIsOver when it has taken so much of the processor's time, and
    Failure where it does: that a machine is busy changes nothing."""
    so_far("")
    at("at its start")
    results, give = os.pipe()
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    child = os.fork()
    if child == 0:
        os.close(results)
        _do(seconds, work, give)
    os.close(give)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        with os.fdopen(results, "rb") as stream:
            said = stream.read()
        _, status = os.waitpid(child, 0)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    if not said:
        ended = -os.waitstatus_to_exitcode(status)
        if ended in (signal.SIGXCPU, signal.SIGKILL):
            raise TimeIsOver(_NOW[:].partition(b"\0")[0].decode(errors="replace"))
        raise RuntimeError(f"the judge's own process ended with {-ended}")
    result = pickle.loads(said)
    if isinstance(result, BaseException):
        raise result
    return result  # type: ignore[no-any-return]


def _do(seconds: int, work: Callable[[], T], give: int) -> None:
    """In the child: it ends here, and leaves nothing but a result or a Failure."""
    for number in (signal.SIGINT, signal.SIGTERM):  # who waits is told, and stops this
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    result: object
    try:
        result = work()
    except Failure as failure:
        result = failure
    except BaseException:
        import traceback

        traceback.print_exc()  # a mistake of ours
        os._exit(70)
    with os.fdopen(give, "wb") as stream:
        pickle.dump(result, stream)
    os._exit(0)
