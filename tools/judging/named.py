"""Numbers that a kernel's code names.

Code that treats one size, block or value unlike its neighbours compares it with a number, so the
judge tries those numbers, too, whichever a file holds.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator

from tools.judging import form

_STATEMENT = re.compile(
    r"(?:^|(?<=[;{}]))\s*(?:@!?\s*[%\w$]+\s+)?([a-z]\w*)([.\w:]*)\s+([^;]*);", re.MULTILINE
)
#: What a variable of the device's holds at first.
_VARIABLE = re.compile(r"\.(?:global|const)\b[^;={]*?\.[busf](\d+)\s+[^;={]*=\s*([^;]*);")
_WHOLE = re.compile(r"(?<![\w.%$+\[-])-?(?:0[xX][0-9a-fA-F]+|\d+)U?(?![\w.\]])")
_FLOAT = re.compile(r"\b0[fF]([0-9a-fA-F]{8})\b")
_DOUBLE = re.compile(r"\b0[dD]([0-9a-fA-F]{16})\b")
#: Instructions whose number says how far to shift: a power of two.
_SHIFTS = ("shl", "shr")
#: Values of a variable that are looked at: a table names nothing.
MOST_HELD = 64
_JUMPS = ("bra", "call", "bar", "barrier")


def numbers(ptx: str, kernel: str) -> tuple[int, ...]:
    """The whole numbers in a kernel's code and in the file's functions, without their signs, and
    the powers of two that it shifts by, ordered."""
    found = set()
    for operation, _, operands in _STATEMENT.findall(form.runs(ptx, kernel)):
        if operation in _JUMPS:
            continue
        for text in _WHOLE.findall(operands):
            number = abs(int(text.rstrip("U"), 0))
            found.add(number)
            if operation in _SHIFTS and number < 32:
                found.add(1 << number)
    return tuple(sorted(found | set(_held(form.code_of(ptx)))))


def _held(code: str) -> Iterator[int]:
    """What the file's variables hold at first. A structure is given byte by byte."""
    for bits, values in _VARIABLE.findall(code):
        held = [int(text.rstrip("U"), 0) for text in _WHOLE.findall(values)[:MOST_HELD]]
        yield from map(abs, held)
        if bits == "8":
            data = bytes(value & 255 for value in held)
            for size in (4, 8):
                parts = (data[at : at + size] for at in range(0, len(data) - size + 1, size))
                yield from (abs(int.from_bytes(part, "little", signed=True)) for part in parts)


def floats(ptx: str, kernel: str) -> tuple[float, ...]:
    """The floats and doubles there, ordered. A NaN and infinities are none."""
    text = form.runs(ptx, kernel)
    found = {struct.unpack(">f", bytes.fromhex(bits))[0] for bits in _FLOAT.findall(text)}
    found |= {struct.unpack(">d", bytes.fromhex(bits))[0] for bits in _DOUBLE.findall(text)}
    return tuple(sorted(filter(math.isfinite, found)))
