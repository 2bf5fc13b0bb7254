"""Chapter 5 on its machine code, checked: a thread's loads all come before the first add.

Needs no GPU: nvcc compiles for the recorded device's architecture, cuobjdump lists the result.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?P<text>[^;]+);")
_REGISTER = re.compile(r"\bR\d+\b")


def _tool(name: str) -> str:
    """A tool of the toolkit's, from PATH or from NVIDIA's wheels."""
    wheels = [
        str(path) for path in Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/*/bin")
    ]
    places = [os.environ.get("PATH", ""), "/usr/local/cuda/bin", *wheels]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        pytest.skip(f"{name} is neither in PATH nor in the Python environment")
    return found


def _listing(folder: Path) -> dict[str, list[str]]:
    """Instructions of every kernel of chapter 5, by its mangled name."""
    source = folder / "unroll.cu"
    header = ROOT / "chapters/chapter05_unroll4/kernels.cuh"
    instances = "".join(
        f"template __global__ void chapter05::unroll<{factor}>(const int*, int*, std::size_t);\n"
        for factor in (1, 2, 4, 8, 16)
    )
    source.write_text(f'#include "{header}"\n{instances}', encoding="utf-8")
    cubin = folder / "unroll.cubin"
    subprocess.run(
        [_tool("nvcc"), "-std=c++20", "-O3", "-arch=sm_90", "-cubin", "-o", cubin, source],
        check=True,
    )
    tools = os.pathsep.join([str(Path(_tool("cuobjdump")).parent), os.environ["PATH"]])
    text = subprocess.run(
        [_tool("cuobjdump"), "-sass", cubin],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": tools},
    ).stdout
    functions: dict[str, list[str]] = {}
    for part in text.split("Function : ")[1:]:
        name = part.split(maxsplit=1)[0]
        functions[name] = [m["text"].strip() for m in _INSTRUCTION.finditer(part)]
    return functions


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return _listing(tmp_path_factory.mktemp("machine_code"))


def loads_before_first_use(code: list[str]) -> tuple[int, int]:
    """How many global loads there are, and how many come before any of their results is read."""
    loaded: set[str] = set()
    before = 0
    used = False
    total = 0
    for line in code:
        operation = re.sub(r"^@!?U?P\d\s+", "", line)
        registers = _REGISTER.findall(operation)
        if operation.startswith("LDG"):
            total += 1
            if not used:
                before += 1
                loaded.add(registers[0])
            continue
        writes_first = not operation.startswith(("ST", "BRA", "EXIT", "BAR"))
        sources = registers[1:] if writes_first else registers
        # A register set to zero beforehand, for a load that its guard skips, is no use of it.
        used = used or (total > 0 and any(register in loaded for register in sources))
    return total, before


@pytest.mark.parametrize("factor", [1, 2, 4, 8, 16])
def test_all_loads_are_issued_before_the_first_add(
    listing: dict[str, list[str]], factor: int
) -> None:
    code = next(code for name, code in listing.items() if f"unrollILj{factor}E" in name)
    assert loads_before_first_use(code) == (factor, factor)


def test_a_load_after_a_use_is_seen() -> None:
    planted = ["LDG.E R2, desc[UR4][R4.64]", "IADD3 R0, R2, R1, RZ", "@!P0 LDG.E R3, [R6.64]"]
    assert loads_before_first_use(planted) == (2, 1)
