"""One changed kernel, from its source to what rejects it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.records.mutants import digest
from tools.mutating import ROOT
from tools.mutating.mutant import Mutant
from tools.mutating.nets import LOOKED_AT, SEEDS, Caught, Nets
from tools.mutating.shapes import Program, read_program
from tools.mutating.sources import Compiler, Ptx, nvcc_of, older_lines


@dataclass
class Outcome:
    """What became of a mutant.

    *state* is ``refused`` by the compiler, ``same`` code for every kernel, ``caught``, or
    ``passed`` by all nets.
    """

    state: str
    by: dict[str, str] = field(default_factory=dict)
    work: bool = False
    older: bool = False  # tried as the code that older cards get
    code: str = ""  # what the changed kernels come to: alike where two mutants are one

    def told(self) -> dict[str, Any]:
        return dict(vars(self))


def programs_of(chapter: str, build: Path) -> list[Program]:
    """The chapter's matrix, and those of the mains in its tests."""
    names = [f"{chapter}_matrix"]
    names += [path.stem for path in (ROOT / "chapters" / chapter / "tests").glob("*_matrix.cu")]
    return [read_program(build / "chapters/tests" / name, build / "emulator/lib") for name in names]


def instances(programs: list[Program]) -> list[str]:
    """The templates' instances among the kernels, to be asked for by name."""
    mangled = sorted({name for p in programs for all_of in p.kernels.values() for name in all_of})
    done = subprocess.run(
        ["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True
    )
    return [line for line in done.stdout.splitlines() if "<" in line.split("(")[0]]


class Bench:
    """All that trying a chapter's mutants takes. One at a time: it has one folder."""

    def __init__(self, chapter: str, build: Path, work: Path, programs: list[Program]) -> None:
        self.work = work / f"{chapter}.{os.getpid()}"
        self.work.mkdir(parents=True, exist_ok=True)
        self.instances, self.chapter, self.nvcc = instances(programs), chapter, nvcc_of(build)
        self._compilers: dict[str, Compiler] = {}
        self.nets = [Nets(program, build / "emulator/lib") for program in programs]
        self._bases: dict[tuple[str, bool], tuple[Path, Ptx]] = {}
        self._older: dict[str, set[int]] = {}

    def compiler(self, name: str) -> Compiler:
        if name not in self._compilers:
            self._compilers[name] = Compiler(
                self.chapter, name, self.nvcc, self.work, self.instances
            )
        return self._compilers[name]

    def base(self, name: str, older: bool) -> tuple[Path, Ptx]:
        if (name, older) not in self._bases:
            compiler = self.compiler(name)
            ptx = compiler.compile(compiler.source, older=older)
            if isinstance(ptx, str):
                raise RuntimeError(f"{self.chapter}/{name} itself doesn't compile: {ptx}")
            file = self.work / f"{name}.{int(older)}.ptx"
            file.write_text(ptx.text, encoding="utf-8")
            self._bases[name, older] = file, ptx
        return self._bases[name, older]

    def judge(
        self, mutant: Mutant, done: dict[str, Outcome] | None = None, *, again: bool = False
    ) -> Outcome:
        """What rejects it. *done*: outcomes by the code that a mutant comes to, to be shared.
        *again*: in the record it has got through, so that only `Nets.odd` is asked."""
        name = Path(mutant.file).name
        source = self.compiler(name).source
        if name not in self._older:
            self._older[name] = older_lines(source)
        older = mutant.line in self._older[name]
        base, unchanged = self.base(name, older)
        ptx = self.compiler(name).compile(mutant.apply(source), older=older)
        if isinstance(ptx, str):
            return Outcome("refused", {"compiler": ptx[:200]}, older=older)
        changed = ptx.changed_from(unchanged)
        if not changed:
            return Outcome("same", older=older)
        text = "".join(ptx.kernels.get(each, "") for each in sorted(changed))
        code = digest(text.encode())
        if done is not None and code in done:
            return done[code]
        file = self.work / "mutant.ptx"
        file.write_text(ptx.text, encoding="utf-8")
        caught = self.catch(changed, base, file, again=again)
        outcome = Outcome("caught" if caught.by else "passed", caught.by, caught.work, older, code)
        if done is not None:
            done[code] = outcome
        return outcome

    def catch(self, changed: set[str], base: Path, file: Path, *, again: bool = False) -> Caught:
        caught = Caught()
        if again:
            self._odd(changed, base, file, caught)
            return caught
        nets = [(each, each.program.that_launch(changed)) for each in self.nets]
        nets = [(each, variants) for each, variants in nets if variants]
        for each, variants in nets:
            if not caught.by:
                each.results(variants, file, caught)
        for each, variants in nets[:1]:
            each.checks(variants, base, file, caught, LOOKED_AT)
            if "limit" not in caught.by.get("stopped", ""):  # what is endless is so again
                each.sums(variants, base, file, caught)
                each.counters(variants, base, file, caught)
            if not {"result", "stopped"} & set(caught.by):
                each.schedules(variants, base, file, caught, SEEDS)
        self._odd(changed, base, file, caught)
        for each, _variants in nets:
            if not caught.by:
                each.more(changed, base, file, caught)
        return caught

    def _odd(self, changed: set[str], base: Path, file: Path, caught: Caught) -> None:
        for each in reversed(self.nets):  # those of the tests' own mains first: they find most
            if not caught.by and each.program.that_launch(changed):
                each.odd(changed, base, file, caught)

    def rejected(self, mutant: Mutant, net: str) -> str | None:
        """What one net alone says of a mutant; None where it lets it through."""
        name = Path(mutant.file).name
        base, unchanged = self.base(name, older=False)
        ptx = self.compiler(name).compile(mutant.apply(self.compiler(name).source))
        if isinstance(ptx, str):
            raise RuntimeError(f"{mutant.name} doesn't compile: {ptx}")
        file = self.work / "mutant.ptx"
        file.write_text(ptx.text, encoding="utf-8")
        caught = Caught()
        changed = ptx.changed_from(unchanged)
        for each in self.nets:
            variants = each.program.that_launch(changed)
            if not variants or net in caught.by:
                continue
            if net in ("result", "stopped"):
                each.results(variants, file, caught)
            elif net == "sum":
                each.sums(variants, base, file, caught)
            elif net == "counters":
                each.counters(variants, base, file, caught)
            elif net == "schedule":
                each.schedules(variants, base, file, caught, SEEDS)
            else:
                each.checks(variants, base, file, caught, LOOKED_AT)
        return caught.by.get(net)
