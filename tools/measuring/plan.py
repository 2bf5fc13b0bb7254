"""The steps that measuring the chapters' programs takes."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from common.records.counters import OF_HARDWARE
from tools.measuring import NOT_AVAILABLE, ROOT, Failure, children, profilers
from tools.measuring.programs import Program, Variant, json_of, once
from tools.measuring.provenance import Source, utc_now
from tools.measuring.steps import Result, Step, duration

PARTS_VERSION = 2  # raise it when what is kept of a step changes
#: A recording's passes: enough for common/records/verdict.py to take their spread as it is.
PASSES = 3
#: A reader's own: one would not show how far passes differ, and a third takes another minute.
READERS_PASSES = 2
TOOL_TIMEOUT_S = 300.0  # no profiler needs this long for one launch; a hung one would take for ever


@dataclass(frozen=True)
class Tool:
    """A profiler of this machine."""

    path: str
    version: str


class CountersRefused(Exception):
    """This machine doesn't let ncu read counters."""


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
        return once([self.variant.name], self.n, self.block)

    @property
    def command(self) -> list[str]:
        return [str(self.program.path), *self.arguments]

    def counted(
        self, launches: list[dict[str, Any]], options: Sequence[str], ran: Sequence[str] = ()
    ) -> Result:
        """What is recorded of it; *ran* are the arguments where it wasn't run alone."""
        command = ["ncu", *options, "./run", *(ran or self.arguments)]
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


@dataclass(frozen=True, kw_only=True)
class CheckStep(Step):
    """What one tool of compute-sanitizer says of one variant."""

    program: Program
    variant: Variant
    check: str


@dataclass(frozen=True)
class Plan:
    """The steps of a measuring run."""

    programs: list[Program]
    source: Source
    work: Path
    ncu: Tool | None
    sanitizer: Tool | None
    #: How often everything is timed.
    passes: int = READERS_PASSES
    #: Metrics that this ncu doesn't know, found on the way.
    unknown: list[str] = field(default_factory=list)

    def timings(self) -> list[Step]:
        """Every chapter's runs, pass after pass, every other pass in reverse order."""
        steps: list[Step] = []
        for repeat in range(self.passes):
            runs = [
                (program, kind, arguments)
                for program in self.programs
                for kind, arguments in program.invocations(repeat).items()
            ]
            for program, kind, arguments in runs if repeat % 2 == 0 else reversed(runs):
                name = timing_name(program.chapter, kind, repeat)
                # The card is asked how it is before a chapter's first run in time and after its
                # last.
                edges = (
                    repeat == 0 and kind == "default",
                    repeat == self.passes - 1 and kind == list(program.invocations(repeat))[-1],
                )
                steps.append(
                    Step(
                        name=name,
                        label=" ".join([program.chapter, *arguments, f"(pass {repeat + 1})"]),
                        key=self._key(program, name, [*arguments, *map(str, edges)]),
                        alike=(f"{program.chapter} {kind}", kind),
                        work=partial(self._time, program, arguments, name, edges),
                    )
                )
        return steps

    def counters(self) -> list[CounterStep]:
        """Every variant's counters at a few shapes, one launch per shape."""
        if self.ncu is None:
            return []
        launches = [
            Launch(program, variant, n, block)
            for program in self.programs
            for variant in program.variants
            if variant.has_counters
            for n, block in variant.counted
        ]
        return [
            CounterStep(
                name=launch.name,
                label=f"ncu {launch}",
                key=self._key(launch.program, launch.name, [self.ncu.version, *OF_HARDWARE]),
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

    def sanitizers(self) -> list[CheckStep]:
        """Every variant under every tool of compute-sanitizer; of a swept one the first."""
        if self.sanitizer is None:
            return []
        return [
            CheckStep(
                name=(name := f"{program.chapter}-{check}-{variant.name}"),
                label=f"{check} {program.chapter}/{variant.name}",
                key=self._key(program, name, [self.sanitizer.version]),
                alike=(check, "sanitizer"),
                work=partial(self._check, self.sanitizer, program, [variant], check),
                # A fault may spoil what runs after it: what is to be found is looked for alone. So
                # is what depends on memory, of which one variant may have left more, or written
                # more, than the next one needs.
                company=""
                if variant.legacy or variant.findings or check in ("memcheck", "initcheck")
                else f"{check} {program.chapter} {variant.checked}",
                program=program,
                variant=variant,
                check=check,
            )
            for program in self.programs
            for variant in without_twins(each for each in program.variants if each.profiled)
            for check in profilers.SANITIZERS
        ]

    def _key(self, program: Program, name: str, more: list[str]) -> str:
        """What a kept result depends on: if any of it has changed, the step is done again."""
        parts = [PARTS_VERSION, name, more, program.digest, self.source.record()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _time(
        self, program: Program, arguments: list[str], name: str, edges: tuple[bool, bool]
    ) -> Result:
        first, last = edges
        date, before = utc_now(), _clocks() if first else None
        command = [*arguments, "--json", f"{name}.json"]
        record, console = json_of(program.path, command, self.work / f"{name}.json")
        _refuse_bad_runs(record, " ".join([program.chapter, *command]))
        # As a reader would type it, and without this machine's folders.
        record["commands"] = [["./run", *command]]
        clocks = {"before": before, "after": _clocks() if last else None}
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
        arguments = once(names, first.n, first.block)
        try:
            ran = self._under_ncu(self.ncu, [str(first.program.path), *arguments])
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
        options = self._ncu_options()
        return {
            name: launches[name].counted(rows, options, arguments) for name, rows in shares.items()
        }

    @property
    def _metrics(self) -> list[str]:
        return [metric for metric in OF_HARDWARE if metric not in self.unknown]

    def _ncu_options(self) -> list[str]:
        return profilers.ncu_options(self._metrics)

    def _under_ncu(self, ncu: Tool, command: list[str]) -> children.Finished:
        """Runs a command under ncu, once more without the metrics that ncu says it doesn't know."""
        while True:
            ran = children.run(
                [ncu.path, *self._ncu_options(), *command], self.work, TOOL_TIMEOUT_S
            )
            refused = profilers.unknown_metrics(ran.stdout + "\n" + ran.stderr, self._metrics)
            if not refused or len(refused) == len(self._metrics):
                return ran
            self.unknown.extend(refused)

    def _count(self, ncu: Tool, launch: Launch) -> Result:
        try:
            done = self._under_ncu(ncu, launch.command)
            text = done.stdout + "\n" + done.stderr
            if profilers.NO_PERMISSION in text:
                raise CountersRefused
            launches = profilers.ncu_launches(done.stdout)
        except subprocess.TimeoutExpired:
            raise Failure(f"ncu on {launch}: not done after {duration(TOOL_TIMEOUT_S)}") from None
        except (ValueError, KeyError) as error:
            raise Failure(f"ncu on {launch}: its table can't be read ({error!r})") from None
        if _whole(launches) and (launch.variant.legacy or done.status == 0):
            return launch.counted(launches, self._ncu_options())
        # Doesn't the program take this shape, or has ncu failed?
        plain = children.run(launch.command, self.work)
        if plain.status == 2:
            return {"skipped": f"{launch}: {plain.last_line}"}
        said = next((line for line in text.splitlines() if "==ERROR==" in line), done.last_line)
        if launch.variant.legacy:  # a faulty kernel may end anyhow, and hold nothing else up
            return {"skipped": f"{launch}: {said}"}
        raise Failure(f"ncu gave no counters of {launch}: {said}")

    def check_together(
        self, steps: Sequence[Step], _done: Mapping[str, Result]
    ) -> dict[str, Result]:
        """What a tool says of several variants of a program at one shape, from one run of it, whose
        start takes longer than most launches; none unless all of them are clean.
        """
        checks = [step for step in steps if isinstance(step, CheckStep)]
        assert self.sanitizer and len(checks) == len(steps)
        first = checks[0]
        variants = [step.variant for step in checks]
        found = self._check(self.sanitizer, first.program, variants, first.check)
        if "skipped" in found or found["exit"] != 0 or found["findings"] != 0 or found["messages"]:
            return {}
        return {step.name: found | {"variant": step.variant.name} for step in checks}

    def _check(
        self, sanitizer: Tool, program: Program, variants: Sequence[Variant], check: str
    ) -> Result:
        n, block = variants[0].checked
        arguments = once([variant.name for variant in variants], n, block)
        options = profilers.sanitizer_options(check)
        command = [sanitizer.path, *options, str(program.path), *arguments]
        try:
            done = children.run(command, self.work, TOOL_TIMEOUT_S)
            text, status = done.stdout + "\n" + done.stderr, done.status
            if status == NOT_AVAILABLE or re.search(r"^note: left out", text, re.M):
                # It needs more GPUs, say.
                return {"skipped": f"{program.chapter}/{variants[0].name}: {done.last_line}"}
            findings, messages = profilers.sanitizer_verdict(check, text, status)
            if findings is None:  # the program's own words first: they often say why
                words = [done.last_line] if done.stderr.strip() or not messages else []
                messages = [*words, *messages][:5]
        except subprocess.TimeoutExpired:
            status, findings = 124, None
            messages = [f"not done after {duration(TOOL_TIMEOUT_S)}"]
        return {
            "chapter": program.chapter,
            "variant": variants[0].name,
            "n": n,
            "block": block,
            "tool": check,
            "command": " ".join(["compute-sanitizer", *options, "./run", *arguments]),
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
    """Only what would spoil a recording unseen; common/records checks every field."""
    runs = record.get("runs")
    if not isinstance(runs, list) or not runs:
        raise Failure(f"'{shown}' recorded no run")
    for run in runs:
        try:
            variant, n, block, _ = run_name(run)
            samples, verified = run["samples_us"], run["verified"]
        except (KeyError, TypeError) as error:
            raise Failure(f"'{shown}' recorded a run without {error}") from None
        where = f"'{shown}', {variant} n={n} block={block}"
        if verified is not True:
            raise Failure(f"{where}: its result was not verified")
        if not samples or not isinstance(samples, list):
            raise Failure(f"{where}: samples_us is {samples!r}")
        for us in samples:
            if not isinstance(us, int | float) or not math.isfinite(us) or us <= 0:
                raise Failure(f"{where}: a sample is {us!r}")


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
