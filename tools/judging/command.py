"""The command line of tools/judge."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import sys
import textwrap
from pathlib import Path
from typing import Any

from common.files import write_whole
from tools.judging import Failure, progress, puzzles, timing
from tools.judging.judge import judge
from tools.terminal import complain, let_go, tamed

USAGE = """\
usage: tools/judge FILE.cu [--puzzle KEY] [--details] [--hint] [--json] [--no-time]
       tools/judge new KEY|all [FOLDER]
       tools/judge --list [FOLDER]

Checks a kernel of yours without a GPU: whether it compiles, is right for every n and block that it
must be right for, has no race, wild access, uninitialised read or hanging barrier, and meets its
goal in what it reads and writes. With a GPU it also takes the time.

  new KEY [FOLDER]   write the skeleton of a puzzle, such as chapter04/2, to FOLDER (default: the
                     folder you are in); chapter04 writes that chapter's, and all writes every one
  --list [FOLDER]    all puzzles, and which of them you have solved in FOLDER
  --puzzle KEY       judge FILE as this puzzle; else its own line "// judge: KEY" says which
  --details          everything that was found, and the counts beside the book's kernel
  --hint             the puzzle's hint, where FILE is rejected
  --json             the verdict as JSON
  --no-time          don't take the time, also where there is a GPU
  --limit=SECONDS    how long the judge may work, 20 unless you say so, for a kernel that is slow

Exit status: 0 accepted; 1 rejected; 4 rejected for a race, a wild access, an uninitialised read or
a barrier; 3 it can't be run, or is too slow to judge; 2 a bad argument; 77 something that is needed
isn't here.
"""
MOST_BYTES = 1 << 20
MOST_SECONDS = 24 * 60 * 60


def _read(name: str) -> tuple[Path, str]:
    """A submission's text."""
    file = Path(name)
    try:
        if file.is_dir():
            raise Failure(f"{name} is a folder, not a file")
        if file.exists() and not file.is_file():
            raise Failure(f"{name} is not a regular file")
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise Failure(f"{name}: no such file") from None
    except OSError as error:
        raise Failure(f"{name} can't be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise Failure(f"{name} has more than {MOST_BYTES} bytes, too many for a kernel")
    try:
        text = data.decode("utf-8-sig")  # nvcc reads past the mark, too
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Failure(f"{name} is not a text file: the judge takes CUDA source")
    return file, text


def _list(folder: Path) -> str:
    if not folder.is_dir():
        raise Failure(f"{folder} is not a folder: --list takes the one with your kernels")
    solved = progress.accepted(folder)
    every = puzzles.all_puzzles()
    width = max((len(puzzle.key) for puzzle in every), default=0)
    chapter = ""
    lines = []
    for puzzle in every:
        name = puzzle.folder.parents[1].name
        if name != chapter:
            chapter = name
            lines.append(chapter)
        mark = "✓" if puzzle.key in solved else " "
        lines.append(f"  {mark} {puzzle.key:<{width}}  {puzzle.title}")
    return "\n".join((*lines, _solved(every, folder), ""))


def _solved(every: list[puzzles.Puzzle], folder: Path) -> str:
    solved = progress.accepted(folder)
    done = sum(puzzle.key in solved for puzzle in every)
    return tamed(f"{done} of {len(every)} solved in {folder}")


def _new(key: str, folder: Path) -> str:
    puzzle = puzzles.find(key)
    file = folder / puzzle.file_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(file):
            raise FileExistsError
        write_whole(file, puzzle.skeleton())
    except (FileExistsError, NotADirectoryError):
        if not folder.is_dir():
            raise Failure(f"{folder} is not a folder") from None
        raise Failure(f"{file} is there already, and stays as it is") from None
    except OSError as error:
        raise Failure(f"{file} can't be written: {error.strerror}") from None
    said = f"{file}: {puzzle.title}\nfill it in, then: tools/judge {shlex.quote(str(file))}\n"
    return tamed(said)


def _new_ones(key: str, folder: Path) -> str:
    """A set to hand out. Where one of the files is there already, nothing is written."""
    those = [one for one in puzzles.all_puzzles() if key in ("all", one.key.partition("/")[0])]
    if there := [one.file_name for one in those if os.path.lexists(folder / one.file_name)]:
        raise Failure(f"{folder / there[0]} is there already; name a folder without it")
    for one in those:
        _new(one.key, folder)
    return tamed(f"{folder}: {len(those)} skeletons, without hints and answers\n")


def _judge(name: str, key: str | None, limit_s: int | None, flags: dict[str, bool]) -> int:
    file, source = _read(name)
    if key is None:
        key = puzzles.puzzle_named_in(source)
    if key is None:
        raise Failure(
            f'{name} names no puzzle: give --puzzle KEY, or the line "// judge: KEY" '
            "(tools/judge --list shows the keys)"
        )
    puzzle = puzzles.find(key)
    verdict = judge(file, source, puzzle, limit_s)
    if not flags["--no-time"] and verdict.kernel and not verdict.reason:
        verdict.times = timing.times(verdict.kernel, puzzle)
    note = (
        "" if verdict.reason else progress.remember(file.absolute().parent, puzzle.key, file.name)
    )
    if flags["--json"]:
        say(_as_json(verdict.record()))
    else:
        text = tamed(verdict.text(flags["--details"]))
        if verdict.reason and flags["--hint"]:
            text += textwrap.indent(textwrap.fill(f"hint: {puzzle.hint}", 90), " " * 10) + "\n"
        if not verdict.reason and not note:
            every = puzzles.all_puzzles()
            text += f"          {_solved(every, file.absolute().parent)}\n"
        say(text)
    if note:
        complain("tools/judge", note)
    return verdict.status


def _as_json(record: dict[str, Any]) -> str:
    return json.dumps(record, indent=1) + "\n"


def _seconds(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= MOST_SECONDS:
        raise Failure(f"--limit takes whole seconds, from 1 to {MOST_SECONDS}")
    return int(text)


def _run(arguments: list[str]) -> int:
    flags = dict.fromkeys(("--details", "--hint", "--json", "--no-time", "--list"), False)
    key: str | None = None
    limit_s: int | None = None
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-h", "--help"):
            say(USAGE)
            return 0
        if argument.startswith("--puzzle="):
            key = argument.partition("=")[2]
        elif argument == "--puzzle":
            key = next(rest, "")
        elif argument.startswith("--limit="):
            limit_s = _seconds(argument.partition("=")[2])
        elif argument in flags:
            flags[argument] = True
        elif argument == "--":
            words += rest
        elif argument.startswith("-"):
            raise Failure(f"{argument}: no such option; tools/judge --help lists them")
        else:
            words.append(argument)
    if "" in words:
        raise Failure("an argument is empty: a file, a puzzle and a folder have names")
    if key == "":
        raise Failure("--puzzle needs a key, such as chapter04/2")
    if flags["--list"]:
        if len(words) > 1:
            raise Failure("--list takes one folder at most")
        say(_list(Path(words[0] if words else ".")))
        return 0
    if words[:1] == ["new"]:
        if not 2 <= len(words) <= 3:
            raise Failure("new takes a puzzle and a folder: tools/judge new chapter04/2 FOLDER")
        folder = Path(words[2] if len(words) > 2 else ".")
        chapters = {one.key.partition("/")[0] for one in puzzles.all_puzzles()}
        several = words[1] == "all" or words[1] in chapters
        say((_new_ones if several else _new)(words[1], folder))
        return 0
    if len(words) != 1:
        raise Failure("one FILE.cu is judged at a time; tools/judge --help says how")
    return _judge(words[0], key, limit_s, flags)


def _ended(number: int, _frame: object) -> None:
    sys.exit(128 + number)


def say(text: str) -> None:
    """Prints a text. Fails with a sentence where that isn't possible."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        let_go(sys.stdout)
        raise Failure(f"the output can't be written: {error.strerror}") from None


def main() -> int:
    arguments = sys.argv[1:]
    signal.signal(signal.SIGTERM, _ended)  # so that the compiler and its folder go, too
    try:
        return _run(arguments)
    except Failure as failure:
        complain("tools/judge", str(failure))
        if "--json" in arguments:
            said = {"accepted": False, "reason": "failure", "verdict": str(failure)}
            with contextlib.suppress(Failure):
                say(_as_json({**said, "status": failure.status}))
        return failure.status
