"""EMU_PTX: kernels of a file take the place of the program's own. Needs nvcc, and no GPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.emulator.tests.test_emulate import ADD, emulate
from tools.tests.built import nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]


def ptx_of(source: str, folder: Path) -> Path:
    file, out = folder / "other.cu", folder / "other kernels.ptx"
    file.write_text(source, encoding="utf-8")
    command = [nvcc(), "-ptx", "-arch=compute_90", "-o", out, file]
    subprocess.run(command, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    source, program = folder / "add.cu", folder / "add"
    source.write_text(ADD, encoding="utf-8")
    flags = ["-cudart", "shared", "-arch=compute_90", "-code=compute_90"]
    subprocess.run([nvcc(), *flags, "-o", program, source], check=True, capture_output=True)
    return program


def test_a_kernel_of_the_file_runs_in_place_of_the_programs(program: Path, tmp_path: Path) -> None:
    kernel = ADD[ADD.index("__global__") : ADD.index("int main")]
    same = emulate(program, EMU_PTX=str(ptx_of(kernel, tmp_path)))
    assert (same.returncode, same.stdout, same.stderr) == (0, "all right\n", "")
    wrong = ptx_of(kernel.replace("a[i] + b[i]", "i == 7 ? 0 : a[i] + b[i]"), tmp_path)
    done = emulate(program, EMU_PTX=str(wrong))
    assert (done.returncode, done.stdout) == (1, "wrong at 7\n")


def test_other_parameters_are_refused(program: Path, tmp_path: Path) -> None:
    # Linked as C, so that the name says nothing of the parameters.
    name = "_Z3addPKiS0_Pii"
    text = f'extern "C" __global__ void {name}(const int* a, const int* b, int* c) {{ c[0] = 1; }}'
    done = emulate(program, EMU_PTX=str(ptx_of(text, tmp_path)))
    assert done.returncode == 3
    assert "kernel add(const int *, const int *, int *, int) has other parameters" in done.stderr


def test_a_file_that_replaces_nothing_is_told(program: Path, tmp_path: Path) -> None:
    other = ptx_of("__global__ void mul(int* a) { a[0] *= 2; }", tmp_path)
    done = emulate(program, EMU_PTX=str(other))
    assert done.stdout == "all right\n"
    assert "the program launched none of the kernels in this file" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "the file can't be read"),
        (b"", "the file holds no PTX"),
        (b"\x7fELF\0\0", "the file holds no PTX"),
        (b".version 8.0\n.target sm_90\n.address_size 64\n.entry k( {", "embedded device: "),
    ],
)
def test_what_is_no_ptx_is_refused(
    program: Path, tmp_path: Path, text: bytes | None, said: str
) -> None:
    file = tmp_path / "no.ptx"
    if text is not None:
        file.write_bytes(text)
    done = emulate(program, EMU_PTX=str(file))
    assert done.returncode == 3 and said in done.stderr
    folder = emulate(program, EMU_PTX=str(tmp_path))
    assert folder.returncode == 3 and "can't be read" in folder.stderr
