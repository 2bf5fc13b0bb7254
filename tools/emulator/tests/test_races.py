"""tools/emulate --check race on the pairs of tests/races: each fault found, no clean twin accused.

Needs nvcc, and no GPU. `@A` and `@B` in a kernel name the two lines that race.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from common.records.races import Recording, digests, read, written
from tools.emulator.tests.races import running
from tools.emulator.tests.races.running import EMULATE, Json
from tools.tests.built import nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

RACES = Path(__file__).parent / "races"
KERNEL = re.compile(r"template <bool Faulty>\n__global__ void (\w+)\(.*?\n}\n", re.DOTALL)
HOST = re.compile(r"template <bool Faulty>\nvoid (\w+)\(const World& w\) {\n.*?\n}\n", re.DOTALL)
#: "stream 1: kernel k(int *) writes it at a.cu:3 (PTX line 5)"
OPERATION = re.compile(
    r".*?: (?:kernel )?([\w: ]+?)(?:\(.*?\))? (?:reads|writes|allocates|frees) it(?: at .*)?"
)
SCHEDULES = [
    pytest.param(("--threads", "1"), id="one-thread"),
    pytest.param(("--threads", "4"), id="four-threads"),
    *(pytest.param(("--schedule", f"apart:{seed}"), id=f"apart-{seed}") for seed in range(1, 7)),
]


@cache
def kernels() -> dict[str, tuple[str, str]]:
    """The text of each case's kernel, and the file with its first line: "flags.cuh:12"."""
    found = {}
    for file in sorted(RACES.glob("*.cuh")):
        source = file.read_text(encoding="utf-8")
        for match in KERNEL.finditer(source):
            line = source.count("\n", 0, match.start()) + 1
            found[match[1]] = (match[0], f"{file.name}:{line}")
    return found


def marked(kernel: str) -> set[str]:
    """The places of the two accesses: one, where a line races with itself."""
    text, start = kernels()[kernel]
    name, _, first = start.partition(":")
    lines = [
        f"{name}:{int(first) + number}"
        for number, line in enumerate(text.splitlines())
        if re.search(r"// @[AB]+$", line)
    ]
    assert 1 <= len(lines) <= 2, kernel
    return set(lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("races")


@pytest.fixture(scope="module")
def program(folder: Path) -> Path:
    return running.built(nvcc(), "cases", folder, *running.FOR_EMBEDDED)


@pytest.fixture(scope="module")
def streams(folder: Path) -> Path:
    return running.built(nvcc(), "streams", folder, *running.FOR_EMBEDDED)


def listed(program: Path) -> list[Json]:
    return running.listed(EMULATE, program)


def lines_of(finding: Json) -> set[str]:
    """Where the two accesses are in their kernel; of what was inlined, where it was called."""
    at = r" at (?:[\w.]+:\d+, inlined at )?([\w.]+:\d+)"
    return {match[1] for detail in finding["details"] if (match := re.search(at, detail))}


@pytest.mark.parametrize("options", SCHEDULES)
def test_all_faults_are_found_and_no_more(
    program: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    cases = listed(program)
    found = running.of_kernels(program, tmp_path / "findings", *options)
    wrong = []
    for case in cases:
        name, seen = case["name"], found.get(case["name"], [])
        if not case["planted"]:
            wrong += [f"{name}: accused: {finding['details']}" for finding in seen]
            continue
        pairs = [lines_of(f) for f in seen if f"{case['space']} memory" in str(f)]
        if marked(case["kernel"]) not in pairs:
            wrong.append(f"{name}: {sorted(marked(case['kernel']))} not in {seen}")
    assert not wrong, f"{len(wrong)} of {len(cases)}\n" + "\n".join(wrong)


def test_twins_differ_in_one_line(program: Path) -> None:
    cases = listed(program)
    assert {case["kernel"] for case in cases} == set(kernels())
    assert len(cases) == 2 * len(kernels()) >= 240
    for name, (text, _) in kernels().items():
        body = text.partition("\n")[2]
        assert body.count("Faulty") >= 1, name
        assert sum("Faulty" in line for line in body.splitlines()) == 1, name


# ------------------------------------------------------------------ streams and the host


def wrong_about_streams(cases: list[Json], found: dict[str, list[Json]]) -> list[str]:
    """What a run has missed or accused. A finding has to name the two operations that race."""
    wrong = []
    for case in cases:
        name, seen = case["name"], found.get(case["name"], [])
        if not case["planted"]:
            wrong += [f"{name}: accused: {finding['details']}" for finding in seen]
            continue
        wanted = [case[which].removeprefix("kernel ") for which in ("first", "second")]
        pairs = [[OPERATION.fullmatch(d)[1] for d in f["details"][1:3]] for f in seen]
        if wanted not in pairs:
            wrong.append(f"{name}: {wanted} not in {pairs}: {seen}")
    return wrong


@pytest.mark.parametrize("options", [(), ("--schedule", "apart:1")], ids=["together", "apart"])
def test_races_of_streams_are_found_and_no_more(
    streams: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    cases = listed(streams)
    found = running.of_streams(streams, tmp_path / "findings", *options)
    wrong = wrong_about_streams(cases, found)
    assert not wrong, f"{len(wrong)} of {len(cases)}\n" + "\n".join(wrong)
    # Each of the findings is looked for, and a clean twin's is an accusation.
    missed = {name: f for name, f in found.items() if name != "slot_reused.faulty"}
    assert len(wrong_about_streams(cases, missed)) == 1
    accused = {**found, "slot_reused.clean": found["slot_reused.faulty"]}
    assert len(wrong_about_streams(cases, accused)) == 1


def test_twins_of_streams_differ_in_one_line(streams: Path) -> None:
    cases = listed(streams)
    functions = {
        match[1]: match[0]
        for file in sorted((RACES / "streams").glob("*.cuh"))
        for match in HOST.finditer(file.read_text(encoding="utf-8"))
    }
    assert {case["kernel"] for case in cases} == set(functions)
    assert len(cases) == 2 * len(functions) >= 80
    for name, text in functions.items():
        body = text.partition("\n")[2]
        assert sum("Faulty" in line for line in body.splitlines()) == 1, name


PER_THREAD = """
#include <cuda_runtime.h>
__global__ void fill(int* to) { to[threadIdx.x] = 1; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
int main() {
  int *a, *b;
  cudaMalloc(&a, 256);
  cudaMalloc(&b, 256);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  FIRST;
  copy<<<1, 64, 0, stream>>>(b, a);
  cudaDeviceSynchronize();
  cudaStreamDestroy(stream);
  cudaFree(a);
  cudaFree(b);
}
"""


@pytest.mark.parametrize("first", ["fill<<<1, 64>>>(a)", "cudaMemset(a, 0, 256)"])
def test_the_default_stream_is_what_the_program_was_compiled_for(
    tmp_path: Path, first: str
) -> None:
    """The legacy one waits for others, and they for it; a thread's own does not."""
    source = tmp_path / "program.cu"
    source.write_text(PER_THREAD.replace("FIRST", first), encoding="utf-8")
    ended = {}
    for kind in ("legacy", "per-thread"):
        program = tmp_path / kind
        flags = [*running.FOR_EMBEDDED, "--default-stream", kind]
        subprocess.run([nvcc(), *flags, "-o", program, source], check=True)
        command = [EMULATE, "--check", "race", program]
        ended[kind] = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended["legacy"].returncode == 0, ended["legacy"].stderr
    assert ended["per-thread"].returncode == 4
    assert "the thread's default stream: " in ended["per-thread"].stderr


DEPENDENT = """
#include <cuda_runtime.h>
__global__ void fill(int* to) {
  cudaTriggerProgrammaticLaunchCompletion();
  to[threadIdx.x] = 1;
}
__global__ void copy(int* to, const int* from) {
  WAIT;
  to[threadIdx.x] = from[threadIdx.x];
}
int main() {
  int *a, *b;
  cudaMalloc(&a, 256);
  cudaMalloc(&b, 256);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = ALLOWED;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  config.attrs = attribute;
  config.numAttrs = 1;
  fill<<<1, 64>>>(a);
  BETWEEN;
  cudaLaunchKernelEx(&config, copy, b, static_cast<const int*>(a));
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
}
"""
WAIT = "cudaGridDependencySynchronize()"


@pytest.mark.parametrize(
    ("wait", "allowed", "between", "races"),
    [
        (WAIT, "1", "", False),
        ("", "1", "", True),
        ("", "0", "", False),  # an ordinary launch
        ("", "1", "cudaDeviceSynchronize()", False),
        ("if (threadIdx.x == 100) " + WAIT, "1", "", True),
    ],
    ids=["waits", "does_not_wait", "is_not_dependent", "host_waits", "no_thread_waits"],
)
def test_a_dependent_launch_has_to_wait_for_the_kernel_before(
    tmp_path: Path, wait: str, allowed: str, between: str, races: bool
) -> None:
    source, program = tmp_path / "program.cu", tmp_path / "program"
    text = DEPENDENT.replace("WAIT", wait).replace("ALLOWED", allowed)
    source.write_text(text.replace("BETWEEN", between), encoding="utf-8")
    subprocess.run([nvcc(), *running.FOR_EMBEDDED, "-o", program, source], check=True)
    command = [EMULATE, "--check", "race", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == (4 if races else 0), ended.stderr
    assert ("read after the kernel before's write in global memory" in ended.stderr) == races
    assert ("cudaGridDependencySynchronize" in ended.stderr) == races


# ------------------------------------------------------------------ what is recorded


def differences(recording: Recording, now: dict[str, str], cases: dict[str, bool]) -> list[str]:
    """What a recording says otherwise than the sources and a run of now: `cases` says of each case
    whether it was found."""
    wrong = [
        f"{name}: recorded of other sources: run {RACES.name}/record"
        for name, digest in now.items()
        if recording.digests.get(name, digest) != digest
    ]
    recorded = {case.name: case.found for case in recording.cases}
    wrong += [
        f"{name}: recorded {recorded.get(name)}, found now {cases.get(name)}"
        for name in sorted(recorded.keys() | cases.keys())
        if recorded.get(name) != cases.get(name)
    ]
    return wrong


def test_the_recording_is_what_the_checker_finds(
    program: Path, streams: Path, tmp_path: Path
) -> None:
    def as_found(names: list[Json], found: Collection[str]) -> dict[str, bool]:
        return {case["name"]: case["name"] in found for case in names}

    file = tmp_path / "findings"
    cases = as_found(listed(program), running.of_kernels(program, file))
    cases |= as_found(listed(streams), running.of_streams(streams, file))
    text = (RACES / "embedded.csv").read_text(encoding="utf-8")
    recording = read(text)
    assert set(recording.digests) == {"cases", "streams"}
    assert differences(recording, digests(RACES), cases) == []
    assert written(recording) == text

    # A line that is changed, one that is missing, and sources that are others.
    name = recording.cases[0].name
    changed = (replace(recording.cases[0], found=False), *recording.cases[1:])
    assert differences(replace(recording, cases=changed), digests(RACES), cases) == [
        f"{name}: recorded False, found now True"
    ]
    fewer = replace(recording, cases=recording.cases[1:])
    assert len(differences(fewer, digests(RACES), cases)) == 1
    copy = tmp_path / "races"
    shutil.copytree(RACES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "streams/events.cuh").open("a", encoding="utf-8") as source:
        source.write("\n")
    assert len(differences(recording, digests(copy), cases)) == 1


def test_what_was_recorded_on_the_card_is_of_these_pairs() -> None:
    files = sorted(RACES.glob("nvidia-h200*.csv"))
    assert len(files) == 4  # compute-sanitizer's tools
    for file in files:
        recording = read(file.read_text(encoding="utf-8"))
        assert recording.digests == digests(RACES)
        assert recording.heading.startswith("NVIDIA H200, ")
        assert {case.set for case in recording.cases} == {"cases", "streams"}
