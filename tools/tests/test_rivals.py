"""Other people's sums beside ours: what is compiled and called, without a GPU."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tools.measuring import NOT_AVAILABLE, rivals
from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = pytest.mark.release

ROOT = Path(__file__).resolve().parents[2]


def test_the_toolkits_library_has_what_is_called(tmp_path: Path) -> None:
    """Its own CUB and Thrust, and ours; modes are a newer CCCL's."""
    made = tmp_path / "toolkit.so"
    flags = ["-std=c++20", "-arch=compute_90", "-shared", "-Xcompiler=-fPIC,-Wall,-Wextra"]
    subprocess.run([nvcc(), *flags, "-o", made, rivals.SOURCE], check=True)
    library = ctypes.CDLL(str(made))
    assert set(rivals.sums_of(library, rivals.OURS)) == set(rivals.OURS.values())
    assert set(rivals.sums_of(library, rivals.THEIRS)) == {"sum", "reduce"}
    floats = rivals.sums_of(library, {name: name for name in rivals.FLOATS})
    assert set(floats) == {"ours_plain_floats", "ours_exact_floats"}
    assert rivals.version_text(library).startswith("3.")


def test_values_are_the_books() -> None:
    cupy: Any = SimpleNamespace(**vars(np))
    made = rivals.values(cupy, 1000)
    assert made.dtype == np.int32 and made.min() >= 0 and made.max() <= 255
    assert made[:4].tolist() == rivals.values(cupy, 4).tolist()


def test_a_failed_call_is_said() -> None:
    tensor = SimpleNamespace(data_ptr=lambda: 0, numel=lambda: 1)
    with pytest.raises(rivals.Wrong, match="error 700"):
        rivals.queue(lambda *_: 700, tensor, tensor)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["sums"], 2, "--cccl"),
        (["sums", "--cccl", "no/such"], 2, "no folder cub in it"),
        (["sums", "--cccl", ".", "--samples", "1"], 2, "--samples takes 2 or more"),
        (["times", "--cccl", "."], 2, "invalid choice: 'times'"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], status: int, says: str) -> None:
    done = _run(arguments)
    assert done.returncode == status and says in done.stderr and done.stdout == ""


def test_without_libraries_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "cub").mkdir()
    done = _run(["steady", "--cccl", str(tmp_path)])
    assert done.returncode == NOT_AVAILABLE and "needs PyTorch and CuPy" in done.stderr


def _run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", "-m", "tools.measuring.rivals", *arguments],
        capture_output=True, text=True, timeout=LIMIT, check=False, cwd=ROOT,
    )  # fmt: skip
