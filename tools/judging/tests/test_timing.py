"""What takes a kernel's time: without a GPU it runs and checks, and has no time to tell."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tools.judging import form, puzzles, shapes, timing
from tools.judging.problems import PROBLEMS
from tools.judging.tests.conftest import ptx
from tools.judging.trial import Kernel
from tools.tests.built import BUILD

pytestmark = [pytest.mark.all, pytest.mark.built("all")]

PROGRAM = BUILD / timing.PROGRAM
#: One of each kind of buffer and launch.
KEYS = ("chapter01/2", "chapter04/3", "chapter06/3", "chapter07/2", "chapter08/2", "chapter09/2")


def kernel_of(kind: str, key: str) -> Kernel:
    puzzle = puzzles.find(key)
    text = ptx(kind, puzzle.file_name)
    return Kernel(text, puzzle.form.mangled, puzzle.form)


def measured(kind: str, key: str, program: Path = PROGRAM) -> timing.Timed:
    puzzle = puzzles.find(key)
    n = 200 if PROBLEMS[puzzle.problem].side else 5003
    shape = timing.shape_for(puzzle, n)
    return timing.measure(program, kernel_of(kind, key), puzzle, shape, "seed")


@pytest.mark.parametrize("key", KEYS)
def test_an_answer_runs_out_of_its_ptx(key: str) -> None:
    assert measured("answers", key).why_not == "the embedded device has no times"


def test_a_wrong_kernel_is_never_timed() -> None:
    assert measured("skeletons", "chapter02/1").why_not.startswith("wrong at n = 5003, block 256")


def test_a_kernel_that_breaks_says_so() -> None:
    puzzle = puzzles.find("chapter02/1")
    kernel = Kernel(ptx("cheats", "no_guard.cu"), puzzle.form.mangled, puzzle.form)
    shape = timing.shape_for(puzzle, 5003)
    assert "cudaErrorIllegalAddress" in timing.measure(PROGRAM, kernel, puzzle, shape, "s").why_not


@pytest.fixture
def pretended(tmp_path: Path) -> Path:
    """The program as on a GPU: it has a time."""
    program = tmp_path / "time_kernel"
    program.write_text(f'#!/bin/sh\n"{PROGRAM}" "$@" >/dev/null && echo "12.5 12.25 12.75 40"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_a_time_is_told(pretended: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured("answers", "chapter02/1", pretended).median == 12.5
    (tmp_path / "judging").mkdir()
    pretended.rename(tmp_path / timing.PROGRAM)
    monkeypatch.setenv("BOOK_BUILD", str(tmp_path))
    monkeypatch.setattr(timing, "BUILDS", ())
    monkeypatch.setattr(timing, "gpu_here", lambda: True)
    puzzle = puzzles.find("chapter04/3")
    lines = timing.times(kernel_of("answers", "chapter04/3"), puzzle)
    assert lines == ["n = 2^11, block 1024:", "12.50 µs (95 %: 12.25 to 12.75), yours"]


def test_what_takes_the_time_is_built(
    pretended: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a CMake that makes it, and one that fails."""
    book, commands = tmp_path / "book", tmp_path / "bin"
    commands.mkdir()
    cmake = commands / "cmake"
    made = book / "build" / timing.PROGRAM
    monkeypatch.delenv("BOOK_BUILD", raising=False)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setattr(timing, "ROOT", book)
    monkeypatch.setattr(timing, "BUILDS", ("build/tools", "build"))
    monkeypatch.setattr(timing, "gpu_here", lambda: True)
    puzzle = puzzles.find("chapter04/3")

    def told(script: str) -> list[str]:
        cmake.write_text(f"#!/bin/sh\n{script}\n")
        cmake.chmod(0o755)
        return timing.times(kernel_of("answers", "chapter04/3"), puzzle)

    (line,) = told("echo why; exit 3")
    assert line.startswith("no time: what takes it could not be built")
    assert (book / "build/time_kernel.log").read_text() == "why\n"
    (line,) = told(":")
    assert line == "no time: the build made no judging/time_kernel"
    make = f"mkdir -p '{made.parent}'; cp '{pretended}' '{made}'"
    lines = told(f'echo "$@" >>{tmp_path}/asked; if [ "$1" = --build ]; then {make}; fi')
    assert lines[1].endswith("yours") and len(lines) == 2
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked] == ["-S", "--build"]
    assert asked[1].split()[2:4] == ["--target", "time_kernel"]


#: A chapter's program, as far as the judge asks for it: it has heard of all but one variant.
CHAPTER = """#!/usr/bin/env python3
import json, sys
words = sys.argv[1:]
assert words[:2] == ["--device", "gpu"]
variants = words[words.index("--variant") + 1 : words.index("--n")]
known = [name for name in variants if name != "smem_stride"]
moved = {"bytes_read": 4, "bytes_written": 4, "clock": "events"}
runs = [{"variant": name, "samples_us": [10.0 + k], **moved} for k, name in enumerate(known)]
open(words[words.index("--json") + 1], "w").write(json.dumps({"runs": runs}))
"""


def test_the_books_rungs_stand_beside_it(
    pretended: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "judging").mkdir()
    pretended.rename(tmp_path / timing.PROGRAM)
    for name in ("chapter01_gmem", "chapter02_smem", timing.CUB[0]):
        program = tmp_path / f"chapters/{name}/{name}"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\nexit 3\n" if "gmem" in name else CHAPTER, encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("BOOK_BUILD", str(tmp_path))
    monkeypatch.setattr(timing, "BUILDS", ())
    monkeypatch.setattr(timing, "gpu_here", lambda: True)
    monkeypatch.setattr(timing, "shape_for", lambda puzzle, _n: shapes.at(puzzle, 5003, (256, 1)))
    puzzle = puzzles.find("chapter05/4")
    lines = timing.times(kernel_of("answers", "chapter05/4"), puzzle)
    assert lines[1].endswith(", yours")
    assert lines[2:] == [
        "10.00 µs, chapter02_smem smem",
        "10.00 µs, chapter07_effective_bandwidth wide2",
        "11.00 µs, chapter07_effective_bandwidth sum_cub",
    ]


def test_rungs_are_of_the_same_problem() -> None:
    sums = timing.rungs(puzzles.find("chapter07/2"))
    assert len(sums) >= 7 and list(sums) == sorted(sums)
    assert sums["chapter05_unroll4"][:2] == ["first_add", "unroll4"]
    assert timing.rungs(puzzles.find("chapter09/1")).keys() == {"chapter09_histogram"}
    assert timing.CUB[0] in timing.rungs(puzzles.find("chapter08/1"))
    floats = timing.rungs(puzzles.find("chapter11/1"))
    assert floats == {"chapter11_floats": ["kahan_uniform", "neumaier_uniform"]}
    assert not floats.keys() & sums.keys()


def test_host_code_has_no_part_in_it() -> None:
    """What is timed is PTX: a submission that brings its own timer is rejected before, and what it
    brings isn't in there."""
    text = ptx("cheats", "timer_patched.cu")
    assert "cudaEventElapsedTime" not in text
    assert form.entries(text) == ["_Z3sumPKiPim"]
