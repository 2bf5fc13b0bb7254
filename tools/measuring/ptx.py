"""Cuts kernels out of PTX text, each with what it refers to, so that a page ships no more.

What is cut is nvcc's own text. Two things are taken out of it: of the files' names what one machine
has before the book's folders, and the names of functions that were inlined, of which a line of code
keeps its place alone.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tools.measuring import ROOT, Failure

_NAME = re.compile(r"[A-Za-z_$%][\w$]*")
_ENTRY = re.compile(r"\.(?:entry|func)\b[^(]*?(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)\s*\(")
_VARIABLE = re.compile(r"([A-Za-z_$][\w$]*)\s*(?:\[[^\]]*\])*\s*(?:=.*)?;", re.DOTALL)
_FILE = re.compile(r'^\.file\s+(\d+)\s+"([^"]*)"')
_INLINED = re.compile(r", function_name \$?\w+(?: ?\+ ?\d+)?")
_HEADS = (".version", ".target", ".address_size")

#: Of a fat binary: how it begins, the kind of an entry that is PTX, and the flags of one that is
#: packed. tools/emulator/src/cudart/fatbin.cpp reads them, too.
_MAGIC = 0xBA55ED50
_PTX = 1
_PACKED = 0x8000 | 0x2000
_NEWEST = 90  # that the embedded device takes


@dataclass(frozen=True)
class Module:
    """One PTX module in pieces."""

    head: str
    files: str
    items: dict[str, str]

    def with_all(self, name: str) -> list[str]:
        """An item and all that it refers to, in the order of the module."""
        needed, found = {name}, [name]
        while found:
            used = set(_NAME.findall(self.items[found.pop()])) & self.items.keys()
            found += used - needed
            needed |= used
        return [each for each in self.items if each in needed]


def of_program(path: Path) -> str | None:
    """The PTX in a program that the embedded device takes, as ``tools/emulate --print-ptx`` has it;
    none where it is packed, as it is by default, but not in the book's programs."""
    texts = []
    for binary in _fat_binaries(path.read_bytes()):
        newest = max((each for each in binary if each[0] <= _NEWEST), default=(0, 0, b""))
        if newest[1] & _PACKED:
            return None
        texts.append(newest[2].rstrip(b"\0").decode())
    return "\n".join(text for text in texts if text) or None


def _fat_binaries(program: bytes) -> Iterator[list[tuple[int, int, bytes]]]:
    """Each one's PTX: for which architecture, its flags, and what there is of it."""
    at = -8
    while (at := program.find(struct.pack("<I", _MAGIC), at + 8)) >= 0:
        head, size = struct.unpack_from("<HQ", program, at + 6)
        entries, end = [], at + head + size
        if end > len(program):
            continue  # the number stands there by chance
        at += head
        while at < end:
            kind, _version, entry_head, padded = struct.unpack_from("<HHIQ", program, at)
            architecture, _, _, flags = struct.unpack_from("<IIIQ", program, at + 28)
            if kind == _PTX:
                entries.append((architecture & 0xFFFF, flags, program[at + entry_head :][:padded]))
            at += entry_head + padded
        at = end - 8
        yield entries


def modules(text: str) -> list[Module]:
    """The modules of a text as ``tools/emulate --print-ptx`` has it."""
    starts = [match.start() for match in re.finditer(r"^\.version\b", text, re.MULTILINE)]
    ends = [*starts[1:], len(text)]
    return [_module(text[start:end]) for start, end in zip(starts, ends, strict=True)]


def _module(text: str) -> Module:
    head, files = [], []
    items: dict[str, str] = {}
    for item in _items(text):
        if item.startswith(_HEADS):
            head.append(item)
        elif file := _FILE.match(item):
            files.append(f'.file {file[1]} "{in_the_book(file[2])}"')
        elif not item.startswith(".section"):
            items[_name_of(item)] = _INLINED.sub("", item)
    return Module("\n".join(head), "\n".join(files), items)


def _items(text: str) -> Iterable[str]:
    """What stands at the top of a module, each with its body."""
    lines: list[str] = []
    depth = 0
    opened = False
    for line in text.splitlines():
        code = line.partition("//")[0]
        if not lines and not code.strip():
            continue
        if line.strip():
            lines.append(line.rstrip())
        depth += code.count("{") - code.count("}")
        opened = opened or "{" in code
        # A directive of one line, a declaration, or a body that is closed.
        single = lines[0].startswith((*_HEADS, ".file"))
        if depth == 0 and lines and (single or opened or code.rstrip().endswith(";")):
            yield "\n".join(lines)
            lines, opened = [], False


def _name_of(item: str) -> str:
    found = _ENTRY.search(item) or _VARIABLE.search(item)
    if not found:
        raise Failure(f"this PTX has something without a name: {item[:80]!r}")
    return found[1]


def in_the_book(path: str) -> str:
    """A source's path from the book's folder on; of any other file its name."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    for i in range(len(parts)):
        if parts[i] in ("chapters", "common") and Path(ROOT, *parts[i:]).is_file():
            return "/".join(parts[i:])
    return parts[-1]


def cut(text: str, kernels: Iterable[str]) -> dict[str, Any]:
    """The pieces that these kernels are made of, as a page has them."""
    wanted = sorted(set(kernels))
    holding = [each for each in modules(text) if set(wanted) <= each.items.keys()]
    if not holding:
        missing = [name for name in wanted if not any(name in each.items for each in modules(text))]
        raise Failure(
            f"the program's PTX has no {missing[0]}: tools/measure --record embedded"
            if missing
            else "the kernels lie in several modules"
        )
    module = holding[0]
    uses = {name: module.with_all(name) for name in wanted}
    needed = {each for used in uses.values() for each in used}
    items = {name: text for name, text in module.items.items() if name in needed}
    return {
        "head": module.head,
        "files": module.files,
        "items": items,
        "uses": uses,
        "hash": digest(module.head, module.files, *items.values()),
    }


def digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
