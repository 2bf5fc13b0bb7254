"""Programs as others write them, unmodified, on the embedded device: each checks its own results.

Needs nvcc, and no GPU. A program of several units is a folder.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

EMULATE = Path(__file__).resolve().parents[3] / "tools/emulate"
CORPUS = Path(__file__).parent / "corpus"
SHARED = ("-std=c++20", "-cudart", "shared")
PTX = ("-arch=compute_90", "-code=compute_90")
# What --check all finds in them: none but what is wrong in CUDA's own headers or meant so.
FOUND: dict[str, set[tuple[str, str]]] = {
    # The lock is taken without a fence: right on hardware by the order of its instructions only.
    "locks": {
        (f"race: {what} in global memory, unsynchronised", "locks.cu")
        for what in ("read after write", "write after read")
    }
    | {("race: two threads write one place of global memory, unsynchronised", "locks.cu")}
    | {("race: nothing orders these two: the value may be old", "locks.cu")}  # of other warps
    # So between blocks too; and the last block has no fence between its ticket and what it reads.
    | {("race: read after another block's write in global memory, unsynchronised", "locks.cu")}
    | {("race: two blocks write one place of global memory, unsynchronised", "locks.cu")},
    # Of the warp that comes last its first lane alone takes part in the tile's barrier, and tells
    # the others by a shuffle; all lanes store their warp's sum to one place.
    "wide_tiles": {
        (f"race: {what} shared memory, unsynchronised", "reduce.h")
        for what in (
            "two threads write one place of",
            "two threads write the same value to one place of",
        )
    }
    | {("race: read after write in shared memory, unsynchronised", "coalesced_reduce.h")},
}
OPTIONS = {"pointers": ("--extended-lambda",), "separate": ("-rdc=true",)}
NAMES = sorted(
    path.stem
    for path in CORPUS.iterdir()
    if path.suffix == ".cu" or (path.is_dir() and (path / "main.cu").exists())
)


def build(name: str, program: Path, *options: str) -> Path:
    folder = CORPUS / name
    sources = sorted(folder.glob("*.cu")) if folder.is_dir() else [folder.with_suffix(".cu")]
    flags = [*SHARED, *(options or PTX), *OPTIONS.get(name, ())]
    subprocess.run([nvcc(), *flags, "-o", program, *sources], check=True, capture_output=True)
    return program


def run(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EMULATE, *options, program], capture_output=True, text=True, timeout=LIMIT, check=False
    )


@pytest.fixture(scope="module", params=NAMES)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = request.param
    return build(name, tmp_path_factory.mktemp(name) / name, *PTX, "-lineinfo")


def test_the_program_finds_its_results_right(program: Path) -> None:
    ran = run(program)
    assert ran.stdout.splitlines()[-1:] == ["right"], ran.stdout + ran.stderr
    assert ran.returncode == 0


def test_checks_find_nothing_false(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "findings"
    file.touch()
    ran = run(program, "--check", "all", "--findings", str(file))
    assert ran.stdout.splitlines()[-1:] == ["right"], ran.stdout + ran.stderr
    findings = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = {(f"{f['check']}: {f['what']}", f["places"][0].partition(":")[0]) for f in findings}
    assert found == FOUND.get(program.name, set()), ran.stderr
    assert ran.returncode == (4 if found else 0)


# Stacks, a heap, carries and barriers in shared memory are not findings.
@pytest.mark.parametrize("name", ["heap", "indirect", "wide_integers"])
def test_the_checks_find_nothing_in_what_is_right(name: str, tmp_path: Path) -> None:
    # In a debug build a function's variables are in memory, on the stack where it is recursive.
    ran = run(build(name, tmp_path / name, *PTX, "-G"), "--check", "race,memory,sync")
    assert (ran.stdout, ran.stderr, ran.returncode) == ("right\n", "", 0)


@pytest.mark.nvcc
def test_printf_comes_when_the_program_waits(tmp_path: Path) -> None:
    ran = run(build("print", tmp_path / "print"))
    assert ran.stdout == (
        "launched\n"
        "block 0 thread 0: even\n"
        "block 0 thread 1: odd\n"
        " 3.14|42    |+7|ff|010|z|%|-1234567890123|1.000000e-03|name\n"
        "block 1 thread 0: even\n"
        "block 1 thread 1: odd\n"
        " 3.14|42    |+7|ff|010|z|%|-1234567890123|1.000000e-03|name\n"
        "right\n"
    )
    # CUDA's own words for an assertion, for the one thread that fails it.
    assert "block: [0,0,0], thread: [3,0,0] Assertion `" in ran.stderr
    assert ran.stderr.count("Assertion") == 1


# All the ways that a fat binary comes: packed by zstd and LZ4, plain, of several architectures.
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--compress-mode=speed",), id="lz4"),
        pytest.param(("--compress-mode=size",), id="zstd"),
        pytest.param(("--no-compress",), id="plain"),
        pytest.param(("-gencode", "arch=compute_75,code=[compute_75,sm_75]"), id="several"),
    ],
)
def test_units_however_they_are_packed(options: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("units", "separate"):
        ran = run(
            build(name, tmp_path / name, "-gencode", "arch=compute_90,code=compute_90", *options)
        )
        assert (ran.stdout, ran.stderr, ran.returncode) == ("right\n", "", 0)


def test_units_without_ptx_are_refused_in_one_line(tmp_path: Path) -> None:
    ran = run(build("separate", tmp_path / "separate", "-arch=compute_90", "-code=sm_90"))
    assert ran.returncode == 1
    assert (
        "the program has no PTX; machine code for 90," in ran.stderr and ran.stderr.count("\n") == 1
    )
