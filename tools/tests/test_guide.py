"""tools/guide: what an edit redoes, and that a page is never stale."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("chapter*/main.cu"))
LAST = CHAPTERS[-1]
COUNTED = "chapter01_gmem"

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@contextmanager
def edited(path: Path, old: str, new: str) -> Iterator[None]:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        yield
    finally:
        path.write_text(text)


@pytest.fixture(scope="session")
def first_run(checkout: Callable[..., Path]) -> tuple[Path, str]:
    """A copy with a guide in it, in this checkout's environment, and what making it said.

    The copy has moved since its build was configured. It counts little, now and later, but for the
    chapter whose table a test reads: the checkout's own guide is counted in full. It has the
    checkout's drawings, which the same code and data would draw again.
    """
    before = checkout("guide before")
    (before / ".venv").symlink_to(ROOT / ".venv")
    subprocess.run(
        ["bash", "-ec", ". tools/steps.sh; configure"], cwd=before, check=True, capture_output=True
    )
    (before / "build" / "tools" / "of the old place").touch()
    copy = before.parents[1] / "guide" / before.name
    before.parent.rename(copy.parent)
    if (ROOT / "build" / "figures").is_dir():
        shutil.copytree(ROOT / "build" / "figures", copy / "build" / "figures")
    counting = copy / "tools" / "measuring" / "embedded.py"
    text, shapes = counting.read_text(), "in all_shapes(variant):"
    assert text.count(shapes) == 1
    few = f"in all_shapes(variant) if variant.chapter == {COUNTED!r} else [(2**10, variant.block)]:"
    counting.write_text(text.replace(shapes, few))
    done = subprocess.run(
        ["tools/guide"], cwd=copy, capture_output=True, text=True, timeout=3 * LIMIT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"The guide: {copy}/build/guide/index.html" in done.stdout
    assert (copy / "build" / "guide" / "index.html").is_file()
    return copy, done.stdout


@pytest.fixture
def book(first_run: tuple[Path, str]) -> Path:
    return first_run[0]


def guide(run: Run, book: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """What it said, and the seconds that it took of the processor, whatever else is at work."""

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    begin = used()
    done = run("tools/guide", cwd=book, timeout=LIMIT)
    return done, used() - begin


def page(book: Path, name: str) -> str:
    text = (book / "build" / "guide" / f"{name}.html").read_text()
    return re.sub(r"<[^>]*>", "", text)


def runs(book: Path) -> dict[str, int]:
    return {path.stem: path.stat().st_mtime_ns for path in (book / "build" / "runs").glob("*.txt")}


def test_nothing_changed(run: Run, book: Path) -> None:
    before = runs(book)
    assert sorted(before) == CHAPTERS
    done, seconds = guide(run, book)
    assert done.returncode == 0
    assert runs(book) == before
    assert seconds < 10


def test_kernels_edited(run: Run, book: Path) -> None:
    """Their pages follow, and of the programs their own and those that include them run again.

    Two at once: a comment in the last chapter's, and one store too many in another's. That one is
    counted again without a GPU too, and hardware's counts are marked.
    """
    before = runs(book)
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
        done, seconds = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "planted here" in page(book, f"chapters/{LAST}")
        text = page(book, f"notebooks/{COUNTED}")
        assert "embedded device, your build" in text
        assert "Hardware counted an earlier form of this kernel" in text
        assert "Printed by your build, on the embedded device" in text
    again = {name for name, when in runs(book).items() if when != before[name]}
    expected = set()
    for name in (LAST, COUNTED):
        include = f'#include "../{name}/kernels.cuh"'
        sources = (book / "chapters").glob("chapter*/*.cu*")
        expected |= {name, *(path.parent.name for path in sources if include in path.read_text())}
    assert again == expected
    assert len(again) < len(CHAPTERS)
    print(f"two kernels edited: {seconds:.1f} s")
    assert seconds < 100
    done, _ = guide(run, book)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "your build" not in page(book, f"notebooks/{COUNTED}")


def test_prose_edited(run: Run, book: Path, tmp_path: Path) -> None:
    """A page's own, and what it takes from a comment in a program; no program runs for it.

    First with a fault: a warning fails, and what Sphinx has read by then is forgotten. Here it is
    put back, to save a minute.
    """
    before = runs(book)
    prose = book / "docs" / "chapters" / f"{LAST}.rst"
    program = book / "tools" / "emulator" / "tests" / "corpus" / "heap.cu"
    doctrees = book / "build" / "tools" / "docs" / "doctrees"
    shutil.copytree(doctrees, tmp_path / "doctrees")
    with edited(prose, "\n\n.. ", "\n\n:doc:`nowhere-at-all`\n\n.. "):
        done, _ = guide(run, book)
        assert done.returncode != 0
        assert "nowhere-at-all" in done.stdout
    assert not doctrees.exists()
    shutil.move(tmp_path / "doctrees", doctrees)
    with (
        edited(prose, "\n\n.. ", "\n\nPlanted here.\n\n.. "),
        edited(program, "// ", "// Planted: "),
    ):
        done, seconds = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Planted here." in page(book, f"chapters/{LAST}")
        assert "Planted: malloc" in page(book, "embedded_use")
    assert runs(book) == before
    print(f"prose edited: {seconds:.1f} s")
    assert seconds < 60


def test_a_warning_fails_each_time(run: Run, tmp_path: Path) -> None:
    """Sphinx warns of a page when it reads it, and not again: that must not make it pass."""
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
        done, _ = guide(run, book)
        assert done.returncode != 0
        assert "viod" in done.stdout
        assert "log: " in done.stdout


def test_a_damaged_build_heals(run: Run, book: Path) -> None:
    """As a full disk or a lost machine leaves it: configured again, and nothing is done twice."""
    guide(run, book)
    before = runs(book)
    ninja = book / "build" / "tools" / "build.ninja"
    for text in ("", ninja.read_text()[: ninja.stat().st_size // 2]):
        ninja.write_text(text)
        done, _ = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"^ok +configure ", done.stdout, re.M)
    assert runs(book) == before


def test_a_checkout_that_moved(first_run: tuple[Path, str]) -> None:
    """Its build tree names its old place: it is made again."""
    copy, said = first_run
    assert re.search(r"^ok +configure ", said, re.M)
    assert not (copy / "build" / "tools" / "of the old place").exists()


def test_a_new_chapter_is_its_folder_its_page_and_its_figures(run: Run, book: Path) -> None:
    """Nothing that exists is edited: built, run, drawn, woven, measured in a dry run, tested."""
    name, planted = "chapter19_planted", ROOT / "tools/tests/new_chapter"
    files = [path.relative_to(planted) for path in planted.rglob("*") if path.is_file()]
    assert not [file for file in files if (book / file).exists()]
    shutil.copytree(planted, book, dirs_exist_ok=True)
    try:
        done, _ = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        text = page(book, f"chapters/{name}")
        assert "if (threadIdx.x != 0) return;" in text  # its listing
        assert "chapter19_planted: A chapter that a test adds" in text  # what its program printed
        assert "The others are idle." in text  # its drawing
        assert (book / "build/figures/planted_block-light.svg").is_file()
        assert name in (book / "build/guide/index.html").read_text()
        assert "planted" in (book / f"build/runs/{name}.json").read_text()

        program = book / "build/tools/chapters" / name / name
        done = run(program, "--n", "1000", "--block", "33", cwd=book)
        assert done.returncode == 0 and "as expected" in done.stdout, done.stderr
        dry = ["--dry-run", "--counters", "--sanitizers", "--chapters", name]
        done = run("tools/measure", *dry, "--build", "build/tools", cwd=book)
        assert done.returncode == 0, done.stderr
        for step in (
            f"{name} --sweep all (pass 2)",
            f"ncu {name}/planted n=16777216 block=256",
            f"racecheck {name}/planted",
        ):
            assert step in done.stdout.splitlines()

        tests = ["chapters/tests/test_programs.py", "chapters/tests/test_embedded_checks.py"]
        done = run(
            book / ".venv/bin/python", *("-m", "pytest", "-q", *tests, "-k", name),
            cwd=book, timeout=600, BOOK_BUILD=str(book / "build/tools"),
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 15
    finally:
        for file in files:
            (book / file).unlink()
        (book / "chapters" / name).rmdir()
        (book / "build/runs" / f"{name}.txt").unlink(missing_ok=True)
