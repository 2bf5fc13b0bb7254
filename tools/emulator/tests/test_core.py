"""The core (all rooms but the runtime) runs anywhere: what a host has is handed to it, and a device
address has 64 bits where the host's have 32."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.all

EMULATOR = Path(__file__).resolve().parents[1]
CORE = ["ptx", "decode", "machine", "isa", "watch"]
#: What nearly all files of isa/ include.
SHARED_BY_ISA = ("isa/rows.hpp", "isa/table.hpp", "machine/access.hpp", "machine/block.hpp")
#: What only a host with an operating system has. Mutexes and atomics do nothing where there is one
#: thread; snprintf writes to memory.
_HOST = re.compile(
    r"#include <(?:thread|fstream|iostream|filesystem|future|condition_variable|unistd\.h|fcntl\.h"
    r"|sys/\w+\.h|dlfcn\.h|pthread\.h)>"
    r"|\b(?:FILE|fopen|fwrite|fputs|getenv|setenv|mmap|munmap|jthread|this_thread|stderr|stdout)\b"
    r"|\bstd::(?:thread|cout|cerr|printf|exit|abort)\b"
)


def host_uses(text: str) -> list[str]:
    code = re.sub(r"//[^\n]*", "", text)
    return [found[0] for found in _HOST.finditer(code)]


def sources(pattern: str) -> list[Path]:
    return [path for room in CORE for path in sorted((EMULATOR / "src" / room).glob(pattern))]


def test_the_core_knows_no_threads_and_no_files() -> None:
    found = {path.name: host_uses(path.read_text(encoding="utf-8")) for path in sources("*.?pp")}
    assert len(found) > 60
    assert {name: uses for name, uses in found.items() if uses} == {}


@pytest.mark.parametrize(
    "line",
    [
        "#include <thread>",
        "#include <sys/mman.h>",
        "std::FILE* file = nullptr;",
        'std::getenv("EMU");',
        "std::this_thread::yield();",
    ],
)
def test_a_use_of_the_host_is_found(line: str) -> None:
    assert host_uses(f"int a;\n{line}  // why\n")
    assert host_uses(f"int a;  // {line}\n") == []


def check_32_bit(files: list[Path], *more: str | Path) -> subprocess.CompletedProcess[str]:
    """Checks files for a host of 32 bits. Clang alone says where 64 bits are cut to 32."""
    compiler = shutil.which("clang++")
    assert compiler, "clang++ is missing: sudo apt install clang"
    options = ["--target=i386-linux-gnu", "-std=c++20", "-Werror"]
    if "-o" not in more:
        options += ["-fsyntax-only"]
    options += ["-Wall", "-Wextra", "-Wshorten-64-to-32", "-Wno-missing-field-initializers"]
    options += [f"-I{EMULATOR / 'src'}", f"-I{EMULATOR / 'include'}"]
    return subprocess.run([compiler, *options, *more, *files], capture_output=True, text=True)


@pytest.fixture(scope="module")
def headers_of_32_bits(tmp_path_factory: pytest.TempPathFactory) -> None:
    one = tmp_path_factory.mktemp("headers") / "one.cpp"
    one.write_text("#include <cstdint>\n#include <string>\n")
    done = check_32_bit([one])
    assert done.returncode == 0, "sudo apt install g++-multilib\n" + done.stderr[-1000:]


@pytest.mark.parametrize("room", CORE)
def test_the_core_compiles_for_32_bits(room: str, headers_of_32_bits: None, tmp_path: Path) -> None:
    files = sorted((EMULATOR / "src" / room).glob("*.cpp"))
    options: list[str | Path] = []
    if room == "isa":  # its files use the same names, so that what they share is read once
        shared, read = tmp_path / "shared.hpp", tmp_path / "shared.pch"
        shared.write_text("".join(f'#include "{name}"\n' for name in SHARED_BY_ISA))
        done = check_32_bit([shared], "-x", "c++-header", "-o", read)
        assert done.returncode == 0, done.stderr[-4000:]
        options = ["-include-pch", read]
    else:  # the others are quicker as one
        one = tmp_path / f"{room}.cpp"
        one.write_text("".join(f'#include "{path}"\n' for path in files))
        files = [one]
    done = check_32_bit(files, *options)
    assert done.returncode == 0, done.stderr[-4000:]


def test_an_address_cut_to_32_bits_is_found(headers_of_32_bits: None, tmp_path: Path) -> None:
    cut = tmp_path / "cut.cpp"
    cut.write_text(
        '#include "emu/memory.hpp"\n'
        "std::size_t f(emu::Address a) { return a - emu::kGlobalBase; }\n"
    )
    assert "loses integer precision" in check_32_bit([cut]).stderr
