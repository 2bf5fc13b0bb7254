"""Requests to the device in a page, and the same said to a program: page/kernels.cu.

Of kernels that are right and kernels that are wrong, with all that a request can ask for.
"""

from __future__ import annotations

import base64
import json
import random
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Buffer:
    bytes: int
    data: bytes | None = None


@dataclass(frozen=True)
class Launch:
    kernel: str
    grid: int
    block: int
    #: An int is a buffer's number, a pair that and an offset; bytes are themselves.
    args: tuple[int | tuple[int, int] | bytes, ...]
    shared: int = 0
    cooperative: bool = False

    def request(self) -> Json:
        return {
            "kind": "launch",
            "kernel": self.kernel,
            "grid": [self.grid, 1, 1],
            "block": [self.block, 1, 1],
            "shared": self.shared,
            "cooperative": self.cooperative,
            "args": [
                {"bytes": encoded(one)}
                if isinstance(one, bytes)
                else dict(zip(("buffer", "offset"), placed(one), strict=True))
                for one in self.args
            ],
        }

    def script(self) -> str:
        args = [
            one.hex() if isinstance(one, bytes) else "buffer {} {}".format(*placed(one))
            for one in self.args
        ]
        shape = f"{self.grid} 1 1 {self.block} 1 1 {self.shared} {int(self.cooperative)}"
        return f"launch {self.kernel} {shape} {' '.join(args)}"


@dataclass(frozen=True)
class Set:
    buffer: int
    offset: int
    bytes: int
    value: int

    def request(self) -> Json:
        return {"kind": "set", **vars(self)}

    def script(self) -> str:
        return f"set {self.buffer} {self.offset} {self.bytes} {self.value}"


@dataclass(frozen=True)
class Case:
    buffers: tuple[Buffer, ...]
    steps: tuple[Launch | Set, ...]
    #: The whole of these buffers is read.
    read: tuple[int, ...] = ()
    checks: str = ""
    apart: int | None = None
    limit: int = 0
    trace: Json | None = field(default=None, hash=False)
    lines: bool = False

    def request(self, ptx: str) -> Json:
        return {
            "ptx": ptx,
            "buffers": [
                {
                    "name": "cudaMalloc",
                    "bytes": one.bytes,
                    **({} if one.data is None else {"data": encoded(one.data)}),
                }
                for one in self.buffers
            ],
            "steps": [step.request() for step in self.steps],
            "read": [
                {"buffer": number, "offset": 0, "bytes": self.buffers[number].bytes}
                for number in self.read
            ],
            "checks": self.checks,
            "apart": self.apart,
            "limit": self.limit,
            "lines": self.lines,
            "trace": self.trace,
        }

    def script(self, folder: Path) -> Path:
        lines = []
        for number, one in enumerate(self.buffers):
            data = folder / f"data{number}"
            if one.data is not None:
                data.write_bytes(one.data)
            lines.append(f"buffer {one.bytes} {'-' if one.data is None else data}")
        lines += [step.script() for step in self.steps]
        lines += [f"read {number} 0 {self.buffers[number].bytes}" for number in self.read]
        script = folder / "script"
        script.write_text("\n".join(lines) + "\n")
        return script


def placed(one: int | tuple[int, int]) -> tuple[int, int]:
    return one if isinstance(one, tuple) else (one, 0)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def ints(count: int) -> bytes:
    return struct.pack(f"{count}i", *(i * 37 % 101 for i in range(count)))


def floats(count: int) -> bytes:
    chance = random.Random(1)
    some = [0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-42, 3e38, 0.5]
    some += [chance.uniform(-30, 30) for _ in range(count - len(some))]
    return struct.pack(f"{count}f", *some)


def wide(count: int) -> bytes:
    chance = random.Random(2)
    return struct.pack(f"{count}Q", *(chance.getrandbits(64) >> i % 64 for i in range(count)))


def u64(value: int) -> bytes:
    return struct.pack("Q", value)


def i32(value: int) -> bytes:
    return struct.pack("i", value)


IN = Buffer(4096, ints(1024))
OUT = Buffer(4096)
TREE = Launch("tree", 7, 128, (0, 1, u64(850)))
NO_BARRIER = Launch("no_barrier", 2, 256, (0, 1))

CASES: dict[str, Case] = {
    "tree": Case((IN, OUT), (TREE,), (1,)),
    "tree of an odd block": Case((IN, OUT), (Launch("tree", 9, 100, (0, 1, u64(850))),), (1,)),
    "tree by lines": Case((IN, OUT), (TREE,), (1,), lines=True),
    "tree checked": Case((IN, OUT), (TREE,), (), checks="all"),
    "tree traced": Case((IN, OUT), (TREE,), trace={"step": 0, "block": [3, 0, 0], "limit": 9000}),
    "trace cut short": Case((IN, OUT), (TREE,), trace={"step": 0, "block": [0, 0, 0], "limit": 50}),
    "tree apart": Case((IN, OUT), (TREE, TREE), (1,), apart=7),
    "strided": Case((IN, OUT), (Launch("strided", 3, 32, (0, 1, i32(17)), 17 * 128),), (1,)),
    "much shared memory": Case(
        (IN, OUT), (Launch("strided", 1, 32, (0, 1, i32(1)), 200_000),), (1,)
    ),
    "set and launched twice": Case(
        (IN, OUT), (Set(1, 8, 100, 0xAB), TREE, Set(0, 0, 400, 1), TREE), (0, 1)
    ),
    "offset": Case((IN, OUT), (Launch("tree", 2, 64, ((0, 400), (1, 16), u64(128))),), (1,)),
    "race": Case((IN, OUT), (NO_BARRIER,), (1,), checks="race"),
    "race, not looked for": Case((IN, OUT), (NO_BARRIER,), (1,)),
    "race apart": Case((IN, OUT), (NO_BARRIER,), (1,), checks="all", apart=3),
    "never written": Case((OUT,), (Launch("never_written", 1, 64, (0,)),), (0,), checks="init"),
    "read back, never written": Case((OUT,), (Set(0, 0, 100, 1),), (0,), checks="init,memory"),
    "barriers apart": Case((OUT,), (Launch("apart_barriers", 1, 64, (0,)),), checks="sync"),
    "past the end": Case((OUT,), (Launch("past_the_end", 8, 128, (0, i32(64))),)),
    "past the end, checked": Case(
        (OUT, IN), (Launch("past_the_end", 8, 128, (0, i32(64))),), checks="memory"
    ),
    "before the beginning": Case((OUT, IN), (Launch("past_the_end", 8, 128, (1, i32(-2000))),)),
    "misaligned": Case((OUT,), (Launch("misaligned", 1, 32, (0,)),)),
    "misaligned, checked": Case((OUT,), (Launch("misaligned", 1, 32, (0,)),), checks="all"),
    "waits for ever": Case((OUT,), (Launch("waits_for_ever", 1, 32, (0,)),)),
    "waits for ever, checked": Case((OUT,), (Launch("waits_for_ever", 1, 32, (0,)),), checks="all"),
    "loops for ever": Case((OUT,), (Launch("loops_for_ever", 2, 32, (0,)),), limit=100_000),
    "assert": Case((IN,), (Launch("asserts", 1, 64, (0,)),)),
    "trap": Case((IN,), (Launch("traps", 1, 512, (0,)),)),
    "fault after a launch": Case(
        (IN, OUT), (TREE, Launch("past_the_end", 1, 32, (1, i32(9000))), TREE), (1,)
    ),
    "printf": Case((IN,), (Launch("prints", 3, 64, (0,)), Launch("prints", 1, 32, (0,)))),
    "variables": Case(
        (OUT,), (Launch("variables", 1, 32, (0,)), Launch("variables", 1, 32, ((0, 256),))), (0,)
    ),
    "floats": Case(
        (Buffer(4096, floats(1024)), Buffer(4096 * 20), Buffer(8192 * 8)),
        (Launch("floats", 8, 128, (0, 1, 2, i32(1000))),),
        (1, 2),
    ),
    "halves": Case((Buffer(512, floats(128)), OUT), (Launch("halves", 1, 128, (0, 1)),), (1,)),
    "warps": Case((IN, OUT), (Launch("warps", 1, 96, (0, 1)),), (1,)),
    "a shuffle from outside": Case((IN, OUT), (Launch("from_outside", 1, 32, (0, 1)),)),
    "a shuffle from outside, checked": Case(
        (IN, OUT), (Launch("from_outside", 1, 32, (0, 1)),), checks="sync"
    ),
    "atomics": Case((OUT, OUT, OUT), (Launch("atomics", 5, 96, (0, 1, 2)),), (0, 1, 2)),
    "recursion": Case((OUT,), (Launch("recursion", 1, 64, (0,)),), (0,)),
    "heap": Case((OUT,), (Launch("heap", 2, 64, (0,)),), (0,)),
    "copies": Case((IN, OUT), (Launch("copies", 1, 128, (0, 1)),), (1,)),
    "grid": Case((IN,), (Launch("grid_wide", 4, 64, (0, i32(5)), 0, True),), (0,)),
    "integers": Case(
        (Buffer(1024, wide(128)), Buffer(4096)), (Launch("integers", 1, 128, (0, 1)),), (1,)
    ),
    "arguments of all sizes": Case(
        (OUT,),
        (
            Launch(
                "takes_struct",
                1,
                32,
                (0, struct.pack("3i", 1, 2, 3), b"\x07", struct.pack("d", 40.5)),
            ),
        ),
        (0,),
    ),
}


def write(cases: list[Case], ptx: str, file: Path) -> Path:
    file.write_text(json.dumps([case.request(ptx) for case in cases]))
    return file
