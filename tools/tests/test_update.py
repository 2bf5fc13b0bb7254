"""tools/update: its lists hold together, and its page says what changed between two guides."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.packages import normal, pinned
from tools.pages import differences, report

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
LISTS = ("requirements", "requirements-editions", "requirements-test")


def test_each_list_pins_what_it_asks_for_and_what_the_list_before_it_has() -> None:
    before: dict[str, str] = {}
    for name in LISTS:
        pins = pinned(ROOT / "tools" / f"{name}.txt")
        asked = (ROOT / "tools" / f"{name}.in").read_text(encoding="utf-8")
        for package in re.findall(r"^[A-Za-z][\w.-]*", asked, re.MULTILINE):
            assert normal(package) in pins, f"{name}.in asks for {package}: run tools/update"
        assert before.items() <= pins.items(), f"{name}.txt and the list before it differ"
        before = pins


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--nonesuch", 2), ("a b", 2)])
def test_its_arguments(argument: str, status: int) -> None:
    done = subprocess.run(
        [ROOT / "tools/update", argument], capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert "tools/update" in done.stdout + done.stderr


def test_lists_that_are_not_committed_are_not_overwritten(tmp_path: Path) -> None:
    book = tmp_path / "a book"
    (book / "tools").mkdir(parents=True)
    for name in ("update", "steps.sh", *(f"{name}.txt" for name in LISTS)):
        shutil.copy(ROOT / "tools" / name, book / "tools")
    git = ["git", "-C", book, "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "All"], check=True)
    (book / "tools/requirements.txt").write_text("mine==1\n")
    done = subprocess.run([book / "tools/update"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "tools/requirements.txt" in done.stderr
    assert (book / "tools/requirements.txt").read_text() == "mine==1\n"


def test_the_page_shows_the_text_that_changed(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for guide, word, style in ((old, "four", "red"), (new, "five <b>", "blue")):
        guide.mkdir()
        shown = word.replace("<", "&lt;")
        (guide / "a.html").write_text(f"<p>It takes {shown}.</p><script>{word}</script>")
        (guide / "b.html").write_text(f"<p class={style}>Alike.</p>")
        (guide / "c.html").write_text("<p>The same.</p>")
    (new / "d.html").write_text("<p>New.</p>")
    pages, files = differences(old, new)
    assert list(pages) == ["a.html", "d.html"]
    assert pages["a.html"][1:] == ["-It takes four.", "+It takes five <b>."]
    assert files == ["b.html"]
    assert report(old, new, tmp_path / "page.html").startswith("2 pages differ")
    page = (tmp_path / "page.html").read_text()
    assert "<ins>+It takes five &lt;b&gt;.</ins>" in page
