"""tools/update on a small book of one page, with a package index that is a folder of wheels."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pip
import pytest
from bs4 import BeautifulSoup

from tools.updating.pages import Change, compared, lines
from tools.updating.pins import Package, lists, raised

pytestmark = pytest.mark.release

ROOT = Path(__file__).resolve().parents[3]

PAGE = """\
import pathlib, shade
out = pathlib.Path("build/guide")
out.mkdir(parents=True, exist_ok=True)
alike = "Never seen to change."
for name, words in (("index", shade.WORDS), ("marked", alike), ("other", "Never changes.")):
    by = shade.MAKER if name == "marked" else "hand"
    colour = shade.COLOUR if name == "index" else "blue"
    (out / f"{name}.html").write_text(
        f"<html><head><title>T</title><meta name='made-by' content='{by}'></head>"
        f"<body><h1>{words}</h1>"
        f"<div style='width:100px;height:50px;background:{colour}'></div></body></html>")
"""
TOOLS = {
    "setup": """\
        #!/bin/sh
        # Makes .venv of the pinned packages, and of the pip that the tests have.
        set -e
        [ -e .venv ] || "$BOOK_PYTHON" -m venv --without-pip .venv
        at=$(echo .venv/lib/python3*/site-packages)
        ln -sfn "$BOOK_PIP" "$at/pip"
        for pin in $(sed -n 's/^\\([a-z]*\\)==\\([0-9.]*\\).*/\\1-\\2/p' tools/requirements.txt); do
          "$BOOK_PYTHON" -m zipfile -e "$PIP_FIND_LINKS/$pin-py3-none-any.whl" "$at"
        done
        """,
    "guide": """\
        #!/bin/sh
        # Renders. A test makes it wait, or fail.
        if [ -e "$BOOK_WAIT" ]; then echo "$$" >>"$BOOK_WAIT"; exec sleep 60; fi
        exec .venv/bin/python page.py
        """,
    "requirements.txt": """\
        # What the book needs.
        shade==1.0      # colours the page
        paper==1.0      # held: version 2 is yellow

        # What those bring along.
        pigment==1.0
        """,
}


def wheel(index: Path, name: str, version: str, text: str = "", *requires: str) -> None:
    """A package of one module."""
    info = f"{name}-{version}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    about += "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{name}.py": text,
        f"{info}/METADATA": about,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(index / f"{name}-{version}-py3-none-any.whl", "w") as made:
        for file, content in {**files, f"{info}/RECORD": record}.items():
            made.writestr(file, content)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A set-up book in a folder with a space, and an index with what it has pinned."""
    place = tmp_path_factory.mktemp("update")
    book, index = place / "the book", place / "index"
    index.mkdir()
    (book / "tools").mkdir(parents=True)
    for name, text in TOOLS.items():
        (book / "tools" / name).write_text(textwrap.dedent(text))
        (book / "tools" / name).chmod(0o755)
    shutil.copy(ROOT / "tools/packages.py", book / "tools")
    (book / "page.py").write_text(PAGE)
    (book / ".gitignore").write_text(".venv\nbuild\n")
    wheel(index, "shade", "1.0", "WORDS, COLOUR, MAKER = 'A grey page', 'grey', 1", "pigment")
    wheel(index, "paper", "1.0")
    wheel(index, "pigment", "1.0")
    git(book, "init", "-q")
    git(book, "add", ".")
    git(book, "commit", "-q", "-m", "Begin")
    subprocess.run(["tools/setup"], cwd=book, env=environment(index), check=True)
    return book, index


@pytest.fixture
def book(first: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy of that: the environment is the one of the first, which no test may change."""
    copy = tmp_path / "the book"
    shutil.copytree(first[0], copy, ignore=shutil.ignore_patterns(".venv"))
    (copy / ".venv").symlink_to(first[0] / ".venv")
    shutil.copytree(first[1], tmp_path / "index")
    return copy


@pytest.fixture
def index(book: Path) -> Path:
    return book.with_name("index")


def git(book: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=book, check=True)


def environment(index: Path) -> dict[str, str]:
    return {
        **os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index),
        "PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1",
        "BOOK_PYTHON": sys.executable, "BOOK_PIP": str(Path(pip.__file__).parent),
        "BOOK_WAIT": str(index / "wait"),
    }  # fmt: skip


def command(book: Path, *arguments: str) -> list[str]:
    script = "import sys, pathlib; from tools.updating.command import main; " \
             "sys.exit(main(sys.argv[2:], pathlib.Path(sys.argv[1])))"  # fmt: skip
    return [sys.executable, "-c", script, str(book), *arguments]


def update(book: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(book, *arguments), cwd=ROOT, env=environment(book.with_name("index")) | variables,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def trial(book: Path) -> Path:
    return book.with_name("the book.update")


def state(book: Path) -> dict[str, bytes]:
    """Every file of the checkout but git's own and the environment's."""
    return {
        str(path.relative_to(book)): path.read_bytes()
        for path in book.rglob("*")
        if path.is_file() and not {".git", ".venv"} & set(path.relative_to(book).parts)
    }


@pytest.fixture
def newer(index: Path) -> Iterator[Path]:
    """shade 2.0 says and paints other things, and brings a package along that nothing did."""
    wheel(index, "shade", "2.0", "WORDS, COLOUR, MAKER = 'A red page', 'red', 2", "dye")
    wheel(index, "dye", "0.3")
    wheel(index, "paper", "2.0")
    yield index


def test_newer_to_the_end(book: Path, newer: Path) -> None:
    """Tried, looked at, gone on with, accepted: and until then the checkout is as it was."""
    before = state(book)
    done = update(book)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^  shade +1\.0 +2\.0 +requirements\.txt$", done.stdout, re.M), done.stdout
    assert re.search(r"^  dye +new +0\.3 ", done.stdout, re.M)
    assert re.search(r"^  pigment +1\.0 +no longer needed ", done.stdout, re.M)
    assert "1 of 3 pages differ, 1 in their markup alone" in done.stdout
    assert state(book) == before

    page = BeautifulSoup((trial(book) / "index.html").read_text(), "html.parser")
    assert [one.get_text() for one in page.select("h3")] == [
        "index.html",
        "The same text and the same picture",
    ]
    assert page.select("h3 + p + ul > li")[0].get_text() == "marked.html: old, new"
    assert [one.get_text() for one in page.select(".gone")] == ["-A grey page"]
    assert [one.get_text() for one in page.select(".come")] == ["+A red page"]
    (said,) = re.findall(r"([\d,]+) pixels differ", page.get_text())
    assert 5000 <= int(said.replace(",", "")) < 20000  # the box's 100 × 50, and letters
    pictures = [str(image["src"]) for image in page.select(".pair img")]
    assert len(pictures) == 2 and all((trial(book) / name).stat().st_size for name in pictures)
    for link in page.select("a[href]"):
        assert (trial(book) / str(link["href"])).exists(), link

    again = update(book)
    assert (again.returncode, "going on" in again.stdout) == (0, True)
    assert "The guide with" not in again.stdout  # nothing is built twice
    assert update(book, "--only", "shade").returncode == 1  # there is a trial of something else

    accepted = update(book, "--accept")
    assert accepted.returncode == 0, accepted.stderr
    after = state(book)
    changed = [name for name in after if after[name] != before.get(name)]
    assert changed == ["tools/requirements.txt"]
    text = after["tools/requirements.txt"].decode()
    assert "shade==2.0      # colours the page\npaper==1.0      # held" in text
    assert text.endswith("along.\ndye==0.3\n")
    assert not trial(book).exists()


def test_refused(book: Path, newer: Path) -> None:
    before = state(book)
    assert update(book, "--refuse").returncode == 1  # nothing to refuse
    (trial(book)).mkdir()
    unfinished = update(book, "--accept")
    assert unfinished.returncode == 1 and "not come to its end" in unfinished.stderr
    assert update(book, "--refuse").returncode == 0
    assert state(book) == before and not trial(book).exists()


def test_lists_that_changed_meanwhile_are_not_overwritten(book: Path) -> None:
    pins = book / "tools/requirements.txt"
    trial(book).mkdir()
    (trial(book) / "index.html").touch()
    (trial(book) / "plan.json").write_text(
        '{"old": {"requirements.txt": "other"}, "new": {"requirements.txt": "newer"}}'
    )
    text = pins.read_text()
    done = update(book, "--accept")
    assert done.returncode == 1 and "have changed since" in done.stderr
    assert pins.read_text() == text


def test_nothing_newer(book: Path, index: Path) -> None:
    wheel(index, "paper", "2.0")  # which is held
    done = update(book)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Nothing newer that the lists allow.\n")
    assert not trial(book).exists()


def test_a_conflict_is_told_in_pips_words(book: Path, index: Path) -> None:
    wheel(index, "shade", "2.0", "", "paper>=2")
    wheel(index, "paper", "2.0")
    done = update(book, "--only", "Shade")
    assert done.returncode == 1
    assert "can't rise together:\n" in done.stderr and "paper>=2" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_index_that_has_nothing(book: Path, index: Path) -> None:
    for file in index.glob("*.whl"):
        file.unlink()
    done = update(book)
    assert (done.returncode, "pip failed: " in done.stderr) == (1, True), done.stdout


def test_one_package_alone(book: Path, newer: Path) -> None:
    done = update(book, "--only", "Pigment")
    assert done.stdout.endswith("Nothing newer that the lists allow.\n"), done.stderr
    done = update(book, "--only", "shades")
    assert (done.returncode, done.stdout) == (2, "asking the package index what is newer ...\n")
    assert "--only shades: no list" in done.stderr


def test_an_index_that_does_not_answer(book: Path) -> None:
    here = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"}
    done = update(book, PIP_FIND_LINKS="", **here)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "doesn't answer" in done.stderr


def test_stopped_half_way_and_gone_on_with(book: Path, index: Path) -> None:
    """Ctrl-C ends what it has started; meanwhile a second one is refused.

    Gone on with, the new version turns out to break the guide.
    """
    wheel(index, "shade", "2.0", "COLOUR = 'red'", "pigment")  # says no WORDS
    before = state(book)
    wait = index / "wait"
    wait.touch()
    here = environment(index)
    running = subprocess.Popen(command(book), cwd=ROOT, env=here, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    end = time.monotonic() + 60
    while not wait.read_text().strip() and time.monotonic() < end:
        time.sleep(0.05)
    second = update(book)
    assert second.returncode == 1 and "at work in" in second.stderr
    assert update(book, "--refuse").returncode == 1
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=30)[1].endswith("goes on from here\n")
    assert running.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(wait.read_text()), 0)
    assert state(book) == before
    wait.unlink()
    done = update(book)
    assert done.returncode == 1 and "going on with" in done.stdout, done.stderr
    assert "doesn't build with the new versions; --refuse" in done.stderr
    assert (trial(book) / "old/index.html").exists()
    assert "not come to its end" in update(book, "--accept").stderr
    assert state(book) == before


def test_where_it_cannot_work(book: Path, tmp_path: Path) -> None:
    text = (book / "tools/requirements.txt").read_text()
    (book / "tools/requirements.txt").write_text(text.replace("paper==1.0", "paper==1.1"))
    assert "not committed" in update(book).stderr
    git(book, "commit", "-q", "-a", "-m", "Ask for what isn't installed")
    done = update(book)
    assert done.returncode == 77 and "tools/setup test" in done.stderr
    shutil.rmtree(book / ".git")
    done = update(book)
    assert done.returncode == 77 and "isn't a git checkout" in done.stderr
    trial(book).write_text("in the way")
    assert update(book, "--accept").returncode == 1
    assert update(book, "--accept", "--refuse").returncode == 2


def test_the_books_own_lists_stay_as_they_are() -> None:
    """Nothing newer, so nothing changes: comments, order and blank lines with it."""
    from importlib.metadata import distributions

    from tools.packages import normal

    there = {
        normal(one.metadata["Name"]): Package(
            one.metadata["Name"], one.version, tuple(one.requires or ())
        )
        for one in distributions()
    }
    texts = lists(ROOT)
    assert list(texts) == ["requirements.txt", "requirements-editions.txt", "requirements-test.txt"]
    plan = raised(texts, there, there)
    assert (plan.new, plan.rows) == (texts, [])


def test_a_package_that_an_earlier_list_needs_now_moves_there() -> None:
    texts = {
        "a.txt": "one==1\n",
        "b.txt": "-r a.txt\ntwo==1\n\n# What those bring along.\nsix==1\n",
    }
    one, two, six = (Package(name, "1") for name in ("one", "two", "six"))
    two = Package("two", "1", ("six",))
    before = {"one": one, "two": two, "six": six}
    plan = raised(texts, before, {**before, "one": Package("one", "2", ("six>=1",))})
    assert plan.new["a.txt"] == "one==2\n\n# What those bring along.\nsix==1\n"
    assert "six" not in plan.new["b.txt"]


def test_the_words_of_a_page() -> None:
    html = "<title>T</title><p>An <em>even</em>\n  line</p><img alt='a plot'><script>no</script>"
    assert lines(html) == ["T", "An even line", "[a plot]"]
    assert Change("x").pixels is None and Change("x").seen  # it may look different
    assert Change("x", pixels=1).seen and not Change("x", pixels=0).seen


def test_a_page_is_pictured_when_its_scripts_are_done(tmp_path: Path) -> None:
    for name, pause in (("old", 0), ("new", 200)):
        guide = tmp_path / name
        guide.mkdir()
        add = "document.body.append(document.createElement('hr'))"
        script = f"for (let k = 0; k < 20; ++k) setTimeout(() => {add}, k * {pause})"
        (guide / "index.html").write_text(f"<body><h1>T</h1><script>{script}</script></body>")
    _, (change,), unseen = compared(
        tmp_path / "old", tmp_path / "new", tmp_path / "pictures", lambda *_said: None
    )
    assert (unseen, change.text, change.pixels) == ("", [], 0)
