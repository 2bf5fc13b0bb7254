"""tools/new: names that are none, numbers that are taken, and that nothing is left half made."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.all

Done = subprocess.CompletedProcess[str]
TREES = ("chapters", "docs/chapters", "docs/notebooks", "figures/chapters")
NAME = "chapter15_scan"


@pytest.fixture(scope="module")
def book(checkout: Callable[..., Path]) -> Path:
    """What the command reads, and the folders that it writes to."""
    copy = checkout("new", "tools/new")
    for tree in TREES:
        (copy / tree).mkdir(parents=True)
    return copy


def files(book: Path) -> set[str]:
    return {str(path.relative_to(book)) for tree in TREES for path in (book / tree).rglob("*")}


def refused(book: Path, *names: str, status: int = 2, **variables: str) -> str:
    """The sentence; no file has come or gone."""
    before = files(book)
    environment = {**os.environ, **variables}
    command = [book / "tools/new", *names]
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        start_new_session=True,
    )
    assert done.returncode == status, done.stderr
    assert files(book) == before and not done.stdout
    return done.stderr


@pytest.mark.parametrize(
    "name",
    ["", "scan", "chapter_scan", "chapter15", "chapter15_", "chapter5_scan", "chapter150_scan",
     "Chapter15_scan", "chapter15_Scan", "chapter15_a scan", "chapter15_a-b", "../chapter15_scan",
     "chapter15_../x", "chapter15_scan/", "chapter15_*", "chapter15_\x1b[31m\n", "chapter15_é",
     "-x", "chapter15_" + "x" * 300],
)  # fmt: skip
def test_what_is_no_name(book: Path, name: str) -> None:
    said = refused(book, name)
    assert said.startswith("tools/new: ") and "is no chapter's name" in said
    assert said.count("\n") == 1 and len(said) < 200 and "\x1b" not in said


def test_one_name_is_taken(book: Path) -> None:
    assert "takes one name" in refused(book)
    assert "takes one name" in refused(book, NAME, NAME)


def test_numbers_that_the_contents_cannot_show(book: Path) -> None:
    assert "take 21" in refused(book, "chapter20_scan")


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("there", [NAME, "chapter15_other"])
def test_what_is_there_already(book: Path, tree: str, there: str) -> None:
    taken = book / tree / there
    taken.mkdir()
    assert f"there is {tree}/{there} already" in refused(book, NAME)
    taken.rmdir()


def test_a_failure_half_way_leaves_nothing(book: Path) -> None:
    notebooks = book / "docs/notebooks"
    notebooks.rmdir()
    notebooks.touch()
    assert f"docs/notebooks/{NAME}.rst can't be written: " in refused(book, NAME)
    notebooks.unlink()
    notebooks.mkdir()


def test_stopped_half_way_it_leaves_nothing(
    book: Path, commands: Callable[..., Path], tmp_path: Path
) -> None:
    """At the third file that it writes."""
    count = f"echo >>{tmp_path}/count; [ $(wc -l <{tmp_path}/count) -lt 3 ] || kill -INT 0"
    path = commands(sed=f'{count}\nexec /bin/sed "$@"')
    assert refused(book, NAME, status=130, PATH=str(path)) == ""
    assert (tmp_path / "count").read_text().count("\n") >= 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_a_checkout_that_is_not_ones_own(book: Path, run: Callable[..., Done]) -> None:
    done = run(book / "tools/new", NAME, cwd=book, user=65534)
    assert (done.returncode, files(book)) == (2, set())
    assert done.stderr == f"tools/new: chapters/{NAME} can't be made: Permission denied\n"


def test_a_chapter_has_its_name_in_each_tree(book: Path) -> None:
    done = subprocess.run([book / "tools/new", NAME], capture_output=True, text=True, check=True)
    made = files(book)
    assert all(any(f.startswith(f"{tree}/{NAME}") for f in made) for tree in TREES)
    assert {f for f in made if (book / f).is_file()} <= {*done.stdout.split()}
    for file in made:
        if (book / file).is_file():
            assert "NN" not in (book / file).read_text(encoding="utf-8"), file
    assert "there is " in refused(book, NAME)
