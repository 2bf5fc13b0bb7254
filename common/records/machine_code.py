"""Machine code of the kernels: what cuobjdump lists, and the listings that are recorded.

``figures/data/machine_code.json`` holds the instructions of the kernels that a page shows, as nvcc
made them for one architecture. ``chapters/tests/test_machine_code.py`` compiles them again and
compares; run as a program, it writes the file.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from pathlib import Path

FILE = Path("figures/data/machine_code.json")
SCHEMA_VERSION = 1

_INSTRUCTION = re.compile(r"/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>[^;]+);")
_BRANCH = re.compile(r"\bBRA\b.*?0x(?P<target>[0-9a-f]+)$")


class NoSuchCode(LookupError):
    """No such machine code is recorded; the message says what comes nearest."""


@dataclass(frozen=True)
class Instruction:
    """One instruction of a kernel."""

    address: int
    text: str  # with its predicate, if it has one: "@!P0 LDS R7, [R4]"

    @property
    def predicated(self) -> bool:
        return self.text.startswith("@")

    @property
    def operation(self) -> str:
        """Its name, without predicate and operands: "LDS"."""
        return re.sub(r"^@!?U?P\d\s+", "", self.text).split(maxsplit=1)[0].partition(".")[0]

    @property
    def target(self) -> int | None:
        """Where a branch goes."""
        found = _BRANCH.search(self.text)
        return int(found["target"], 16) if found else None

    def __str__(self) -> str:
        return f"/*{self.address:04x}*/  {self.text if self.predicated else ' ' * 6 + self.text}"


Code = list[Instruction]


def parse(listing: str) -> dict[str, Code]:
    """The instructions of every kernel in the output of ``cuobjdump -sass``, by mangled name.

    Without what only fills the end: a branch to itself, and operations that do nothing.
    """
    functions: dict[str, Code] = {}
    for part in listing.split("Function : ")[1:]:
        code = [
            Instruction(int(found["address"], 16), found["text"].strip())
            for found in _INSTRUCTION.finditer(part)
        ]
        while code and (code[-1].text == "NOP" or code[-1].target == code[-1].address):
            code.pop()
        functions[part.split(maxsplit=1)[0]] = code
    return functions


def loop(code: Code) -> Code:
    """The first loop: from where a branch goes back to, to that branch."""
    for place, instruction in enumerate(code):
        if instruction.target is not None and instruction.target < instruction.address:
            return [each for each in code[: place + 1] if each.address >= instruction.target]
    raise NoSuchCode("there is no loop")


def between(code: Code, first: str, last: str) -> Code:
    """From the first instruction that matches *first* to the next that matches *last*."""
    start = _find(code, first, 0)
    return code[start : _find(code, last, start) + 1]


def _find(code: Code, pattern: str, start: int) -> int:
    for place in range(start, len(code)):
        if re.search(pattern, code[place].text):
            return place
    raise NoSuchCode(f"no instruction matches '{pattern}'")


@dataclass(frozen=True)
class MachineCode:
    """The recorded listings."""

    nvcc: str
    arch: str  # "sm_90"
    kernels: dict[str, Code]  # "chapter03_divergence/strided"

    def kernel(self, chapter: str, name: str) -> Code:
        wanted = f"{chapter}/{name}"
        if wanted not in self.kernels:
            near = difflib.get_close_matches(wanted, self.kernels, n=3, cutoff=0.4)
            raise NoSuchCode(
                f"no machine code of {wanted} is recorded; "
                + (f"nearest: {', '.join(near)}" if near else f"there is {', '.join(self.kernels)}")
            )
        return self.kernels[wanted]

    def text(self) -> str:
        """The file's contents, an instruction per line."""
        data = {
            "schema": SCHEMA_VERSION,
            "nvcc": self.nvcc,
            "arch": self.arch,
            "kernels": {
                name: [f"{each.address:04x} {each.text}" for each in code]
                for name, code in self.kernels.items()
            },
        }
        return json.dumps(data, indent=1) + "\n"


def load(root: Path | str) -> MachineCode:
    """The recorded listings of the repository at *root*; ValueError where the file is unsound."""
    path = Path(root) / FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA_VERSION:
            raise ValueError(f"schema {data['schema']}, not {SCHEMA_VERSION}")
        kernels = {
            name: [Instruction(int(line[:4], 16), line[5:]) for line in lines]
            for name, lines in data["kernels"].items()
        }
        return MachineCode(data["nvcc"], data["arch"], kernels)
    except OSError as error:
        raise ValueError(f"{FILE} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{FILE} is unsound: {error!r}") from None
