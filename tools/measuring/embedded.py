"""The embedded device's set: what it counts and prints, and how that compares with hardware.

No times, no dates, no commit: the same source and the same CUDA toolkit give the same bytes on
every machine, so a test records the set again and compares. What is in it:

- ``counters.json``: every variant of every chapter, at the shapes that hardware was asked for
- ``probes.json``: the probes of tools/emulator, beside what hardware counted for them
- ``<chapter>.txt``: what ``./run`` prints
- ``sources.json``: hashes of what all this was made of (``made_of``)

The transcripts (common/records/transcripts.py) are recorded with it, each where it lies.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from common.files import write_whole
from common.records import columns
from common.records.counters import OF_BOTH, OF_PTX
from common.records.transcripts import ROOMS, transcripts
from tools.measuring import CUDA_ERROR, NOT_AVAILABLE, ROOT, Failure, children, made_of, profilers
from tools.measuring.programs import Program, Shape, Variant, chapter_names, find_programs

SET = "embedded"
FOLDER = f"figures/data/{SET}"
DEVICE = {"name": "embedded device", "passes_for": "NVIDIA H200"}
BAD_ARGUMENTS = 2
LARGEST_N = 2**24
#: Ends what hangs. An idle machine takes a minute for the longest, a busy one many times that.
TIMEOUT_S = 3600.0

PROBES = ROOT / "tools" / "emulator" / "probes"
HARDWARE = "nvidia-h200"


def record(build: Path, *, rebuild: bool = True) -> dict[str, str]:
    """The set's files and the transcripts, by their path from the repository's root."""
    with tempfile.TemporaryDirectory(prefix="embedded-") as folder:
        work = Path(folder)
        names = chapter_names()
        programs = find_programs(names, build, work, rebuild=rebuild)
        if rebuild:
            _build_device(build)
        device = _today(build)
        counted = [run for program in programs for run in device.count(program, all_shapes)]
        files = {
            f"{FOLDER}/counters.json": counters_text(device.toolkit, counted),
            f"{FOLDER}/probes.json": probes(device, work),
            f"{FOLDER}/{made_of.NAME}": made_of.text(names, made_of.Facts.of(build)),
        }
        for program in programs:
            files[f"{FOLDER}/{program.chapter}.txt"] = device.console(program)
        paths = {program.chapter: program.path for program in programs}
        for each in transcripts(ROOT).values():
            program_path = paths[each.chapter] if each.chapter else None
            files[str(each.path)] = replayed(device, work / each.name, program_path, each.commands)
    return files


class Device:
    """The embedded device of one build."""

    def __init__(self, build: Path) -> None:
        self.build = build
        self.library = build / "emulator" / "lib"
        if not any(self.library.glob("libcudart.so.*")):
            raise Failure(
                f"there is no embedded device in {self.library}: it needs the packages "
                "libzstd-dev and liblz4-dev (tools/setup)",
                NOT_AVAILABLE,
            )
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
        nvcc = re.search(r"^CMAKE_CUDA_COMPILER:[^=]*=(.+)$", cache, re.MULTILINE)
        if not nvcc:
            raise Failure(f"{build}/CMakeCache.txt names no CUDA compiler")
        self.nvcc = Path(nvcc[1])
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("EMU_")},
            "EMU_LIBRARY": str(self.library),
            "EMU_THREADS": "1",  # or blocks that wait for each other look as often as it takes
            "CUDA_VISIBLE_DEVICES": "",  # the set is of a machine without a GPU
            "PATH": f"{self.nvcc.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "LC_ALL": "C.UTF-8",
        }

    @property
    def toolkit(self) -> str:
        """nvcc's version: it writes the PTX that is counted."""
        said = self.run([self.nvcc, "--version"], ROOT).stdout
        version = re.search(r"V(\d+\.\d+\.\d+)", said)
        if not version:
            raise Failure(f"{self.nvcc} --version names no version")
        return version[1]

    def run(
        self, command: list[Path | str], cwd: Path, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in a folder, with *more* in its environment."""
        try:
            return subprocess.run(
                command,
                cwd=cwd,
                env={**self.environment, **(more or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Failure(f"{command[0]}: not done after {TIMEOUT_S:.0f} s") from None

    def csv(self, command: list[Path | str], page: Path) -> subprocess.CompletedProcess[str]:
        """Runs a program on the device; its counters go into *page*."""
        emulate = ROOT / "tools" / "emulate"
        return self.run([emulate, "--csv", page, *command], page.parent)

    def host_log(
        self, command: list[Path | str], page: Path, settings: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program on the device; what its host code asks for goes into *page*."""
        # Without the launcher: there are thousands of runs, and no draft to be kept.
        return self.run(command, page.parent, {**settings, "EMU_HOST_LOG": str(page)})

    def count(
        self, program: Program, shapes_of: Callable[[Variant], Iterable[Shape]]
    ) -> list[dict[str, Any]]:
        """Every variant's counters, each at its shapes."""
        cases = list(cases_of(program, shapes_of))

        def one(number: int) -> dict[str, Any] | None:
            return self._count(program, *cases[number], Path(folder, f"{number}.csv"))

        # Two at once: much of a short run is the host's own work, which one core does.
        with tempfile.TemporaryDirectory(prefix="counts-") as folder, ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(one, range(len(cases))))
        return [run for run in runs if run]

    def _count(
        self, program: Program, variant: Variant, n: int, block: int, page: Path
    ) -> dict[str, Any] | None:
        shape = ["--variant", variant.name, "--n", str(n), "--block", str(block)]
        done = self.csv([program.path, "--once", *shape], page)
        if done.returncode == BAD_ARGUMENTS:  # the variant doesn't take this shape
            return None
        launches = profilers.ncu_launches(page.read_text(encoding="utf-8"), (*OF_BOTH, *OF_PTX))
        if variant.legacy and done.returncode == CUDA_ERROR and not launches:
            return None  # a fault that the device stops: there is nothing to count
        # A classic form may well be wrong; what it does to memory is counted all the same.
        if not launches or (done.returncode and not variant.legacy):
            last = (done.stderr.splitlines() or ["it said nothing"])[-1]
            where = f"{program.chapter} {' '.join(shape)}"
            raise Failure(f"{where}: status {done.returncode} on the embedded device: {last}")
        return {
            "chapter": program.chapter,
            "variant": variant.name,
            "n": n,
            "block": block,
            "params": variant.params,
            "command": " ".join(["tools/emulate --csv counters.csv ./run --once", *shape]),
            "region": variant.region,
            "kernel_hash": kernel_hash(variant.region),
            "launches": [
                {**launch, "metrics": {k: int(v) for k, v in launch["metrics"].items()}}
                for launch in launches
            ],
        }

    def console(self, program: Program) -> str:
        """What `./run` prints where there is no GPU."""
        done = self.run([program.path], ROOT)
        if done.returncode:
            raise Failure(f"{program.chapter}: status {done.returncode}: {done.stderr.strip()}")
        return f"$ ./run\n{done.stdout}"


def all_shapes(variant: Variant) -> list[Shape]:
    """Hardware's, but for those that would keep a CPU busy for minutes."""
    return [(n, block) for n, block in variant.counted if n <= LARGEST_N]


def shapes_shown(variant: Variant) -> list[Shape]:
    """Of those, the first for each n: what a reader waits for."""
    first: dict[int, Shape] = {}
    for n, block in all_shapes(variant):
        first.setdefault(n, (n, block))
    return list(first.values())


def cases_of(
    program: Program, shapes_of: Callable[[Variant], Iterable[Shape]]
) -> Iterator[tuple[Variant, int, int]]:
    """What there is to count: each variant at its shapes."""
    for variant in program.variants:
        if variant.has_counters:
            for n, block in shapes_of(variant):
                yield variant, n, block


def kernel_hash(region: str | None) -> str | None:
    from common.records import regions

    known = regions.regions(ROOT)
    return known[region].hash if region in known else None


def counters_text(toolkit: str, runs: Iterable[dict[str, Any]]) -> str:
    """A counters.json of the embedded device."""
    return columns.text(
        {
            "schema": columns.SCHEMA_VERSION,
            "device": DEVICE,
            "toolkit": toolkit,
            "metrics": [*OF_BOTH, *OF_PTX],
            "runs": list(runs),
        }
    )


def probes(device: Device, work: Path) -> str:
    """probes.json: each probe's counters here, and on hardware."""
    lines = (PROBES / f"{HARDWARE}.csv").read_text(encoding="utf-8").splitlines()
    theirs = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    program, page = work / "probes", work / "probes.csv"
    options = ["-std=c++20", "-O3", "-cudart", "shared", "-arch=compute_90"]
    built = device.run([device.nvcc, *options, "-o", program, PROBES / "probes.cu"], work)
    if built.returncode:
        raise Failure(f"probes.cu: {built.stderr.strip()}")
    done = device.csv([program], page)
    if done.returncode:
        raise Failure(f"the probes ended with status {done.returncode}: {done.stderr.strip()}")
    names = [line.split(" ", 1)[1] for line in done.stdout.splitlines()]
    ours = profilers.ncu_launches(page.read_text(encoding="utf-8"), OF_BOTH)
    if names != [row["probe"] for row in theirs] or len(names) != len(ours):
        raise Failure(f"{HARDWARE}.csv is of other probes: record it again on a GPU")
    runs = [
        {
            "number": number,  # some probes have the name of another
            "probe": name,
            "kernel": launch["kernel"],
            "grid": launch["grid"],
            "block": launch["block"],
            "embedded": [int(launch["metrics"][metric]) for metric in OF_BOTH],
            "hardware": [int(row[metric]) for metric in OF_BOTH],
        }
        for number, (name, launch, row) in enumerate(zip(names, ours, theirs, strict=True))
    ]
    return columns.text(
        {
            "schema": columns.SCHEMA_VERSION,
            "device": DEVICE,
            "toolkit": device.toolkit,
            "hardware": lines[0].removeprefix("# "),
            "metrics": list(OF_BOTH),
            "runs": runs,
        }
    )


_TYPED = """
status=0
for line in "$@"; do
  printf '$ %s\\n' "$line"
  (exit "$status")
  eval "$line"
  status=$?
done
"""


def replayed(device: Device, here: Path, program: Path | None, lines: Iterable[str]) -> str:
    """What a terminal shows after these lines, without the folders of this machine."""
    here.mkdir()
    for linked in ("chapters", "common", "tools"):
        (here / linked).symlink_to(ROOT / linked)
    for room in ROOMS:
        for example in (ROOT / room).glob("*.cu"):
            shutil.copy(example, here)
    if program:
        (here / "run").symlink_to(program)
    done = subprocess.run(
        ["bash", "-c", _TYPED, "bash", *lines],
        cwd=here,
        env=device.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    text = done.stdout
    for folder in (here, ROOT):
        text = text.replace(f"{folder}/", "")
    return text


def recorded_runs(program: Program) -> list[dict[str, Any]]:
    """The set's counts of what a page shows."""
    from common.records.reading import read_embedded

    there = {
        (run["variant"], run["n"], run["block"]): {**run}
        for run in read_embedded(ROOT / FOLDER / "counters.json")["runs"]
        if run["chapter"] == program.chapter
    }
    cases = [(variant.name, n, block) for variant, n, block in cases_of(program, shapes_shown)]
    return [there[case] for case in cases if case in there]


def recorded_console(chapter: str, facts: made_of.Facts) -> str | None:
    """The set's console text, which says what the program was built with; none if that differs."""
    path = ROOT / FOLDER / f"{chapter}.txt"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    built = f"\nbuilt   CUDA {facts.toolkit} for {facts.architectures}\n"
    return text if built in text else None


def shown_of(build: Path, chapter: str, *, console: bool) -> Iterator[str]:
    """What a page shows of one chapter: counts, and console text. What the set has of this very
    program, on this very device, is taken from there."""
    facts = made_of.Facts.of(build)
    known = made_of.is_recorded(chapter, facts, ROOT / FOLDER)
    with tempfile.TemporaryDirectory(prefix="embedded-") as folder:
        (program,) = find_programs([chapter], build, Path(folder), rebuild=False)
    runs = recorded_runs(program) if known else _today(build).count(program, shapes_shown)
    yield counters_text(facts.toolkit, runs)
    if console:
        text = recorded_console(chapter, facts) if known else None
        yield text or _today(build).console(program)


def _build_device(build: Path) -> None:
    command = ["cmake", "--build", str(build), "--target", "embedded_device", "--parallel"]
    done = children.run(command, ROOT)
    if done.status:
        raise Failure(f"building the embedded device failed: {done.last_line}")


def _today(build: Path) -> Device:
    """The build's device; refuses one that is older than its sources."""
    device = Device(build)
    built = min(path.stat().st_mtime for path in device.library.glob("libcudart.so.*"))
    if any(path.stat().st_mtime > built for path in made_of.device_sources()):
        raise Failure(
            f"the embedded device in {device.library} is older than its sources: "
            f"cmake --build '{build}' --target embedded_device"
        )
    return device


def to_run(build: Path) -> list[str]:
    """The chapters that the set doesn't answer for, so that a device is needed. Where a GPU is,
    pages show what that prints."""
    facts = made_of.Facts.of(build)
    return [
        name
        for name in chapter_names()
        if not made_of.is_recorded(name, facts, ROOT / FOLDER)
        or not (facts.gpus or recorded_console(name, facts))
    ]


def main(arguments: list[str]) -> int:
    """``python -m tools.measuring.embedded BUILD CHAPTER COUNTS [CONSOLE]`` writes what a page
    shows of one chapter; with a BUILD alone it names the chapters that have to be run for that."""
    build, *rest = arguments
    try:
        if not rest:
            print("\n".join(to_run(Path(build))))
            return 0
        chapter, *files = rest
        texts = list(shown_of(Path(build), chapter, console=len(files) > 1))
    except Failure as failure:
        print(failure, file=sys.stderr)
        return failure.status
    for file, text in zip(files, texts, strict=True):
        write_whole(Path(file), text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
