"""Puzzles: folders chapters/chapterNN_name/puzzles/K_name, each with puzzle.toml and answer.cu.

A folder is all that a puzzle takes. Its skeleton is the answer without what stands between
``// [blank]`` and ``// [/blank]``; a line ``//= code`` there stands in the skeleton alone. A file
``problems.py`` beside the folders adds problems to the judge's.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from common.arithmetic import whole_value
from tools.judging import ROOT, Failure
from tools.judging.counts import ATOMICS, COUNTED
from tools.judging.form import Form, form_of
from tools.judging.problems import PROBLEMS

_FOLDER = re.compile(r"(chapter\d\d)_\w+/puzzles/(\d+)_\w+")
_KEY = re.compile(r"(?:chapter)?0*(\d+)/0*(\d+)", re.IGNORECASE | re.ASCII)
_MARK = re.compile(r"^\s*//[ \t]*judge[ \t]*:[ \t]*(\S+)", re.MULTILINE | re.IGNORECASE)
_NEEDED = {"title", "task", "hint", "problem"}
_ALLOWED = _NEEDED | {"blocks", "from", "to", "grid", "grid_y", "share", "shared"}
_ALLOWED |= {"values", "book", "goal"}
MOST_N = 2**20 + 1
BLOCKS = {
    "any": [1, 2, 31, 32, 33, 64, 96, 100, 128, 160, 256, 1023, 1024],
    "warps": [32, 64, 96, 128, 256, 992, 1024],
    "powers": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
}
_DRAWN = {"any": 1, "warps": 32}
_BLOCKS_SAID = {
    "any": "any block size",
    "warps": "any block of whole warps",
    "powers": "any block that is a power of two",
}


@dataclass(frozen=True)
class Goal:
    """What a counter may come to."""

    says: str
    count: str
    most: str  #: a formula
    at_least: int = 1  #: the smallest n for which it holds


@dataclass(frozen=True)
class Puzzle:
    """One puzzle; `key` is chapter04/2."""

    folder: Path
    key: str
    title: str
    task: str
    hint: str
    problem: str
    blocks: tuple[tuple[int, int], ...] = ()
    blocks_said: str = ""
    drawn: int = 0  #: one more block is drawn for each file, a multiple of so many threads
    least: int = 0
    most: int = MOST_N
    grids: tuple[str, ...] = ("up(n, block)",)
    grid_y: str = "1"
    share: str = "block"  #: elements that the blocks take at a time, in turn; 0: as they like
    shared: str = "0"
    values: dict[str, tuple[int, ...]] = field(default_factory=dict)
    book: tuple[str, str] | None = None  #: chapter and variant
    goals: tuple[Goal, ...] = ()

    @cached_property
    def answer(self) -> str:
        return (self.folder / "answer.cu").read_text(encoding="utf-8")

    @cached_property
    def form(self) -> Form:
        return form_of(self.answer)

    @property
    def file_name(self) -> str:
        return f"{self.key.replace('/', '_')}_{self.folder.name.partition('_')[2]}.cu"

    @property
    def promise(self) -> str:
        """What a kernel must be right for."""
        sizes = f"n from {self.least} to {power(self.most)}"
        return f"{sizes}, {self.blocks_said}"

    @property
    def launch(self) -> str:
        """How it is launched, in words."""
        *others, last = map(formula, self.grids)
        grid = f"{', '.join(others)} or {last}" if others else last
        if self.grid_y != "1":
            grid += f" by {formula(self.grid_y)}"
        said = "1 block" if grid == "1" else f"{grid} blocks"
        if any("up(" in each for each in self.grids):
            said += " (rounded up, at least 1)"
        if PROBLEMS[self.problem].shares and self.share != "0":
            one = self.grids == (f"up(n, {self.share})",)
            few = "as many neighbouring elements as it has threads"
            many = f"{formula(self.share)} neighbouring elements"
            takes = f"each block takes {few if self.share == 'block' else many}"
            said += f"; {takes}" if one else f"; in turn, {takes}, until none are left"
        if self.shared != "0":
            said += f"; {formula(self.shared)} bytes of dynamic shared memory"
        return said

    def skeleton(self) -> str:
        """What the reader begins with."""
        lines = [f"judge: {self.key}", self.title, ""]
        lines += textwrap.wrap(" ".join(self.task.split()), 96)
        lines += ["", *(f"Goal: {goal.says}" for goal in self.goals)]
        if not any(goal.count in ATOMICS for goal in self.goals):
            lines.append("Use no atomics.")
        lines += textwrap.wrap(f"Right for: {self.promise}", 96)
        lines += textwrap.wrap(f"Launched with: {self.launch}", 96)
        lines += ["", "When you think it is right: tools/judge and this file's name."]
        head = "".join(f"// {line}".rstrip() + "\n" for line in lines)
        return f"{head}{blank(self.answer)}"


def formula(text: str) -> str:
    """A formula as a reader would write it."""

    def divided(found: re.Match[str]) -> str:
        a, b = (t if t.isalnum() else f"({t})" for t in found.groups())
        return f"{a} / {b}"

    whole = re.fullmatch(r"up\(([^,()]+), ([^()]+)\)", text)
    said = re.sub(r"up\(([^,()]+), ([^()]+)\)", divided, text)
    if not re.search(r"[a-z]", text):
        said = str(whole_value(text, {}))
    return said if whole or "up(" not in text else re.sub(r"(\w+ / \w+)", r"(\1)", said)


def _check(puzzle: Puzzle) -> None:
    """Refuses names that the judge doesn't know."""
    if puzzle.problem not in PROBLEMS:
        raise ValueError(f"problem {puzzle.problem}: the judge knows {', '.join(PROBLEMS)}")
    names = PROBLEMS[puzzle.problem].names
    for parameter in puzzle.form.parameters:
        if parameter.name not in names and parameter.name not in puzzle.values:
            raise ValueError(f"{parameter.name}: {puzzle.problem} has {', '.join(sorted(names))}")
    numbers = dict.fromkeys(("n", "block", "grid", "warps", *puzzle.values), 1)
    for goal in puzzle.goals:
        if goal.count not in COUNTED:
            raise ValueError(f"{goal.count}: the judge counts {', '.join(COUNTED)}")
        whole_value(goal.most, numbers)
    for text in (*puzzle.grids, puzzle.grid_y, puzzle.share, puzzle.shared):
        whole_value(text, numbers)


def power(n: int) -> str:
    """2^20 + 1 for such a number."""
    for add in (0, 1, -1):
        bits = n - add
        if bits >= 1024 and bits & (bits - 1) == 0:
            sign = {0: "", 1: " + 1", -1: " - 1"}[add]
            return f"2^{bits.bit_length() - 1}{sign}"
    return str(n)


def blank(answer: str) -> str:
    """An answer without what is to be found."""
    out: list[str] = []
    inside = False
    for number, line in enumerate(answer.splitlines(), 1):
        mark = re.fullmatch(r"(\s*)// \[(/?)blank\] ?(.*)", line)
        if mark:
            if inside != bool(mark[2]):
                raise ValueError(f"line {number}: [blank] and [/blank] don't pair")
            inside = not inside
            if inside:
                out.append(f"{mark[1]}// YOURS: {mark[3]}".rstrip(": "))
        elif not inside:
            out.append(line)
        elif given := re.fullmatch(r"(\s*)//= ?(.*)", line):
            out.append(given[1] + given[2])
    if inside:
        raise ValueError("a [blank] that nothing ends")
    if len(out) == len(answer.splitlines()):
        raise ValueError("an answer without a [blank]: its skeleton would be the answer")
    return "\n".join(out) + "\n"


def solution(answer: str) -> str:
    """An answer without the marks."""
    return "".join(
        f"{line}\n" for line in answer.splitlines() if not re.match(r"\s*//( \[/?blank\]|=)", line)
    )


@cache
def _add_problems(file: Path) -> None:
    """A chapter's own problems, if it has any, join the judge's."""
    spec = spec_from_file_location(f"problems_of_{file.parent.parent.name}", file)
    if file.is_file() and spec and spec.loader:
        try:
            spec.loader.exec_module(module_from_spec(spec))
        except Exception as error:  # whatever is wrong with it
            raise ValueError(f"beside it, {file.name}: {error}") from None


def read(folder: Path) -> Puzzle:
    """The puzzle that a folder holds. A fault in it is said with the file's name."""
    file = folder / "puzzle.toml"
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        _add_problems(folder.parent / "problems.py")
        puzzle = _puzzle(folder, data)
        blank(puzzle.answer)
        _check(puzzle)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise Failure(f"{file}: {error}") from None
    return puzzle


def _puzzle(folder: Path, data: dict[str, Any]) -> Puzzle:
    if missing := _NEEDED - data.keys():
        raise ValueError(f"{', '.join(sorted(missing))} is missing")
    if unknown := data.keys() - _ALLOWED:
        raise ValueError(
            f"{', '.join(sorted(unknown))}: a puzzle has {', '.join(sorted(_ALLOWED))}"
        )
    where = _FOLDER.search(folder.as_posix())
    if not where:
        raise ValueError("a puzzle lies in chapters/chapterNN_name/puzzles/K_name")
    asked = data.get("blocks", "any")
    blocks = BLOCKS[asked] if isinstance(asked, str) else asked
    pairs = tuple((each, 1) if isinstance(each, int) else (each[0], each[1]) for each in blocks)
    listed = ", ".join(f"{x} by {y}" if y > 1 else str(x) for x, y in pairs)
    grid = data.get("grid", "up(n, block)")
    chapter, _, variant = data.get("book", "").partition(" ")
    return Puzzle(
        folder=folder,
        key=f"{where[1]}/{where[2]}",
        title=data["title"],
        task=data["task"].strip(),
        hint=data["hint"].strip(),
        problem=data["problem"],
        blocks=pairs,
        drawn=_DRAWN.get(asked, 0) if isinstance(asked, str) else 0,
        blocks_said=_BLOCKS_SAID[asked] if isinstance(asked, str) else f"blocks of {listed}",
        least=data.get("from", 0),
        most=data.get("to", MOST_N),
        grids=(grid,) if isinstance(grid, str) else tuple(grid),
        grid_y=data.get("grid_y", "1"),
        share=data.get("share", "block"),
        shared=data.get("shared", "0"),
        values={name: tuple(values) for name, values in data.get("values", {}).items()},
        book=(chapter, variant) if variant else None,
        goals=tuple(
            Goal(each["says"], each["count"], str(each["most"]), each.get("from", 1))
            for each in data.get("goal", [])
        ),
    )


def all_puzzles(root: Path = ROOT) -> list[Puzzle]:
    """Those of all chapters, in the book's order."""
    folders = (file.parent for file in root.glob("chapters/chapter*/puzzles/*/puzzle.toml"))
    puzzles = [read(folder) for folder in folders]
    return sorted(puzzles, key=lambda p: (p.key.partition("/")[0], int(p.key.partition("/")[2])))


def find(key: str, root: Path = ROOT) -> Puzzle:
    """The puzzle of a key, which may also be written 4/2, 04/2 or Chapter4/2."""
    if found := _KEY.fullmatch(key):
        key = f"chapter{found[1]:0>2}/{found[2]}"
    puzzles = {puzzle.key: puzzle for puzzle in all_puzzles(root)}
    if key not in puzzles:
        near = [each for each in puzzles if each.startswith(key.partition("/")[0] + "/")]
        raise Failure(
            f"no puzzle {key}: there are {', '.join(near)}"
            if near
            else f"no puzzle {key}: tools/judge --list shows them all"
        )
    return puzzles[key]


def puzzle_named_in(source: str) -> str | None:
    """The puzzle that a file says it is for."""
    found = _MARK.search(source)
    return found[1] if found else None
