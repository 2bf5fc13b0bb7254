"""Who is in a sum: what the sum check says of a kernel at one shape.

It follows every value back to the elements of the input, and so needs a trial of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from tools.judging import Failure, explain, shapes, trial
from tools.judging.problems import PROBLEMS, Case, Shape
from tools.judging.puzzles import Puzzle
from tools.judging.trial import Kernel, Outcome

#: Elements and threads of a trial: the check takes a second for so many at the most.
MOST = 150_000
#: The same where nothing is wrong.
MOST_RIGHT = 5_000
#: How a finding begins that tells of one.
OLDER = "an older value may be read"
_PTX = re.compile(r" \(PTX line \d+\)")
_ELEMENTS = re.compile(r"\belements? \d+(?:(?:, | … )\d+)*")


@dataclass(frozen=True)
class Members:
    """What is in the sums that a kernel leaves, at one shape."""

    shape: Shape
    says: str  #: who is in them
    story: tuple[str, ...]  #: how that came about, or how far it holds
    places: tuple[str, ...]  #: lines of the source
    is_fault: bool
    proved: bool  #: for all data of this size and launch
    elements: int
    #: The elements that are not in them once: first, count, step, times.
    others: tuple[tuple[int, int, int, float], ...]

    def record(self) -> dict[str, Any]:
        """As --json has it."""
        return {
            "at": str(self.shape),
            "says": self.says,
            "proved": self.proved,
            "elements": self.elements,
            "others": [
                {"first": first, "count": count, "step": step, "times": times}
                for first, count, step, times in self.others
            ],
        }


def _members(
    kernel: Kernel, puzzle: Puzzle, shape: Shape, cases: list[Case], apart: int | None
) -> Members | None:
    """None where the check can't say which elements are in it."""
    try:
        outcome = trial.run(kernel, puzzle, shape, cases, checks="sum", apart=apart)
    except Failure:  # such as a lack of memory: then nothing is said
        return None
    known = [f for f in outcome.findings if f["check"] == "sum" and f["sum"]]
    if outcome.fault or not known:
        return None
    # Of several launches the last, after which nothing was tried.
    found = known[-1]
    held = found["sum"]
    # The check counts from where the allocation begins.
    before = max(b.begins for b in cases[-1].buffers.values() if b.role in ("in", "work")) // 4
    said = [
        _ELEMENTS.sub(lambda names: _earlier(names[0], before), _PTX.sub("", line))
        for line in (found["what"], *found["details"])
    ]
    return Members(
        shape,
        said[0],
        tuple(line for line in said[1:] if not line.startswith("in ")),
        tuple(found["places"]),
        found["fault"],
        held["proved"] and not outcome.wrong and all(f["check"] == "sum" for f in outcome.findings),
        held["elements"] - before,
        tuple((int(a) - before, int(b), int(c), float(d)) for a, b, c, d in held["others"]),
    )


def _earlier(names: str, by: int) -> str:
    """Elements' names, with numbers that are so much lower."""
    return re.sub(r"\d+", lambda number: str(int(number[0]) - by), names)


def _is_affordable(shape: Shape, most: int) -> bool:
    return shape.n > 0 and shape.n + shape.blocks * max(shape.threads, 32) <= most


def of_wrong(kernel: Kernel, puzzle: Puzzle, outcome: Outcome, seed: str) -> Members | None:
    """Who is missing, doubled or subtracted in a wrong sum; None where that isn't what is wrong."""
    is_sum = PROBLEMS[puzzle.problem].is_sum and "should be" in outcome.wrong
    if not is_sum or not _is_affordable(outcome.shape, MOST):
        return None
    shape = outcome.shape
    cases = [trial.case_at(puzzle, shape, seed, kernel)]
    if outcome.launches > 1:
        cases = [
            trial.case_at(puzzle, shape, f"{seed} {k}", kernel) for k in range(outcome.launches)
        ]
    members = _members(kernel, puzzle, shape, cases, outcome.schedule or None)
    return members if members and members.is_fault else None


def line_of(members: Members, name: str) -> str:
    """The line that helps most: who, and the first that is known of how."""
    said = members.says
    story = next((line for line in members.story if line.startswith("element")), "")
    who, _, how = story.partition(": ")
    if how and said.startswith((f"{who} ", "every element ")):
        said += f": {how}"
    elif story:
        said += f"; {story}"
    elif places := explain.places(" ".join(members.places), name):
        said += f": {places}"
    return f"{said}, at {members.shape}"


def _usual(puzzle: Puzzle, seed: str) -> list[Shape]:
    """Shapes for a kernel that is right: of several blocks, if there are any."""
    side = PROBLEMS[puzzle.problem].side
    usual = [s for s in shapes.checked(puzzle, side, seed) if _is_affordable(s, MOST_RIGHT)]
    return [s for s in usual if s.blocks > 1] or usual


def of_right(kernel: Kernel, puzzle: Puzzle, seed: str) -> Members | None:
    """What is proved of a kernel that is right; None where nothing is."""
    usual = _usual(puzzle, seed)
    if not PROBLEMS[puzzle.problem].is_sum or not usual:
        return None
    shape = usual[-1]
    members = _members(kernel, puzzle, shape, [trial.case_at(puzzle, shape, seed, kernel)], None)
    return members if members and members.proved else None


def with_older_values(kernel: Kernel, puzzle: Puzzle, seed: str) -> Outcome | None:
    """A trial that goes wrong where a read is given an older value, since nothing orders it after
    another block's write; None where none does. Its findings are then of such reads alone."""
    several = [s for s in _usual(puzzle, seed) if s.blocks > 1]
    if not several:
        return None
    # Who adds nothing to what it reads shows nothing.
    several = [s for s in several if s.n > (s.blocks - 1) * s.threads] or several
    # Of two blocks one alone has what another reads.
    many = [s for s in several if s.blocks > 2] or several
    for shape in dict.fromkeys((several[-1], many[-1], max(many, key=lambda s: (s.blocks, s.n)))):
        case = trial.case_at(puzzle, shape, seed, kernel)
        try:
            outcome = trial.run(kernel, puzzle, shape, [case], checks="sum")
        except Failure:  # such as a lack of memory: then nothing is said
            continue
        older = tuple(f for f in outcome.findings if f["what"].startswith(OLDER))
        if outcome.wrong and older:
            return replace(outcome, findings=older)
    return None
