"""tools/steps.sh: one line per step, also on a terminal, and nothing left behind when stopped."""

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

from tools.tests.limits import LIMIT

pytestmark = pytest.mark.all

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


BESIDE = """
mkfifo "$root/one" "$root/two"
work() { echo beside >"$root/one"; read -r <"$root/two"; sh -c 'echo wrong; exit 7'; }
begin "beside" work
step "meanwhile" sh -c 'read -r said <"$0/one" && echo "$said" >"$0/two"' "$root"
finish || echo "status $?"
begin "another" true
finish
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_step_beside_another(tools: Path, terminal: bool) -> None:
    """Each of the two waits for the other. Its line comes when it is asked for."""
    tool = script(tools, BESIDE)
    if terminal:
        _, said = on_a_terminal(tool)
    else:
        said = subprocess.run([tool], capture_output=True, text=True, check=True).stdout
    said = re.sub(r"\r\.{3}[^\r]*|\r\x1b\[K|\r(?=\n)", "", said)
    said = re.sub(r" +[\d.]+ s$", "", said, flags=re.M)
    log = tools.parent / "build/log/beside.log"
    assert said == (
        f"ok   meanwhile\nFAIL beside\n     | wrong\n     log: {log}\nstatus 7\nok   another\n"
    )


def test_so_it_is_on_a_terminal(tools: Path) -> None:
    """Where a step also shows that it is alive."""
    status, said = on_a_terminal(script(tools, STEPS))
    assert status == 0
    assert re.search(r"\r\.\.\.  one +\d+ s ", said)
    assert re.findall(r"(?:ok  |FAIL) (\w+)", said) == ["one", "two", "three", "four"]
    assert said.endswith("done\r\n")


def test_a_step_that_fails_ends_it(tools: Path) -> None:
    for run in (
        on_a_terminal,
        lambda tool: (subprocess.run([tool], capture_output=True, check=False).returncode, ""),
    ):
        status, said = run(script(tools, 'step "one" false\necho went on'))
        assert status == 1 and "went on" not in said


WHOLE = "rule make\n  command = touch all\nbuild all: make\n" + "# more\n" * 10 + "default all\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(WHOLE, "ours, whole", id="whole"),
        pytest.param("", "ours", id="empty"),
        pytest.param(WHOLE[: len(WHOLE) // 2], "ours", id="half a line"),
        pytest.param(WHOLE.removesuffix("default all\n"), "ours", id="a line too few"),
        pytest.param(WHOLE.replace("rule make", "rule maid"), "ours", id="garbled"),
        pytest.param(None, "ours", id="gone"),
    ],
)
def test_a_damaged_build_is_noticed(tools: Path, text: str | None, said: str) -> None:
    root = tools.parent
    tree = root / "build/tools"
    tree.mkdir(parents=True)
    cache = f"CMAKE_HOME_DIRECTORY:INTERNAL={root}\nCMAKE_CUDA_COMPILER:STRING=/bin/true\n"
    (tree / "CMakeCache.txt").write_text(cache)
    if text is not None:
        (tree / "build.ninja").write_text(text)
    ask = script(tools, 'if ours; then printf ours; fi; if configured; then printf ", whole"; fi')
    assert subprocess.run([ask], capture_output=True, text=True, check=True).stdout == said
    half = cache + "CMAKE_CXX_COMP"
    elsewhere, gone = cache.replace(str(root), "/elsewhere"), cache.replace("true", "gone")
    for spoilt in (elsewhere, gone, half, half + "\0\x1b", ""):
        (tree / "CMakeCache.txt").write_text(spoilt)
        assert subprocess.run([ask], capture_output=True, text=True, check=True).stdout == ""


def test_where_compiled_code_is_kept(tools: Path, tmp_path: Path) -> None:
    """In ccache's own place, or in the checkout if that can't be written to or isn't there."""
    ask = script(tools, 'printf %s "${CCACHE_DIR:-its own}"')
    bare = {k: v for k, v in os.environ.items() if k not in ("CCACHE_DIR", "XDG_CACHE_HOME")}

    def kept(**more: str) -> str:
        done = subprocess.run([ask], capture_output=True, text=True, check=True, env=bare | more)
        return done.stdout

    ours = f"{tools.parent}/build/ccache"
    assert kept(HOME=str(tmp_path / "home")) == "its own"
    assert kept(HOME="/proc") == kept(HOME="/dev/null") == ours
    assert kept(CCACHE_DIR=str(tmp_path / "named")) == str(tmp_path / "named")
    assert kept(CCACHE_DIR="/dev/null/no") == ours


def test_what_set_up_brings_is_used(tools: Path, tmp_path: Path) -> None:
    """On a bare machine ccache comes with the first run of the tests."""
    few = tmp_path / "few"
    few.mkdir()
    for name in ("bash", "dirname", "mkdir"):
        (few / name).symlink_to(shutil.which(name) or "")
    launcher = '"${CMAKE_CXX_COMPILER_LAUNCHER:-none}"'
    ask = script(
        tools, f"printf '%s ' {launcher}; PATH=$PATH:/usr/bin; use_ccache; printf %s {launcher}"
    )
    bare = {name: text for name, text in os.environ.items() if "LAUNCHER" not in name}
    done = subprocess.run(
        [ask], capture_output=True, text=True, check=True, env={**bare, "PATH": str(few)}
    )
    assert done.stdout == "none ccache"
    assert 'attended "$root/tools/setup" test\nuse_ccache' in (ROOT / "tools/test").read_text()


def test_one_at_a_time(tools: Path) -> None:
    """The second says for whom it waits; what the first leaves running doesn't hold it up."""
    left = tools / "left"
    sleeps = """sh -c 'sleep 36000 >"$0.said" 2>&1 & echo $! >"$0"'"""
    leaves = f'attended {sleeps} "{left}"'
    first = script(tools, f"alone\n{leaves}\necho in\nread -r\necho out")
    second = first.with_name("second")
    second.write_text(first.read_text().partition(leaves)[0] + "echo mine\n")
    second.chmod(0o755)

    def start(tool: Path) -> subprocess.Popen[str]:
        return subprocess.Popen([tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    with start(first) as one:
        assert one.stdout and one.stdout.readline() == "in\n"
        waits = f"waiting for tools/tool (process {one.pid}), which is at work in this checkout\n"
        with start(second) as two, start(second) as three:
            for waiting in (two, three):
                assert waiting.stdout and waiting.stdout.readline() == waits
            three.send_signal(signal.SIGTERM)
            assert three.wait(LIMIT) == 128 + signal.SIGTERM
            assert one.communicate("\n", timeout=LIMIT)[0] == "out\n"
            assert two.communicate(timeout=LIMIT)[0] == "mine\n"
    os.kill(int(left.read_text()), signal.SIGTERM)


@pytest.mark.parametrize("lines", ['step "one" work', 'begin "one" work\nstep "two" sleep 3600'])
@pytest.mark.parametrize("whole_group", [True, False])
@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_what_ends_it_ends_what_it_started(
    tools: Path, name: str, whole_group: bool, lines: str
) -> None:
    started = tools / "started"
    tool = script(
        tools,
        f"""
work() {{ sh -c 'sleep 3600 & echo $! >"{started}"; wait'; }}
{lines}
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
        out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out, err) == (128 + number, "", "")
    stat = Path("/proc", started.read_text().strip(), "stat")
    end = time.monotonic() + LIMIT
    while stat.exists() and ") Z" not in stat.read_text():
        assert time.monotonic() < end, "it runs on"
        time.sleep(0.01)
