"""How the commands that are written in Python speak and end. Python's standard library alone."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import io
import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

WRONG, BAD_ARGUMENT, STOPPED = 1, 2, 130

#: What a terminal obeys, and what turns the direction of text: as tools/emulate has it.
_TRICKS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONG = re.compile(r"(\S{200})\S{100,}(\S{100})")
_OF_OUTPUT = (errno.EPIPE, errno.ENOSPC, errno.EBADF, errno.EIO)


def tamed(text: str) -> str:
    """A text with such characters as escapes: source lines and names come from anywhere."""
    plain = text.expandtabs(4)
    return _TRICKS.sub(lambda found: found[0].encode("unicode_escape").decode(), plain)


def one_line(sentence: str) -> str:
    """A sentence as one line, without the middle of a name of several hundred characters."""
    return _LONG.sub(r"\1...\2", tamed(sentence).replace("\n", "\\n"))


def complain(command: str, sentence: str, before: str = "") -> None:
    """One line on the standard error, if that can be written to."""
    if sys.stderr is None:
        return
    try:
        print(f"{before}{command}: {one_line(sentence)}", file=sys.stderr, flush=True)
    except OSError:
        let_go(sys.stderr)


def let_go(stream: TextIO | None) -> None:
    """What is still to be written of it goes nowhere: Python tries once more when it ends."""
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Parser(argparse.ArgumentParser):
    """What is wrong with the arguments is one line, as everything else is."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Argparse's own names no argument that is empty."""
        parsed, others = self.parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {shlex.join(others)}")
        return parsed

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Argparse's own says nothing where it can't be written."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        complain(self.prog, f"{message}; {self.prog} --help says what it takes")
        sys.exit(BAD_ARGUMENT)


def run(command: str, module: str) -> NoReturn:
    """Ends the process with the status that the module's `main` returns. Where a machine or a
    reader stands in its way, that is one sentence and a status, never a traceback. What is left is
    a mistake of ours, and shows where."""
    status = WRONG
    try:
        # Until now tools/python.sh has held back a Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # where letters have seven bits, a ✓ is a ?
        if sys.stdout is None:  # the next file that is opened would be it
            complain(command, "there is no standard output to write to")
            sys.exit(BAD_ARGUMENT)
        status = importlib.import_module(module).main()
    except SystemExit as end:  # argparse's, mostly
        status = end.code if isinstance(end.code, int) else WRONG if end.code else 0
    except KeyboardInterrupt:
        complain(command, "stopped", before="\n")  # of the line with ^C
        status = STOPPED
    except MemoryError:
        complain(command, "this machine hasn't enough memory for it")
    except OSError as error:
        said = error.strerror or type(error).__name__
        if error.filename is not None:
            said = f"{os.fsdecode(error.filename)}: {said}"
        elif error.errno in _OF_OUTPUT:
            said = f"the output can't be written: {said}"
            let_go(sys.stdout)
        complain(command, said)
        status = BAD_ARGUMENT
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python itself is ending
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        let_go(sys.stdout)
        if status == 0:
            complain(command, f"the output can't be written: {error.strerror}")
            status = BAD_ARGUMENT
    sys.exit(status)
