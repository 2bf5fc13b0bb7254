"""tools/steps.sh: a line a step, also on a terminal, and nothing left behind when it is ended."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "a book" / "tools"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "steps.sh", folder)
    return folder


def script(tools: Path, lines: str) -> Path:
    """A tool that does these lines."""
    path = tools / "tool"
    source = 'set -euo pipefail\n. "$(dirname "$0")/steps.sh"\nmkdir -p "$logs"\n'
    path.write_text(f"#!/usr/bin/env bash\n{source}{lines}\n")
    path.chmod(0o755)
    return path


def on_a_terminal(command: Path) -> tuple[int, str]:
    """Its status, and what it wrote there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([command], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # how a terminal ends
                break
            if not part:
                break
            said += part
    os.close(ours)
    return process.returncode, said.decode()


STEPS = """
step "one" sleep 1.2
step "two" true
step "three" sh -c 'echo a.c:1: error: no; exit 7' || echo "status $?"
step "four" cat
echo done
"""


def test_a_line_a_step(tools: Path) -> None:
    done = subprocess.run([script(tools, STEPS)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    said = re.sub(r" +[\d.]+ s$", "", done.stdout, flags=re.M)
    log = tools.parent / "build/log/three.log"
    error = "     | a.c:1: error: no\n"
    assert said == f"ok   one\nok   two\nFAIL three\n{error}{error}     log: {log}\nstatus 7\n" + (
        "ok   four\ndone\n"
    )


def test_so_it_is_on_a_terminal(tools: Path) -> None:
    """Where a step also shows that it is alive."""
    status, said = on_a_terminal(script(tools, STEPS))
    assert status == 0
    assert re.search(r"\r\.\.\.  one +1 s ", said)
    assert re.findall(r"(?:ok  |FAIL) (\w+)", said) == ["one", "two", "three", "four"]
    assert said.endswith("done\r\n")


def test_a_step_that_fails_ends_it(tools: Path) -> None:
    for run in (
        on_a_terminal,
        lambda tool: (subprocess.run([tool], capture_output=True, check=False).returncode, ""),
    ):
        status, said = run(script(tools, 'step "one" false\necho went on'))
        assert status == 1 and "went on" not in said


@pytest.mark.parametrize("whole_group", [True, False])
@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_what_ends_it_ends_what_it_started(tools: Path, name: str, whole_group: bool) -> None:
    started = tools / "started"
    tool = script(
        tools,
        f"""
work() {{ sh -c 'sleep 60 & echo $! >"{started}"; wait'; }}
step "one" work
echo went on
""",
    )
    number = signal.Signals[f"SIG{name}"]
    with subprocess.Popen(
        [tool], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while not (started.exists() and started.read_text().endswith("\n")):
            time.sleep(0.01)
        (os.killpg if whole_group else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (128 + number, "", "")
    stat = Path("/proc", started.read_text().strip(), "stat")
    end = time.monotonic() + 10
    while stat.exists() and ") Z" not in stat.read_text():
        assert time.monotonic() < end, "it runs on"
        time.sleep(0.01)
