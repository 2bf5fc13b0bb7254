"""The puzzles: every answer is accepted, every skeleton is rejected, a folder makes one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from common.arithmetic import whole_value
from tools.judging import ROOT, Failure, form, puzzles, shapes
from tools.judging.counts import COUNTED
from tools.judging.judge import judge_ptx, recorded
from tools.judging.problems import PROBLEMS
from tools.judging.puzzles import Puzzle
from tools.judging.tests.conftest import ptx

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device", "judge_kernels")]

EVERY = puzzles.all_puzzles()
each = pytest.mark.parametrize("puzzle", EVERY, ids=lambda puzzle: puzzle.key)


def test_every_chapter_has_two_to_four() -> None:
    keys = [puzzle.key.split("/") for puzzle in EVERY]
    chapters = {chapter for chapter, _ in keys}
    assert len(EVERY) >= 36 and len(chapters) >= 12
    for name in chapters:
        numbers = [int(number) for chapter, number in keys if chapter == name]
        assert 2 <= len(numbers) <= 4, name
        assert numbers == list(range(1, len(numbers) + 1))


@each
def test_an_answer_is_accepted(puzzle: Puzzle) -> None:
    name = puzzle.file_name
    verdict = judge_ptx(name, puzzle.answer, ptx("answers", name), puzzle)
    assert verdict.reason == "", verdict.text(True)
    side = PROBLEMS[puzzle.problem].side
    assert verdict.shapes >= (15 if side else 250)
    assert verdict.schedules == 4


@each
def test_a_skeleton_is_rejected(puzzle: Puzzle) -> None:
    name = puzzle.file_name
    verdict = judge_ptx(name, puzzle.skeleton(), ptx("skeletons", name), puzzle)
    assert verdict.reason in ("wrong", "goal", "race", "memory", "init", "sync"), verdict.text(True)
    assert verdict.line


@each
def test_a_puzzle_is_whole(puzzle: Puzzle) -> None:
    assert puzzle.goals and puzzle.task.endswith(".") and puzzle.hint
    names = {parameter.name for parameter in puzzle.form.parameters}
    assert names - PROBLEMS[puzzle.problem].names <= puzzle.values.keys()
    shape = shapes.at(puzzle, 100, puzzle.blocks[-1])
    for goal in puzzle.goals:
        assert goal.count in COUNTED
        assert whole_value(goal.most, shapes.names_of(shape)) >= 0
    assert puzzles.puzzle_named_in(puzzle.skeleton()) == puzzle.key
    assert "[blank]" not in puzzle.skeleton() and "//=" not in puzzle.skeleton()


@each
def test_the_form_is_the_compilers(puzzle: Puzzle) -> None:
    text = ptx("answers", puzzle.file_name)
    assert form.entries(text) == [puzzle.form.mangled]


def test_the_books_kernel_stands_beside_the_readers() -> None:
    puzzle = puzzles.find("chapter02/1")
    verdict = judge_ptx("a.cu", puzzle.answer, ptx("answers", puzzle.file_name), puzzle)
    assert verdict.book == "chapter02_smem smem"
    assert ("global_load_sectors", 8192, 8192) in verdict.counts
    assert "chapter02_smem smem" in verdict.text(True)


@pytest.mark.parametrize(
    ("key", "count"),
    [
        ("chapter01/3", "global_load_sectors"),
        ("chapter03/3", "shared_load_conflicts"),
        ("chapter07/3", "global_load_requests"),
    ],
)
def test_an_answer_beats_the_rung(key: str, count: str) -> None:
    puzzle = puzzles.find(key)
    verdict = judge_ptx("a.cu", puzzle.answer, ptx("answers", puzzle.file_name), puzzle)
    (mine, book), *_more = [(mine, book) for name, mine, book in verdict.counts if name == count]
    assert book is not None and mine < book


def test_where_the_book_is_named_it_has_counts() -> None:
    named = [puzzle for puzzle in EVERY if puzzle.book]
    missing = []
    for puzzle in named:
        usual = next((b for b in puzzle.blocks if b == (256, 1)), puzzle.blocks[-1])
        if not recorded(puzzle, shapes.at(puzzle, 2**16, usual)):
            missing.append((puzzle.key, puzzle.book))
    assert missing == []


@pytest.mark.parametrize("key", ["chapter02/1", "02/1", "2/1", "Chapter2/01", "CHAPTER02/1"])
def test_a_key_may_be_written_in_other_ways(key: str) -> None:
    assert puzzles.find(key).key == "chapter02/1"
    for line in (f"// judge: {key}", f"//judge:{key}", f"  // Judge : {key}  "):
        assert puzzles.puzzle_named_in(f"// mine\n{line}\nint a;\n") == key


def test_a_word_is_no_key() -> None:
    for key in ("2", "2/", "/1", "chapter/1", "xchapter2/1", "2/1/1", "²/1"):
        with pytest.raises(Failure, match="no puzzle"):
            puzzles.find(key)
    assert puzzles.puzzle_named_in("int a;  // judge: 2/1\n// the judge: 2/1\n") is None


# ------------------------------------------------------------------ skeletons


def test_a_blank_is_taken_out() -> None:
    answer = "a\n  // [blank] do it\n  //= given();\n  done();\n  // [/blank]\nb\n"
    assert puzzles.blank(answer) == "a\n  // YOURS: do it\n  given();\nb\n"
    assert puzzles.solution(answer) == "a\n  done();\nb\n"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("a\n", "its skeleton would be the answer"),
        ("// [blank]\na\n", "nothing ends"),
        ("// [/blank]\n", "don't pair"),
        ("// [blank]\n// [blank]\n", "don't pair"),
    ],
)
def test_a_faulty_blank_is_found(answer: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        puzzles.blank(answer)


def _copy(tmp_path: Path, name: str = "7_mine") -> Path:
    folder = tmp_path / "chapters/chapter02_smem/puzzles" / name
    shutil.copytree(ROOT / "chapters/chapter02_smem/puzzles/1_load", folder)
    return folder


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("hint =", "hind =", "hint is missing"),
        ("book =", "books =", "books: a puzzle has"),
        ('"partial_sums"', '"partial_sum"', "partial_sum: the judge knows"),
        ('"global_load_sectors"', '"sectors_read"', "sectors_read: the judge counts"),
        ('"up(n, 8)"', '"up(m, 8)"', "is not a formula of"),
        ("[[goal]]", "[goal", "puzzle.toml"),
    ],
)
def test_a_fault_in_a_puzzle_is_said(tmp_path: Path, old: str, new: str, why: str) -> None:
    file = _copy(tmp_path) / "puzzle.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(Failure) as raised:
        puzzles.all_puzzles(tmp_path)
    assert why in str(raised.value) and str(file) in str(raised.value)


def test_parameters_that_the_problem_lacks_are_said(tmp_path: Path) -> None:
    file = _copy(tmp_path) / "answer.cu"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("const int* in", "const int* input"), encoding="utf-8")
    with pytest.raises(Failure, match="input: partial_sums has"):
        puzzles.all_puzzles(tmp_path)


def test_a_chapter_may_bring_problems_of_its_own(tmp_path: Path) -> None:
    folder = _copy(tmp_path)
    toml = folder / "puzzle.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace('"partial_sums"', '"mine"'), "utf-8")
    with pytest.raises(Failure, match="mine: the judge knows"):
        puzzles.all_puzzles(tmp_path)
    other = _copy(tmp_path / "other")
    (other / "puzzle.toml").write_text(toml.read_text(encoding="utf-8"), "utf-8")
    problems = other.parent / "problems.py"
    problems.write_text("import nothing_of_that_name\n", encoding="utf-8")
    with pytest.raises(Failure, match=r"beside it, problems\.py: No module named"):
        puzzles.all_puzzles(tmp_path / "other")
    problems.write_text(
        "from tools.judging.problems import partial_sums, problem\n\n"
        "@problem('in', 'partial')\ndef mine(shape, chance):\n"
        "    return partial_sums(shape, chance)\n",
        encoding="utf-8",
    )
    (puzzle,) = puzzles.all_puzzles(tmp_path / "other")
    del PROBLEMS[puzzle.problem]


def test_a_folder_is_all_that_a_puzzle_takes(tmp_path: Path) -> None:
    """In a copy of what the judge reads, a teacher's folder is listed, written out and judged."""
    _copy(tmp_path, "1_load")
    added = _copy(tmp_path)
    shutil.copytree(ROOT / "tools/judging", tmp_path / "tools/judging", ignore=lambda *_: {"tests"})
    for name in ("judge", "terminal.py", "python.sh"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools" / name)
    shutil.copytree(ROOT / "common/records", tmp_path / "common/records")
    for name in ("arithmetic.py", "counters.json", "files.py"):
        shutil.copy(ROOT / "common" / name, tmp_path / "common")
    (tmp_path / "tools/emulator").mkdir()
    shutil.copy(ROOT / "tools/emulator/folder", tmp_path / "tools/emulator/folder")
    toml = added / "puzzle.toml"
    toml.write_text(
        toml.read_text(encoding="utf-8").replace("Fill the tile", "A teacher's own"),
        encoding="utf-8",
    )

    def judge(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [tmp_path / "tools/judge", *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ, cwd=tmp_path
        )

    assert "chapter02/7  A teacher's own" in judge("--list").stdout
    assert judge("new", "chapter02/7").returncode == 0
    file = tmp_path / "chapter02_7_mine.cu"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("// YOURS: put element i into slot t", "tile[t] = i < n ? in[i] : 0;"),
        encoding="utf-8",
    )
    done = judge(file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("accepted  chapter02/7 A teacher's own: right at ")
    assert "1 of 2 solved" in judge("--list").stdout
