"""The build that the tests read, and the compiler and tools that made it.

A test that compiles takes the compiler that CMake found: PATH may hold none, or another.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BOOK_BUILD", ROOT / "build/tools")).resolve()


@cache
def nvcc() -> Path:
    """The CUDA compiler of the build."""
    cache_file = BUILD / "CMakeCache.txt"
    assert cache_file.is_file(), f"no build in {BUILD}: tools/test makes it"
    text = cache_file.read_text(encoding="utf-8")
    found = re.search(r"^CMAKE_CUDA_COMPILER:\w+=(.+)$", text, re.MULTILINE)
    assert found, f"{cache_file} names no CUDA compiler"
    compiler = Path(found[1])
    assert os.access(compiler, os.X_OK), f"{compiler} of {cache_file} is gone: configure again"
    return compiler


@cache
def tool(name: str) -> Path:
    """Another of NVIDIA's tools: beside the compiler, in set-up's wheels, or in PATH."""
    wheels = Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/*/bin")
    compilers = (nvcc().parent, nvcc().resolve().parent)
    places = [*map(str, compilers), *map(str, wheels), os.environ.get("PATH", "")]
    found = shutil.which(name, path=os.pathsep.join(places))
    assert found, f"no {name} beside {nvcc()} or in {sys.prefix}: tools/setup test brings it"
    return Path(found)


def environment() -> dict[str, str]:
    """This process's, with the compiler for CMake and with what the tools call in PATH.

    cuobjdump calls nvdisasm.
    """
    path = os.pathsep.join([str(tool("nvdisasm").parent), os.environ.get("PATH", "")])
    return {**os.environ, "CUDACXX": str(nvcc()), "PATH": path}


def on_embedded(
    program: Path, *arguments: str | Path, **settings: str
) -> subprocess.CompletedProcess[str]:
    """What a program that loads the CUDA runtime does on the build's embedded device."""
    assert program.exists(), f"{program} is not built: tools/test builds it"
    return subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env={**os.environ, "LD_LIBRARY_PATH": str(BUILD / "emulator/lib"), **settings},
    )
