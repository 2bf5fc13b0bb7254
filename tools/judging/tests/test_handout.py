"""``tools/judge new all``: a set of puzzles to hand out, without an answer in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.judging import ROOT, puzzles
from tools.judging.puzzles import Puzzle

pytestmark = pytest.mark.all

EVERY = puzzles.all_puzzles()


def new(*given: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "tools" / "judge", "new", *given], capture_output=True, text=True, check=False
    )


def hidden(puzzle: Puzzle) -> set[str]:
    """The lines that a reader has to find: those between the marks, unless they stand elsewhere."""
    inside = False
    found: set[str] = set()
    outside: set[str] = set()
    for line in map(str.strip, puzzle.answer.splitlines()):
        if line.startswith(("// [blank]", "// [/blank]")):
            inside = line.startswith("// [blank]")
        elif line.startswith("//="):
            outside.add(line.removeprefix("//=").strip())
        else:
            (found if inside else outside).add(line)
    return {line for line in found - outside if len(line) > 3}


def leaked(puzzle: Puzzle, text: str) -> set[str]:
    lines = {line.strip() for line in text.splitlines()}
    return hidden(puzzle) & lines | {one for one in (puzzle.hint,) if one in " ".join(lines)}


@pytest.fixture(scope="module")
def handout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class") / "hand out"
    done = new("all", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{len(EVERY)} skeletons" in done.stdout
    return folder


def test_it_has_every_puzzle_and_nothing_else(handout: Path) -> None:
    assert {path.name for path in handout.iterdir()} == {puzzle.file_name for puzzle in EVERY}


@pytest.mark.parametrize("puzzle", EVERY, ids=lambda puzzle: puzzle.key)
def test_no_answer_is_in_it(handout: Path, puzzle: Puzzle) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in handout.iterdir())
    own = (handout / puzzle.file_name).read_text(encoding="utf-8")
    assert leaked(puzzle, own) == set()
    assert "[blank]" not in text and puzzle.hint not in text
    # The check sees an answer where there is one.
    assert leaked(puzzle, puzzles.solution(puzzle.answer)), puzzle.key
    assert f"// judge: {puzzle.key}" in own


def test_one_chapter(tmp_path: Path) -> None:
    assert new("chapter04", tmp_path).returncode == 0
    names = {puzzle.file_name for puzzle in EVERY if puzzle.key.startswith("chapter04/")}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_what_is_there_stays_and_nothing_joins_it(tmp_path: Path) -> None:
    mine = tmp_path / EVERY[-1].file_name
    mine.write_text("mine")
    done = new("all", tmp_path)
    assert done.returncode == 2
    assert "is there already; name a folder without it" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]
    assert mine.read_text() == "mine"


def test_a_chapter_without_puzzles(tmp_path: Path) -> None:
    done = new("chapter77", tmp_path)
    assert done.returncode == 2 and "chapter77" in done.stderr
    assert not list(tmp_path.iterdir())
