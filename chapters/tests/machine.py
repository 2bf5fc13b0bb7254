"""A chapter's kernels as machine code: compiled by nvcc, listed by cuobjdump. Needs no GPU."""

from __future__ import annotations

import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from chapters.expected import CHAPTERS, ROOT, expected
from common.records import machine_code
from common.records.machine_code import Code, MachineCode
from tools.tests.built import environment, nvcc, tool

ARCH = "sm_90"
REGISTER = re.compile(r"\bR\d+\b")


@cache
def toolkit() -> str:
    """nvcc's version."""
    said = subprocess.run([nvcc(), "--version"], check=True, capture_output=True, text=True)
    version = re.search(r"V(\d+\.\d+\.\d+)", said.stdout)
    assert version, said.stdout
    return version[1]


def compiled(
    chapter: str, more: str = "", arch: str = ARCH, header: str = "kernels.cuh"
) -> dict[str, Code]:
    """Instructions of every kernel of a chapter, by its mangled name; *more* source after them."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, f"{chapter}.cu"), Path(folder, f"{chapter}.cubin")
        path = ROOT / "chapters" / chapter / header
        source.write_text(f'#include "{path}"\n{more}', encoding="utf-8")
        options = ["-std=c++20", "-O3", f"-arch={arch}", "-cubin"]
        subprocess.run([nvcc(), *options, "-o", cubin, source], check=True)
        text = subprocess.run(
            [tool("cuobjdump"), "-sass", cubin],
            check=True,
            capture_output=True,
            text=True,
            env=environment(),
        ).stdout
    return machine_code.parse(text)


def named(code: dict[str, Code], name: str) -> Code:
    """The kernel of that name, which stands in the mangled one behind its length."""
    (found,) = [each for mangled, each in code.items() if f"{len(name)}{name}E" in mangled]
    return found


@cache
def shown(chapter: str) -> dict[str, Code]:
    """The kernels that a chapter's page shows, as nvcc makes them, by ``chapter/variant``."""
    facts = expected(chapter)
    if not (facts.shown or facts.instances):
        return {}
    text = "".join(
        f"template __global__ void {chapter.partition('_')[0]}::{kernel}"
        "(const float*, float*, unsigned);\n"
        for kernel, _ in facts.instances.values()
    )
    code = compiled(chapter, text)
    kernels = {f"{chapter}/{name}": named(code, name) for name in facts.shown}
    for name, (_, part) in facts.instances.items():
        (found,) = [each for mangled, each in code.items() if part in mangled]
        kernels[f"{chapter}/{name}"] = found
    return kernels


def all_shown() -> MachineCode:
    """Every listing that a page shows."""
    kernels = {name: code for chapter in CHAPTERS for name, code in shown(chapter).items()}
    return MachineCode(toolkit(), ARCH, kernels)
