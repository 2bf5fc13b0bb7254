"""tools/guide: what an edit redoes, and that a page is never stale."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("chapter*/main.cu"))
LAST = CHAPTERS[-1]

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def book(checkout: Callable[..., Path]) -> Path:
    """A copy with a guide in it, in this checkout's environment."""
    copy = checkout("guide")
    (copy / ".venv").symlink_to(ROOT / ".venv")
    done = subprocess.run(
        ["tools/guide"], cwd=copy, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"The guide: {copy}/build/guide/index.html" in done.stdout
    assert (copy / "build" / "guide" / "index.html").is_file()
    return copy


@contextmanager
def edited(path: Path, old: str, new: str) -> Iterator[None]:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        yield
    finally:
        path.write_text(text)


def guide(run: Run, book: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    begin = time.monotonic()
    done = run("tools/guide", cwd=book, timeout=300)
    return done, time.monotonic() - begin


def page(book: Path, name: str) -> str:
    text = (book / "build" / "guide" / "chapters" / f"{name}.html").read_text()
    return re.sub(r"<[^>]*>", "", text)


def runs(book: Path) -> dict[str, int]:
    return {path.stem: path.stat().st_mtime_ns for path in (book / "build" / "runs").glob("*.txt")}


def test_nothing_changed(run: Run, book: Path) -> None:
    guide(run, book)
    before = runs(book)
    assert sorted(before) == CHAPTERS
    done, seconds = guide(run, book)
    assert done.returncode == 0
    assert runs(book) == before
    assert seconds < 10


def test_a_kernel_edited(run: Run, book: Path) -> None:
    """Its page follows, and of the programs its own and those that include it run again."""
    guide(run, book)
    before = runs(book)
    kernels = book / "chapters" / LAST / "kernels.cuh"
    with edited(kernels, "_global__ void", "_global__ /* planted here */ void"):
        done, seconds = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "planted here" in page(book, LAST)
    again = {name for name, when in runs(book).items() if when != before[name]}
    include = f'#include "../{LAST}/kernels.cuh"'
    sources = (book / "chapters").glob("chapter*/*.cu*")
    expected = {LAST, *(path.parent.name for path in sources if include in path.read_text())}
    assert again == expected
    assert len(again) < len(CHAPTERS)
    print(f"a kernel edited: {seconds:.1f} s")
    assert seconds < 60  # 15 on an idle machine; not this test's to judge on a busy one


def test_an_edited_kernel_is_counted_again(run: Run, book: Path) -> None:
    """Without a GPU too: the table follows the edit, and hardware's counts are marked."""
    name = "chapter02_smem"
    kernels = book / "chapters" / name / "kernels.cuh"
    with edited(kernels, "if (t == 0) partial", "partial"):
        done, seconds = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        text = page(book, name)
        assert "embedded device, your build" in text
        assert "Hardware counted an earlier form of this kernel" in text
        assert "Printed by your build, on the embedded device" in text
    print(f"a kernel of three programs edited: {seconds:.1f} s")
    done, _ = guide(run, book)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "your build" not in page(book, name)


def test_prose_edited(run: Run, book: Path) -> None:
    before = runs(book)
    prose = book / "docs" / "chapters" / f"{LAST}.rst"
    with edited(prose, "\n\n.. ", "\n\nPlanted here.\n\n.. "):
        done, seconds = guide(run, book)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Planted here." in page(book, LAST)
    assert set(runs(book)) == set(before)
    print(f"prose edited: {seconds:.1f} s")
    assert seconds < 60


def test_a_warning_fails_each_time(run: Run, book: Path) -> None:
    """Sphinx warns of a page when it reads it, and not again: that must not make it pass."""
    prose = book / "docs" / "chapters" / f"{LAST}.rst"
    with edited(prose, "\n\n.. ", "\n\n:doc:`nowhere-at-all`\n\n.. "):
        for _ in range(2):
            done, _ = guide(run, book)
            assert done.returncode != 0
            assert "nowhere-at-all" in done.stdout
    done, _ = guide(run, book)
    assert done.returncode == 0, done.stdout


def test_a_kernel_that_does_not_compile(run: Run, book: Path) -> None:
    kernels = book / "chapters" / LAST / "kernels.cuh"
    with edited(kernels, "_global__ void", "_global__ viod"):
        done, _ = guide(run, book)
        assert done.returncode != 0
        assert "viod" in done.stdout
        assert "log: " in done.stdout


def test_a_checkout_that_moved(run: Run, book: Path) -> None:
    """Its build tree names its old place: it is made again."""
    moved = book.parent / "moved book"
    book.rename(moved)
    try:
        done, _ = guide(run, moved)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"^ok +configure ", done.stdout, re.M)
    finally:
        moved.rename(book)
