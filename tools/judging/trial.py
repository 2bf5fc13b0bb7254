"""One trial: a kernel at one shape, and what came of it."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from typing import Any

from common.arithmetic import whole_value
from tools.judging import limited
from tools.judging.counts import ATOMICS, COUNTS, REQUESTS, SUMS
from tools.judging.device import LEAST, PER_ELEMENT, PER_WARP, Launch, Session
from tools.judging.form import TYPES, Form
from tools.judging.problems import PROBLEMS, Buffer, Case, Chance, Shape
from tools.judging.puzzles import Puzzle
from tools.judging.shapes import names_of


@dataclass(frozen=True)
class Outcome:
    """What one trial has shown."""

    shape: Shape
    wrong: str
    findings: tuple[dict[str, Any], ...]
    fault: dict[str, Any] | None
    counts: dict[str, int]  #: of all launches
    launches: int
    printed: str
    total: int | None  #: of sums: what the outputs add up to
    schedule: int  #: 0 where the lanes of a warp run together
    lines: tuple[dict[str, Any], ...] = ()  #: what was counted by line, if that was asked for
    read: dict[str, list[int]] = field(default_factory=dict)  #: bytes of each input, by block

    @property
    def good(self) -> bool:
        return not self.wrong and not self.findings and self.fault is None


@dataclass(frozen=True)
class Kernel:
    """A submission that has the form: its PTX and its kernel's name in there."""

    ptx: str
    entry: str
    form: Form
    static_shared: int = 0
    once: dict[str, int] = field(default_factory=dict)  #: what its PTX has of each, by count
    named: tuple[int, ...] = ()  #: whole numbers in its PTX
    named_floats: tuple[float, ...] = ()
    framed: str = ""  #: its PTX for the device, where calls have frames


def case_at(puzzle: Puzzle, shape: Shape, seed: str, kernel: Kernel | None = None) -> Case:
    """The problem at a shape. The data depend on the seed, and have numbers that the kernel's code
    names among them."""
    chance = Chance(f"{seed} {shape}")
    if kernel:
        chance.named, chance.named_floats = kernel.named, kernel.named_floats
    return PROBLEMS[puzzle.problem].make(shape, chance)


def run(
    kernel: Kernel,
    puzzle: Puzzle,
    shape: Shape,
    cases: list[Case],
    *,
    checks: str = "memory",
    apart: int | None = None,
    lines: bool = False,
    by_block: bool = False,
) -> Outcome:
    """Launches the kernel once for each case, in one session: what it keeps from the first launch
    it has in the second."""
    limited.at(f"at {shape}")
    names = names_of(shape)
    most = LEAST + PER_ELEMENT * shape.n + PER_WARP * names["warps"]
    if apart is not None:
        most *= 32  # each lane may take each instruction alone
    session = Session(
        kernel.framed or kernel.ptx, checks=checks, apart=apart, most=most, lines=lines
    )
    try:
        poisoned = checks == "memory"
        return _run(session, kernel, puzzle, shape, cases, poisoned, apart or 0, by_block)
    finally:
        session.end()


def _size(buffer: Buffer) -> int:
    return buffer.size or len(buffer.data)


def _run(
    session: Session,
    kernel: Kernel,
    puzzle: Puzzle,
    shape: Shape,
    cases: list[Case],
    poisoned: bool,
    schedule: int,
    by_block: bool,
) -> Outcome:
    names = [p.name for p in kernel.form.parameters if p.pointer]
    first = cases[0].buffers
    numbers = {
        name: session.buffer(name, max(first[name].begins + _size(first[name]), 1))
        for name in names
    }
    inputs = [name for name in names if first[name].role in ("in", "work")]
    for name in inputs:
        session.follow(numbers[name], by_block)
    shared = whole_value(puzzle.shared, names_of(shape))
    wrong, touched, done, total = "", "", True, None
    for launch, case in enumerate(cases):
        for name in names:
            buffer = case.buffers[name]
            # Without poison the checks see what the kernel hasn't written.
            known = poisoned or buffer.role not in ("out", "scratch")
            if poisoned:
                session.write(numbers[name], _before(buffer))
            if known and (launch == 0 or buffer.role != "zero"):
                _fill(session, numbers[name], buffer)
        arguments = tuple(
            (numbers[p.name], case.buffers[p.name].begins)
            if p.pointer
            else struct.pack(f"<{TYPES[p.type][2]}", case.values[p.name])
            for p in kernel.form.parameters
        )
        block = (*shape.block, 1)
        done = session.launch(Launch(kernel.entry, (*shape.grid, 1), block, shared, arguments))
        if not done:
            break
        got = _outputs(session, case, numbers)
        total = case.total(got) if case.total else None
        touched = _touched(session, case, numbers) if poisoned else ""
        wrong = touched or _wrong(case, got, poisoned)
        if wrong:
            wrong = ("launched again with other input, " if launch else "") + wrong
            break
    result = session.result()
    followed = dict(zip(inputs, result.get("followed", []), strict=True))
    for name, use in followed.items():
        # Also where what it wrote is as before again.
        if use["stores"] and first[name].role == "in" and not touched:
            place = use["place"].partition(" (PTX line")[0].rpartition("inlined at ")[2]
            wrong = f"{name} is an input, and {place} writes to it"
    counters = result["counters"]
    counts = {name: counters[metric] for name, metric in COUNTS.items()}
    for name, (a, b) in SUMS.items():
        counts[name] = counts[a] + counts[b]
    counts[REQUESTS] = counts["wavefronts"] - counts["conflicts"]
    for name, what in ATOMICS.items():
        counts[name] = result["atomics"][what]
    counts["shared_bytes"] = shared + kernel.static_shared
    counts |= kernel.once
    launches = len(result["launches"])
    found = tuple(result["findings"])
    return Outcome(
        shape,
        wrong,
        found,
        result["fault"],
        counts,
        launches,
        result["printed"],
        total,
        schedule,
        tuple(result["lines"]),
        {name: use["read"] for name, use in followed.items()},
    )


def _fill(session: Session, number: int, buffer: Buffer) -> None:
    start, end = buffer.unset.start, buffer.unset.stop
    session.write(number, buffer.data[:start], buffer.begins)
    session.write(number, buffer.data[end:], buffer.begins + end)


def _before(buffer: Buffer) -> bytes:
    """What lies in front of it in its allocation. (Behind it nothing does.)"""
    return random.Random(buffer.begins).randbytes(buffer.begins)


def _touched(session: Session, case: Case, numbers: dict[str, int]) -> str:
    """Where a kernel has written in front of a buffer that begins within its allocation."""
    for name, number in numbers.items():
        before = _before(case.buffers[name])
        if (got := session.read(number, len(before))) != before:
            at = min(i for i in range(len(got)) if got[i] != before[i])
            far = len(before) - at
            return f"the kernel wrote to memory {far} bytes before {name}, which isn't its own"
    return ""


def _outputs(session: Session, case: Case, numbers: dict[str, int]) -> dict[str, bytes]:
    """What the buffers hold that are checked."""
    return {
        name: session.read(number, _size(case.buffers[name]), case.buffers[name].begins)
        for name, number in numbers.items()
        if case.buffers[name].role not in ("work", "scratch")
    }


def _wrong(case: Case, got: dict[str, bytes], poisoned: bool) -> str:
    """What is wrong with what a kernel has left, in one sentence."""
    for name, data in got.items():
        buffer = case.buffers[name]
        if buffer.role == "in" and data != buffer.data:
            return f"{name} is an input, and was changed"
        if buffer.role == "zero" and data != buffer.data:
            return f"*{name} was 0 before the launch, and isn't 0 again after it"
    said = case.wrong(got)
    if said and poisoned:
        for name, data in got.items():
            if (
                case.buffers[name].role == "out"
                and (at := _unwritten(data, case.buffers[name])) >= 0
            ):
                return f"{name}[{at}] is never written"
    return said


def _unwritten(data: bytes, buffer: Buffer) -> int:
    mine, poison = memoryview(data).cast("I"), memoryview(buffer.data).cast("I")
    return next((i for i in range(len(mine)) if mine[i] == poison[i]), -1)
