"""The embedded device, loaded into this process: a module, buffers, launches.

The reader's host code has no part in it. Only the PTX of their file runs, on memory that is the
device's own, and every access is checked against it.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools.judging import NOT_AVAILABLE, REFUSED, ROOT, Failure

LIBRARY = "libembedded_session.so"
Dim = tuple[int, int, int]

#: Warp instructions after which a launch is stopped: so many, and so many per element and warp. In
#: an honest kernel every thread of a block may look at each of its elements.
LEAST, PER_ELEMENT, PER_WARP = 1_000_000, 200, 131_072


def folder() -> Path:
    """Where the embedded device lies; it is built where there is none."""
    command = [str(ROOT / "tools/emulator/folder"), "tools/judge", LIBRARY]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure("nothing was judged", NOT_AVAILABLE)
    return Path(done.stdout.strip())


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(folder() / LIBRARY))
    number, count, flag = ctypes.c_double, ctypes.c_uint, ctypes.c_bool
    for name, result, *arguments in (
        ("page_in_box", ctypes.c_void_p, count),
        ("page_out_box", ctypes.c_void_p),
        ("page_out_box_bytes", count),
        ("page_begin", flag, number, number, flag),
        ("page_module", flag),
        ("page_buffer", ctypes.c_int, number),
        ("page_follow", flag, count, flag),
        ("page_write", ctypes.c_void_p, count, number, number),
        ("page_read", ctypes.c_void_p, count, number, number),
        ("page_kernel", flag),
        ("page_argument_buffer", flag, count, number),
        ("page_argument", flag),
        ("page_launch", flag, *[number] * 7, flag),
        ("page_result", flag),
        ("page_end", None),
    ):
        function = getattr(library, str(name))
        function.restype, function.argtypes = result, arguments
    return library


@dataclass(frozen=True)
class Launch:
    """One launch: arguments are the numbers of buffers, or the bytes of a value."""

    kernel: str
    grid: Dim
    block: Dim
    shared: int
    arguments: tuple[tuple[int, int] | bytes, ...]  #: (buffer, offset in bytes), or a value


class Session:
    """A device with one module and fresh memory. One at a time in a process."""

    def __init__(
        self,
        ptx: str,
        *,
        checks: str = "memory",
        apart: int | None,
        most: int,
        lines: bool = False,  # whether to count by line
    ) -> None:
        self._library = _library()
        self._put(checks.encode())
        self._must(self._library.page_begin(-1 if apart is None else apart, most, lines))
        self._put(ptx.encode())
        self._must(self._library.page_module())

    def _put(self, data: bytes) -> None:
        box = self._library.page_in_box(len(data))
        ctypes.memmove(box, data, len(data))

    def _said(self) -> str:
        size = self._library.page_out_box_bytes()
        return ctypes.string_at(self._library.page_out_box(), size).decode(errors="replace")

    def _must(self, done: bool) -> None:
        if not done:
            raise Failure(self._said(), REFUSED)

    def buffer(self, name: str, size: int) -> int:
        """A new allocation."""
        self._put(name.encode())
        number: int = self._library.page_buffer(size)
        self._must(number >= 0)
        return number

    def follow(self, buffer: int, by_block: bool = False) -> None:
        """The result's `followed` says what the kernel stores there, and how much each block reads,
        in the order of these calls."""
        self._must(self._library.page_follow(buffer, by_block))

    def write(self, buffer: int, data: bytes, offset: int = 0) -> None:
        if data:
            to = self._library.page_write(buffer, offset, len(data))
            self._must(bool(to))
            ctypes.memmove(to, data, len(data))

    def read(self, buffer: int, size: int, offset: int = 0) -> bytes:
        if size == 0:
            return b""
        start = self._library.page_read(buffer, offset, size)
        self._must(bool(start))
        return ctypes.string_at(start, size)

    def launch(self, launch: Launch) -> bool:
        """False where the kernel was stopped: the result says why."""
        self._put(launch.kernel.encode())
        self._must(self._library.page_kernel())
        for argument in launch.arguments:
            if isinstance(argument, bytes):
                self._put(argument)
                self._must(self._library.page_argument())
            else:
                self._must(self._library.page_argument_buffer(*argument))
        done: bool = self._library.page_launch(*launch.grid, *launch.block, launch.shared, False)
        if not done and self._library.page_out_box_bytes():
            raise Failure(self._said(), REFUSED)
        return done

    def result(self) -> dict[str, Any]:
        self._must(self._library.page_result())
        result: dict[str, Any] = json.loads(self._said())
        return result

    def end(self) -> None:
        self._library.page_end()
