"""The nets that a changed kernel has to get through: the book's own checks, each by itself."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.records import traces
from common.records.mutants import digest
from tools.mutating import ROOT, Failure
from tools.mutating.shapes import (
    FEW_HEAVY,
    FIRST,
    MOST_HEAVY,
    Program,
    Shape,
    Variant,
    environment,
    matrix,
    small,
)

#: The columns that hardware has too.
MEMORY = (
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
)
#: What a change may cost in time that no memory counter sees: branches that part a warp, and narrow
#: loads that one wide load no longer replaces. Asked of what gets through all else.
HIDDEN = ("source__diverging_branches.sum", "source__mergeable_shared_loads.sum")
WORK = (
    "source__branches.sum",
    "source__diverging_branches.sum",
    "source__thread_instructions.sum",
    "source__warp_instructions.sum",
)
#: Instructions of a warp, per launch: at small shapes, under the checks, and at large ones.
MOST, MOST_LOOKED_AT, MOST_LARGE = 20_000_000, 3_000_000, 400_000_000
LIMIT = "the limit that was set"
SECONDS = 120
SEEDS, MORE_SEEDS = (1,), tuple(range(2, 10))
LOOKED_AT = FIRST[:4]
#: Past 16 bits; and past what a full device has threads, so that a grid goes round.
LARGE = (65537, (1 << 19) - 1)
LARGE_BLOCKS = (32, 256, 1024)
#: Shapes for what got through: two and more blocks of what has large tiles, blocks of 31 warps, one
#: element more than a warp's tile of chapter 8, rows that fill chapter 4's tiles, one thread, and
#: more than 16 bits can count of anything.
ODD = ((256, 16385), (1, 4097), (992, 1025), (32, 520), (1024, 32), (1, 1))
HUGE = (1024, (1 << 20) + 1)
#: Where a block's accesses to shared memory are looked at one by one.
TRACED, TRACED_INSTRUCTIONS, MOST_TRACED = (256, 1025), 100_000, 5
#: Where the checks are asked again with lanes, warps and blocks in an order of their own.
APART, APART_SEEDS = ((32, 520), (33, 63), (1, 1)), (1, 2, 3, 4)


def digest_of_nets() -> str:
    """What tells whether the nets have changed, or what they are run at: their code without
    comments, and the matrix's shapes. The chapters' own inputs and checks aren't in it."""
    told = [str(matrix())]
    for name in ("nets.py", "shapes.py", "trial.py"):
        text = (ROOT / "tools/mutating" / name).read_text(encoding="utf-8")
        told.append(re.sub(r'^\s*(#.*|"""(?s:.*?)""")\n', "", text, flags=re.M))
    return digest("\n".join(told).encode())


@dataclass(frozen=True)
class Ran:
    """One run of a matrix program over its cases."""

    status: int
    said: str
    findings: tuple[dict[str, Any], ...] = ()
    rows: tuple[dict[str, str], ...] = ()

    @property
    def case(self) -> str:
        """The arguments that it stopped at."""
        found = re.search(r"^exit \d+ from: \S* ?(.*)$", self.said, re.M)
        text = found[1] if found else ""
        shape = re.search(r"--block (\d+) --n (\d+)", text)
        return f"n = {shape[2]}, block {shape[1]}" if shape else text

    @property
    def why(self) -> str:
        lines = [re.sub(r"^\S+: ", "", line) for line in self.said.splitlines()]
        for sign in ("WRONG RESULT", "embedded device: ", "error", ":"):
            found = [
                line
                for line in self.said.splitlines()
                if sign in line and "counts:" not in line and "from:" not in line
            ]
            if found:
                return re.sub(r"^.*?(embedded device|chapter\w+): ", "", found[0]).strip()
        return lines[-1] if lines else ""


def run(
    program: Program,
    cases: Sequence[str],
    library: Path,
    ptx: Path,
    asked: Mapping[str, str] | None = None,
    *,
    go_on: bool = False,
    count: bool = False,
) -> Ran:
    """Runs the cases with that PTX in place of the program's own."""
    with tempfile.TemporaryDirectory() as folder:
        file, found, page = (Path(folder) / name for name in ("cases", "findings", "page.csv"))
        file.write_text("".join(f"{case}\n" for case in cases), encoding="utf-8")
        found.write_text("", encoding="utf-8")
        settings = dict(asked or {})
        if "EMU_CHECK" in settings:
            settings["EMU_FINDINGS"] = str(found)
        if count:
            settings["EMU_CSV"] = str(page)
        settings.setdefault("EMU_MAX_INSTRUCTIONS", str(MOST_LOOKED_AT if go_on else MOST))
        try:
            done = subprocess.run(
                [program.path, file, *(["--go-on"] if go_on else [])],
                capture_output=True,
                timeout=SECONDS,
                env=environment(library, EMU_PTX=str(ptx), **settings),
                check=False,
            )
            status, said = done.returncode, (done.stdout + done.stderr).decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, said = 3, f"embedded device: it runs for more than {SECONDS} s"
        findings = tuple(
            json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()
        )
        rows: tuple[dict[str, str], ...] = ()
        if page.exists():
            with page.open(encoding="utf-8") as table:
                rows = tuple(row for row in csv.DictReader(table) if row["ID"])
        return Ran(status, said, findings, rows)


@dataclass
class Caught:
    """What rejects a changed kernel: for each net that does, how it shows."""

    by: dict[str, str] = field(default_factory=dict)
    work: bool = False  # it carries out other instructions

    def add(self, net: str, how: str) -> None:
        told = self.by.get(net, "")
        if how not in told:
            self.by[net] = f"{told}; {how}"[:400] if told else how[:400]


def told_sums(ran: Ran) -> set[tuple[str, str]]:
    return {
        (str(each.get("kernel")), str(each["what"]))
        for each in ran.findings
        if each["check"] == "sum"
    }


Places = dict[str, int]
"""How the accesses of one block to shared memory lie, in counts with a name."""


def places_in(trace: traces.Trace) -> Places:
    """For loads, stores and atomics: places that each warp's access asks for, all accesses
    together; places that the block touches; and lanes whose bank another lane has taken, of
    atomics alone, whose passes no counter has."""
    asked: Counter[str] = Counter()
    touched: dict[str, set[int]] = {}
    for instruction in trace.instructions:
        for part in instruction.parts:
            if part.space != "shared":
                continue
            places = set(part.addresses)
            asked[f"places in shared memory, {part.direction}"] += len(places)
            touched.setdefault(part.direction, set()).update(places)
            if part.direction == "atomic":
                banks = {address // 4 % 32 for address in part.addresses}
                asked["lanes at a bank that is taken"] += len(part.addresses) - len(banks)
    for direction, places in touched.items():
        asked[f"places in shared memory of the block, {direction}"] = len(places)
    return dict(asked)


def names_of(kernels: Iterable[str]) -> set[str]:
    """What the source calls them."""
    done = subprocess.run(["c++filt", *kernels], capture_output=True, text=True, check=True)
    heads = (line.split("(")[0].split("<")[0] for line in done.stdout.splitlines())
    return {head.split()[-1] for head in heads}


class Nets:
    """The nets for one program; what the unchanged kernels give is kept."""

    def __init__(self, program: Program, library: Path) -> None:
        self.program, self.library = program, library
        self._kept: dict[tuple[object, ...], Ran] = {}
        self._placed: dict[tuple[Path, str, str], Places] = {}

    def _base(self, base: Path, cases: Sequence[str], check: str = "", **settings: str) -> Ran:
        """With the unchanged kernels: their counters, or what the check says."""
        key = (base, tuple(cases), check, *settings.values())
        if key not in self._kept:
            self._kept[key] = self._looked_at(base, cases, check, **settings)
        return self._kept[key]

    def _looked_at(self, ptx: Path, cases: Sequence[str], check: str = "", **settings: str) -> Ran:
        asked = {**({"EMU_CHECK": check} if check else {}), **settings}
        return run(self.program, cases, self.library, ptx, asked, go_on=True, count=not check)

    def _cases(self, variants: Iterable[Variant], shapes: Iterable[Shape], most: int) -> list[str]:
        return self.program.cases(variants, shapes, most)

    def _unchanged_passes(self, base: Path, cases: list[str], asked: Mapping[str, str]) -> None:
        """A Failure where these cases reject the kernels as they are: they would reject any."""
        key = (base, tuple(cases), "passes")
        if key not in self._kept:
            ran = self._kept[key] = run(self.program, cases, self.library, base, asked)
            if ran.status:
                raise Failure(
                    f"{self.program.path.name} rejects its own kernels: {ran.case}: {ran.why}"
                )

    def results(self, variants: list[Variant], ptx: Path, caught: Caught) -> None:
        """All small shapes of the chapters' matrix, up to the first that goes wrong."""
        self._result(self._cases(variants, small(), MOST_HEAVY), ptx, caught)

    def _result(
        self, cases: list[str], ptx: Path, caught: Caught, settings: Mapping[str, str] | None = None
    ) -> None:
        ran = run(self.program, cases, self.library, ptx, settings)
        if ran.status == 0:
            return
        how = f"{ran.case}: {ran.why}"
        if ran.status == 1:
            caught.add("schedule" if settings and "EMU_SCHEDULE" in settings else "result", how)
        else:
            caught.add("stopped", how)

    def checks(
        self,
        variants: list[Variant],
        base: Path,
        ptx: Path,
        caught: Caught,
        shapes: Sequence[Shape],
        **settings: str,
    ) -> None:
        cases = self._cases(variants, shapes, FEW_HEAVY)
        findings = self._looked_at(ptx, cases, "all", **settings).findings
        for each in findings:
            caught.add(str(each["check"]), str(each["what"]))
        if findings and (said := self._base(base, cases, "all", **settings).findings):
            raise Failure(f"{self.program.path.name} as it is: {said[0]['what']}")

    def sums(self, variants: list[Variant], base: Path, ptx: Path, caught: Caught) -> None:
        # Heavy variants do other work than sums.
        cases = self._cases([v for v in variants if not v.heavy], LOOKED_AT, FEW_HEAVY)
        right = told_sums(self._base(base, cases, "sum"))
        ran = self._looked_at(ptx, cases, "sum")
        told = told_sums(ran)
        # What is no proof says least.
        others = sorted((what.endswith("in this run"), what) for _, what in told - right)
        if others:
            caught.add("sum", others[0][1])
        elif right - told and ran.status in (0, 1):
            caught.add("sum", f"not said: {sorted(right - told)[0][1]}")

    def schedules(
        self,
        variants: list[Variant],
        base: Path,
        ptx: Path,
        caught: Caught,
        seeds: Sequence[int],
    ) -> None:
        cases = [c for v in variants for c in self._cases([v], LOOKED_AT[:3], FEW_HEAVY)]
        for seed in seeds:
            if "schedule" not in caught.by:
                apart = {"EMU_SCHEDULE": f"apart:{seed}"}
                short = [case for case in cases if self._is_short(base, case, apart)]
                self._result(short, ptx, caught, apart)

    def _is_short(self, base: Path, case: str, apart: Mapping[str, str]) -> bool:
        """Whether the kernels as they are end within half of the limit, so that a change has to
        double the work to be stopped there."""
        key = (base, case, *apart.values())
        if key not in self._kept:
            half = {**apart, "EMU_MAX_INSTRUCTIONS": str(MOST // 2)}
            ran = self._kept[key] = run(self.program, [case], self.library, base, half)
            if ran.status and LIMIT not in ran.said:
                raise Failure(f"{self.program.path.name}, apart: {ran.case}: {ran.why}")
        return self._kept[key].status == 0

    def counters(
        self,
        variants: list[Variant],
        base: Path,
        ptx: Path,
        caught: Caught,
        shapes: Sequence[Shape] = LOOKED_AT,
        columns: Sequence[str] = MEMORY,
        most: int = MOST_LOOKED_AT,
    ) -> None:
        cases = self._cases(variants, shapes, FEW_HEAVY)
        enough = {"EMU_MAX_INSTRUCTIONS": str(most)}
        right = self._base(base, cases, **enough).rows
        ran = self._looked_at(ptx, cases, **enough)
        if len(right) != len(ran.rows):
            return  # it was stopped, which the results tell
        for one, other in zip(right, ran.rows, strict=True):
            changes = [f"{c}: {one[c]}, now {other[c]}" for c in columns if one[c] != other[c]]
            if changes and "counters" not in caught.by:
                name = one["Kernel Name"].split("(")[0].removeprefix("void ")
                caught.add("counters", f"{name}: {', '.join(changes)}")
            caught.work |= any(one[column] != other[column] for column in WORK)

    def odd(self, changed: set[str], base: Path, ptx: Path, caught: Caught) -> None:
        """All variants, at shapes that few kernels take notice of."""
        variants = self.program.that_launch(changed, most=len(self.program.variants))
        shapes = [*LOOKED_AT, *ODD]
        enough = {"EMU_MAX_INSTRUCTIONS": str(MOST_LARGE)}
        odd = self._cases(variants, shapes, MOST_HEAVY)
        self._unchanged_passes(base, odd, enough)
        self._result(odd, ptx, caught, enough)
        if not caught.by:
            self.counters(variants, base, ptx, caught, shapes, (*MEMORY, *HIDDEN))
        if not caught.by:
            self.places(changed, base, ptx, caught)
        if not caught.by:
            self.checks(variants, base, ptx, caught, shapes)
        if not caught.by:
            self.checks_apart(changed, base, ptx, caught)
        if not caught.by:
            shapes = [*((block, n) for n in LARGE for block in LARGE_BLOCKS), HUGE]
            large = self._cases(variants, shapes, MOST_HEAVY)
            self._unchanged_passes(base, large, enough)
            self._result(large, ptx, caught, enough)
        if not caught.by:
            few = self.program.that_launch(changed, most=1)
            self.counters(few, base, ptx, caught, [HUGE], (*MEMORY, *HIDDEN), MOST_LARGE)

    def places(self, changed: set[str], base: Path, ptx: Path, caught: Caught) -> None:
        """Where a block's accesses to shared memory lie, from a trace of the first block that runs
        a changed kernel."""
        for each in self.program.that_launch(changed, most=MOST_TRACED):
            for kernel in sorted(names_of(self.program.kernels[each.name] & changed)):
                right = self._places(base, each, kernel)
                found = self._places(ptx, each, kernel, keep=False)
                told = [
                    f"{name}: {right.get(name, 0)}, now {found.get(name, 0)}"
                    for name in sorted(right.keys() | found.keys())
                    if right.get(name, 0) != found.get(name, 0)
                ]
                if told and right and found:
                    caught.add("counters", f"{each.name}, {kernel}: {', '.join(told)}")
                    return

    def _places(self, ptx: Path, variant: Variant, kernel: str, keep: bool = True) -> Places:
        key = (ptx, variant.name, kernel)
        if key in self._placed:
            return self._placed[key]
        cases = self._cases([variant], [TRACED], FEW_HEAVY)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace.jsonl"
            settings = {
                "EMU_TRACE": str(file),
                "EMU_TRACE_KERNEL": kernel,
                "EMU_TRACE_LIMIT": str(TRACED_INSTRUCTIONS),
            }
            run(self.program, cases, self.library, ptx, settings, go_on=True)
            try:
                places = places_in(traces.read(file))
            except (OSError, ValueError):  # not launched, or not to its end
                places = {}
        if keep:
            self._placed[key] = places
        return places

    def checks_apart(self, changed: set[str], base: Path, ptx: Path, caught: Caught) -> None:
        """The checks again, with lanes, warps and blocks in an order of their own."""
        variants = self.program.that_launch(changed)
        for seed in APART_SEEDS:
            if not caught.by:
                apart = {"EMU_SCHEDULE": f"apart:{seed}"}
                self.checks(variants, base, ptx, caught, APART, **apart)

    def more(self, changed: set[str], base: Path, ptx: Path, caught: Caught) -> None:
        """For what got through: all small shapes under the checks, and more schedules."""
        variants = self.program.that_launch(changed, most=len(self.program.variants))
        few = [shape for shape in small() if shape[1] <= 65 or shape in FIRST]
        self.checks(variants, base, ptx, caught, few)
        if not caught.by:
            self.schedules(variants, base, ptx, caught, MORE_SEEDS)
