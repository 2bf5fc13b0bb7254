"""The chapters' programs, and the steps that measuring them takes."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tools.measuring import NOT_AVAILABLE, ROOT, Failure, children, profilers
from tools.measuring.provenance import Source, utc_now
from tools.measuring.steps import Result, Step, duration

SCHEMA_VERSION = 2
PARTS_VERSION = 1  # raise it when what is kept of a step changes
REPEATS = 2

#: A chapter is measured by these runs of its program, in this order.
INVOCATIONS: dict[str, list[str]] = {
    "default": [],
    "sweep-n": ["--sweep", "n"],
    "sweep-block": ["--sweep", "block"],
}
#: Where a chapter has something else to sweep, its variants do so, and these are all its sizes.
OWN_INVOCATIONS = {"chapter10_coalescing": {"default": [], "large": ["--n", "2^28"]}}
PT_LOAD = 1
TOOL_TIMEOUT_S = 300.0  # no profiler needs this long for one launch; a hung one would take for ever


@dataclass(frozen=True)
class Variant:
    """One variant of a program, as its ``--list --json`` has it."""

    name: str
    region: str | None
    legacy: bool
    findings: tuple[str, ...]
    only_block: int | None  # where it takes but one
    params: dict[str, Any]
    profiled: bool  # or another variant has the same kernels in the same way
    steady: bool = True  # two launches count alike: a kernel that waits for others need not
    counted: tuple[int, ...] = ()  # its own n, where it has them: rows of a matrix, say

    def shapes(self, wanted: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
        """These (n, block), with the variant's own n and block where it takes no others."""
        if self.counted:
            return [(n, self.only_block or 256) for n in self.counted]
        return list(dict.fromkeys((n, self.only_block or block) for n, block in wanted))

    @property
    def has_counters(self) -> bool:
        """Whether there is something to count that a second launch would count again."""
        return self.profiled and self.steady

    @property
    def checked_shape(self) -> tuple[int, int]:
        """Where compute-sanitizer looks: with a tail."""
        if self.counted:
            return self.counted[-1] - 3, self.only_block or 256
        n, block = profilers.SANITIZER_SHAPE
        return n, self.only_block or block


@dataclass(frozen=True)
class Program:
    """One chapter's program; *digest* is of what is loaded of it."""

    chapter: str
    path: Path
    digest: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class Tool:
    """A profiler of this machine."""

    path: str
    version: str


class CountersRefused(Exception):
    """This machine doesn't let ncu read counters."""


# ---------------------------------------------------------------------------- the programs


def invocations(chapter: str) -> dict[str, list[str]]:
    """The runs of a chapter's program by which it is measured."""
    return OWN_INVOCATIONS.get(chapter, INVOCATIONS)


def chapter_names() -> list[str]:
    return sorted(path.parent.name for path in ROOT.glob("chapters/chapter*/CMakeLists.txt"))


def find_programs(
    names: list[str], build: Path, work: Path, *, rebuild: bool = True
) -> list[Program]:
    """The chapters' programs, built where they are missing or older than their sources."""
    paths = {name: build / "chapters" / name / name for name in names}
    if rebuild and any(_outdated(path) for path in paths.values()):
        _build(build)
    for path in paths.values():
        if not os.access(path, os.X_OK):
            raise Failure(f"{path} is not there{', not even after building' if rebuild else ''}")
    return [_program(name, path, work) for name, path in paths.items()]


def probe(program: Program, work: Path) -> None:
    """One small launch on a GPU, so that a machine without one is told at once."""
    variant = next(each for each in program.variants if not each.legacy)
    once = _once([variant.name], 1024, variant.only_block or 256)
    _succeed(program.path, ["--device", "gpu", *once], work)


def find_tool(name: str, option: str) -> Tool:
    """A profiler that *option* needs."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    path = shutil.which(name) or shutil.which(name, path=f"{home}/bin")
    if path is None:
        raise Failure(
            f"{option} needs {name}, which is neither in PATH nor in {home}/bin; it comes with "
            "NVIDIA's CUDA toolkit",
            NOT_AVAILABLE,
        )
    said = children.run([path, "--version"], ROOT).stdout
    version = re.search(r"[Vv]ersion (\d+(?:\.\d+){0,2})", said)
    return Tool(path, version[1] if version else "unknown")


def _outdated(program: Path) -> bool:
    if not program.is_file():
        return True
    built = program.stat().st_mtime
    sources = [ROOT / "CMakeLists.txt", *ROOT.glob("chapters/chapter*/*"), *ROOT.glob("common/*")]
    for folder in ("cmake", "include", "src"):
        sources += ROOT.glob(f"common/{folder}/**/*")
    return any(path.is_file() and path.stat().st_mtime > built for path in sources)


def _build(build: Path) -> None:
    """Configures, and builds every program; quick where little has changed."""
    print(f"building the programs in {build} …", flush=True)
    build.mkdir(parents=True, exist_ok=True)
    log = build / "measure-build.log"
    cores = str(os.cpu_count() or 1)
    with log.open("w", encoding="utf-8") as out:
        for command in (
            ["cmake", "-S", str(ROOT), "-B", str(build)],
            ["cmake", "--build", str(build), "--target", "programs", "-j", cores],
        ):
            try:
                done = children.run(command, ROOT)
            except FileNotFoundError:
                raise Failure(
                    "the programs have to be built, and cmake is not installed (on Debian and "
                    "Ubuntu: sudo apt install cmake)",
                    NOT_AVAILABLE,
                ) from None
            out.write(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
            if done.status != 0:
                lines = (done.stdout + done.stderr).splitlines()
                wrong = [line.strip() for line in lines if re.search(r"(?i)\berror\b", line)]
                reason = wrong[0] if wrong else done.last_line
                raise Failure(f"building failed: {reason} (log: {log})")


def _program(chapter: str, path: Path, work: Path) -> Program:
    file = work / f"{chapter}-list.json"
    listed, _ = _json_of(path, ["--list", "--json", file.name], file)
    try:
        variants = tuple(
            Variant(
                name=str(each["name"]),
                region=each["region"],
                legacy=bool(each["legacy"]),
                findings=tuple(each["findings"]),
                only_block=_only_block(each["blocks"]),
                params=dict(each["params"]),
                profiled=bool(each["profiled"]),
                steady=bool(each["steady"]),
                counted=tuple(each.get("counted") or ()),
            )
            for each in listed["variants"]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Failure(f"'{chapter} --list --json' is not as it should be: {error!r}") from None
    if all(variant.legacy for variant in variants):
        raise Failure(f"'{chapter} --list --json' names no variant to measure")
    return Program(chapter, path, hashlib.sha256(_loaded(path.read_bytes())).hexdigest(), variants)


def _loaded(program: bytes) -> bytes:
    """What is loaded of a program: built twice it is the same, and its table of symbols isn't.

    nvcc puts the number of its process into that table. Of what is no 64-bit ELF file, all of it.
    """
    if program[:5] != b"\x7fELF\x02":
        return program
    (table,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    loaded = []
    for at in range(table, table + size * count, size):
        kind, _flags, offset, address, _physical, length = struct.unpack_from(
            "<IIQQQQ", program, at
        )
        if kind == PT_LOAD:
            loaded.append(address.to_bytes(8, "little") + program[offset : offset + length])
    return b"".join(loaded)


def _only_block(blocks: str) -> int | None:
    """The one block of a variant that takes "block 1 only", as --list words it."""
    only = re.fullmatch(r"block (\d+) only", blocks)
    return int(only[1]) if only else None


def _once(variants: Sequence[str], n: int, block: int) -> list[str]:
    """One launch of each of these variants: what profilers run."""
    return ["--once", "--variant", *variants, "--n", str(n), "--block", str(block)]


def _succeed(program: Path, arguments: list[str], cwd: Path) -> children.Finished:
    """Runs a program that has to end well."""
    done = children.run([str(program), *arguments], cwd)
    if done.status == NOT_AVAILABLE:  # "no GPU here", which the program says best itself
        raise Failure(done.last_line, NOT_AVAILABLE)
    if done.status != 0:
        shown = " ".join([program.name, *arguments])
        raise Failure(f"'{shown}' ended with status {done.status}: {done.last_line}")
    return done


def _json_of(program: Path, arguments: list[str], file: Path) -> tuple[dict[str, Any], str]:
    """Runs a program that writes *file*; the file's content, and what the program printed."""
    shown = " ".join([program.name, *arguments])
    file.unlink(missing_ok=True)
    done = _succeed(program, arguments, file.parent)
    try:
        data = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise Failure(f"'{shown}' wrote no record") from None
    except ValueError as error:
        raise Failure(f"'{shown}' wrote a record that can't be read: {error}") from None
    file.unlink()
    if not isinstance(data, dict) or data.get("schema") != SCHEMA_VERSION:
        raise Failure(f"'{shown}' wrote a record of another schema than {SCHEMA_VERSION}")
    if data.get("chapter") != program.name:
        raise Failure(f"'{shown}' wrote a record of chapter {data.get('chapter')!r}")
    return data, done.stdout


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it holds {name}, which is not a number")


# -------------------------------------------------------------------------------- the steps


@dataclass(frozen=True)
class Launch:
    """What ncu counts at a time."""

    program: Program
    variant: Variant
    n: int
    block: int

    def __str__(self) -> str:
        return f"{self.program.chapter}/{self.variant.name} n={self.n} block={self.block}"

    @property
    def name(self) -> str:
        return f"{self.program.chapter}-ncu-{self.variant.name}-{self.n}-{self.block}"

    @property
    def arguments(self) -> list[str]:
        return _once([self.variant.name], self.n, self.block)

    @property
    def command(self) -> list[str]:
        return [str(self.program.path), *self.arguments]

    def counted(self, launches: list[dict[str, Any]], ran: Sequence[str] = ()) -> Result:
        """What is recorded of it; *ran* are the arguments where it wasn't run alone."""
        command = ["ncu", *profilers.ncu_options(), "./run", *(ran or self.arguments)]
        return {
            "chapter": self.program.chapter,
            "variant": self.variant.name,
            "n": self.n,
            "block": self.block,
            "params": self.variant.params,
            "command": " ".join(command),
            "launches": launches,
        }


@dataclass(frozen=True, kw_only=True)
class CounterStep(Step):
    """The counters of one launch."""

    launch: Launch


@dataclass(frozen=True)
class Plan:
    """The steps of a measuring run."""

    programs: list[Program]
    source: Source
    work: Path
    ncu: Tool | None
    sanitizer: Tool | None

    def timings(self) -> list[Step]:
        """Every chapter's runs, then all of them again in reverse order."""
        forward = [
            (program, kind, arguments)
            for program in self.programs
            for kind, arguments in invocations(program.chapter).items()
        ]
        steps = []
        for repeat in range(REPEATS):
            for program, kind, arguments in forward if repeat % 2 == 0 else reversed(forward):
                name = timing_name(program.chapter, kind, repeat)
                steps.append(
                    Step(
                        name=name,
                        label=" ".join([program.chapter, *arguments, f"(repeat {repeat})"]),
                        key=self._key(program, name, arguments),
                        alike=(f"{program.chapter} {kind}", kind),
                        work=partial(self._time, program, arguments, name),
                    )
                )
        return steps

    def counters(self) -> list[CounterStep]:
        """Every variant's counters at a few shapes, one launch a shape."""
        if self.ncu is None:
            return []
        launches = [
            Launch(program, variant, n, block)
            for program in self.programs
            for variant in program.variants
            if variant.has_counters
            for n, block in variant.shapes(profilers.counter_shapes(program.chapter))
        ]
        return [
            CounterStep(
                name=launch.name,
                label=f"ncu {launch}",
                key=self._key(launch.program, launch.name, [self.ncu.version, *profilers.METRICS]),
                alike=("ncu",),
                work=partial(self._count, self.ncu, launch),
                # A faulty form spoils what runs after it: it runs alone.
                company=""
                if launch.variant.legacy
                else f"{launch.program.chapter} {launch.n} {launch.block}",
                launch=launch,
            )
            for launch in launches
        ]

    def sanitizers(self) -> list[Step]:
        """Every variant under every tool of compute-sanitizer; of a swept one the first."""
        if self.sanitizer is None:
            return []
        return [
            Step(
                name=(name := f"{program.chapter}-{check}-{variant.name}"),
                label=f"{check} {program.chapter}/{variant.name}",
                key=self._key(program, name, [self.sanitizer.version]),
                alike=(check, "sanitizer"),
                work=partial(self._check, self.sanitizer, program, variant, check),
            )
            for program in self.programs
            for variant in without_twins(program.variants)
            if variant.profiled
            for check in profilers.SANITIZERS
        ]

    def _key(self, program: Program, name: str, more: list[str]) -> str:
        """What a kept result depends on: if any of it has changed, the step is done again."""
        parts = [PARTS_VERSION, name, more, program.digest, self.source.record()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _time(self, program: Program, arguments: list[str], name: str) -> Result:
        # A chapter's first and last run in time are plain ones: the card is asked around those.
        plain = not arguments
        date, before = utc_now(), _clocks() if plain else None
        command = [*arguments, "--json", f"{name}.json"]
        record, console = _json_of(program.path, command, self.work / f"{name}.json")
        _refuse_bad_runs(record, " ".join([program.chapter, *command]))
        # As a reader would type it, and without this machine's folders.
        record["commands"] = [["./run", *command]]
        clocks = {"before": before, "after": _clocks() if plain else None}
        return {"record": record, "console": console, "date": date, "clocks": clocks}

    def count_together(
        self, steps: Sequence[Step], done: Mapping[str, Result]
    ) -> dict[str, Result]:
        """The counters of a program's variants at one shape, from one run of it under ncu, whose
        start takes ten times as long as a launch; none where it isn't plain which launch is whose.
        *done* are the results so far.
        """
        launches = {step.name: step.launch for step in steps if isinstance(step, CounterStep)}
        assert self.ncu and len(launches) == len(steps)
        first = next(iter(launches.values()))
        names = [launch.variant.name for launch in launches.values()]
        arguments = _once(names, first.n, first.block)
        command = [self.ncu.path, *profilers.ncu_options(), str(first.program.path), *arguments]
        try:
            ran = children.run(command, self.work, TOOL_TIMEOUT_S)
            if profilers.NO_PERMISSION in ran.stdout + ran.stderr:
                raise CountersRefused
            rows = profilers.ncu_launches(ran.stdout)
        except (subprocess.TimeoutExpired, ValueError, KeyError):
            return {}
        if ran.status != 0 or not _whole(rows):
            return {}
        if len(rows) == len(launches):  # and each has launched something: so one each
            shares = {name: [row] for name, row in zip(launches, rows, strict=True)}
        else:
            shares = _dealt(rows, launches, done)
        return {name: launches[name].counted(rows, arguments) for name, rows in shares.items()}

    def _count(self, ncu: Tool, launch: Launch) -> Result:
        try:
            done = children.run(
                [ncu.path, *profilers.ncu_options(), *launch.command], self.work, TOOL_TIMEOUT_S
            )
            text = done.stdout + "\n" + done.stderr
            if profilers.NO_PERMISSION in text:
                raise CountersRefused
            launches = profilers.ncu_launches(done.stdout)
        except subprocess.TimeoutExpired:
            raise Failure(f"ncu on {launch}: not done after {duration(TOOL_TIMEOUT_S)}") from None
        except (ValueError, KeyError) as error:
            raise Failure(f"ncu on {launch}: its table can't be read ({error!r})") from None
        if _whole(launches) and (launch.variant.legacy or done.status == 0):
            return launch.counted(launches)
        # Doesn't the program take this shape, or has ncu failed?
        plain = children.run(launch.command, self.work)
        if plain.status == 2:
            return {"skipped": f"{launch}: {plain.last_line}"}
        said = next((line for line in text.splitlines() if "==ERROR==" in line), done.last_line)
        if launch.variant.legacy:  # a faulty kernel may end anyhow, and hold nothing else up
            return {"skipped": f"{launch}: {said}"}
        raise Failure(f"ncu gave no counters of {launch}: {said}")

    def _check(self, sanitizer: Tool, program: Program, variant: Variant, check: str) -> Result:
        n, block = variant.checked_shape
        once = _once([variant.name], n, block)
        options = profilers.sanitizer_options(check)
        command = [sanitizer.path, *options, str(program.path), *once]
        try:
            done = children.run(command, self.work, TOOL_TIMEOUT_S)
            text, status = done.stdout + "\n" + done.stderr, done.status
            findings, messages = profilers.sanitizer_verdict(check, text, status)
            if findings is None:  # the program's own words first: they often say why
                words = [done.last_line] if done.stderr.strip() or not messages else []
                messages = [*words, *messages][:5]
        except subprocess.TimeoutExpired:
            status, findings = 124, None
            messages = [f"not done after {duration(TOOL_TIMEOUT_S)}"]
        return {
            "chapter": program.chapter,
            "variant": variant.name,
            "n": n,
            "block": block,
            "tool": check,
            "command": " ".join(["compute-sanitizer", *options, "./run", *once]),
            "exit": status,
            "findings": findings,
            "messages": messages,
        }


def without_twins(variants: Iterable[Variant]) -> list[Variant]:
    """Of those that launch one kernel with other parameters, and of which no fault is expected,
    the first."""
    seen = set()
    kept = []
    for variant in variants:
        kind = (variant.region, *sorted(variant.params))
        if variant.legacy or variant.findings or not variant.params or kind not in seen:
            kept.append(variant)
        seen.add(kind)
    return kept


def _whole(launches: list[dict[str, Any]]) -> bool:
    """Whether there are any, and none is of a kernel that the device stopped.

    Of such a one ncu knows the name and nothing else.
    """
    return bool(launches) and all(each["metrics"] and all(each["block"]) for each in launches)


def _dealt(
    rows: list[dict[str, Any]], launches: Mapping[str, Launch], done: Mapping[str, Result]
) -> dict[str, list[dict[str, Any]]]:
    """Which launches are whose, by what each variant launched at another shape; none in doubt."""
    left = list(rows)
    shares = {}
    for name, launch in launches.items():
        before = [
            result["launches"]
            for result in done.values()
            if (result.get("chapter"), result.get("variant"))
            == (launch.program.chapter, launch.variant.name)
            and "launches" in result
        ]
        kernels = [each["kernel"] for each in before[0]] if before else []
        share, left = left[: len(kernels)], left[len(kernels) :]
        if not share or [each["kernel"] for each in share] != kernels:
            return {}
        shares[name] = share
    return {} if left else shares


def timing_name(chapter: str, kind: str, repeat: int) -> str:
    return f"{chapter}-{kind}-{repeat}"


def run_name(run: dict[str, Any]) -> tuple[Any, ...]:
    """What names a run within its chapter and repeat."""
    return run["variant"], run["n"], run["block"], json.dumps(run["params"], sort_keys=True)


def _refuse_bad_runs(record: dict[str, Any], shown: str) -> None:
    """Only what would spoil a recording unseen; figures/records checks every field."""
    runs = record.get("runs")
    if not isinstance(runs, list) or not runs:
        raise Failure(f"'{shown}' recorded no run")
    for run in runs:
        try:
            variant, n, block, _ = run_name(run)
            median, verified = run["median_us"], run["verified"]
        except (KeyError, TypeError) as error:
            raise Failure(f"'{shown}' recorded a run without {error}") from None
        where = f"'{shown}', {variant} n={n} block={block}"
        if verified is not True:
            raise Failure(f"{where}: its result was not verified")
        if not isinstance(median, int | float) or not math.isfinite(median) or median <= 0:
            raise Failure(f"{where}: median_us is {median!r}")


#: nvidia-smi's names, and ours.
CLOCKS = {
    "name": "name",
    "clocks.current.sm": "sm_mhz",
    "clocks.current.memory": "memory_mhz",
    "power.draw": "power_w",
    "temperature.gpu": "temperature_c",
}


def _clocks() -> dict[str, Any] | None:
    """What nvidia-smi says of the card now; None where there is none to ask."""
    card = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"
    query = ["nvidia-smi", "-i", card, f"--query-gpu={','.join(CLOCKS)}"]
    try:
        done = children.run([*query, "--format=csv,noheader,nounits"], ROOT, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    row = next(csv.reader(done.stdout.splitlines(), skipinitialspace=True), [])
    if done.status != 0 or len(row) != len(CLOCKS):
        return None
    name, *numbers = row
    values = [float(cell) if re.fullmatch(r"[\d.]+", cell) else None for cell in numbers]
    return dict(zip(CLOCKS.values(), [name, *values], strict=True))
