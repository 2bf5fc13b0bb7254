"""Which tests run when. A test file says so once, in its ``pytestmark``.

    pytestmark = pytest.mark.all                                     # of ./tools/test --all
    pytestmark = [pytest.mark.release, pytest.mark.built("guide")]   # of --release, reads the guide

A file with neither belongs to the default tier, for all day. ``built`` names the
CMake targets that its tests read. A single test goes up a tier, with what it alone reads, by marks
of its own. All this is read from the source, so that nothing is imported which doesn't run.
ctest's tests have a label each, their tier and their program: ``all.buffer_test``. The default tier
has none of them.

usage: tools/tiers.py --tier=TIER|PATH...

Prints what tools/test needs to know of a tier, or of these files and folders, a line each: the
targets to build, ctest's labels as an expression, how many files pytest runs, and its arguments.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: From what you run all day to what a release waits for; each has those before it.
TIERS = ("default", "all", "release")
#: What tests every chapter. Asked for a chapter's folder, these run for that chapter alone.
SHARED = [
    *(f"chapters/tests/test_{name}.py" for name in ("programs", "results", "schedules")),
    *(f"chapters/tests/test_embedded_{name}.py" for name in ("checks", "sums")),
    "tools/judging/tests/test_puzzles.py",
]
#: How a C++ test's program is named before its source's name, by the folder that this is in.
PREFIXES = {"common/tests": "", "tools/emulator/tests": "emu_", "chapters": "chapter_"}


def highest(marks: Iterable[str]) -> str:
    """The tier of something with these marks."""
    return max((mark for mark in marks if mark in TIERS), key=TIERS.index, default=TIERS[0])


def is_above(tier: str, asked: str) -> bool:
    return TIERS.index(tier) > TIERS.index(asked)


Marks = dict[str, list[str]]


def _marks(*expressions: ast.expr) -> Marks:
    """The names behind ``pytest.mark.`` in them, with what is given to those."""
    found: Marks = {}
    for node in (node for each in expressions for node in ast.walk(each)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pytest.mark":
            found.setdefault(node.attr, [])
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.built":
            found["built"] = [ast.literal_eval(argument) for argument in node.args]
    return found


@cache
def _said(file: Path) -> tuple[Marks, list[Marks]]:
    """What a file says of all its tests, and what single ones add."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    of_all = [
        statement.value
        for statement in body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark"
    ]
    single = [_marks(*each.decorator_list) for each in body if isinstance(each, ast.FunctionDef)]
    return _marks(*of_all), single


def tier_of(file: Path) -> str:
    return highest(_said(file)[0])


def targets_of(file: Path, asked: str = TIERS[-1]) -> list[str]:
    """What is to be built before the file's tests of a tier run."""
    of_all, single = _said(file)
    run = [of_all, *(each for each in single if not is_above(highest(each), asked))]
    return [target for each in run for target in each.get("built", [])]


def test_files(folder: Path = ROOT, pattern: str = "test_*.py") -> list[Path]:
    """The test files under a folder; one that is such a file itself is all there is."""
    if folder.is_file():
        return [folder] if folder.match(pattern) else []
    made = (".", "build")
    places = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(made)]
    here = [path for path in folder.glob(pattern) if folder.name == "tests"]
    return sorted(here + [file for place in places for file in test_files(place, pattern)])


def programs(path: Path) -> Iterator[str]:
    """The programs of the C++ tests that a path names."""
    for file in test_files(path, "*_test.c*"):
        name = file.relative_to(ROOT)
        for folder, prefix in PREFIXES.items():
            if name.is_relative_to(folder):
                yield prefix + file.stem
    if (ROOT / "chapters/tests/matrix.cpp").is_relative_to(path):
        yield "matrices"


def _wanted(asked: list[str]) -> tuple[list[str], list[str], int, list[str]]:
    """Targets, labels, the number of pytest's files, and its arguments."""
    if asked[0].startswith("--tier="):
        tier = asked[0].removeprefix("--tier=")
        of_tier = [each for each in test_files() if not is_above(tier_of(each), tier)]
        targets = {target for file in of_tier for target in targets_of(file, tier)}
        return sorted(targets), [], len(of_tier), asked
    files: list[Path] = []
    labels: list[str] = []
    arguments: list[str] = []
    chapters: list[str] = []
    for name in asked:
        path = Path(name.partition("::")[0]).resolve()
        if not path.exists() or not path.is_relative_to(ROOT):
            sys.exit(f"tools/test: {name} isn't in this checkout")
        if of_path := test_files(path):
            files += of_path
            arguments.append(str(path) + name.removeprefix(name.partition("::")[0]))
        labels += programs(path)
        if path.parent == ROOT / "chapters" and (path / "main.cu").is_file():
            labels.append(f"{path.name}_matrix")
            chapters.append(path.name.partition("_")[0])
    if len(chapters) == len(asked):
        arguments += [str(ROOT / name) for name in SHARED] + ["-k", " or ".join(chapters)]
        files += [ROOT / name for name in SHARED]
    if not files and not labels:
        sys.exit(f"tools/test: there are no tests in {' '.join(asked)}")
    built = [target for file in files for target in targets_of(file)]
    return [*dict.fromkeys(built + labels)], labels, len(files), arguments


if __name__ == "__main__":
    _targets, _labels, _files, _arguments = _wanted(sys.argv[1:])
    _expression = rf"\.({'|'.join(_labels)})$" if _labels else ""
    print(" ".join(_targets), _expression, _files, *_arguments, sep="\n")
