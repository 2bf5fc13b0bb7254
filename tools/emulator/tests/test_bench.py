"""The benchmark of programs: it finds its results right, and finds wrong ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

EMULATOR = Path(__file__).resolve().parents[1]
SOURCE = EMULATOR / "bench/programs.cu"
#: A fault in each kernel: what stands there, and what takes its place.
FAULTS = {
    "matrix_straight": ("sum += a[y * n + k] * b[k * n + x]", "sum += a[y * n + k] * b[k * n]"),
    "matrix_tiles": ("left[threadIdx.y][k] * right", "left[threadIdx.y][k ^ 1] * right"),
    "stencil": ("in[at - 1] + in[at + 1]", "in[at - 1] + in[at]"),
    "bitonic": ("(i & size) == 0", "(i & size) == size"),
    "bodies": ("float s = other.w * inverse * inverse", "float s = other.w * inverse"),
    "histogram": ("&own[word >> 24]", "&own[word >> 25]"),
    "options": ("0.39894228f", "0.38894228f"),
    "mandelbrot": ("image[y * width + x] = steps", "image[y * width + x] = 1 + steps"),
    "sparse": ("k < begin[row + 1]; ++k) sum", "k < begin[row + 1] - 1; ++k) sum"),
    "scan": ("if (lane >= by)", "if (lane > by)"),
    "monte_carlo": ("inside[thread] = darts(thread,", "inside[thread] = darts(thread + 1,"),
}


def rows(source: Path, program: Path) -> tuple[list[list[str]], str]:
    """The lines of the table, and the last line."""
    flags = ["-std=c++20", "-cudart", "shared", "-arch=compute_90", "-code=compute_90"]
    flags += ["-Xcompiler=-ffp-contract=off", f"-I{EMULATOR / 'include'}"]
    subprocess.run([nvcc(), *flags, "-o", program, source, "-ldl"], check=True, capture_output=True)
    ran = subprocess.run(
        [EMULATOR.parent / "emulate", program, "1"],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    _, *table, last = [line.split() for line in ran.stdout.splitlines()]
    assert ran.returncode == (0 if last == ["right"] else 1), ran.stderr
    return table, last[0]


def test_it_finds_its_results_right(tmp_path: Path) -> None:
    table, last = rows(SOURCE, tmp_path / "programs")
    assert last == "right"
    assert [row[0] for row in table] == list(FAULTS)
    for _, instructions, speed in table:
        assert int(instructions) > 100_000
        assert float(speed) > 0


def test_it_finds_a_fault_in_each(tmp_path: Path) -> None:
    text = SOURCE.read_text(encoding="utf-8")
    for name, (there, instead) in FAULTS.items():
        assert text.count(there) == 1, name
        text = text.replace(there, instead)
    (tmp_path / "programs.cu").write_text(text, encoding="utf-8")
    table, last = rows(tmp_path / "programs.cu", tmp_path / "programs")
    assert last == "wrong"
    assert [row[0] for row in table if row[-1] == "WRONG"] == list(FAULTS)
