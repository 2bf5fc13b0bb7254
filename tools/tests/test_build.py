"""The build as a reader does it: `make chapter && ./run`, Ninja, a chapter alone, the wheels."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.tests.built import BUILD
from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("chapter*/main.cu"))
# Trees of Ninja lie as deep as tools/test's own and are for the same architectures: what that has
# compiled is not compiled again (tools/steps.sh). Where that can't be, one architecture is enough.
ONE = "-DCMAKE_CUDA_ARCHITECTURES=90-virtual"
# As on a machine without libzstd, so that the embedded device is not built.
NO_DEVICE = "-DBOOK_TESTS=OFF -DEMU_zstd_INCLUDE="

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Checkout = Callable[..., Path]


@pytest.fixture(scope="session")
def book(checkout: Checkout) -> Path:
    return checkout("build")


def shell(run: Run, script: str, cwd: Path, **options: object) -> str:
    """Runs a line as a reader types it; it has to succeed."""
    done = run("bash", "-euc", script, cwd=cwd, timeout=LIMIT, **options)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def chapter_of(link: Path) -> str:
    assert link.is_symlink()
    assert link.resolve().is_file()
    return link.resolve().name


@pytest.mark.parametrize(("tool", "options"), [("make", ONE), ("ninja", "-G Ninja")])
def test_run_is_the_chapter_last_asked_for(run: Run, book: Path, tool: str, options: str) -> None:
    first, second = CHAPTERS[-1], CHAPTERS[-2]
    tree = book / "build" / tool
    out = shell(run, f"cmake -S . -B build/{tool} {options} {NO_DEVICE}", book)
    assert "Embedded device: not built, zstd is missing" in out
    shell(run, f"{tool} -j2 {first}", tree)
    assert chapter_of(tree / "run") == first
    assert "--sweep" in shell(run, "./run --help", tree)
    shell(run, f"{tool} {second}", tree)
    assert chapter_of(tree / "run") == second
    shell(run, f"{tool} {first}", tree)  # up to date already
    assert chapter_of(tree / "run") == first

    if tool == "ninja":
        shell(run, "ninja", tree)
        assert chapter_of(tree / "run") == first, "`all` has to leave it alone"
        for chapter in CHAPTERS:
            assert os.access(tree / "chapters" / chapter / chapter, os.X_OK)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_configures_alone(run: Run, book: Path, chapter: str) -> None:
    out = shell(run, f"cmake -S chapters/{chapter} -B 'build/alone {chapter}' {ONE}", book)
    assert "CUDA architectures: 90-virtual (as asked)" in out


def test_a_chapter_builds_alone(run: Run, book: Path) -> None:
    chapter = CHAPTERS[1]
    shell(run, f"cmake -S chapters/{chapter} -B build/alone -G Ninja", book)
    shell(run, f"cmake --build build/alone --target {chapter} && build/alone/run --list", book)
    assert chapter_of(book / "build" / "alone" / "run") == chapter


@pytest.mark.parametrize(
    ("file", "line", "warning"),
    [
        ("common/src/stats.cpp", "static int unused_here;", "unused"),
        (f"chapters/{CHAPTERS[-1]}/main.cu", "static int unused_here;", "never referenced"),
        (
            "common/src/timer.cu",
            "int planted(unsigned a, int b) { return a < b; }",
            "Werror=sign-compare",
        ),
    ],
)
def test_a_warning_is_an_error(run: Run, book: Path, file: str, line: str, warning: str) -> None:
    """In host code, in a chapter, and in what nvcc hands to the host's compiler."""
    tree = "build/ninja"  # where other tests may have built most of it
    shell(run, f"cmake -S . -B {tree} {NO_DEVICE} -G Ninja", book)
    source = book / file
    text = source.read_text()
    try:
        source.write_text(f"{text}\n{line}\n")
        program = f"{CHAPTERS[-1]}_program"
        done = run("cmake", "--build", tree, "--target", program, cwd=book, timeout=LIMIT)
    finally:
        source.write_text(text)
    assert done.returncode
    assert warning in done.stdout, done.stdout


def test_debug_code_is_in_its_own_file_alone(run: Run, book: Path) -> None:
    """-G, and with it no -lineinfo, for chapter00's exhibit; the other way round elsewhere."""
    shell(run, f"cmake -S . -B flags {ONE} -DBOOK_TESTS=OFF -G Ninja", book)
    commands = shell(
        run, "ninja -C flags -t commands programs | grep -- '-x cu'", book
    ).splitlines()
    debug = [command for command in commands if re.search(r" -G( |$)", command)]
    assert [re.findall(r"([^/]+\.cu)['\"]? -o", command) for command in debug] == [["debug.cu"]]
    assert all(("-lineinfo" in command) != (command in debug) for command in commands)


def test_without_the_headers_it_says_what_to_install(run: Run, book: Path) -> None:
    hidden = [Path("/usr/include/CLI"), Path("/usr/include/nlohmann")]
    if (ROOT / ".deps").exists() or not all(path.exists() for path in hidden):
        pytest.skip("the headers are elsewhere on this machine")
    done = run("cmake", "-S", ".", "-B", "bare", ONE, "-DBOOK_TESTS=OFF", cwd=book, hide=hidden)
    assert done.returncode
    assert "The header CLI/CLI.hpp is missing" in done.stderr
    assert "apt install libcli11-dev nlohmann-json3-dev" in done.stderr


def test_with_the_wheels_alone(
    run: Run, book: Path, commands: Callable[..., Path], environment: Callable[..., None]
) -> None:
    """NVIDIA's compiler from .venv, with the machine's own toolkit out of sight."""
    machine = {
        "hide": sorted({path.resolve() for path in Path("/usr/local").glob("cuda*")}),
        "without": ("CUDACXX", "CUDA_HOME", "LIBRARY_PATH", "LD_LIBRARY_PATH"),
        "PATH": str(commands(without=["nvcc"])),
    }
    environment(book)
    out = shell(run, "tools/setup", book, **machine, PYTHON=sys.executable)
    assert re.search(r"^ok +CUDA wheels +[0-9]", out, re.M), "the wheels were not installed"
    chapter = CHAPTERS[-1]
    shell(run, f"cmake -S . -B wheels {ONE} {NO_DEVICE}", book, **machine)
    shell(run, f"cd wheels && make -j2 {chapter} && ./run --list", book, **machine)
    cache = (book / "wheels" / "CMakeCache.txt").read_text()
    assert f"{book}/.venv/lib/" in re.findall(r"CMAKE_CUDA_COMPILER:.*=(.*)", cache)[0]
    linked = shell(run, "ldd wheels/run | grep libcudart", book, **machine)
    assert f"{book}/.venv/lib/" in linked

    # The tests that compile take that compiler: this checkout's tests and embedded device, that
    # build's nvcc. One test of every file that calls nvcc is marked.
    said = shell(
        run,
        f"{shlex.quote(sys.executable)} -m pytest -m nvcc -p no:cacheprovider",
        ROOT,
        **machine,
        BOOK_BUILD=str(book / "wheels"),
        EMU_LIBRARY=str(BUILD / "emulator" / "lib"),
    )
    assert re.search(r"^=+ \d+ passed, \d+ deselected", said.splitlines()[-1]), said[-4000:]
