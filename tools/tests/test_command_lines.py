"""Command lines that no one should type, and machines that stand in the way: a sentence and the
house's exit status, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON_TOOLS = ["tools/judge", "tools/measure"]  # those that start within a moment
LONG = "x" * 32000


def shell(line: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: each for name, each in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        ["bash", "-c", line, *words], cwd=ROOT, env={**kept, **environment},
        capture_output=True, text=True, check=False, errors="surrogateescape",
    )  # fmt: skip


def the_line(done: subprocess.CompletedProcess[str], tool: str, status: int = 2) -> str:
    assert done.returncode == status, done
    assert done.stderr.startswith(f"{tool}: ") and done.stderr.count("\n") == 1, done.stderr
    assert len(done.stderr) < 1200 and not {*done.stderr} & {"\x1b", "\u202e"}, done.stderr
    return done.stderr.rstrip("\n")


@pytest.mark.parametrize("name", [LONG, "x" * 300, "", "\x1b[31m\n\u202e", "\udcff"])
@pytest.mark.parametrize(
    "command",
    [
        ["tools/judge"],
        ["tools/judge", "--list"],
        ["tools/judge", "new"],
        ["tools/judge", "README.md", "--puzzle"],
        ["tools/measure", "--export"],
        ["tools/measure", "--chapters"],
        ["tools/measure"],
        ["tools/setup"],
        ["tools/guide"],
        ["tools/guide", "--pdf", "--paper"],
    ],
)
def test_names_that_no_one_has(command: list[str], name: str) -> None:
    if command[-1] == "--export":
        name = f"{name}/"
    the_line(shell('"$0" "$@"', *command, name), command[0])


@pytest.mark.parametrize("words", ["--paper=", "--paper=a4", "--pdf --paper=", "--pdf --paper"])
def test_the_guide_is_not_begun(words: str) -> None:
    assert "--paper" in the_line(shell(f"tools/guide {words}"), "tools/guide")


@pytest.mark.parametrize("tool", [*PYTHON_TOOLS, "tools/guide", "tools/setup"])
@pytest.mark.parametrize("away", [">&-", ">/dev/full"])
def test_output_that_goes_nowhere_from_the_start(tool: str, away: str) -> None:
    the_line(shell(f"{tool} --help {away}"), tool)


@pytest.mark.parametrize("tool", PYTHON_TOOLS)
def test_output_that_goes_nowhere(tool: str) -> None:
    for away in (">/dev/full", "| true"):
        done = shell(f"set -o pipefail; sleep 0 | {tool} --help {away}")
        if done.returncode:  # a pipe may have taken it before its reader left
            assert "the output can't be written" in the_line(done, tool)
        else:
            assert away == "| true"


@pytest.mark.parametrize("tool", PYTHON_TOOLS)
def test_surroundings_that_no_python_starts_in(tool: str) -> None:
    said = the_line(shell(f"{tool} --help", PYTHONHOME="/nowhere"), tool, 77)
    assert said.endswith("PYTHONHOME names a folder without a Python: unset it")
    said = the_line(shell(f"{tool} --help", PYTHONIOENCODING="none"), tool, 77)
    assert said.endswith("unknown encoding: none")


@pytest.mark.parametrize("tool", PYTHON_TOOLS)
def test_a_folder_that_is_gone(tool: str, tmp_path: Path) -> None:
    away = f"cd {tmp_path} && rmdir {tmp_path} && {ROOT / tool} --help 2> >(grep ^tools >&2)"
    done = shell(away)
    if done.returncode:  # a Python that is found without a folder may start
        assert the_line(done, tool).endswith("is gone: go to another one")


def test_seven_bits() -> None:
    done = shell("tools/judge --list", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and done.stderr == ""


ENDS = {
    "raise KeyboardInterrupt": ("\nx: stopped\n", 130),
    "raise MemoryError": ("x: this machine hasn't enough memory for it\n", 1),
    "open('/nowhere/\\x1b')": ("x: /nowhere/\\x1b: No such file or directory\n", 2),
    "raise BrokenPipeError(32, 'Broken pipe')": (
        "x: the output can't be written: Broken pipe\n", 2,
    ),
    "print('✓'); return 4": ("", 4),
}  # fmt: skip


@pytest.mark.parametrize("body", ENDS)
def test_how_a_command_ends(body: str, tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(f"def main():\n    {body}\n", encoding="utf-8")
    done = run_made(tmp_path)
    assert (done.stderr, done.returncode) == ENDS[body]


def test_a_mistake_of_ours_still_shows_where(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("def main():\n    return 1 // 0\n", encoding="utf-8")
    done = run_made(tmp_path)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr


def run_made(folder: Path) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    code += "from tools.terminal import run; run('x', 'made')"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("tool", PYTHON_TOOLS)
def test_ctrl_c_while_it_starts(tool: str) -> None:
    for tenths in range(6):
        with subprocess.Popen(
            [tool, "--help"], cwd=ROOT, start_new_session=True, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ) as child:  # fmt: skip
            try:
                _, said = child.communicate(timeout=0.02 + tenths / 20)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGINT)
                _, said = child.communicate(timeout=60)
        assert child.returncode in (0, 130, -signal.SIGINT), said
        assert "Traceback" not in said
