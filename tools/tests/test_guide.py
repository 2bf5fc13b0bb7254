"""tools/guide: what an edit redoes, and that a page is never stale."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("chapter*/main.cu"))
LAST = CHAPTERS[-1]
COUNTED = "chapter01_gmem"

pytestmark = [pytest.mark.all, pytest.mark.built("guide")]

Done = subprocess.CompletedProcess[str]
Run = Callable[..., "Done"]


@contextmanager
def edited(path: Path, old: str, new: str) -> Iterator[None]:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        yield
    finally:
        path.write_text(text)


def rewritten(path: Path, old: str, new: str) -> None:
    """Changes a program of the copy; what it has made is not stale for that."""
    text, then = path.read_text(), path.stat()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))


@pytest.fixture(scope="session")
def book(checkout: Callable[..., Path], run: Run) -> Path:
    """A copy of the checkout with what has been built in it, its guide among that.

    Commands find it in the checkout's own place: all that is built names that. From now on it
    counts little, but for the chapter whose table a test reads.
    """
    copy = checkout("guide")
    (copy / ".venv").mkdir()
    for made in ("tools", "runs", "static", "figures", "guide"):
        if (ROOT / "build" / made).is_dir():
            shutil.copytree(
                ROOT / "build" / made,
                copy / "build" / made,
                symlinks=True,
                ignore=shutil.ignore_patterns("sanitized"),
            )
    # Chapter 12's rows are longer than others' arrays need be.
    size = "2 ** (16 if program.chapter == 'chapter12_rows' else 10)"
    few = f"shapes_of if program.chapter == {COUNTED!r} else lambda each: [({size}, each.block)]"
    called = "cases_of(program, {})"
    counting = copy / "tools/measuring/embedded.py"
    rewritten(counting, called.format("shapes_of)"), called.format(f"{few})"))
    done = guide(run, copy, 3 * LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"The guide: {ROOT}/build/guide/index.html" in done.stdout
    return copy


def there(run: Run, book: Path, *command: str | Path, **options: Any) -> Done:
    """Runs a command in the copy, which lies in the checkout's place for it."""
    places = {book / ".venv": ROOT / ".venv", ROOT: book}
    return run(*command, cwd=ROOT, replace=places, **options)


def guide(run: Run, book: Path, timeout: int = LIMIT) -> Done:
    return there(run, book, "tools/guide", timeout=timeout)


def page(book: Path, name: str) -> str:
    text = (book / "build" / "guide" / f"{name}.html").read_text()
    return re.sub(r"<[^>]*>", "", text)


def runs(book: Path) -> dict[str, int]:
    return {path.stem: path.stat().st_mtime_ns for path in (book / "build" / "runs").glob("*.txt")}


def read(book: Path) -> dict[str, int]:
    """When Sphinx read each page."""
    trees = book / "build" / "tools" / "docs" / "doctrees"
    return {
        str(path.relative_to(trees).with_suffix("")): path.stat().st_mtime_ns
        for path in trees.rglob("*.doctree")
    }


def changed(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name for name, when in after.items() if when != before.get(name)}


def test_nothing_changed(run: Run, book: Path) -> None:
    before, pages = runs(book), read(book)
    assert sorted(before) == CHAPTERS
    done = guide(run, book)
    assert done.returncode == 0
    assert runs(book) == before
    assert read(book) == pages


def test_kernels_edited(run: Run, book: Path) -> None:
    """Their pages follow, and of the programs their own and those that include them run again.

    Two at once: a comment in the last chapter's, and one store too many in another's. That one is
    counted again without a GPU too, and hardware's counts are marked.
    """
    before, pages = runs(book), read(book)
    last, counted = (book / "chapters" / name / "kernels.cuh" for name in (LAST, COUNTED))
    store = "partial[blockIdx.x] = data[i"
    (kernel,) = re.findall(
        r"// begin gmem-loop$.*?// end gmem-loop$", counted.read_text(), re.M | re.S
    )
    stored_twice = kernel.replace(f"if (t == 0) {store}]", f"if (t == 0 || t == 32) {store} - t]")
    assert stored_twice != kernel
    with (
        edited(last, "_global__ void", "_global__ /* planted here */ void"),
        edited(counted, kernel, stored_twice),
    ):
        done = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "planted here" in page(book, f"chapters/{LAST}")
        text = page(book, f"notebooks/{COUNTED}")
        assert "embedded device, your build" in text
        assert "Hardware counted an earlier form of this kernel" in text
        assert "Printed by your build, on the embedded device" in text
        assert "The run was of earlier forms of what has changed since" in page(book, "mutants")
    again = changed(before, runs(book))
    expected = set()
    for name in (LAST, COUNTED):
        include = f'#include "../{name}/kernels.cuh"'
        sources = (book / "chapters").glob("chapter*/*.cu*")
        expected |= {name, *(path.parent.name for path in sources if include in path.read_text())}
    assert again == expected
    assert len(again) < len(CHAPTERS)
    stories = {f"chapters/{name}" for name in CHAPTERS}
    assert stories & changed(pages, read(book)) == {f"chapters/{name}" for name in expected}
    done = guide(run, book)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "your build" not in page(book, f"notebooks/{COUNTED}")


def test_prose_edited(run: Run, book: Path, tmp_path: Path) -> None:
    """A page's own, and what it takes from a comment in a program; no program runs for it.

    First with a fault: a warning fails, and what Sphinx has read by then is forgotten. Here it is
    put back, to save a minute.
    """
    before, pages = runs(book), read(book)
    prose = book / "docs" / "chapters" / f"{LAST}.rst"
    program = book / "tools" / "emulator" / "tests" / "corpus" / "heap.cu"
    doctrees = book / "build" / "tools" / "docs" / "doctrees"
    shutil.copytree(doctrees, tmp_path / "doctrees")
    with edited(prose, "\n\n.. ", "\n\n:doc:`nowhere-at-all`\n\n.. "):
        done = guide(run, book)
        assert done.returncode != 0
        assert "nowhere-at-all" in done.stdout
    assert not doctrees.exists()
    shutil.move(tmp_path / "doctrees", doctrees)
    with (
        edited(prose, "\n\n.. ", "\n\nPlanted here.\n\n.. "),
        edited(program, "// ", "// Planted: "),
    ):
        done = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Planted here." in page(book, f"chapters/{LAST}")
        assert "Planted: malloc" in page(book, "embedded_use")
    assert runs(book) == before
    of_chapters = {name for name in changed(pages, read(book)) if "/chapter" in name}
    assert of_chapters == {f"chapters/{LAST}"}


def test_a_warning_fails_each_time(run: Run, tmp_path: Path) -> None:
    """Sphinx warns of a page when it reads it, and not again: that must not make it pass."""
    tmp_path = tmp_path / "with spaces"
    tmp_path.mkdir()
    (tmp_path / "conf.py").touch()
    index = tmp_path / "index.rst"
    index.write_text("Title\n=====\n\n:doc:`nowhere-at-all`\n")
    folders = {"DOCS": tmp_path, "DOCTREES": tmp_path / "trees", "OUTPUT": tmp_path / "out"}
    settings = [
        f"-D{name}={value}" for name, value in {"PYTHON": sys.executable, **folders}.items()
    ]
    script = ROOT / "common" / "cmake" / "render.cmake"

    def rendered() -> subprocess.CompletedProcess[str]:
        return run("cmake", *settings, "-P", script, cwd=tmp_path)

    for _ in range(2):
        done = rendered()
        assert done.returncode != 0
        assert "nowhere-at-all" in done.stderr
    index.write_text("Title\n=====\n")
    assert rendered().returncode == 0


def test_a_kernel_that_does_not_compile(run: Run, book: Path) -> None:
    kernels = book / "chapters" / LAST / "kernels.cuh"
    with edited(kernels, "_global__ void", "_global__ viod"):
        done = guide(run, book)
        assert done.returncode != 0
        assert "viod" in done.stdout
        assert "log: " in done.stdout


@pytest.mark.release
def test_a_damaged_build_heals(run: Run, book: Path) -> None:
    """As a full disk or a lost machine leaves it: configured again, and nothing is done twice."""
    guide(run, book)
    before = runs(book)
    ninja = book / "build" / "tools" / "build.ninja"
    for text in ("", ninja.read_text()[: ninja.stat().st_size // 2]):
        ninja.write_text(text)
        done = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"^ok +configure ", done.stdout, re.M)
    assert runs(book) == before


@pytest.mark.release
def test_a_checkout_that_moved(checkout: Callable[..., Path], run: Run) -> None:
    """Its build tree names its old place: it is made again, and works in the new one."""
    before = checkout("moved")
    (before / ".venv").symlink_to(ROOT / ".venv")
    made = ". tools/steps.sh; if configured; then exit 3; fi; configure; configured"
    assert run("bash", "-ec", made, cwd=before).returncode == 0
    assert run("bash", "-ec", made, cwd=before).returncode == 3
    (before / "build" / "tools" / "of the old place").touch()
    copy = before.parents[1] / "moved on" / before.name
    before.parent.rename(copy.parent)
    done = run("bash", "-ec", f"{made}; build api", cwd=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (copy / "build" / "tools" / "of the old place").exists()
    assert [*(copy / "build" / "tools" / "docs" / "api").rglob("*.xml")]


@pytest.mark.release
def test_a_new_chapter_is_found_by_its_name(run: Run, book: Path) -> None:
    """What tools/new writes is built, run, drawn, woven, measured in a dry run, judged and tested.

    Without an edit to what exists, and again nothing remains.
    """
    name, tree = "chapter19_planted", ROOT / "build/tools"
    done = there(run, book, "tools/new", name)
    assert done.returncode == 0, done.stderr
    files = done.stdout.partition("\n\n")[0].splitlines()
    try:
        done = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        text = page(book, f"chapters/{name}")
        assert "if (threadIdx.x != 0) return;" in text  # its listing
        assert "One thread works for its block." in text  # its drawing
        assert (book / "build/figures/chapter19_block-light.svg").is_file()
        printed = page(book, f"notebooks/{name}")
        assert f"{name}: What the chapter is about" in printed
        index = (book / "build/guide/index.html").read_text()
        assert index.count(f"chapters/{name}.html") > 1  # its card, and the contents
        assert "Stop at the end" in page(book, "puzzles")
        assert "rung" in (book / f"build/runs/{name}.json").read_text()

        program = tree / "chapters" / name / name
        done = there(run, book, program, "--n", "1000", "--block", "33")
        assert done.returncode == 0 and "as expected" in done.stdout, done.stderr
        dry = ["--dry-run", "--counters", "--sanitizers", "--chapters", name]
        done = there(run, book, "tools/measure", *dry, "--build", "build/tools")
        assert done.returncode == 0, done.stderr
        for step in (
            f"{name} --sweep all (pass 2)",
            f"ncu {name}/rung n=16777216 block=256",
            f"racecheck {name}/rung",
        ):
            assert step in done.stdout.splitlines()

        puzzle = f"chapters/{name}/puzzles/1_guard/answer.cu"
        assert there(run, book, "tools/judge", "new", "chapter19/1", "build").returncode == 0
        for file, status in ((puzzle, 0), ("build/chapter19_1_guard.cu", 4)):
            done = there(run, book, "tools/judge", "--puzzle", "chapter19/1", file)
            assert done.returncode == status, done.stdout + done.stderr

        tests = [f"chapters/tests/test_{each}.py" for each in ("programs", "embedded_checks")]
        done = there(
            run, book, sys.executable, *("-m", "pytest", "-q", *tests, "-k", "chapter19"),
            timeout=LIMIT, BOOK_BUILD=str(tree),
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 15
    finally:
        for file in files:
            (book / file).unlink()
        shutil.rmtree(book / "chapters" / name)
        (book / "build/runs" / f"{name}.txt").unlink(missing_ok=True)
