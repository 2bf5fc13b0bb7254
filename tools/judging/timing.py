"""The time on a GPU, where there is one: the reader's kernel, the book's rungs, and CUB's sum.

A program of the book's own (``timing_program/``) loads the kernel's PTX and times it by the book's
timer, after its result was checked here. The reader's host code has no part in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from common.arithmetic import whole_value
from common.records import derived
from tools.judging import ROOT, shapes, trial
from tools.judging.files import scratch
from tools.judging.form import TYPES
from tools.judging.problems import PROBLEMS, Case, Shape
from tools.judging.puzzles import Puzzle, all_puzzles, power
from tools.terminal import complain

PROGRAM = "judging/time_kernel"
BUILDS = ("build/tools", "build")
CUB = ("chapter07_effective_bandwidth", "sum_cub")
LIMIT = 300  # seconds


def gpu_here() -> bool:
    """Whether a driver's device is on this machine (of the second, Windows' own)."""
    return any(Path(place).exists() for place in ("/dev/nvidiactl", "/dev/dxg"))


def built(name: str) -> Path | None:
    places = [Path(os.environ["BOOK_BUILD"])] if "BOOK_BUILD" in os.environ else []
    places += [ROOT / build for build in BUILDS]
    return next((place / name for place in places if (place / name).is_file()), None)


@dataclass(frozen=True)
class Timed:
    """A kernel's time, or why there is none."""

    median: float = 0.0
    low: float = 0.0
    high: float = 0.0
    why_not: str = ""


def shape_for(puzzle: Puzzle, n: int) -> Shape:
    usual = [b for b in puzzle.blocks if b[0] * b[1] == 256] or [puzzle.blocks[-1]]
    return shapes.at(puzzle, n, usual[0], turn=-1)


def measure(program: Path, kernel: trial.Kernel, puzzle: Puzzle, shape: Shape, seed: str) -> Timed:
    """Runs a kernel once, checks what it has left, and takes the program's time."""
    case = trial.case_at(puzzle, shape, seed)
    with scratch() as folder:
        ptx = folder / "kernel.ptx"
        ptx.write_text(kernel.ptx, encoding="utf-8")
        words = [str(program), str(ptx), kernel.entry, *map(str, (*shape.grid, *shape.block))]
        words.append(str(whole_value(puzzle.shared, shapes.names_of(shape))))
        words += _arguments(kernel, case, folder)
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, timeout=LIMIT, cwd=folder
            )
        except subprocess.TimeoutExpired:
            return Timed(why_not=f"it ran for more than {LIMIT} s")
        if done.returncode != 0:
            return Timed(why_not=(done.stderr.strip() or "it failed").splitlines()[-1])
        got = {
            p.name: (folder / p.name).read_bytes()
            for p in kernel.form.parameters
            if p.pointer and case.buffers[p.name].role in ("out", "sum")
        }
    if wrong := case.wrong(got):
        return Timed(why_not=f"wrong at {shape}: {wrong}")
    if done.stdout.startswith("embedded"):
        return Timed(why_not="the embedded device has no times")
    median, low, high, _count = map(float, done.stdout.split())
    return Timed(median, low, high)


def _arguments(kernel: trial.Kernel, case: Case, folder: Path) -> list[str]:
    words = []
    for p in kernel.form.parameters:
        if p.pointer:
            buffer = case.buffers[p.name]
            (folder / p.name).write_bytes(buffer.data)
            words.append(f"{buffer.role}:{buffer.begins}:{folder / p.name}")
        else:
            data = struct.pack(f"<{TYPES[p.type][2]}", case.values[p.name])
            words.append(f"value:{data.hex()}")
    return words


def rungs(puzzle: Puzzle) -> dict[str, list[str]]:
    """The book's kernels for the same problem, by chapter: those that stand beside its puzzles, and
    for a sum of integers CUB's."""
    found: dict[str, list[str]] = {}
    beside = [each.book for each in all_puzzles() if _alike(each, puzzle)]
    mine = PROBLEMS[puzzle.problem]
    cub = CUB if mine.is_sum and not mine.floats else None
    for chapter, variant in filter(None, [*beside, cub]):
        variants = found.setdefault(chapter, [])
        if variant not in variants:
            variants.append(variant)
    return {chapter: found[chapter] for chapter in sorted(found)}


def _alike(one: Puzzle, other: Puzzle) -> bool:
    both = PROBLEMS[one.problem], PROBLEMS[other.problem]
    sums = all(problem.is_sum and problem.shares for problem in both)
    return (sums and both[0].floats == both[1].floats) or one.problem == other.problem


def _books(chapter: str, variants: list[str], shape: Shape) -> dict[str, float]:
    """The medians that the book's own program takes on this machine, by variant, from one run."""
    program = built(f"chapters/{chapter}/{chapter}")
    if program is None:
        return {}
    with scratch() as folder:
        record = folder / "record.json"
        command = [str(program), "--device", "gpu", "--variant", *variants, "--n", str(shape.n)]
        command += ["--block", str(shape.threads), "--json", str(record)]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return {}
        if done.returncode != 0 or not record.is_file():
            return {}
        runs = json.loads(record.read_text(encoding="utf-8"))["runs"]
    return {run["variant"]: derived.timed(run)["median_us"] for run in runs}


def _build() -> str:
    """Builds the program where the book is built, or would be. Why that failed, if it did."""
    folders = [ROOT / build for build in BUILDS]
    folder = next((f for f in folders if (f / "CMakeCache.txt").is_file()), folders[-1])
    log = folder / "time_kernel.log"
    complain("tools/judge", "building what takes the time (once, a minute or two)")
    steps = [["cmake", "--build", str(folder), "--target", "time_kernel", "--parallel"]]
    if not (folder / "CMakeCache.txt").is_file():
        steps.insert(0, ["cmake", "-S", str(ROOT), "-B", str(folder)])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as said:
            for step in steps:
                done = subprocess.run(
                    step, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False
                )
                if done.returncode != 0:
                    return f"what takes it could not be built: all it said is in {log}"
    except OSError as error:
        return f"what takes it could not be built: {error.filename}: {error.strerror}"
    return ""


def times(kernel: trial.Kernel, puzzle: Puzzle) -> list[str]:
    """Lines to print; none where there is no GPU."""
    if not gpu_here():
        return []
    if built(PROGRAM) is None and (why := _build()):
        return [f"no time: {why}"]
    program = built(PROGRAM)
    if program is None:
        return [f"no time: the build made no {PROGRAM}"]
    shape = shape_for(puzzle, PROBLEMS[puzzle.problem].timed)
    seed = hashlib.sha256(kernel.ptx.encode()).hexdigest()
    timed = measure(program, kernel, puzzle, shape, seed)
    if timed.why_not:
        return [f"no time: {timed.why_not}"]
    lines = [f"{timed.median:.2f} µs (95 %: {timed.low:.2f} to {timed.high:.2f}), yours"]
    for chapter, variants in rungs(puzzle).items():
        medians = _books(chapter, variants, shape)
        lines += [f"{medians[v]:.2f} µs, {chapter} {v}" for v in variants if v in medians]
    return [f"n = {power(shape.n)}, block {shape.threads}:", *lines]
