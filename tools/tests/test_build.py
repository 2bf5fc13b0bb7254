"""The build as a reader does it: `make chapter && ./run`, Ninja, a chapter alone, the wheels."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.tests.built import BUILD, nvcc
from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("chapter*/main.cu"))
# Trees of Ninja lie as deep as tools/test's own and are for the same architectures: what that has
# compiled is not compiled again (tools/steps.sh). Where that can't be, one architecture is enough.
ONE = "-DCMAKE_CUDA_ARCHITECTURES=90-virtual"
# As on a machine without libzstd, so that the embedded device is not built.
NO_DEVICE = "-DBOOK_TESTS=OFF -DEMU_zstd_INCLUDE="

pytestmark = [pytest.mark.release, pytest.mark.built("programs", "embedded_device")]

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


@pytest.mark.parametrize(
    ("tool", "option", "said", "fix"),
    [
        (
            *("make", f"{ONE} -DBOOK_TESTS=OFF -DBOOK_GPUS=90"),
            *("built on request", "cmake --build '{tree}' --target embedded_"),
        ),
        ("ninja", f"{NO_DEVICE} -G Ninja", "not built, zstd is missing", "with libzstd-dev"),
    ],
)
def test_run_is_the_chapter_last_asked_for(
    run: Run, book: Path, tool: str, option: str, said: str, fix: str
) -> None:
    # make's trees share nothing with tools/test's own: there, chapters that don't take long.
    first, second = CHAPTERS[1:3] if tool == "make" else CHAPTERS[:-3:-1]
    tree = book / "build" / tool
    out = shell(run, f"cmake -S . -B build/{tool} {option}", book)
    assert f"Embedded device: {said}" in out
    shell(run, f"{tool} -j2 {first}", tree)
    assert chapter_of(tree / "run") == first
    assert "--sweep" in shell(run, "./run --help", tree)
    assert not [*tree.glob("emulator/**/*.o")]
    missing = run(tree / "run", "--n", "100", "--device", "embedded", cwd=tree)
    assert missing.returncode == 77
    assert fix.format(tree=tree) in missing.stderr
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
            "common/src/kernels.cu",
            "int planted(unsigned a, int b) { return a < b; }",
            "Werror=sign-compare",
        ),
    ],
)
def test_a_warning_is_an_error(run: Run, book: Path, file: str, line: str, warning: str) -> None:
    """In host code, in a chapter, and in what nvcc hands to the host's compiler."""
    tree = "build/ninja"  # where other tests may have built most of it
    # Also by a newer compiler, whose warnings don't stop readers.
    shell(
        run, f"cmake -S . -B {tree} {NO_DEVICE} -G Ninja -DCMAKE_COMPILE_WARNING_AS_ERROR=ON", book
    )
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


def answering(folder: Path, gpus: str) -> Path:
    """The machine's nvcc, in a toolkit whose driver says which GPUs there are."""
    scripts = {
        "nvcc": f'exec {shlex.quote(str(nvcc().resolve()))} "$@"',
        "__nvcc_device_query": f"printf '{gpus}'" if gpus else "exit 1",
    }
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder / "nvcc"


def compiled_by(commands: str) -> set[str]:
    """The names of the sources, those that are compiled as one among them."""
    paths = re.findall(r"""-c ['"]?([^'"\n]+\.(?:cpp|cu))\b""", commands)
    for united in [path for path in paths if "/united/" in path]:
        paths += re.findall(r'^#include "(.+)"$', Path(united).read_text(), re.M)
    return {Path(path).name for path in paths}


@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja"])
@pytest.mark.parametrize("gpus", ["90", ""])
def test_a_reader_with_a_gpu_builds_what_they_run(
    run: Run, book: Path, tmp_path: Path, generator: str, gpus: str
) -> None:
    """With one, the library and the chapter alone; without, the embedded device as well."""
    tree = tmp_path / "a build"
    compiler = answering(tmp_path / "toolkit", gpus)
    configure = ("cmake", "-S", book, "-B", tree, "-G", generator)
    configured = run(*configure, cwd=book, CUDACXX=str(compiler), without=("CUDAARCHS",))
    assert configured.returncode == 0, configured.stderr
    # A dry run of make misses the libraries that it hasn't made, and goes on.
    tool = "make -nk 2>&1" if generator == "Unix Makefiles" else "ninja -t commands"
    commands = shell(run, f"{tool} chapter05_unroll4 || [[ '{tool}' == make* ]]", tree)
    compiled = compiled_by(commands)
    assert {"kernels.cu", "cli.cpp", "stats.cpp"} <= compiled
    assert gpus == "" or "main.cu" in compiled
    assert not {name for name in compiled if name.startswith("cub_")}
    device = {path.name for path in (ROOT / "tools/emulator/src").rglob("*.cpp")}
    if gpus:
        assert not compiled & (device - {path.name for path in (ROOT / "common/src").iterdir()})
        assert "emulator" not in commands
        assert "-- CUDA architectures: 90-real;90-virtual" in configured.stdout
        assert f"cmake --build '{tree}' --target embedded_device" in configured.stdout
    else:
        assert device <= compiled or (tool != "ninja -t commands" and device & compiled)
        assert "Embedded device: built with every chapter" in configured.stdout
    # Asked for by its name it is built either way, and all that tools/emulate takes.
    commands = shell(run, f"{tool} embedded_device || [[ '{tool}' == make* ]]", tree)
    assert "list_unsupported.cpp" in compiled_by(commands)


PACKAGES = ("CLI11", "nlohmann_json", "fmt")
# Where Debian has what of them.
HEADERS = ("CLI", "nlohmann", "fmt")
CONFIGS = ("share/cmake/CLI11", "share/cmake/nlohmann_json", "lib/x86_64-linux-gnu/cmake/fmt")


def test_packages_that_are_missing_or_elsewhere(run: Run, book: Path, tmp_path: Path) -> None:
    """It says what to install; and a folder in CMAKE_PREFIX_PATH does as well as a package."""
    hidden = [Path("/usr") / path for path in (*CONFIGS, *(f"include/{name}" for name in HEADERS))]
    if not all(path.exists() for path in hidden):
        pytest.skip("the packages are elsewhere on this machine")
    carried = tmp_path / "carried along"
    for path in hidden:
        shutil.copytree(path, carried / path.relative_to("/usr"))
    library = carried / "lib/x86_64-linux-gnu"
    for path in Path("/usr/lib/x86_64-linux-gnu").glob("libfmt.so*"):
        shutil.copy2(path, library, follow_symlinks=False)

    done = run("cmake", "-S", ".", "-B", "bare", ONE, "-DBOOK_TESTS=OFF", cwd=book, hide=hidden)
    assert done.returncode
    assert "These packages are missing: CLI11 nlohmann_json fmt" in done.stderr
    assert "apt install libcli11-dev nlohmann-json3-dev libfmt-dev" in done.stderr
    command = ("cmake", "-S", ".", "-B", "bare", ONE, *NO_DEVICE.split())
    done = run(*command, cwd=book, hide=hidden, CMAKE_PREFIX_PATH=str(carried))
    assert done.returncode == 0, done.stderr
    cache = (book / "bare/CMakeCache.txt").read_text()
    for package in PACKAGES:
        assert re.search(rf"^{package}_DIR:PATH={re.escape(str(carried))}/", cache, re.M)


def test_what_is_compiled_is_shared_and_never_stale(run: Run, tmp_path: Path) -> None:
    """By ccache, as tools/steps.sh sets it: two copies of a source, then an edit of each side."""
    text = """__global__ void kernel(int* p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  *p = 1;
#endif
}
int main() { return 2; }
"""

    def compiled(name: str, text: str) -> bool:
        """Was it, and not taken from another?"""
        tools = tmp_path / name / "tools"
        tools.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tools" / "steps.sh", tools)
        (tools / "kernel.cuh").write_text(text)
        (tools / "main.cu").write_text('#include "kernel.cuh"\n')
        codes = [f"'--generate-code=arch=compute_{n},code=[compute_{n}]'" for n in (75, 90)]
        options = f'{" ".join(codes)} -MD -MT m.o -MF m.o.d -x cu -c "$PWD/main.cu" -o m.o'
        script = (
            f". ./steps.sh; ccache -z >/dev/null; ccache {shlex.quote(str(nvcc()))} {options}; "
            "ccache --print-stats"
        )
        said = shell(run, script, tools, CCACHE_DIR=str(tmp_path / "cache"))
        missed = dict(line.split("\t") for line in said.splitlines())["cache_miss"]
        return missed != "0"

    assert compiled("one", text)
    assert not compiled("another, with spaces", text)
    assert compiled("one", text.replace("*p = 1", "*p = 3"))
    assert compiled("one", text.replace("return 2", "return 4"))
    assert not compiled("a third", text)


def test_united_sources_are_the_same_in_every_checkout() -> None:
    """What names a place isn't known to ccache in another."""

    def placed(texts: list[str]) -> list[str]:
        return [text for text in texts if re.search('#include "/', text)]

    united = [path.read_text(encoding="utf-8") for path in BUILD.glob("*/united/*.cpp")]
    assert len(united) > 7
    assert placed(united) == []
    spoilt = united[0].replace('#include "', f'#include "{ROOT}/', 1)
    assert placed([spoilt]) == [spoilt]


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

    # What calls a compiler does it with that one: this checkout's tests and embedded device, that
    # build's nvcc. A test for each way to call one is marked; that no other way exists is read from
    # the sources (test_tests.py).
    files = [path for part in ("chapters", "tools") for path in (ROOT / part).rglob("test_*.py")]
    marked = [path for path in files if re.search("^@pytest.mark.nvcc", path.read_text(), re.M)]
    said = shell(
        run,
        f"{shlex.quote(sys.executable)} -m pytest -m nvcc -p no:cacheprovider "
        f"{shlex.join(map(str, sorted(marked)))}",
        ROOT,
        **machine,
        BOOK_BUILD=str(book / "wheels"),
        EMU_LIBRARY=str(BUILD / "emulator" / "lib"),
    )
    assert re.search(r"^=+ \d+ passed, \d+ deselected", said.splitlines()[-1]), said[-4000:]
