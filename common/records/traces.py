"""Reads what the embedded device wrote down of one block (`tools/emulate --trace`).

tools/emulator/README.md says what is in such a file. A file that was cut, or whose block did not
come to its end, is refused unless it is asked for: a picture of half a block would be a wrong one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """What lanes of one instruction touched in one space, and in one allocation."""

    space: str  # 'global', 'shared', 'local', 'constant' or 'parameter'
    direction: str  # 'load', 'store' or 'atomic'
    width: int  # bytes of each lane
    lanes: tuple[int, ...]
    addresses: tuple[int, ...]  # of each of these lanes
    base: int  # of the allocation; 0 in spaces that have none

    @property
    def offsets(self) -> tuple[int, ...]:
        """Bytes from the beginning of the allocation, or of the block's shared memory."""
        return tuple(address - self.base for address in self.addresses)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of one warp."""

    number: int
    warp: int
    ptx_line: int
    text: str  # as in the PTX
    file: str  # of the source, empty where the program has no lines of it
    line: int
    active: tuple[int, ...]  # lanes
    parts: tuple[Part, ...]
    counts: dict[str, int]  # what it added to the counters, under their short names


@dataclass(frozen=True)
class Trace:
    """One block of one launch."""

    kernel: str
    grid: tuple[int, int, int]
    block_size: tuple[int, int, int]
    block: tuple[int, int, int]
    schedule: str
    end: str  # 'complete', 'cut' or 'stopped'
    instructions: list[Instruction] = field(repr=False)

    def totals(self) -> dict[str, int]:
        """What the block added to the launch's counters."""
        sums: dict[str, int] = {}
        for instruction in self.instructions:
            for name, value in instruction.counts.items():
                sums[name] = sums.get(name, 0) + value
        return sums

    def of_warp(self, warp: int) -> Iterator[Instruction]:
        return (i for i in self.instructions if i.warp == warp)


_OWN = {"n", "warp", "ptx_line", "op", "file", "line", "active", "access"}


def read(path: Path, *, whole: bool = True) -> Trace:
    """The trace in a file. Raises ValueError for one that is none, or not whole."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines:
        raise ValueError(f"{path}: empty: no launch was traced")
    head, *body, foot = (json.loads(line) for line in lines)
    if head.get("trace") != 1 or "end" not in foot or foot["instructions"] != len(body):
        raise ValueError(f"{path}: no trace, or a torn one")
    if whole and foot["end"] != "complete":
        raise ValueError(f"{path}: the trace is not whole: {lines[-1]}")
    return Trace(
        kernel=head["kernel"],
        grid=tuple(head["grid"]),
        block_size=tuple(head["block_size"]),
        block=tuple(head["block"]),
        schedule=head["schedule"],
        end=foot["end"],
        instructions=[_instruction(record) for record in body],
    )


def _instruction(record: dict[str, Any]) -> Instruction:
    return Instruction(
        number=record["n"],
        warp=record["warp"],
        ptx_line=record["ptx_line"],
        text=record.get("op", ""),
        file=record.get("file", ""),
        line=record.get("line", 0),
        active=tuple(record["active"]),
        parts=tuple(
            Part(
                space=part["space"],
                direction=part["direction"],
                width=part["bytes"],
                lanes=tuple(part["lanes"]),
                addresses=tuple(part["address"]),
                base=part.get("base", 0),
            )
            for part in record.get("access", ())
        ),
        counts={name: value for name, value in record.items() if name not in _OWN},
    )
