"""tools/emulate --check race on tests/unordered: where data are volatile and nothing orders
them, a value that may be old is found, and no right twin is accused.

Needs nvcc, and no GPU. `@A` and `@B` in a kernel name the two lines.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.emulator.tests.races.running import EMULATE, FOR_EMBEDDED
from tools.tests.built import nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

SOURCE = Path(__file__).parent / "unordered" / "unordered.cu"
KERNEL = re.compile(r"__global__ void (\w+)\(.*?\n}\n", re.DOTALL)
WHAT = "nothing orders these two: the value may be old"
#: What is to be added, as the finding says it: the fence, and the line before or behind it.
ADVICE = {
    "flag_without_fence_before": r"between the access at .*, which tells of it$",
    "flag_without_fence_after": r"put __threadfence\(\) between .*, which sees that, and",
    "fence_of_the_block_before": r"_block .*reaches that block alone: make it __threadfence",
    "lock_in_shared": r"put __threadfence_block\(\) between the access at .*which tells of it$",
    "tree_without_barriers": r"put __syncthreads\(\) between the two",
    "last_warp_after_a_fence": r"put __syncwarp\(\) between the two$",
    "relaxed_flag_and_data": r"relaxed accesses order nothing: .*which tells of it$",
}


def marked() -> dict[str, set[int]]:
    """The lines of each kernel's two accesses; none where it is right."""
    text = SOURCE.read_text(encoding="utf-8")
    found = {}
    for kernel in KERNEL.finditer(text):
        first = text.count("\n", 0, kernel.start()) + 1
        lines = enumerate(kernel[0].splitlines(), first)
        found[kernel[1]] = {n for n, line in lines if re.search(r"// @[AB]+$", line)}
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("unordered") / "unordered"
    command = [nvcc(), "-std=c++20", "-lineinfo", *FOR_EMBEDDED, "-o", program, SOURCE]
    subprocess.run(command, check=True)
    return program


def found_in(program: Path, file: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    command = [EMULATE, "--check", "race", "--findings", file, *options, program]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (ran.stdout, ran.returncode) == ("", 4), ran.stdout + ran.stderr
    found: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        finding = json.loads(line)
        name = re.search(r"::(\w+)(<\(bool\)1>)?\(", finding["kernel"])
        assert name, finding
        key = name[1] if name[2] or "<" not in finding["kernel"] else name[1] + ", clean"
        found.setdefault(key, []).append(finding)
    return found


@pytest.mark.parametrize(
    "options", [("--threads", "1"), ("--threads", "2"), ("--schedule", "apart:1")], ids=str
)
def test_what_nothing_orders_is_found_and_no_more(
    program: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    found = found_in(program, tmp_path / "findings", *options)
    faulty = {name: lines for name, lines in marked().items() if lines}
    assert len(faulty) >= 19
    assert found.keys() == faulty.keys()
    for name, lines in faulty.items():
        unordered = [f for f in found[name] if f["what"] == WHAT]
        at = [set(map(int, re.findall(r"unordered\.cu:(\d+) \(", str(f)))) for f in unordered]
        assert any(lines <= numbers for numbers in at), (name, lines, found[name])


def test_it_says_what_to_add_and_where(program: Path, tmp_path: Path) -> None:
    found = found_in(program, tmp_path / "findings")
    for name, advice in ADVICE.items():
        last = [f["details"][-1] for f in found[name] if f["what"] == WHAT]
        assert any(re.search(advice, text) for text in last), (name, last)
