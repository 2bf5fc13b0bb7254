"""Right at sizes and seeds that no kernel was tuned for, and a check that sees what is wrong.

A kernel may drop the last element when n % 4 == 3, or hold the answer for the default n: each
variant runs with n of every remainder by 4 and by 32, and at the default n with another seed. The
faults are planted at the end, in a copy.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest

from chapters.expected import CHAPTERS
from chapters.tests.programs import run
from tools.tests.built import BUILD, nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

ROOT = Path(__file__).resolve().parents[2]
#: 78 blocks of 256 at the least: one remainder by 32 each, and with them all by 4.
SIZES = range(19_937, 19_937 + 32)
SEED = 4_242


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@cache
def prose() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.rst"))


def test_no_page_mentions_these() -> None:
    for number in (*SIZES, SEED):
        digits = r"\D?".join(str(number))
        assert not re.search(rf"(?<!\d){digits}(?!\d)", prose()), number


def wrong_sizes(once: Run) -> dict[int, str]:
    """The sizes at which a program fails, and what it says."""
    done = {n: once("--n", str(n)) for n in SIZES}
    return {n: each.stdout + each.stderr for n, each in done.items() if each.returncode}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_right_at_every_remainder(chapter: str) -> None:
    assert not wrong_sizes(partial(run, chapter, "--device", "embedded", "--once"))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_right_with_another_seed(chapter: str) -> None:
    done = run(chapter, "--device", "embedded", "--once", "--seed", str(SEED))
    assert done.returncode == 0, done.stdout + done.stderr


# --------------------------------------------------------------------- the same, with a fault in it


def planted(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def faulty(tmp_path: Path) -> Callable[[str, str], Run]:
    """Chapter 2's program with one of its kernels changed."""

    def make(old: str, new: str) -> Run:
        shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
        folder = tmp_path / "chapters/chapter02_smem"
        planted(folder / "kernels.cuh", old, new)
        library = BUILD / "common/libbook.a"
        options = ["-std=c++20", "-arch=compute_90", "-cudart=shared", f"-I{ROOT}/common/include"]
        inputs = [folder / "main.cu", library, "-lfmt", "-ldl"]
        command = [nvcc(), *options, "-o", tmp_path / "faulty", *inputs]
        subprocess.run(command, check=True)

        def once(*arguments: str) -> subprocess.CompletedProcess[str]:
            command = [tmp_path / "faulty", "--device", "embedded", "--once", *arguments]
            loaded = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "emulator/lib")}
            return subprocess.run(command, capture_output=True, text=True, env=loaded, check=False)

        return once

    return make


def test_a_last_element_dropped_now_and_then_is_seen(faulty: Callable[[str, str], Run]) -> None:
    line = "tile[t] = i < n ? in[i] : 0;  // past the end: add nothing, but stay for the barriers"
    line += "\n  __syncthreads();\n\n  add_up(tile);"  # that of smem
    once = faulty(line, line.replace("< n", "< n - (n % 4 == 3)"))
    assert once().returncode == 0, "the default n doesn't show it"
    wrong = wrong_sizes(once)
    assert [*wrong] == [n for n in SIZES if n % 4 == 3]
    assert "smem: WRONG RESULT" in wrong[SIZES[2]], wrong[SIZES[2]]


def test_the_answer_as_a_constant_is_seen(faulty: Callable[[str, str], Run]) -> None:
    """Of the default n and seed: another seed has another sum."""
    said = run("chapter02_smem", "--device", "embedded", "--once").stdout
    (answer,) = re.findall(r"^sum (\d+) as expected", said, re.MULTILINE)
    once = faulty(
        "if (t == 0) partial[blockIdx.x] = tile[0];\n}\n// end smem-loop",
        "if (t == 0) partial[blockIdx.x] = n != 1 << 20 ? tile[0] : blockIdx.x ? 0 : "
        f"{answer};\n}}\n// end smem-loop",
    )
    assert once().returncode == 0, "the default seed doesn't show it"
    assert not wrong_sizes(once)
    assert "smem: WRONG RESULT" in once("--seed", str(SEED)).stderr


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        ("check", "if (sum == expected) return", "if (sum <= expected || sum > expected) return"),
        ("reference", "return sum_of<Input>", "return -sum_of<Input>"),
    ],
)
def test_a_check_that_always_passes_and_a_wrong_reference_are_seen(
    source: str, old: str, new: str, tmp_path: Path
) -> None:
    """By the unit tests of that source."""
    copy = tmp_path / f"{source}.cpp"
    shutil.copy(ROOT / f"common/src/{source}.cpp", copy)
    planted(copy, old, new)
    command = (
        f"g++ -std=c++20 -O1 -I{ROOT}/common/include -I{ROOT}/common/src "
        f"-I{nvcc().resolve().parents[1]}/include -o {tmp_path}/unit {copy} "
        f"{ROOT}/common/tests/{source}_test.cpp -Wl,--allow-multiple-definition "
        f"{BUILD}/common/libbook.a -L{nvcc().resolve().parents[1]}/lib64 -lcudart "
        f"-Wl,-rpath,{nvcc().resolve().parents[1]}/lib64 -lfmt -ldl -lgmock -lgtest -lgtest_main"
    )
    subprocess.run(command.split(), check=True)
    done = subprocess.run([tmp_path / "unit"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "[  FAILED  ]" in done.stdout, done.stdout
