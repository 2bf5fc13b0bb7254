"""The rooms of the sources: each uses itself and those before it, and nothing after it.

And a name is of one type: where two headers of a program define one each, the linker takes either's
functions for both. All of it stands alone: it names nothing around it, and builds in a copy.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

EMULATOR = Path(__file__).resolve().parents[1]
#: What each room may use. `emu` is the public headers; watch and isa don't know each other.
USES = {
    "emu": set[str](),
    "ptx": {"emu"},
    "decode": {"emu", "ptx"},
    "machine": {"emu", "ptx", "decode"},
    "isa": {"emu", "ptx", "decode", "machine"},
    "watch": {"emu", "ptx", "decode", "machine"},
    "cudart": {"emu", "ptx", "decode", "machine", "isa", "watch"},
}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_TYPE = re.compile(r"^(?:struct|class|union|enum class) (\w+)[^;{]*\{", re.MULTILINE)


def wrong_includes(emulator: Path) -> list[str]:
    """Each `#include` of a room that its own doesn't use."""
    found = []
    for folder in [
        *sorted((emulator / "include").iterdir()),
        *sorted((emulator / "src").iterdir()),
    ]:
        for path in sorted(folder.rglob("*")):
            if not path.is_file():
                continue
            for name in _INCLUDE.findall(path.read_text(encoding="utf-8")):
                room = name.partition("/")[0] if "/" in name else "no room"
                if room != folder.name and room not in USES.get(folder.name, set()):
                    found.append(f"{path.relative_to(emulator)} includes {name}")
    return found


def test_a_room_uses_only_those_before_it() -> None:
    assert {path.name for path in (EMULATOR / "src").iterdir()} | {"emu"} == set(USES)
    assert len(list((EMULATOR / "src").glob("*/*.cpp"))) > 40
    assert wrong_includes(EMULATOR) == []


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("src/ptx/lexer.cpp", "decode/code.hpp"),
        ("src/decode/flow.cpp", "isa/table.hpp"),
        ("src/isa/carry.cpp", "watch/check.hpp"),
        ("src/watch/trace.cpp", "cudart/report.hpp"),
        ("src/machine/warp.hpp", "warp.hpp"),
        ("include/emu/memory.hpp", "machine/observer.hpp"),
    ],
)
def test_a_wrong_include_is_found(tmp_path: Path, path: str, include: str) -> None:
    for room in USES:
        (tmp_path / ("include" if room == "emu" else "src") / room).mkdir(parents=True)
    (tmp_path / path).write_text(f'#include "emu/launch.hpp"\n# include "{include}"\n')
    assert wrong_includes(tmp_path) == [f"{path} includes {include}"]


def defined_twice(emulator: Path) -> list[str]:
    """Types of the one namespace that two headers define."""
    found: dict[str, list[str]] = {}
    for folder in ("include", "src", "program", "page"):
        for path in sorted((emulator / folder).rglob("*.hpp")):
            for name in _TYPE.findall(path.read_text(encoding="utf-8")):
                found.setdefault(name, []).append(str(path.relative_to(emulator)))
    assert found
    return [f"{name}: {', '.join(paths)}" for name, paths in found.items() if len(paths) > 1]


def test_a_name_is_of_one_type() -> None:
    assert defined_twice(EMULATOR) == []


def test_a_name_of_two_types_is_found(tmp_path: Path) -> None:
    for folder, text in {
        "src": "struct Stop {\n};\n",
        "program": "class Stop : public E {\n",
    }.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.hpp").write_text(f"class Other;\n{text}")
    assert defined_twice(tmp_path) == ["Stop: src/one.hpp, program/one.hpp"]


# ------------------------------------------------------------------ alone

#: What is for others than its tests: sources, messages and documents.
ITS_OWN = ("README.md", "CMakeLists.txt", "folder", "src", "include", "program", "page", "list",
           "bench", "examples", "fuzz/README.md", "fuzz/replay.cpp")  # fmt: skip
_AROUND = re.compile(r"\bchapters?(?![a-z])|\bthe book\b", re.IGNORECASE)


def names_of_around(emulator: Path) -> list[str]:
    found = []
    for name in ITS_OWN:
        for path in sorted({emulator / name, *(emulator / name).rglob("*")}):
            if path.is_file() and path.suffix not in (".pyc", ".png"):
                text = path.read_text(encoding="utf-8")
                found += [f"{path.relative_to(emulator)}: {m[0]}" for m in _AROUND.finditer(text)]
    return found


def test_it_names_nothing_around_it(tmp_path: Path) -> None:
    assert names_of_around(EMULATOR) == []
    for name in ITS_OWN:
        assert (EMULATOR / name).exists()
    (tmp_path / "src").mkdir()
    (tmp_path / "src/one.cpp").write_text("// as chapter05 has it, and the book\n")
    assert names_of_around(tmp_path) == ["src/one.cpp: chapter", "src/one.cpp: the book"]


@pytest.mark.release
def test_it_builds_and_tests_itself_alone(tmp_path: Path) -> None:
    """As its README says, in a copy that has nothing around it; to be brief, with one test."""
    copy = tmp_path / "a device"
    shutil.copytree(EMULATOR, copy, ignore=shutil.ignore_patterns("__pycache__"))
    build = copy / "build"
    for command in (
        ["cmake", "-S", ".", "-B", build, "-DCMAKE_BUILD_TYPE=Debug"],
        ["cmake", "--build", build, "--target", "embedded_device", "emu_json_test"],
        ["ctest", "--test-dir", build, "-L", "emu_json_test", "--no-tests=error"],
        [build / "lib/emulate", "--help"],
    ):
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [copy.name]
