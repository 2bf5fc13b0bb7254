"""The tests themselves: each says its tier, none is skipped in silence, all use one compiler."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools import tiers
from tools.tests.built import BUILD

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for pattern in ("*/tests/**/*.py", "tools/*/tests/**/*.py", "chapters/chapter*/**/*.py")
    for path in ROOT.glob(pattern)
)


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    """A folder with the book's own rules for tests."""
    (tmp_path / "tools").mkdir()
    for name in ("conftest.py", "pyproject.toml", "tools/tiers.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def pytest_says(folder: Path, text: str, *options: str) -> tuple[int, str]:
    (folder / "test_planted.py").write_text(f"import pytest, signal, subprocess\n{text}")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", ".", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "text",
    [
        'def test_it():\n    pytest.skip("there is no nvcc")\n',
        '@pytest.mark.skipif(True, reason="no chromium")\ndef test_it(): pass\n',
        '@pytest.fixture\ndef made(): pytest.skip("no guide")\ndef test_it(made): pass\n',
        'pytest.importorskip("nonesuch")\n',
        'pytest.skip("no browser", allow_module_level=True)\n',
    ],
)
def test_a_skip_is_a_failure(tests: Path, text: str) -> None:
    status, said = pytest_says(tests, text)
    assert status != 0
    assert "must not be skipped: " in said


def test_a_skip_that_may_be_is_listed(tests: Path) -> None:
    reason = "unshare is not permitted here"
    status, said = pytest_says(tests, f'def test_it():\n    pytest.skip("{reason}")\n')
    assert status == 0
    assert re.search(rf"SKIPPED \[1\] test_planted\.py:\d+: {reason}", said)


@pytest.mark.parametrize("name", ["INT", "HUP", "TERM", "QUIT"])
def test_signals_that_are_ignored_reach_what_a_test_starts(tests: Path, name: str) -> None:
    number = getattr(signal, f"SIG{name}")
    script = f"trap 'exit 7' {name}; kill -{name} $$; exit 1"
    text = (
        f'def test_it():\n    assert subprocess.run(["bash", "-c", "{script}"]).returncode == 7\n'
    )
    before = signal.signal(number, signal.SIG_IGN)
    try:
        status, said = pytest_says(tests, text)
    finally:
        signal.signal(number, before)
    assert status == 0, said


# ------------------------------------------------------------------ tiers


def test_each_file_says_its_tier_and_what_it_covers() -> None:
    files = tiers.test_files()
    assert {tiers.tier_of(file) for file in files} == {*tiers.TIERS}
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert len(ast.get_docstring(ast.parse(text)) or "") > 20, (
            f"{file} doesn't say what it covers"
        )
        said = re.findall(r"^pytestmark = (?:\[\n(?:    .*\n)*\]|.*)$", text, re.M)
        assert len(said) <= 1, f"{file} says its tier twice"
        marks = re.findall(r"mark\.(all|release)\b", "".join(said))
        assert len(marks) <= 1, f"{file} is of two tiers"


@pytest.mark.built("all")
def test_each_cxx_test_says_its_tier_and_what_it_covers() -> None:
    """By its label, which is the same for all of a program."""
    asked = ["ctest", "--test-dir", BUILD, "--show-only=json-v1"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True)
    tests = json.loads(listed.stdout)["tests"]
    labels = {
        label
        for test in tests
        for each in test["properties"]
        if each["name"] == "LABELS"
        for label in each["value"]
    }
    assert len(tests) > 400
    assert all(re.fullmatch(r"(all|release)\.\w+", label) for label in labels)
    assert all(any(p["name"] == "LABELS" for p in test["properties"]) for test in tests)
    assert {label.partition(".")[2] for label in labels} >= {*tiers.programs(ROOT)}
    for source in tiers.test_files(ROOT, "*_test.c*"):
        assert source.read_text(encoding="utf-8").startswith("// "), (
            f"{source}: what does it cover?"
        )


#: How a file reads what is built, or the guide.
READS = re.compile(r"\b(BUILD|GUIDE|on_embedded)\b")


def reads_the_build(file: Path, seen: set[Path]) -> bool:
    """Does a file of tests, or one that it imports from?"""
    seen.add(file)
    text = file.read_text(encoding="utf-8")
    names = re.findall(
        r"^from ([\w.]+\.tests(?:\.\w+)+) import|^import ([\w.]+\.tests\.\w+)", text, re.M
    )
    paths = [ROOT / f"{(one or other).replace('.', '/')}.py" for one, other in names]
    paths = [
        each for each in paths if each.is_file() and each.name not in ("built.py", "conftest.py")
    ]
    return bool(READS.search(text)) or any(
        reads_the_build(each, seen) for each in paths if each not in seen
    )


def test_what_reads_the_build_says_what_of_it() -> None:
    """Else tools/test runs it on what was built some time ago."""
    silent = [
        str(file.relative_to(ROOT))
        for file in tiers.test_files()
        if "mark.built(" not in file.read_text(encoding="utf-8") and reads_the_build(file, set())
    ]
    assert silent == []
    assert reads_the_build(ROOT / "docs/tests/test_toys.py", set())
    assert not reads_the_build(Path(__file__).with_name("test_steps.py"), set())


OF_TIERS = """
def test_default(): pass
@pytest.mark.all
def test_all(): pass
@pytest.mark.release
@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.all)])
def test_release(n): pass
@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.all)])
def test_both(n): pass
"""


@pytest.mark.parametrize(
    ("of_file", "passed"), [("", (2, 4, 6)), ("all", (0, 4, 6)), ("release", (0, 0, 6))]
)
def test_a_tier_has_its_tests_and_those_below(
    tests: Path, of_file: str, passed: tuple[int, ...]
) -> None:
    line = f"pytestmark = pytest.mark.{of_file}\n" if of_file else ""
    for tier, number in zip(tiers.TIERS, passed, strict=True):
        status, said = pytest_says(tests, line + OF_TIERS, f"--tier={tier}")
        assert status == (0 if number else 5)
        assert f"{number} passed" in said if number else "passed" not in said
    status, said = pytest_says(tests, line + OF_TIERS)
    assert status == 0 and "6 passed" in said


def test_a_file_above_the_tier_is_not_read(tests: Path) -> None:
    status, said = pytest_says(tests, "pytestmark = pytest.mark.all\n1 / 0\n", "--tier=default")
    assert status == 5 and "ZeroDivisionError" not in said


def test_what_is_to_be_built(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(
        'pytestmark = [pytest.mark.built("programs", "guide"), pytest.mark.skipif(1)]\n'
        '@pytest.mark.all\n@pytest.mark.built("matrices")\ndef test_it(): pass\n'
        '@pytest.mark.built("more")\ndef test_that(): pass\n'
    )
    assert tiers.tier_of(file) == "default"
    assert tiers.targets_of(file, "default") == ["programs", "guide", "more"]
    assert tiers.targets_of(file) == ["programs", "guide", "matrices", "more"]


def test_a_path_is_built_and_run_alone() -> None:
    def wanted(*paths: str) -> list[str]:
        command = [sys.executable, ROOT / "tools/tiers.py", *paths]
        done = subprocess.run(
            command, cwd=ROOT / "tools", capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    pages = f"{ROOT}/docs/tests/test_pages.py"
    assert wanted("../docs/tests/test_pages.py::test_it") == ["", "", "1", f"{pages}::test_it"]
    assert wanted("../docs/tests/test_rendered.py")[:3] == ["guide", "", "1"]
    assert wanted("emulator/tests/check_test.cpp") == [
        "emu_check_test",
        r"\.(emu_check_test)$",
        "0",
    ]
    targets, labels, files, folder = wanted("../chapters")
    assert {"matrices", "programs", "chapter_shares_test"} <= {*targets.split()}
    assert labels == r"\.(chapter_shares_test|matrices)$"
    assert int(files) > 20 and folder == f"{ROOT}/chapters"
    name = "chapter06_dynamic_smem"
    targets, labels, files, *arguments = wanted(f"../chapters/{name}")
    assert {"programs", "judge_kernels", f"{name}_matrix"} <= {*targets.split()}
    assert labels == rf"\.({name}_matrix)$" and int(files) > 7
    assert arguments[0] == f"{ROOT}/chapters/{name}" and arguments[-2:] == ["-k", "chapter06"]
    assert f"{ROOT}/chapters/tests/test_results.py" in arguments
    assert "-k" not in wanted(f"../chapters/{name}", "tests"), "which would leave tests out"
    targets, labels, files, _ = wanted("--tier=default")
    assert {"guide", "programs"} <= {*targets.split()} and labels == ""
    assert not {"all", "matrices", "judge_kernels"} & {*targets.split()}
    assert int(files) < int(wanted("--tier=all")[2]) < int(wanted("--tier=release")[2])


def test_the_longest_files_come_first(tests: Path) -> None:
    first = importlib.import_module("conftest").FIRST
    assert [name for name in first if not (ROOT / name).is_file()] == []
    one, two = "tools/tests/test_guide.py", "docs/tests/test_browser.py"
    assert first.index(one) < first.index(two)
    for name in ("a/test_early.py", two, one):
        (tests / name).parent.mkdir(parents=True, exist_ok=True)
        (tests / name).write_text("def test_it(): pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q"]
    done = subprocess.run([*command, "."], cwd=tests, capture_output=True, text=True, check=True)
    order = [line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line]
    assert order == [one, two, "a/test_early.py"]


def test_whatever_compiles_takes_the_builds_compiler() -> None:
    """A test that looks for nvcc itself finds none where it comes from the wheels, or another."""
    looks = re.compile(r"""which\(\s*f?["'](nvcc|cuobjdump|nvdisasm|ptxas)|/usr/local/cuda/bin""")
    files = [path for path in FILES if path.name not in ("built.py", Path(__file__).name)]
    assert len(files) > 40
    assert [str(path) for path in files if looks.search(path.read_text(encoding="utf-8"))] == []


def test_each_way_to_call_a_compiler_runs_with_the_toolkit_hidden() -> None:
    """nvcc by itself and by CMake, a tool beside it, the judge's: a test of each."""
    chapter = "chapters/chapter03_divergence/tests/test_machine_code.py"
    ways = {
        "tools/emulator/tests/test_corpus.py": r"^from tools\.tests\.built import .*\bnvcc\b",
        "tools/emulator/tests/test_examples.py": r'"CUDACXX": str\(nvcc\(\)\)',
        chapter: r"^from chapters\.tests\.machine import .*\bcompiled\b",
        "tools/judging/tests/test_judge.py": r"^from tools\.judging\b",
    }
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in FILES}
    marked = {name for name, text in texts.items() if re.search("^@pytest.mark.nvcc", text, re.M)}
    for name, way in ways.items():
        assert name in marked, f"{name}: mark one of its tests with pytest.mark.nvcc"
        assert re.search(way, texts[name], re.M), f"{name} calls a compiler in another way now"
    assert len(marked) < 10, "each compiles again what its file compiles"
