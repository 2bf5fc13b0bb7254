"""clang-tidy, as tools/test calls it: it reaches all host code, and what it finds fails."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.tests.built import BUILD

pytestmark = [pytest.mark.all, pytest.mark.built()]

ROOT = Path(__file__).resolve().parents[2]
FAULT = """#include <string>
#include <utility>
std::string kept;
std::string moved(std::string text) {
  kept = std::move(text);
  return PLANTED;
}
"""
LAUNCH = """#include <cuda_runtime.h>
__global__ void nothing() {}
void launched() { nothing<<<1, 32>>>(); }
"""
PLACES = [
    "common/src/x.cpp",
    "tools/emulator/src/isa/x.cpp",
    "tools/emulator/src/ptx/x.cpp",
    "tools/judging/timing_program/x.cpp",
    "chapters/chapter01_x/main.cu",
]
#: Compiled as a part of another source, and of a room with rules of its own: this is allowed there.
UNITED, EMULATOR = PLACES[2], "tools/emulator/"
ALLOWED = "int* at(unsigned long address) { return reinterpret_cast<int*>(address); }\n"


def tidied(folder: Path, faulty: str) -> subprocess.CompletedProcess[str]:
    """The function of tools/test over a small tree with a fault in one place, or none."""
    build = folder / "build"
    build.mkdir()
    shutil.copy(BUILD / "CMakeCache.txt", build)
    for config in (".clang-tidy", "tools/emulator/.clang-tidy"):
        (folder / config).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / config, folder / config)
    commands = []
    for place in PLACES:
        source = folder / place
        source.parent.mkdir(parents=True)
        text = FAULT.replace("PLANTED", "text" if place == faulty else "kept")
        source.write_text(text + (LAUNCH if source.suffix == ".cu" else ""))
        if place == UNITED:
            source.write_text(text + ALLOWED)
            united = build / "emulator/united/ptx.cpp"
            united.parent.mkdir(parents=True)
            united.write_text(f'#include "{UNITED.removeprefix(EMULATOR)}"\n')
            source = united
        command = f"g++ -Wno-restrict -std=c++20 -I{folder / EMULATOR} -c {source}"
        commands.append({"directory": str(folder), "file": str(source), "command": command})
    (build / "compile_commands.json").write_text(json.dumps(commands, indent=0))
    script = (ROOT / "tools" / "test").read_text(encoding="utf-8")
    functions = [
        re.search(rf"^{name}\(\) \{{$.*?^\}}$", script, re.M | re.S)[0]  # type: ignore[index]
        for name in ("sources", "tidy_cxx")
    ]
    settings = f"root='{folder}' tree='{build}' venv='{ROOT}/.venv' cores=2; cd \"$root\""
    text = "\n".join(["set -euo pipefail", settings, *functions, "tidy_cxx"])
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("faulty", [*PLACES, ""])
def test_a_fault_is_found_where_it_is(tmp_path: Path, faulty: str) -> None:
    done = tidied(tmp_path, faulty)
    read = done.stdout.splitlines()
    unread = [place for place in PLACES if not any(line.endswith(place) for line in read)]
    assert unread == [UNITED] and UNITED.removeprefix(EMULATOR) in read
    assert (done.returncode == 0) == (not faulty), done.stdout + done.stderr
    found = re.findall(r"(\S+):\d+:\d+: error: 'text' used after", done.stdout)
    assert [path.removeprefix(f"{tmp_path}/") for path in found] == ([faulty] if faulty else [])
