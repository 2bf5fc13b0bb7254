"""Which variants launch which kernels, and the blocks and sizes at which they are tried."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutating import ROOT, Failure

#: Blocks and sizes of the matrix that most faults show at: they come first.
FIRST = ((256, 1025), (33, 63), (1024, 4095), (32, 1), (128, 257), (64, 33), (1, 2), (100, 255))
SMALL = 4097  # no larger, but for what passes all else
TINY, MOST_TINY = 2, 257
#: A variant that takes no larger n than this does much work per element: rows of matrices, say.
#: It gets no larger n than that, and under the checks than that.
HEAVY, MOST_HEAVY, FEW_HEAVY = 16384, 100, 33
#: Variants of one kernel are tried so many at first: the first, the last, and some between.
MOST_VARIANTS = 4

Shape = tuple[int, int]
"""Block and n."""


def _listed(name: str) -> list[int]:
    """A list of numbers in the matrix's source."""
    text = (ROOT / "chapters/tests/matrix.cpp").read_text(encoding="utf-8")
    found = re.search(rf"{name}\[\] = \{{([^}}]*)\}}", text)
    if not found:
        raise Failure(f"chapters/tests/matrix.cpp has no {name}")
    values = [re.sub(r"1 << (\d+)", lambda m: str(1 << int(m[1])), v) for v in found[1].split(",")]
    return [
        sum(int(part) for part in re.findall(r"[+-]?\d+", re.sub(r"[() ]", "", v))) for v in values
    ]


def small() -> list[Shape]:
    """The small shapes of the matrix; the smallest of tiny blocks, each of which takes a warp."""
    return [
        (block, n) for block, n in matrix() if n <= SMALL and not (block <= TINY and n > MOST_TINY)
    ]


def matrix() -> list[Shape]:
    """All that the chapters' own matrix has, the telling ones first."""
    both = [(block, n) for n in _listed("kSizes") for block in _listed("kBlocks")]
    return [*FIRST, *(shape for shape in both if shape not in FIRST)]


@dataclass(frozen=True)
class Variant:
    """A variant of a program, as its ``--list --json`` has it."""

    name: str
    low: int
    high: int
    multiple_of: int
    powers_of_two: bool
    most: int | None
    block: int

    @classmethod
    def listed(cls, told: Mapping[str, Any]) -> Variant:
        blocks = told["blocks"]
        return cls(
            told["name"],
            blocks["low"],
            blocks["high"],
            blocks["multiple_of"],
            blocks["powers_of_two"],
            told["sizes"]["most"],
            told["block"],
        )

    @property
    def heavy(self) -> bool:
        return self.most is not None and self.most <= HEAVY

    def takes(self, shape: Shape) -> bool:
        block, n = shape
        within = self.low <= block <= self.high and block % self.multiple_of == 0
        return (
            within
            and not (self.powers_of_two and block & (block - 1))
            and (self.most is None or n <= self.most)
        )


@dataclass(frozen=True)
class Program:
    """A matrix program, and the kernels that each of its variants launches, by mangled name."""

    name: str
    path: Path
    variants: tuple[Variant, ...]
    kernels: Mapping[str, frozenset[str]]

    def that_launch(self, changed: set[str], most: int = MOST_VARIANTS) -> list[Variant]:
        """Variants to try: of those with the same kernels so many at most."""
        alike: dict[frozenset[str], list[Variant]] = {}
        for variant in self.variants:
            if self.kernels[variant.name] & changed:
                alike.setdefault(self.kernels[variant.name], []).append(variant)
        chosen: list[Variant] = []
        for group in alike.values():
            count = min(len(group), most)
            last = len(group) - 1
            chosen += [group[last * k // max(1, count - 1)] for k in range(count)]
        return chosen

    def cases(self, variants: Iterable[Variant], shapes: Iterable[Shape], most: int) -> list[str]:
        """Lines for the program's file of cases; *most* bounds the n of heavy variants."""
        lines = []
        for block, n in shapes:
            together: dict[Shape, list[str]] = {}
            for each in variants:
                # A variant of one block alone is tried with that.
                own = each.low if each.low == each.high else block
                shape = own, min(n, most) if each.heavy else n
                if each.takes(shape):
                    together.setdefault(shape, []).append(each.name)
            lines += [
                f"--device embedded --once --block {own} --n {size} --variant {' '.join(names)}"
                for (own, size), names in together.items()
            ]
        return list(dict.fromkeys(lines))


def environment(library: Path, **settings: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("EMU_")}
    return {**plain, "LD_LIBRARY_PATH": str(library), "EMU_THREADS": "1", **settings}


def read_program(path: Path, library: Path) -> Program:
    """What a matrix program's variants are, and what each of them launches."""
    with tempfile.TemporaryDirectory() as work:
        cases, listed, log = (Path(work) / name for name in ("cases", "list.json", "log"))
        cases.write_text(f"--list --json {listed}\n", encoding="utf-8")

        def run(**settings: str) -> None:
            done = subprocess.run(
                [path, cases],
                capture_output=True,
                text=True,
                env=environment(library, **settings),
                check=False,
            )
            if done.returncode != 0:
                raise Failure(f"{path.name}: {done.stdout[-400:]}{done.stderr[-400:]}")

        run()
        told = json.loads(listed.read_text(encoding="utf-8"))["variants"]
        variants = tuple(Variant.listed(each) for each in told if not each["legacy"])
        program = Program(path.name, path, variants, {})
        kernels: dict[str, frozenset[str]] = {}
        blocks = _listed("kBlocks")
        for each in variants:
            shapes = [*((block, 33) for block in blocks), *((256, n) for n in (0, 1, 255, 4097))]
            lines = program.cases([each], shapes, FEW_HEAVY)
            cases.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            log.write_text("", encoding="utf-8")
            run(EMU_HOST_LOG=str(log))
            events = map(json.loads, log.read_text(encoding="utf-8").splitlines())
            kernels[each.name] = frozenset(e["kernel"] for e in events if e["event"] == "launch")
    return Program(path.name, path, variants, kernels)
