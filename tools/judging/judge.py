"""All trials of one file, in the order in which their verdicts help most."""

from __future__ import annotations

import hashlib
import re
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from common.arithmetic import whole_value
from common.records import columns
from tools.judging import (
    REFUSED,
    ROOT,
    Failure,
    device,
    explain,
    fair,
    form,
    limited,
    named,
    shapes,
    sums,
    trial,
)
from tools.judging.compiler import (
    Refusal,
    Resources,
    compile_to_ptx,
    plain,
    preprocessed,
    resources,
)
from tools.judging.counts import ATOMICS, COUNTS, STATIC
from tools.judging.device import PER_WARP
from tools.judging.problems import PROBLEMS, Shape, small_ones, with_data, with_one
from tools.judging.puzzles import Puzzle, power
from tools.judging.trial import Kernel, Outcome
from tools.judging.verdict import Verdict

SCHEDULES = (1, 2, 3)
MOST_STATIC = 48 * 1024
#: Of a block, on every card since compute capability 5.0 but two of NVIDIA's small boards.
REGISTERS = 65536
#: The largest n that the checks are asked about where a result is wrong.
MOST_LOOKED_AT = 2**18 + 3
#: Bytes of stack that each thread has for its calls: of every card, unless the program that
#: launches the kernel asks for more; and on the embedded device.
STACK, DEVICE_STACK = 1024, 65536
#: The processor's time for a file, its compiler with it, after which it is stopped unless the
#: reader gives it longer; and what is left for the trials in any case.
LIMIT_S, LEAST_S = 19, 8
#: Launches in one session: usually, and at most where the file has variables in device memory and
#: its code names a number that they may count up to.
LAUNCHES, MOST_LAUNCHES = 4, 130
#: Bytes per thread that explain why a kernel takes long.
MUCH_LOCAL = 4096
#: Positions that a wrong sum is asked about.
MOST_POSITIONS = 160
#: Which finding is told where there are several: what a wild access has done explains the rest.
_FIRST = ("memory", "sync", "race", "init")
_OF_A_SUM = re.compile(r"(?:\S+|the sum of all partial sums) is -?\d+, and should be -?\d+")
#: What the folder in which a file is compiled adds to the names that are the file's own.
_OF_THE_FOLDER = re.compile(r"(_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}")
_OVERFLOW = f"a thread's stack overflows: a card gives its calls {STACK} bytes"
_FROM_HOST = "to the host"  # of what the judge itself has read
_FAULTS = {
    "too long": ("endless", f"it hadn't ended after more than {PER_WARP:,} instructions per warp"),
    "deadlock": ("sync", "threads wait for ever"),
    "illegal instruction": ("wrong", "it stops itself"),
    "assert": ("wrong", "an assertion of its own fails"),
}


def judge(file: Path, source: str, puzzle: Puzzle, limit_s: int | None = None) -> Verdict:
    """Compiles a file and tries it; `limit_s`: the processor's time for that, in seconds."""
    compiled = compile_to_ptx(file, source)
    name = plain(file.name)
    if isinstance(compiled, Refusal):
        verdict = Verdict(puzzle.key, puzzle.title)
        where = f"{name}:{compiled.line}: " if compiled.line else ""
        said = tuple(compiled.said.splitlines()[:40])
        verdict.reject("compile", "it doesn't compile", f"{where}{compiled.message}", said)
    else:
        # Most files need no second look. What the preprocessor leaves out doesn't count.
        seen = preprocessed(file, source) if any(form.host_code(source)) else source
        verdict = _in_time(name, source, compiled, puzzle, seen, limit_s or LIMIT_S)
    verdict.rename(name, file.name.replace("\n", "\\n"))
    return verdict


def _in_time(name: str, source: str, ptx: str, puzzle: Puzzle, seen: str, limit_s: int) -> Verdict:
    """What judge_ptx says, or that it takes too long."""
    device.folder()  # is built first, where there is none
    compiled = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = max(LEAST_S, limit_s - int(compiled.ru_utime + compiled.ru_stime))
    try:
        return limited.within(limit, lambda: judge_ptx(name, source, ptx, puzzle, seen=seen))
    except limited.TimeIsOver as stopped:
        # Not accepted, whatever it has been right at: a wrong file could be slow where it is wrong.
        verdict = Verdict(puzzle.key, puzzle.title)
        longer = f"--limit={6 * limit_s} gives it longer"
        line = f"stopped after {limit} s of the processor's time; {longer}"
        if (local := form.local_bytes(ptx)) > MUCH_LOCAL:
            line += f"; it keeps {local} bytes of each thread in local memory"
        verdict.reject("slow", f"too slow to judge {stopped}", line)
        return verdict


def judge_ptx(
    name: str,
    source: str,
    ptx: str,
    puzzle: Puzzle,
    entry: str = "",
    seen: str | None = None,
) -> Verdict:
    """The same of a file that is compiled; `entry` where its kernel has another name there, and
    `seen` what a preprocessor leaves of the source."""
    begun = time.monotonic()
    verdict = Verdict(puzzle.key, puzzle.title)
    seed = seed_of(source, ptx)
    kernel = _formed(verdict, name, source if seen is None else seen, ptx, puzzle, entry)
    verdict.kernel = kernel
    if kernel:
        try:
            _try(verdict, name, kernel, puzzle, seed)
        except Failure as failure:
            if failure.status != REFUSED:
                raise
            verdict.reject("refused", "the embedded device can't run it", str(failure))
    verdict.seconds = time.monotonic() - begun
    return verdict


def seed_of(source: str, ptx: str) -> str:
    """What the inputs depend on: the file and what it includes, so that it can't hold their
    answers. The same file has the same, wherever it is compiled."""
    code = "".join(line for line in ptx.splitlines() if not line.lstrip().startswith(".file"))
    code = _OF_THE_FOLDER.sub(r"\1", code)
    return hashlib.sha256((source + code).encode(errors="replace")).hexdigest()


def _formed(
    verdict: Verdict, name: str, source: str, ptx: str, puzzle: Puzzle, entry: str
) -> Kernel | None:
    wanted = puzzle.form
    for fault in form.faults(wanted, name, source, ptx, entry):
        where = f"{name}:{fault.line}: " if fault.line else ""
        verdict.reject("form", "it isn't what the puzzle asks for", f"{where}{fault.what}")
        return None
    entry = entry or wanted.mangled
    threads = max(x * y for x, y in puzzle.blocks)
    if (most := form.most_threads(ptx, entry)) and most < threads:
        verdict.reject(
            "refused",
            "it can't be launched",
            f"its launch bounds allow {most} threads, and the puzzle launches up to {threads}: "
            f"write __launch_bounds__({threads}), or leave it out",
        )
        return None
    taken = resources(ptx, entry)
    said = taken if isinstance(taken, str) else _too_large(taken, puzzle)
    if isinstance(taken, str) or said:
        verdict.reject("refused", "no GPU can launch it", said)
        return None
    once = {
        "divisions": form.divisions(ptx, entry),
        "doubles": form.doubles(ptx, entry),
        "fences": form.fences(ptx, entry),
        "below_system_scope": form.below_system_scope(ptx, entry),
        "dependent_loads": form.dependent_loads(ptx, entry),
        "in_pipelines": int(form.counts_in_pipelines(ptx, entry)),
    }
    # The device knows the frames of PTX alone. What is in them on a card comes on top.
    return Kernel(
        ptx,
        entry,
        wanted,
        taken.shared,
        once,
        named=named.numbers(ptx, entry),
        named_floats=named.floats(ptx, entry),
        framed=form.with_frames(ptx, taken.frames, DEVICE_STACK // STACK),
    )


def _try(verdict: Verdict, name: str, kernel: Kernel, puzzle: Puzzle, seed: str) -> None:
    side = PROBLEMS[puzzle.problem].side
    tried = set()
    for outcome in _checked(kernel, puzzle, seed, side):
        tried.add(outcome.shape)
        verdict.shapes = len(tried)
        verdict.schedules = max(verdict.schedules, outcome.schedule + 1)
        if not outcome.good:
            # Where no check has found why, a schedule may have let a block come too early.
            unexplained = not outcome.findings and not outcome.fault
            if unexplained and (older := sums.with_older_values(kernel, puzzle, seed)):
                return _tell_of_older(verdict, name, older)
            return _tell(verdict, name, kernel, puzzle, outcome, seed)
        limited.so_far(f"; right at the {len(tried)} shapes before")
    if older := sums.with_older_values(kernel, puzzle, seed):
        return _tell_of_older(verdict, name, older)
    missed: _Missed | None = None
    most = _launches(kernel)
    for shape in shapes.unchecked(puzzle, side, seed, kernel.named):
        # Further launches in the same session find what depends on the first, or counts them.
        few = shape.n <= 130 or (shape.n, shape.threads) == (1000, 256)
        again = LAUNCHES if few else 2 if shape.n <= 5000 else 1
        if few and shape.n > 2:  # once as often as that takes
            again, most = most, LAUNCHES
        cases = [trial.case_at(puzzle, shape, f"{seed} {k}", kernel) for k in range(again)]
        outcome = trial.run(kernel, puzzle, shape, cases)
        tried.add(shape)
        verdict.shapes = len(tried)
        if not outcome.good:
            outcome = _looked_at(kernel, puzzle, outcome, seed)
            return _tell(verdict, name, kernel, puzzle, outcome, seed)
        limited.so_far(f"; right at the {len(tried)} shapes before")
        missed = missed or _missed(puzzle, outcome)
    missed = _compare(verdict, kernel, puzzle, seed) or missed
    verdict.sum = sums.of_right(kernel, puzzle, seed)
    if not missed and (said := fair.hoarded(kernel, puzzle, seed)):
        verdict.reject("goal", "right, but its blocks don't share the work", said)
        return
    if missed:
        case = trial.case_at(puzzle, missed.shape, seed, kernel)
        by_line = trial.run(kernel, puzzle, missed.shape, [case], lines=True)
        where = explain.costly_line(by_line.lines, missed.count, name)
        line = f"{missed.line}; {where}" if where else missed.line
        verdict.reject("goal", f"right, but misses its goal: {missed.says}", line)
        return
    goals = ", ".join(goal.says for goal in puzzle.goals)
    verdict.headline = f"right at {verdict.shapes} shapes" + (f"; {goals}" if goals else "")


def _launches(kernel: Kernel) -> int:
    """How often a kernel is launched once, in case it counts its launches."""
    if not re.search(r"\.global\s+\.", form.code_of(kernel.ptx)):
        return LAUNCHES
    named = [number + 3 for number in kernel.named if number + 3 <= MOST_LAUNCHES]
    return max(LAUNCHES, *named)


def _too_large(taken: Resources, puzzle: Puzzle) -> str:
    """What a launch would lack on a card. The embedded device has registers without end."""
    threads = max(x * y for x, y in puzzle.blocks)
    # A warp gets them eight per thread at a time, 256 in all.
    most = REGISTERS // (-(-threads // 32) * 32) // 8 * 8
    if -(-taken.registers // 8) * 8 > most:
        return (
            f"it takes {taken.registers} registers per thread, and a block of {threads} threads "
            f"has {most} for each: __launch_bounds__({threads}) makes the compiler keep to that"
        )
    given = max(
        whole_value(puzzle.shared, shapes.names_of(shapes.at(puzzle, puzzle.most, block)))
        for block in puzzle.blocks
    )
    if taken.shared and taken.shared + given > MOST_STATIC:
        beside = f" beside the {given} that the launch gives it" if given else ""
        return (
            f"it takes {taken.shared} bytes of shared memory{beside}, and a block has {MOST_STATIC}"
        )
    return ""


def _checked(kernel: Kernel, puzzle: Puzzle, seed: str, side: bool) -> Iterator[Outcome]:
    for shape in shapes.checked(puzzle, side, seed, kernel.named):
        case = trial.case_at(puzzle, shape, seed, kernel)
        yield trial.run(kernel, puzzle, shape, [case], checks="all")
    for number in SCHEDULES:
        for shape in shapes.apart(puzzle, side, seed):
            case = trial.case_at(puzzle, shape, f"{seed} {number}", kernel)
            yield trial.run(kernel, puzzle, shape, [case], checks="all", apart=number)


# ------------------------------------------------------------------ what is wrong, in a line


def _tell(
    verdict: Verdict, name: str, kernel: Kernel, puzzle: Puzzle, outcome: Outcome, seed: str
) -> None:
    shape = outcome.shape
    printed = tuple(f"printed: {line}" for line in outcome.printed.splitlines()[:5])
    unset = [f for f in outcome.findings if _FROM_HOST in f["what"]]
    findings = [f for f in outcome.findings if f not in unset]
    if findings:
        finding = min(findings, key=lambda f: _FIRST.index(f["check"]))
        case = trial.case_at(puzzle, shape, seed, kernel)
        line = explain.line_of(finding, name, kernel.form, case)
        details = tuple(d for f in findings for d in (f["what"], *f["details"]))
        if line.startswith(f"{name}: "):  # no line of the reader's
            line = _nearest(" ".join(finding["details"]), name, kernel) + line[len(name) :]
        line += f", at {shape}"
        headline = finding["what"] + explain.why(finding)
        if "stack overflow" in line:
            headline = _OVERFLOW
        verdict.reject(finding["check"], headline, line, (*details, *printed))
    elif outcome.fault:
        kind, message = outcome.fault["kind"], outcome.fault["message"]
        line = f"{explain.places(message, name) or _nearest(message, name, kernel)}, at {shape}"
        if kind == "too long":
            often = message.partition("has run ")[2] or message
            line = f"stopped by count at {shape}: it ran {often}"
        reason, headline = _FAULTS.get(kind, ("memory", kind))
        if "stack overflow" in message:
            headline = _OVERFLOW
        verdict.reject(reason, headline, line, (message, *printed))
    else:
        wrong = outcome.wrong
        if unset:
            buffer = unset[0]["places"][0].partition(" number")[0]
            wrong = f"{buffer} has elements that the kernel never writes"
            # Where an output is poison before the launch, it shows which.
            case = trial.case_at(puzzle, shape, seed, kernel)
            if (said := trial.run(kernel, puzzle, shape, [case]).wrong).endswith("never written"):
                wrong = said
        verdict.sum = None if unset else sums.of_wrong(kernel, puzzle, outcome, seed)
        if verdict.sum:
            line, told = sums.line_of(verdict.sum, name), verdict.sum.story
        else:
            line, told = ("" if unset else _diagnosis(kernel, puzzle, outcome, seed)), ()
        details = (wrong, *told) if line else ()
        headline = f"wrong at {shape}"
        if outcome.schedule and _right_together(kernel, puzzle, outcome, seed):
            headline += ", where the lanes of a warp run apart, as a GPU may let them"
        verdict.reject("wrong", headline, line or wrong, (*details, *printed))


def _right_together(kernel: Kernel, puzzle: Puzzle, outcome: Outcome, seed: str) -> bool:
    case = trial.case_at(puzzle, outcome.shape, f"{seed} {outcome.schedule}", kernel)
    return trial.run(kernel, puzzle, outcome.shape, [case]).good


def _nearest(message: str, name: str, kernel: Kernel) -> str:
    """The line of the reader's file that is nearest to a line of the PTX with none of its own."""
    found = re.search(r"PTX line (\d+)", message)
    lines = form.lines_of(kernel.ptx, name)[int(found[1]) - 1 :] if found else []
    line = next(filter(None, lines), 0)
    return f"{name}:{line}" if line else name


def _looked_at(kernel: Kernel, puzzle: Puzzle, outcome: Outcome, seed: str) -> Outcome:
    """A wrong result of an unchecked trial, or the race that is behind it, if the checks find one
    there or at the largest size that they can be asked about."""
    if outcome.findings or outcome.fault:
        return outcome
    shape = outcome.shape
    if shape.n > MOST_LOOKED_AT and not PROBLEMS[puzzle.problem].side:
        shape = shapes.at(puzzle, min(MOST_LOOKED_AT, puzzle.most), shape.block)
    case = trial.case_at(puzzle, shape, seed, kernel)
    looked = trial.run(kernel, puzzle, shape, [case], checks="all")
    return looked if any(f["check"] == "race" for f in looked.findings) else outcome


def _tell_of_older(verdict: Verdict, name: str, outcome: Outcome) -> None:
    finding = outcome.findings[0]
    line = explain.both(finding["details"], name) or ", ".join(finding["places"])
    details = (*finding["details"], f"then {outcome.wrong}")
    verdict.reject("race", finding["what"], f"{line}, at {outcome.shape}", details)


def _diagnosis(kernel: Kernel, puzzle: Puzzle, outcome: Outcome, seed: str) -> str:
    """Of a wrong sum: which elements are left out, and which are added twice."""
    shape = outcome.shape
    if outcome.total is None or shape.n == 0 or not _OF_A_SUM.match(outcome.wrong):
        return ""
    case = trial.case_at(puzzle, shape, seed, kernel)
    often: dict[int, int] = {}
    for at in _suspects(shape):
        one = trial.run(kernel, puzzle, shape, [with_one(case, shape.n, at)])
        if one.fault or one.findings or one.total is None:
            return ""
        often[at] = one.total
    odd = {at: times for at, times in often.items() if times != 1}
    if not odd:
        few = small_ones(shape.n, seed)
        small = trial.run(kernel, puzzle, shape, [with_data(case, few.tobytes())])
        if small.total != sum(few):
            return f"{outcome.wrong}; which elements it adds depends on their values"
        return f"{outcome.wrong}; small elements are right: is the sum too large for its type?"
    if len(odd) == len(often) > 1 and len(set(odd.values())) > 2:
        return ""  # what comes out has little to do with what went in
    at, times = next(iter(odd.items()))
    said = {0: "is never added", 2: "is added twice"}.get(times, f"is added {times} times")
    alike = sum(value == times for value in odd.values())
    if alike == len(often) > 1:
        return f"each element {said}" if alike == shape.n else f"each of {alike} elements {said}"
    others = f", and so {'are' if alike > 2 else 'is'} {alike - 1} more" if alike > 1 else ""
    tried = "" if len(often) == shape.n else f" (of {len(often)} that were tried)"
    return f"element {at} {said}{others}{tried}"


def _suspects(shape: Shape) -> list[int]:
    n, block = shape.n, shape.threads
    if n <= MOST_POSITIONS:
        return list(range(n))
    few = MOST_POSITIONS if n < 10_000 else 10
    edges = [edge + d for edge in (block, n // block * block) for d in (-1, 0, 1)]
    edges += [edge + d for edge in range(2 * block, n, block) for d in (-1, 0)][: few // 2]
    spread = [k * n // few for k in range(few)]
    places = list(dict.fromkeys(at for at in (0, n - 1, *edges, *spread) if 0 <= at < n))
    return sorted(places[:few])


# ------------------------------------------------------------------ counts


@dataclass(frozen=True)
class _Missed:
    """A goal that isn't met, and where."""

    says: str
    count: str
    line: str
    shape: Shape


def _missed(puzzle: Puzzle, outcome: Outcome) -> _Missed | None:
    goals = {goal.count for goal in puzzle.goals}
    for count in ("global_atomics", "shared_atomics"):
        # The counts of loads and stores leave atomics out, so only a goal of their own allows them.
        used = outcome.counts[count]
        free = 0  # cuda::pipeline counts its threads as they leave, once per warp
        if count == "shared_atomics" and outcome.counts.get("in_pipelines"):
            free = outcome.launches * shapes.names_of(outcome.shape)["warps"]
        if used > free and count not in goals:
            said = (
                f"{used} atomic operations on {count.partition('_')[0]} memory, at {outcome.shape}"
            )
            return _Missed("no atomics", count, said, outcome.shape)
    if outcome.shape.threads % 32:
        return None  # blocks that share sectors read them twice, whatever the kernel does
    for goal in puzzle.goals:
        if outcome.shape.n < goal.at_least:
            continue
        launches = 1 if goal.count in STATIC else outcome.launches
        most = whole_value(goal.most, shapes.names_of(outcome.shape)) * launches
        got = outcome.counts[goal.count]
        if got > most:
            said = f"{goal.count} {got // launches}, where the goal allows {most // launches}"
            return _Missed(goal.says, goal.count, f"{said}, at {outcome.shape}", outcome.shape)
    return None


def _compare(verdict: Verdict, kernel: Kernel, puzzle: Puzzle, seed: str) -> _Missed | None:
    """Its counts at one usual shape, beside those of the book's own kernel; a goal that is missed
    there."""
    side = PROBLEMS[puzzle.problem].side
    usual = [b for b in puzzle.blocks if b[0] * b[1] == 256] or [puzzle.blocks[-1]]
    n = min(puzzle.most, 256 if side else 2**16)
    shape = shapes.at(puzzle, n, usual[0], turn=-1)
    outcome = trial.run(kernel, puzzle, shape, [trial.case_at(puzzle, shape, seed, kernel)])
    book = recorded(puzzle, shape)
    verdict.counted_at = f"n = {power(n)}, block {shape.threads}"
    verdict.book = " ".join(puzzle.book) if puzzle.book and book else ""
    seen = [*COUNTS, *(name for name in ATOMICS if outcome.counts[name])]
    verdict.counts = [(name, outcome.counts[name], book.get(name)) for name in seen]
    return _missed(puzzle, outcome)


def recorded(puzzle: Puzzle, shape: Shape) -> dict[str, int]:
    """What the embedded device counted of the book's kernel at this shape, as committed."""
    file = ROOT / "figures/data/embedded/counters.json"
    if puzzle.book is None or not file.is_file():
        return {}
    chapter, variant = puzzle.book
    for run in columns.read(file)["runs"]:
        named = (run["chapter"], run["variant"], run["n"], run["block"])
        if named == (chapter, variant, shape.n, shape.threads):
            launch = run["launches"][0]["metrics"]
            return {name: launch[metric] for name, metric in COUNTS.items() if metric in launch}
    return {}
