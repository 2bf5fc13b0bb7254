"""What the guide's build takes from the embedded device's set, and what it runs: by hashes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from common.records import columns
from tools.measuring import ROOT, Failure, embedded, made_of
from tools.measuring.programs import chapter_names
from tools.tests.built import BUILD

pytestmark = pytest.mark.all

FACTS = made_of.Facts("90-virtual", "13.0.88", "-O1 -lineinfo")
SOURCES = {
    "chapters/chapter01_a/main.cu": '#include "book/sum.hpp"\n#include "kernels.cuh"\n',
    "chapters/chapter01_a/kernels.cuh": "__global__ void a() { one(); }\n",
    "chapters/chapter01_a/CMakeLists.txt": "add_chapter(chapter01_a)  # a comment\n",
    "chapters/chapter02_b/main.cu": '#include "../chapter01_a/kernels.cuh"\n',
    "chapters/chapter02_b/CMakeLists.txt": "add_chapter(chapter02_b)\n",
    "common/counters.json": '{"counters": [{"name": "sectors", "ncu": "t.sum", "counts": "each"}]}',
    "common/include/book/sum.hpp": "int sum();\n",
    "common/src/sum.cpp": "int sum() { return 1; }\n",
    "tools/emulator/src/isa/integer.cpp": "int add(int a, int b) { return a + b; }\n",
    "tools/emulator/include/emu/counters.h": "int emu_counters();\n",
}
CHAPTERS = ["chapter01_a", "chapter02_b"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / made_of.NAME).write_text(made_of.text(CHAPTERS, FACTS, tmp_path))
    return tmp_path


def recorded(root: Path, facts: made_of.Facts = FACTS) -> list[str]:
    made_of.forget()
    return [each for each in CHAPTERS if made_of.is_recorded(each, facts, root, root)]


@pytest.mark.parametrize(
    ("file", "old", "new", "still"),
    [
        ("chapters/chapter01_a/kernels.cuh", "one()", "two()", []),  # the other includes it
        ("chapters/chapter01_a/main.cu", '"kernels', '"../chapter01_a/kernels', CHAPTERS[1:]),
        ("chapters/chapter02_b/main.cu", "#include", "int n;\n#include", CHAPTERS[:1]),
        ("chapters/chapter02_b/CMakeLists.txt", "_b)", "_b LIBRARIES cub)", CHAPTERS[:1]),
        ("common/src/sum.cpp", "1", "2", []),
        ("common/counters.json", ".sum", ".avg", []),
        ("common/counters.json", "each", "all", CHAPTERS),  # which no program is made of
        ("tools/emulator/src/isa/integer.cpp", "a + b", "a - b", []),
        ("tools/emulator/include/emu/counters.h", "int", "long", []),
        # No program and no device is another for these.
        ("chapters/chapter01_a/kernels.cuh", "{ one", "{  // why\n  one", CHAPTERS),
        ("chapters/chapter01_a/CMakeLists.txt", "a comment", "another", CHAPTERS),
    ],
)
def test_an_edit_is_run_where_it_counts(
    root: Path, file: str, old: str, new: str, still: list[str]
) -> None:
    assert recorded(root) == CHAPTERS
    path = root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert recorded(root) == still


@pytest.mark.parametrize(
    ("changed", "is_recorded"),
    [
        ({"architectures": "90-real;90-virtual"}, True),  # the same PTX
        ({"architectures": "90"}, True),
        ({"architectures": "75-virtual"}, False),
        ({"flags": "-G"}, False),
        ({"toolkit": "13.1.0"}, False),
    ],
)
def test_another_build_is_run(root: Path, changed: dict[str, str], is_recorded: bool) -> None:
    assert recorded(root, replace(FACTS, **changed)) == (CHAPTERS if is_recorded else [])


def test_a_set_that_says_nothing_is_run(root: Path) -> None:
    (root / made_of.NAME).unlink()
    assert recorded(root) == []


@pytest.mark.built("programs")
def test_what_is_recorded_is_shown_and_the_rest_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    chapter = chapter_names()[1]
    monkeypatch.setattr(made_of, "is_recorded", lambda *_: True)

    def nothing(_build: Path) -> embedded.Device:
        raise Failure("a device is asked for")

    monkeypatch.setattr(embedded, "_today", nothing)
    counts, console = embedded.shown_of(BUILD, chapter, console=True)
    assert len(columns.record_of(Path("counts"), json.loads(counts))["runs"]) > 10
    assert console == (ROOT / embedded.FOLDER / f"{chapter}.txt").read_text()
    monkeypatch.setattr(made_of, "is_recorded", lambda *_: False)
    with pytest.raises(Failure, match="a device is asked for"):
        list(embedded.shown_of(BUILD, chapter, console=True))
