"""What the judge doesn't choose: names, folders that are full, streams that are closed, signals."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tools import terminal
from tools.judging import ROOT, compiler, progress
from tools.judging.tests.test_judge import AS_NVCC, JUDGE, KEY, answer, failed, run
from tools.terminal import tamed

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

#: A name that a shell, a compiler or a terminal could take for something else.
ODD = '- it\'s "a" `b` $(touch c); é\n\x1b[31m.cu'


def limited(kibibytes: int) -> tuple[str, ...]:
    """Runs a command that can write no file larger than that, as on a disk that is full."""
    return ("bash", "-c", f'ulimit -f {kibibytes}; exec "$0" "$@"')


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    """By a link of an odd name, to a file in an odd folder with a header beside it."""
    folder = tmp_path / "my 'kernels' $(d)"
    folder.mkdir()
    (folder / "mine.cuh").write_text("#include <version>\n#define MINE 1\n", encoding="utf-8")
    (folder / "version").write_text("#error not the compiler's own\n", encoding="utf-8")
    text = '#include "mine.cuh"\n#if MINE\nint a = "\x1b[2J\u202e" +;\n#endif\n'
    (folder / "kernel").write_text(text, encoding="utf-8")
    (tmp_path / ODD).symlink_to(folder / "kernel")
    done = run("--puzzle", KEY, "--details", "--", ODD, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr == "", done
    shown = ODD.replace("\n", "\\n").replace("\x1b", "\\x1b")
    assert f"{shown}:3: " in done.stdout and "your_kernel" not in done.stdout
    assert '"\\x1b[2J\\u202e" +;' in done.stdout
    assert not {*done.stdout} & {"\x1b", "\u202e"}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([ODD, folder.name])
    failed(run("\x1b\n.cu", cwd=tmp_path), 2, "\\x1b\\n.cu: no such file")


def test_a_name_that_is_plain_stays() -> None:
    for name in ("mine.cu", "chapter02_1_load.cu", "a-b+c.1.cu", "_.cuh"):
        assert compiler.plain(name) == name
    for name in ("-o.cu", "a b.cu", "é.cu", "a.c", "a;b.cu", ""):
        assert compiler.plain(name) == "your_kernel.cu"


def test_what_a_terminal_obeys_is_escaped() -> None:
    assert (
        tamed("a\x1b[2J\x07\x9b\u202e\r\x00b\n\tc") == "a\\x1b[2J\\x07\\x9b\\u202e\\r\\x00b\n    c"
    )
    assert tamed("² é ✓ 数\n") == "² é ✓ 数\n"


def test_the_embedded_devices_tool_escapes_the_same() -> None:
    """Its table of such characters, in UTF-8, is the judge's but for those that UTF-8 hasn't."""
    source = (ROOT / "tools/emulator/program/emulate.cpp").read_text(encoding="utf-8")
    table = source.partition("kTricks[] = {")[2].partition("};")[0]
    bounds = [ast.literal_eval(f"b{word}").decode() for word in re.findall(r'"[^"]+"', table)]
    ranges = list(zip(bounds[::2], bounds[1::2], strict=True))
    assert len(ranges) == 8
    for letter in map(chr, (*range(1, 0xD800), *range(0xE000, 0x11000))):
        obeyed = any(first <= letter <= last for first, last in ranges)
        assert bool(terminal._TRICKS.match(letter)) == obeyed, hex(ord(letter))


def test_a_failure_is_json_too() -> None:
    done = run("--json", "/none.cu")
    said = json.loads(done.stdout)
    assert done.returncode == said["status"] == 2
    assert said["accepted"] is False and said["reason"] == "failure"
    assert said["verdict"] == "/none.cu: no such file" and said["verdict"] in done.stderr


def test_new_on_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    failed(run("new", KEY, tmp_path, prefix=limited(0)), 2, "can't be written: File too large")
    assert list(tmp_path.iterdir()) == []
    assert run("new", KEY, tmp_path).returncode == 0


def test_progress_on_a_full_disk_stays_as_it_was(tmp_path: Path) -> None:
    assert progress.remember(tmp_path, KEY, "mine.cu") == ""
    code = "import sys; from pathlib import Path; from tools.judging import progress;"
    code += "print(progress.remember(Path(sys.argv[1]), 'chapter02/2', 'b.cu'))"
    command = [*limited(0), "python3", "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=JUDGE.parents[1])
    assert "can't be noted" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == [progress.FILE]
    assert progress.accepted(tmp_path) == {KEY: "mine.cu"}


def test_judges_at_work_at_once_lose_no_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = progress._known

    def slowly(folder: Path) -> dict[str, Any]:
        known = read(folder)
        time.sleep(0.02)
        return known

    monkeypatch.setattr(progress, "_known", slowly)
    keys = [f"chapter02/{k}" for k in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert {*pool.map(lambda key: progress.remember(tmp_path, key, "a.cu"), keys)} == {""}
    assert sorted(progress.accepted(tmp_path)) == keys


@pytest.mark.parametrize(
    "shell",
    [
        '"$0" --list >/dev/full',
        '"$0" --list >&-',
        'exec 4> >(exec true); sleep 0.2; "$0" --list >&4',  # a reader that has left
    ],
)
def test_output_that_goes_nowhere(shell: str) -> None:
    done = subprocess.run(["bash", "-c", shell, JUDGE], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert done.stderr.startswith("tools/judge: ") and done.stderr.count("\n") == 1, done.stderr
    quiet = subprocess.run(["bash", "-c", f"{shell} 2>&-", JUDGE], capture_output=True, check=False)
    assert (quiet.returncode, quiet.stderr) == (2, b"")


def test_ctrl_c_at_the_start() -> None:
    for number in range(10):
        with subprocess.Popen(
            [JUDGE, "--list"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            time.sleep(0.02 * number)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            err = process.communicate()[1]
        assert process.returncode in (130, -signal.SIGINT, 0)
        assert err.strip() in (b"", b"tools/judge: stopped")


def test_no_room_for_temporary_files(tmp_path: Path) -> None:
    """A kernel isn't blamed for it."""
    file = answer(tmp_path)
    failed(run(file, TMPDIR="/nowhere"), 2, "/nowhere can't hold the judge's temporary files")
    failed(run(file, prefix=limited(0)), 2, "can't hold", "File too large", "set TMPDIR")
    broken = tmp_path / "nvcc"
    broken.write_text(f"#!/bin/sh\n{AS_NVCC}\necho no space left >&2\nexit 5\n", encoding="utf-8")
    broken.chmod(0o755)
    failed(run(file, prefix=limited(100), CUDACXX=str(broken)), 2, "can't hold", "File too large")
    assert (
        run(file, CUDACXX=str(broken)).returncode == 1
    )  # with room, it is the compiler that fails
