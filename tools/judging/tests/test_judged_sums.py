"""Who is in a sum: a wrong one is told by its elements, a right one is proved where it can be, and
of anything else nothing is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.judging import puzzles, sums
from tools.judging.compiler import Refusal, compile_to_ptx
from tools.judging.judge import judge_ptx
from tools.judging.problems import PROBLEMS, Chance
from tools.judging.puzzles import Puzzle
from tools.judging.tests.conftest import ptx
from tools.judging.tests.test_cheats import verdict_on
from tools.judging.trial import Kernel
from tools.judging.verdict import Verdict

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device", "judge_kernels")]

CHEATS = Path(__file__).parent / "cheats"
SUMS = [p for p in puzzles.all_puzzles() if PROBLEMS[p.problem].is_sum]
OTHERS = [p for p in puzzles.all_puzzles() if not PROBLEMS[p.problem].is_sum]
KEY = "chapter02/1"


def kernel_of(puzzle: Puzzle) -> Kernel:
    return Kernel(ptx("answers", puzzle.file_name), puzzle.form.mangled, puzzle.form)


#: Its answer compares elements, so for other elements it may take another way.
DECIDED_BY_DATA = "chapter11/2"

#: A block reads what others hand over by a flag or a ticket: another order is another way.
HANDED_OVER = ("chapter08/2", "chapter08/3", "chapter14/1")


@pytest.mark.parametrize(
    "puzzle", [p for p in SUMS if p.key != DECIDED_BY_DATA], ids=lambda puzzle: puzzle.key
)
def test_each_answer_s_sum_is_proved(puzzle: Puzzle) -> None:
    members = sums.of_right(kernel_of(puzzle), puzzle, "seed")
    assert members and members.proved and not members.others
    assert members.elements == members.shape.n > 100
    assert any(line.startswith("proved for all data of this size and") for line in members.story)
    ordered = any("for the order in which blocks ran here" in line for line in members.story)
    assert ordered == (puzzle.key in HANDED_OVER)
    floats = any("how they round is not looked at" in line for line in members.story)
    assert floats == PROBLEMS[puzzle.problem].floats


def test_a_sum_that_compares_its_elements_is_not_proved_and_its_fault_is_named(
    tmp_path: Path,
) -> None:
    puzzle = puzzles.find(DECIDED_BY_DATA)
    assert sums.of_right(kernel_of(puzzle), puzzle, "seed") is None
    source = puzzle.answer.replace(
        "std::size_t n) {\n", "std::size_t n) {\n  if (n > 50) n -= 1;\n"
    )
    (tmp_path / "mine.cu").write_text(source, encoding="utf-8")
    compiled = compile_to_ptx(tmp_path / "mine.cu", source)
    assert not isinstance(compiled, Refusal), compiled.said
    verdict = judge_ptx("mine.cu", source, compiled, puzzle)
    assert verdict.sum
    last = verdict.sum.shape.n - 1
    assert verdict.line.startswith(f"element {last} is missing: no thread reads it, at n = ")


@pytest.mark.parametrize("puzzle", OTHERS, ids=lambda puzzle: puzzle.key)
def test_of_what_is_no_sum_nothing_is_said(puzzle: Puzzle) -> None:
    assert sums.of_right(kernel_of(puzzle), puzzle, "seed") is None


def test_a_wrong_sum_is_told_by_its_elements_in_the_record_too() -> None:
    verdict = verdict_on(CHEATS / "adds_a_neighbour_again.cu")
    record = verdict.record()["sum"]
    shape = verdict.headline.removeprefix("wrong at ")
    assert record == {
        "at": shape,
        "says": "element 64 is in it twice",
        "proved": False,
        "elements": int(shape.split()[2].rstrip(",")),
        "others": [{"first": 64, "count": 1, "step": 1, "times": 2.0}],
    }
    assert verdict.line.startswith("element 64 is in it twice: added again at tree.cuh:10")
    assert "PTX" not in verdict.text(True)


def edited(folder: Path, line: str) -> tuple[str, str]:
    """The answer with another line in its blank: source and PTX."""
    answer = puzzles.find(KEY).answer
    source = re.sub(r"tile\[t\] = i < n.*", line, answer)
    assert source != answer
    (folder / "mine.cu").write_text(source, encoding="utf-8")
    compiled = compile_to_ptx(folder / "mine.cu", source)
    assert not isinstance(compiled, Refusal), compiled.said
    return source, compiled


def judged(folder: Path, line: str) -> Verdict:
    return judge_ptx("mine.cu", *edited(folder, line), puzzles.find(KEY))


def test_a_branch_on_the_data_is_right_and_not_proved(tmp_path: Path) -> None:
    line = "tile[t] = i < n ? in[i] : 0;\n  if (tile[t] < 0) __nanosleep(20);"
    puzzle = puzzles.find(KEY)
    _, compiled = edited(tmp_path, line)
    kernel = Kernel(compiled, puzzle.form.mangled, puzzle.form)
    assert sums.of_right(kernel, puzzle, "seed") is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tile[t] = i < n && i != 40 ? in[i] : 0;", "element 40 is missing: no thread reads it"),
        (
            "tile[t] = n < 9 || i >= n ? 0 : in[i];\n  if (n < 9 && i < n) tile[t] = in[i];"
            "\n  if (n > 8) tile[t] = -tile[t];",
            "every element is subtracted: turned round at mine.cu:",
        ),
        ("tile[t] = i < n ? (i == 5 ? -in[i] : in[i]) : 0;", "element 5 is subtracted: turned"),
        ("tile[t] = i < n ? 3 * in[i] : 0;", "element 0 is in it 3 times: added again at mine.cu:"),
    ],
    ids=["missing", "all subtracted", "one subtracted", "all of them"],
)
def test_planted_faults_are_named(tmp_path: Path, line: str, said: str) -> None:
    verdict = judged(tmp_path, line)
    assert verdict.reason == "wrong" and verdict.sum
    assert said in verdict.line


def test_elements_count_from_where_the_input_begins(tmp_path: Path) -> None:
    """Not from where its allocation does."""
    puzzle = puzzles.find("chapter07/2")
    source = puzzle.answer.replace("{\n", "{\n  if (n > 50) n -= 1;\n", 1)
    (tmp_path / "mine.cu").write_text(source, encoding="utf-8")
    compiled = compile_to_ptx(tmp_path / "mine.cu", source)
    assert not isinstance(compiled, Refusal), compiled.said
    verdict = judge_ptx("mine.cu", source, compiled, puzzle)
    assert verdict.sum and verdict.sum.elements == verdict.sum.shape.n
    last = verdict.sum.shape.n - 1
    assert verdict.line.startswith(f"element {last} is missing: no thread reads it, at n = ")
    assert PROBLEMS[puzzle.problem].make(verdict.sum.shape, Chance(0)).buffers["in"].begins > 0
    assert verdict.sum.others == ((last, 1, 1, 0.0),)


def test_a_right_verdict_has_its_proof_in_the_details_alone() -> None:
    puzzle = puzzles.find(KEY)
    verdict = Verdict(puzzle.key, puzzle.title, headline="right")
    verdict.sum = sums.of_right(kernel_of(puzzle), puzzle, "seed")
    assert verdict.sum
    assert "proved" not in verdict.text(details=False)
    told = verdict.text(details=True)
    assert f"at {verdict.sum.shape}: {verdict.sum.says}" in told
    assert "proved for all data of this size and launch" in told
    assert verdict.record()["sum"]["proved"] is True
    assert Verdict(puzzle.key, puzzle.title).record()["sum"] is None
