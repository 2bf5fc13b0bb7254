"""The chapters' programs: where they are, and what they say of themselves."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from common.records.columns import SCHEMA_VERSION
from tools.measuring import NOT_AVAILABLE, ROOT, Failure, children

PT_LOAD = 1

Shape = tuple[int, int]
"""n and block."""


@dataclass(frozen=True)
class Variant:
    """One variant of a program, as its ``--list --json`` has it."""

    name: str
    region: str | None
    legacy: bool
    findings: tuple[str, ...]  # tools of compute-sanitizer that must report something
    low: int  # the blocks it takes
    high: int
    powers_of_two: bool
    multiple_of: int
    counters: str  # what hardware's can be held to: "exact", "less_arbitration" or "none"
    compared: bool  # or the embedded device counts otherwise, or stops it
    profiled: bool  # or another variant has the same kernels in the same way
    counted: tuple[Shape, ...]  # where profilers count it; what the page shows is the first
    checked: Shape  # where compute-sanitizer looks
    embedded: bool = True  # or it needs what the embedded device hasn't got
    devices: int = 1  # GPUs that it runs on
    chapter: str = ""  # that teaches the kernel
    axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def listed(cls, told: Mapping[str, Any]) -> Self:
        """From one object of the list; KeyError, TypeError or ValueError where it is not whole."""
        if told["counters"] not in ("exact", "less_arbitration", "none"):
            raise ValueError(f"counters are {told['counters']!r}")
        return cls(
            name=str(told["name"]),
            region=told["region"],
            legacy=bool(told["legacy"]),
            findings=tuple(told["findings"]),
            low=int(told["blocks"]["low"]),
            high=int(told["blocks"]["high"]),
            powers_of_two=bool(told["blocks"]["powers_of_two"]),
            multiple_of=int(told["blocks"]["multiple_of"]),
            counters=told["counters"],
            compared=bool(told["compared"]),
            profiled=bool(told["profiled"]),
            embedded=bool(told.get("embedded", True)),
            devices=int(told.get("devices", 1)),
            counted=tuple(_shape(each) for each in told["counted"]),
            checked=_shape(told["checked"]),
            chapter=str(told["from"]),
            axes={each["name"]: tuple(each["values"]) for each in told["axes"]},
            params=dict(told["params"]),
        )

    @property
    def has_counters(self) -> bool:
        """Whether there is something to count that a second launch would count again."""
        return self.profiled and self.counters != "none"

    @property
    def block(self) -> int:
        """A block that it takes."""
        return self.checked[1]

    def takes(self, block: int) -> bool:
        """Whether it runs with so many threads per block."""
        within = self.low <= block <= self.high and block % self.multiple_of == 0
        return within and not (self.powers_of_two and block & (block - 1))


@dataclass(frozen=True)
class Program:
    """One chapter's program; *digest* is of what is loaded of it."""

    chapter: str
    path: Path
    digest: str
    variants: tuple[Variant, ...]

    @property
    def takes_several(self) -> bool:
        """Whether it is about several GPUs."""
        return any(variant.devices > 1 for variant in self.variants)

    def invocations(self, repeat: int) -> dict[str, list[str]]:
        """The runs by which a pass measures it: every shape by one run of the program, which takes
        half a second to start; in the first pass the plain ones apart, whose text is kept."""
        swept = {name for each in self.variants if not each.legacy for name in each.axes}
        if not swept & {"n", "block"}:
            return {"default": []}
        if repeat > 0:
            return {"sweep-all": ["--sweep", "all"]}
        return {"default": [], "sweep-rest": ["--sweep", "rest"]}


def _shape(told: Mapping[str, Any]) -> Shape:
    return int(told["n"]), int(told["block"])


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
    _succeed(program.path, ["--device", "gpu", *once([variant.name], 1024, variant.block)], work)


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
    listed, _ = json_of(path, ["--list", "--json", file.name], file)
    try:
        variants = tuple(Variant.listed(each) for each in listed["variants"])
    except (KeyError, TypeError, ValueError) as error:
        raise Failure(f"'{chapter} --list --json' is not as it should be: {error!r}") from None
    if all(variant.legacy for variant in variants):
        raise Failure(f"'{chapter} --list --json' names no variant to measure")
    return Program(chapter, path, hashlib.sha256(_loaded(path.read_bytes())).hexdigest(), variants)


def _loaded(program: bytes) -> bytes:
    """What is loaded of a program: built twice it is the same, and its table of symbols isn't.

    nvcc puts the number of its process into that table. Of a file that is not 64-bit ELF, all of
    it.
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


def once(variants: Sequence[str], n: int, block: int) -> list[str]:
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


def json_of(program: Path, arguments: list[str], file: Path) -> tuple[dict[str, Any], str]:
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
        what = f"'{shown}' wrote a record of another schema than {SCHEMA_VERSION}"
        raise Failure(f"{what}: build the program again")
    if data.get("chapter") != program.name:
        raise Failure(f"'{shown}' wrote a record of chapter {data.get('chapter')!r}")
    return data, done.stdout


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it holds {name}, which is not a number")
