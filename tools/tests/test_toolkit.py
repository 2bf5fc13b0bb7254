"""common/cmake/toolkit.cmake: which nvcc, and which architectures. With an nvcc that only talks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CUDA_13 = "sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120"
CUDA_12 = "sm_50 sm_60 sm_61 sm_70 sm_75 sm_80 sm_90"

Configure = Callable[..., "subprocess.CompletedProcess[str]"]


def toolkit(folder: Path, codes: str, gpus: str = "") -> Path:
    """A folder with an nvcc that builds for `codes`, on a machine with `gpus`."""
    (folder / "bin").mkdir(parents=True)
    scripts = {
        "nvcc": "\n".join(f"echo {code}" for code in codes.split()),
        "__nvcc_device_query": f"printf '{gpus}'" if gpus else "echo no driver >&2; exit 1",
    }
    for name, script in scripts.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / "bin" / name).chmod(0o755)
    return folder / "bin" / "nvcc"


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Configures a project that does nothing but decide."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(decide LANGUAGES NONE)\n"
        f'include("{ROOT}/common/cmake/toolkit.cmake")\n'
        'message(STATUS "nvcc=${CMAKE_CUDA_COMPILER}")\n'
        'message(STATUS "archs=${CMAKE_CUDA_ARCHITECTURES}")\n'
        'message(STATUS "gpus=${BOOK_GPUS}")\n'
    )

    def run(*options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("CUDACXX", "CUDA_HOME", "CUDAARCHS")
        }
        return subprocess.run(
            ["cmake", "-S", source, "-B", tmp_path / "build", *options],
            env={**environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("codes", "gpus", "decided"),
    [
        (CUDA_13, "", "90-virtual"),
        (CUDA_13, "90", "90-real;90-virtual"),
        (CUDA_13, "86,86,90", "86-real;90-real;90-virtual"),
        (CUDA_13, "75", "75-real;90-virtual"),
        (CUDA_13, "130", "90-virtual"),  # newer than the toolkit: its driver compiles the PTX
        (CUDA_12, "", "61-real;90-virtual"),
        (CUDA_12, "61", "61-real;90-virtual"),
    ],
)
def test_architectures(
    configure: Configure, tmp_path: Path, codes: str, gpus: str, decided: str
) -> None:
    done = configure(CUDACXX=str(toolkit(tmp_path / "cuda", codes, gpus)))
    assert f"archs={decided}\n" in done.stdout, done.stderr
    assert f"gpus={';'.join(dict.fromkeys(gpus.split(',')))}\n" in done.stdout


def test_a_gpu_that_the_toolkit_does_not_know(configure: Configure, tmp_path: Path) -> None:
    done = configure(CUDACXX=str(toolkit(tmp_path / "cuda", CUDA_13, "61")))
    assert "archs=90-virtual\n" in done.stdout
    assert "gpus=\n" in done.stdout, "nothing that is built runs on it"
    assert "can't build for the GPU here (sm_61)" in done.stderr


@pytest.mark.parametrize("way", ["option", "variable"])
def test_yours_win(configure: Configure, tmp_path: Path, way: str) -> None:
    nvcc = str(toolkit(tmp_path / "cuda", CUDA_13, "90"))
    if way == "option":
        done = configure("-DCMAKE_CUDA_ARCHITECTURES=80-virtual", CUDACXX=nvcc, CUDAARCHS="86")
    else:
        done = configure(CUDACXX=nvcc, CUDAARCHS="80-virtual")
    assert "archs=80-virtual\n" in done.stdout
    assert "gpus=90\n" in done.stdout
    assert "embedded device" not in done.stdout
    assert "gpus=\n" in configure("-DBOOK_GPUS=", CUDACXX=nvcc).stdout


@pytest.mark.parametrize(("list_", "told"), [("86-real;90-real", True), ("86-real;90", False)])
def test_no_ptx_is_kept_and_told(
    configure: Configure, tmp_path: Path, list_: str, told: bool
) -> None:
    nvcc = str(toolkit(tmp_path / "cuda", CUDA_13))
    done = configure(f"-DCMAKE_CUDA_ARCHITECTURES={list_}", CUDACXX=nvcc)
    assert f"archs={list_}\n" in done.stdout
    assert ("the embedded device can't run" in done.stdout) == told


def test_decided_once(configure: Configure, tmp_path: Path) -> None:
    """A GPU that appears later changes nothing in a tree that is there."""
    nvcc = toolkit(tmp_path / "cuda", CUDA_13)
    configure(CUDACXX=str(nvcc))
    (nvcc.parent / "__nvcc_device_query").write_text("#!/bin/sh\nprintf 90\n")
    again = configure(CUDACXX=str(nvcc)).stdout
    assert "archs=90-virtual\n" in again
    assert "gpus=\n" in again


def test_where_nvcc_is_looked_for(configure: Configure, tmp_path: Path) -> None:
    """CUDACXX before CUDA_HOME before PATH."""
    path = toolkit(tmp_path / "in path", CUDA_13)
    home = toolkit(tmp_path / "home", CUDA_13)
    named = toolkit(tmp_path / "named", CUDA_13)
    places = {"PATH": f"{path.parent}:{os.environ['PATH']}"}
    order = []
    for variables in (
        {},
        {"CUDA_HOME": str(home.parents[1])},
        {"CUDA_HOME": str(home.parents[1]), "CUDACXX": str(named)},
    ):
        done = configure("--fresh", **places, **variables)
        order.append(done.stdout.split("nvcc=")[1].split("\n")[0])
    assert order == [str(path), str(home), str(named)]


def test_a_cudacxx_that_is_not_there(configure: Configure) -> None:
    done = configure(CUDACXX="/nowhere/nvcc")
    assert done.returncode
    assert 'CUDACXX names "/nowhere/nvcc", which is not there' in done.stderr
    assert "Fix: set CUDACXX" in done.stderr
