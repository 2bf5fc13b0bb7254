"""tools/setup: quick when all is there; where something lacks, the reason, the fix, the log."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
NO_TOOLKIT = ("CUDACXX", "CUDA_HOME")

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Commands = Callable[..., Path]
Checkout = Callable[..., Path]
Environment = Callable[..., None]


@pytest.fixture
def book(checkout: Checkout, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The tools alone, in a place of their own."""
    copy = checkout(request.node.name, part="tools/")
    yield copy
    shutil.rmtree(copy.parent)


def assert_stopped(
    done: subprocess.CompletedProcess[str], reason: str, fix: str, log: bool = False
) -> None:
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(rf"^stopped: .*{reason}", done.stderr, re.M), done.stdout + done.stderr
    assert re.search(rf"^    fix: .*{fix}", done.stderr, re.M), done.stderr
    if log:
        (path,) = re.findall(r"^    log: (.*)$", done.stderr, re.M)
        assert Path(path).stat().st_size > 0


def test_a_second_run_is_quick_and_changes_nothing(run: Run) -> None:
    """The checkout itself is set up: these tests run in its .venv."""
    before = sorted(path.stat().st_mtime_ns for path in (ROOT / ".venv").glob("*"))
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = run("tools/setup", "test", cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin < 5
    assert [line[:2] for line in done.stdout.splitlines()] == ["ok"] * 3
    assert sorted(path.stat().st_mtime_ns for path in (ROOT / ".venv").glob("*")) == before


def test_an_unknown_purpose(run: Run, book: Path) -> None:
    assert run("tools/setup", "everything", cwd=book).returncode == 2


@pytest.mark.parametrize("tool", ["setup", "guide", "test", "bare"])
def test_help_says_what_it_does(run: Run, book: Path, tool: str) -> None:
    done = run(f"tools/{tool}", "--help", cwd=book)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: tools/{tool}")
    assert "shellcheck" not in done.stdout and "set -e" not in done.stdout
    assert not (book / "build").exists()


@pytest.mark.parametrize("tool", ["guide", "test", "bare"])
def test_tools_take_no_unknown_argument(run: Run, book: Path, tool: str) -> None:
    done = run(f"tools/{tool}", "--frobnicate", cwd=book)
    assert done.returncode == 2
    assert f"tools/{tool}: takes" in done.stderr
    assert not (book / "build").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--paper", "letter"], "--paper is for --pdf"),
        (["--pdf", "--paper"], "--paper takes a4 or letter"),
        (["--pdf", "--paper=b5"], '--paper takes a4 or letter, not "b5"'),
        (["--epub", "now"], 'takes no "now"'),
    ],
)
def test_an_edition_that_the_guide_does_not_have(
    run: Run, book: Path, given: list[str], said: str
) -> None:
    done = run("tools/guide", *given, cwd=book)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"tools/guide: {said}; tools/guide --help says what it takes\n"
    assert not (book / "build").exists()


@pytest.mark.parametrize("tool", ["guide", "test"])
def test_the_tools_stop_with_it(run: Run, book: Path, commands: Commands, tool: str) -> None:
    path = commands(cmake="echo cmake version 3.18.4")
    assert_stopped(run(f"tools/{tool}", cwd=book, PATH=str(path)), "CMake 3.25", "newer cmake")


def test_a_checkout_that_cannot_be_written(run: Run, book: Path) -> None:
    done = run("tools/setup", cwd=book, user=NOBODY)
    assert_stopped(done, "this checkout can't be written to: .*/the book", "folder of your own")


def test_packages_missing_and_no_right_to_install(
    run: Run, checkout: Checkout, commands: Commands
) -> None:
    book = checkout("no-right", part="tools/", owner=NOBODY)
    path = commands(without=["cmake", "ninja", "sudo"])
    done = run("tools/setup", cwd=book, user=NOBODY, PATH=str(path))
    assert_stopped(done, "administrator", "su -c 'apt-get update && .* cmake ninja-build'")
    (path / "sudo").write_text("#!/bin/sh\nexit 1\n")
    (path / "sudo").chmod(0o755)
    done = run("tools/setup", cwd=book, user=NOBODY, PATH=str(path))
    assert_stopped(done, "administrator", "sudo sh -c 'apt-get update && .* cmake ninja-build'")


def test_no_pip_and_no_right_to_install_it(
    run: Run, checkout: Checkout, commands: Commands
) -> None:
    """Debian's Python without its package python3-venv, for somebody without root."""
    book = checkout("no-pip", part="tools/", owner=NOBODY)
    python = Path("/usr/bin/python3").resolve()
    names = ["python3", *(f"python3.{minor}" for minor in (11, 12, 13))]
    # In place of the bootstrap script one that leaves a pip which can say its version.
    script = """import pathlib, sysconfig
at = pathlib.Path(sysconfig.get_path("purelib"), "pip")
at.mkdir()
(at / "__main__.py").touch()"""
    path = commands(
        without=["sudo"],
        curl=f"echo '{script}'",
        **dict.fromkeys(
            names, f'case "$2" in *ensurepip*) exit 1;; esac; exec {python}.whole "$@"'
        ),
    )
    shutil.copy2(python, path / "whole")
    for name in names:
        (path / name).write_text(
            (path / name).read_text().replace(f"{python}.whole", f"{path}/whole")
        )
    here = {"cwd": book, "user": NOBODY, "PATH": str(path), "replace": {python: path / "python3"}}
    done = run("tools/setup", **here)
    assert_stopped(done, "comes without pip", "su -c 'apt-get update && .* python3-venv'")
    line = done.stderr.partition("or: ")[2].partition(", then run")[0]
    assert run("bash", "-euc", line, **here).returncode == 0
    done = run("tools/setup", **here)
    assert "comes without pip" not in done.stderr
    assert done.stdout.startswith("ok   system packages")
    assert list((book / ".venv").glob("lib/python3*/site-packages/pip")), done.stdout  # kept


def test_packages_missing_and_no_apt(run: Run, book: Path, commands: Commands) -> None:
    path = commands(without=["doxygen", "apt-get"])
    done = run("tools/setup", cwd=book, PATH=str(path))
    assert_stopped(done, "lacks: doxygen", "your system's package manager")


#: A machine without doxygen, where installing it fails after a while.
APT_FAILS = {
    "apt-get": "sleep 1; echo E: Temporary failure resolving; exit 100",
    "sudo": 'shift; exec "$@"',
}


def test_apt_fails(run: Run, book: Path, commands: Commands, environment: Environment) -> None:
    environment(book)
    path = commands(without=["doxygen"], **APT_FAILS)
    done = run("tools/setup", cwd=book, PATH=str(path), PYTHON=sys.executable)
    assert_stopped(done, "apt could not install: doxygen", "then: apt-get update", log=True)


def test_an_old_cmake_is_told_though_packages_come(
    run: Run, book: Path, commands: Commands, environment: Environment
) -> None:
    environment(book)
    path = commands(
        without=["doxygen"],
        cmake="echo cmake version 3.18.4",
        **{**APT_FAILS, "apt-get": "exit 0"},
    )
    done = run("tools/setup", cwd=book, PATH=str(path), PYTHON=sys.executable)
    assert "ok   system packages" in done.stdout
    assert_stopped(done, r"CMake 3\.25 or newer is needed; here is 3\.18\.4", "newer cmake first")


@pytest.mark.release
def test_what_fails_beside_apt_waits_for_it(run: Run, book: Path, commands: Commands) -> None:
    path = commands(without=["doxygen"], **APT_FAILS)
    done = run("tools/setup", cwd=book, network=False, without=["PIP_FIND_LINKS"], PATH=str(path))
    assert re.search("^FAIL system packages", done.stdout, re.M), done.stdout
    assert_stopped(done, "package index doesn't answer", "check the network", log=True)


def test_an_old_cmake(run: Run, book: Path, commands: Commands) -> None:
    path = commands(cmake="echo cmake version 3.18.4")
    done = run("tools/setup", cwd=book, PATH=str(path))
    assert_stopped(done, r"CMake 3\.25 or newer is needed; here is 3\.18\.4", "newer cmake first")


def test_an_old_python(run: Run, book: Path, commands: Commands) -> None:
    # Not -c '... import venv': that one is there, and Debian's package of it would be no cure.
    old = 'case "$2" in *sys*) exit 1;; esac; echo Python 3.9.2'
    names = ["python3", *(f"python3.{minor}" for minor in (11, 12, 13))]
    path = commands(**dict.fromkeys(names, old))
    python = Path("/usr/bin/python3").resolve()
    done = run("tools/setup", cwd=book, PATH=str(path), replace={python: path / "python3"})
    assert_stopped(done, r"Python 3\.11 or newer.*here is Python 3\.9\.2", "set PYTHON")


def test_a_full_disk(run: Run, book: Path, commands: Commands) -> None:
    path = commands(df="echo Filesystem; echo /dev/vda 100 99 1 99% /")
    done = run("tools/setup", cwd=book, PATH=str(path))
    assert_stopped(done, "1 MB are free on the disk of .*/the book", "free some space")


def test_a_disk_that_is_full_in_earnest(run: Run, book: Path) -> None:
    """On a file system of 30 MB."""
    shutil.copytree(book / "tools", book.parent / "tools")
    script = (
        f'mount -t tmpfs -o size=30m none "{book}" && cp -r "{book.parent}/tools" "{book}" '
        f'&& "{book}/tools/setup"'
    )
    done = run("bash", "-c", script, cwd=book.parent, hide=[Path("/mnt")])
    assert_stopped(done, "MB are free", "larger disk")


@pytest.mark.release
def test_no_network(run: Run, book: Path) -> None:
    done = run("tools/setup", cwd=book, network=False, without=["PIP_FIND_LINKS"])
    assert_stopped(done, "package index doesn't answer", "check the network", log=True)


@pytest.mark.release
def test_no_compiler_to_be_had(
    run: Run, book: Path, commands: Commands, environment: Environment
) -> None:
    environment(book)
    done = run(
        "tools/setup",
        cwd=book,
        network=False,
        hide=list(Path("/usr/local").glob("cuda*")),
        without=NO_TOOLKIT,
        PATH=str(commands(without=["nvcc"])),
        PYTHON=sys.executable,
    )
    assert "CUDA wheels" in done.stdout
    assert_stopped(done, "package index doesn't answer", "check the network", log=True)


@pytest.mark.release
def test_compilers_that_do_not_do(
    run: Run, book: Path, commands: Commands, environment: Environment
) -> None:
    environment(book)
    machine = {"cwd": book, "PYTHON": sys.executable}
    done = run("tools/setup", CUDACXX="/nowhere/nvcc", **machine)
    assert_stopped(done, "CUDACXX names /nowhere/nvcc", "unset it")
    path = commands(
        old='echo "Cuda compilation tools, release 11.8, V11.8.89"', broken="echo oh no; exit 1"
    )
    done = run("tools/setup", CUDACXX=str(path / "old"), **machine)
    assert_stopped(done, "CUDA 12 or newer is needed; .*old is 11.8", "newer nvcc")
    done = run("tools/setup", CUDACXX=str(path / "broken"), **machine)
    assert_stopped(done, "does not run: oh no", "set CUDACXX")


def test_what_an_environment_lacks_is_named(tmp_path: Path) -> None:
    """A package of another version, one that is not there, and one of which a file is gone."""
    (tmp_path / "list.txt").write_text(
        "# what it needs\nOne_Two==1.0  # said\nthree==3\nfour==4\nfive==5\n-r other.txt\n"
    )
    for name, version in (("one.two", "1.0"), ("three", "2"), ("four", "4"), ("six", "6")):
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        files = f"{name}.py,sha256=x,1\n{folder.name}/METADATA,,\n__pycache__/{name}.pyc,,\n"
        (folder / "RECORD").write_text(files)
        (tmp_path / f"{name}.py").touch()

    def lacking() -> list[str]:
        # The standard library, and the packages of this folder.
        code = (
            f"import runpy, sys; sys.path[:] = [p for p in sys.path if 'site-packages' not in p]; "
            f"sys.path.append({str(tmp_path)!r}); sys.argv[1:] = [{str(tmp_path / 'list.txt')!r}]; "
            f"runpy.run_path({str(ROOT / 'tools/packages.py')!r}, run_name='__main__')"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert lacking() == ["five==5", "three==3"]
    (tmp_path / "four.py").unlink()
    (tmp_path / "six.py").unlink()
    assert lacking() == ["five==5", "four==4", "six==6", "three==3"]


@pytest.mark.release
def test_a_package_that_was_lost_comes_back(run: Run, book: Path, environment: Environment) -> None:
    lost = "snowballstemmer"
    environment(book, own=lost)
    machine = {"cwd": book, "PYTHON": sys.executable}
    done = run("tools/setup", **machine)
    assert re.search("^ok +Python packages +there$", done.stdout, re.M), done.stdout + done.stderr
    (version,) = re.findall(rf"^{lost}==(\S+)", (ROOT / "tools/requirements.txt").read_text(), re.M)
    (libraries,) = book.glob(".venv/lib/python3*/site-packages")
    shutil.rmtree(libraries / lost)  # its list of files stays
    done = run("tools/setup", timeout=600, **machine)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ok +Python packages anew +\d", done.stdout, re.M), done.stdout
    code = f"import {lost}, importlib.metadata as m; print(m.version('{lost}'), {lost}.__file__)"
    done = run(book / ".venv/bin/python", "-c", code, cwd=book)
    assert done.stdout.startswith(f"{version} {libraries}"), done.stdout + done.stderr


def test_ci_runs_the_tests_and_nothing_else() -> None:
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    code = [line for line in script if line and not line.startswith("#")]
    assert code == ['exec "$(dirname "${BASH_SOURCE[0]}")/../tools/test" --all']
