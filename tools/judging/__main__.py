"""The command line of tools/judge."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

if __package__ in (None, ""):  # python3 tools/judging
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tools.judging import BAD_ARGUMENT, Failure, progress, puzzles, timing
from tools.judging.judge import judge

USAGE = """\
usage: tools/judge FILE.cu [--puzzle KEY] [--details] [--json] [--no-time]
       tools/judge new KEY [FOLDER]
       tools/judge --list [FOLDER]

Checks a kernel of yours without a GPU: whether it compiles, is right for every n and block that it
must be right for, has no race, wild access, uninitialised read or hanging barrier, and meets its
goal in what it reads and writes. With a GPU it also takes the time.

  new KEY [FOLDER]   write the skeleton of a puzzle, such as chapter04/2, to FOLDER (default: the
                     folder you are in)
  --list [FOLDER]    all puzzles, and which of them you have solved in FOLDER
  --puzzle KEY       judge FILE as this puzzle; else its own line "// judge: KEY" says which
  --details          everything that was found, and the counts beside the book's kernel
  --json             the verdict as JSON
  --no-time          don't take the time, also where there is a GPU

Exit status: 0 accepted; 1 rejected; 4 rejected for a race, a wild access, an uninitialised read or
a barrier; 3 it can't be run; 2 a bad argument; 77 something that is needed isn't here.
"""
MOST_BYTES = 1 << 20


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


def _list(folder: Path) -> None:
    solved = progress.accepted(folder)
    every = puzzles.all_puzzles()
    width = max((len(puzzle.key) for puzzle in every), default=0)
    chapter = ""
    for puzzle in every:
        name = puzzle.folder.parents[1].name
        if name != chapter:
            chapter = name
            print(chapter)
        mark = "✓" if puzzle.key in solved else " "
        print(f"  {mark} {puzzle.key:<{width}}  {puzzle.title}")
    print(_solved(every, folder))


def _solved(every: list[puzzles.Puzzle], folder: Path) -> str:
    solved = progress.accepted(folder)
    done = sum(puzzle.key in solved for puzzle in every)
    return f"{done} of {len(every)} solved in {folder}"


def _new(key: str, folder: Path) -> None:
    puzzle = puzzles.find(key)
    file = folder / puzzle.file_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as out:
            out.write(puzzle.skeleton())
    except (FileExistsError, NotADirectoryError):
        if not folder.is_dir():
            raise Failure(f"{folder} is not a folder") from None
        raise Failure(f"{file} is there already, and stays as it is") from None
    except OSError as error:
        raise Failure(f"{file} can't be written: {error.strerror}") from None
    print(f"{file}: {puzzle.title}")
    print(f"fill it in, then: tools/judge {file}")


def _judge(name: str, key: str | None, details: bool, as_json: bool, timed: bool) -> int:
    file, source = _read(name)
    key = key or puzzles.puzzle_named_in(source)
    if key is None:
        raise Failure(
            f'{name} names no puzzle: give --puzzle KEY, or the line "// judge: KEY" '
            "(tools/judge --list shows the keys)"
        )
    puzzle = puzzles.find(key)
    verdict = judge(file, source, puzzle)
    if timed and verdict.kernel and not verdict.reason:
        verdict.times = timing.times(verdict.kernel, puzzle)
    note = "" if verdict.reason else progress.remember(file.absolute().parent, key, file.name)
    if as_json:
        print(json.dumps(verdict.record(), indent=1, ensure_ascii=False))
    else:
        sys.stdout.write(verdict.text(details))
        if not verdict.reason and not note:
            every = puzzles.all_puzzles()
            print(f"          {_solved(every, file.absolute().parent)}")
    if note:
        print(f"tools/judge: {note}", file=sys.stderr)
    return verdict.status


def _run(arguments: list[str]) -> int:
    flags = {"--details": False, "--json": False, "--no-time": False, "--list": False}
    key: str | None = None
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-h", "--help"):
            sys.stdout.write(USAGE)
            return 0
        if argument == "--puzzle":
            key = next(rest, None)
            if key is None:
                raise Failure("--puzzle needs a key, such as chapter04/2")
        elif argument in flags:
            flags[argument] = True
        elif argument == "--":
            words += rest
        elif argument.startswith("-"):
            raise Failure(f"{argument}: no such option; tools/judge --help lists them")
        else:
            words.append(argument)
    if flags["--list"]:
        if len(words) > 1:
            raise Failure("--list takes one folder at most")
        _list(Path(words[0] if words else "."))
        return 0
    if words[:1] == ["new"]:
        if not 2 <= len(words) <= 3:
            raise Failure("new takes a puzzle and a folder: tools/judge new chapter04/2 FOLDER")
        _new(words[1], Path(words[2] if len(words) > 2 else "."))
        return 0
    if len(words) != 1:
        raise Failure("one FILE.cu is judged at a time; tools/judge --help says how")
    return _judge(words[0], key, flags["--details"], flags["--json"], not flags["--no-time"])


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where letters have seven bits, a ✓ is a ?
    try:
        status = _run(sys.argv[1:])
        sys.stdout.flush()
    except Failure as failure:
        print(f"tools/judge: {failure}", file=sys.stderr)
        return failure.status
    except KeyboardInterrupt:
        print("\ntools/judge: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_ARGUMENT
    return status


if __name__ == "__main__":
    sys.exit(main())
