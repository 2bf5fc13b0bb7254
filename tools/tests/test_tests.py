"""The tests themselves: none is skipped in silence, and all compile with the build's compiler."""

from __future__ import annotations

import importlib
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for pattern in ("*/tests/**/*.py", "tools/*/tests/**/*.py", "chapters/chapter*/**/*.py")
    for path in ROOT.glob(pattern)
)


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    """A folder with the book's own rules for tests."""
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def pytest_says(folder: Path, text: str) -> tuple[int, str]:
    (folder / "test_planted.py").write_text(f"import pytest, signal, subprocess\n{text}")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_planted.py"]
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
