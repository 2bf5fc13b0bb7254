"""What the judge prints, to whatever there is to print to."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from typing import TextIO

from tools.judging import Failure

#: What a terminal obeys, and what turns the direction of text: as tools/emulate has it.
_TRICKS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def tamed(text: str) -> str:
    """A text with such characters as escapes: source lines and names come from anywhere."""
    plain = text.expandtabs(4)
    return _TRICKS.sub(lambda found: found[0].encode("unicode_escape").decode(), plain)


def prepare() -> None:
    """Where letters have seven bits, a ✓ is a ?."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """Prints a text. Fails with a sentence where that isn't possible."""
    if sys.stdout is None:
        raise Failure("there is no standard output to write to")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _let_go(sys.stdout)
        raise Failure(f"the output can't be written: {error.strerror}") from None


def complain(sentence: str, before: str = "") -> None:
    """One line on the standard error, if that can be written to."""
    if sys.stderr is None:
        return
    try:
        line = tamed(sentence).replace("\n", "\\n")
        print(f"{before}tools/judge: {line}", file=sys.stderr, flush=True)
    except OSError:
        _let_go(sys.stderr)


def _let_go(stream: TextIO) -> None:
    """What is still to be written of it goes nowhere: Python tries once more when it ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
