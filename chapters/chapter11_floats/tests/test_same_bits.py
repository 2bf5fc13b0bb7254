"""The exact sum's bits, by 1,008 choices of data, size, block and grid, on three devices."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from common.records.naming import REFERENCE
from tools.tests.built import ROOT, nvcc, on_embedded

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "same_bits.cu"
DIGIT = "state->digit[k], low"


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def answered(folder: Path, source: Path = PROGRAM) -> tuple[int, list[str]]:
    """By the embedded device."""
    out = folder / "same_bits"
    subprocess.run(
        [nvcc(), "-std=c++20", "-O3", "-cudart=shared", "-gencode=arch=compute_90,code=compute_90",
         "-Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra",
         f"-I{ROOT / 'common/include'}", source, "-o", out],
        check=True,
    )  # fmt: skip
    done = on_embedded(out)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode, lines_of(done.stdout)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    status, lines = answered(tmp_path_factory.mktemp("bits"))
    assert status == 0, "an exact sum isn't the host's"
    return lines


def test_every_choice_is_there(here: list[str]) -> None:
    assert len({tuple(line.split()[:4]) for line in here[1:]}) == 1008


def test_the_plain_sum_depends_on_block_and_grid(here: list[str]) -> None:
    rows = [line.split() for line in here[1:]]
    assert len({(data, n, exact) for data, n, _b, _g, exact, _p in rows}) == 28
    assert len({(data, n, plain) for data, n, _b, _g, _e, plain in rows}) > 100


@pytest.mark.parametrize("name", [REFERENCE, "nvidia-h100"])
def test_a_gpu_answers_the_same(name: str, here: list[str]) -> None:
    recorded = HERE.parent / "transcripts" / name / "same_bits.txt"
    assert lines_of(recorded.read_text(encoding="utf-8")) == here


def test_a_sum_without_its_low_digits_is_told(tmp_path: Path) -> None:
    kernels = (HERE.parent / "kernels.cuh").read_text(encoding="utf-8")
    assert kernels.count(DIGIT) == 1
    for each in HERE.parent.glob("*.*"):
        (tmp_path / each.name).write_bytes(each.read_bytes())
    (tmp_path / "kernels.cuh").write_text(
        kernels.replace(DIGIT, "state->digit[k], low & ~0xffffffull"), encoding="utf-8"
    )
    (tmp_path / "tests").mkdir()
    source = tmp_path / "tests" / PROGRAM.name
    source.write_bytes(PROGRAM.read_bytes())
    assert answered(tmp_path, source)[0] == 1
