"""The function that writes whole files, and the commands that write what a reader names: what they
must not replace, and what they must leave when they can't go on."""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from common import files

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def written(file: Path, content: str | bytes = "new") -> str:
    """Why it couldn't be; empty where it could."""
    try:
        files.write_whole(file, content)
    except OSError as error:
        assert error.filename == str(file)
        return error.strerror or "no reason"
    return ""


# No test names a device of this machine: should the check be broken, a rename puts a plain file in
# the device's place, for everyone, when root runs it.
def a_device(path: Path) -> None:
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))


def a_disk(path: Path) -> None:
    os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(7, 250))


def a_socket(path: Path) -> None:
    os.mknod(path, stat.S_IFSOCK | 0o600)


NODES = [
    pytest.param(a_device, "it is a device: name a file", marks=root_only),
    pytest.param(a_disk, "it is a device: name a file", marks=root_only),
    pytest.param(os.mkfifo, "it is a pipe: name a file"),
    pytest.param(a_socket, "it is a socket: name a file"),
    pytest.param(os.mkdir, "it is a folder: name a file in it"),
]


@pytest.mark.parametrize(("make", "why"), NODES)
def test_only_a_file_is_replaced(tmp_path: Path, make: Callable[[Path], None], why: str) -> None:
    node, link = tmp_path / "node", tmp_path / "link"
    make(node)
    link.symlink_to("node")
    before = node.lstat()
    for name in (node, link):
        assert written(name) == why
        with pytest.raises(OSError, match=why):
            files.require_writable(name)
    now = node.lstat()
    assert (now.st_mode, now.st_ino, now.st_rdev) == (before.st_mode, before.st_ino, before.st_rdev)
    assert link.is_symlink() and len(list(tmp_path.iterdir())) == 2


def test_a_link_stays_one_and_its_file_keeps_its_mode(tmp_path: Path) -> None:
    real = tmp_path / "far" / "real"
    files.write_whole(real, "old")
    real.chmod(0o640)
    for name, to in (("link", "far/real"), ("link2", "link"), ("new", "far/none")):
        (tmp_path / name).symlink_to(to)
    if os.geteuid() == 0:
        os.chown(real, 12345, 54321)
    assert written(tmp_path / "link2") == "" and real.read_text() == "new"
    found = real.stat()
    assert stat.S_IMODE(found.st_mode) == 0o640
    if os.geteuid() == 0:
        assert (found.st_uid, found.st_gid) == (12345, 54321)
    # Where a link's file isn't there yet, it is made, as the shell's > makes it.
    assert written(tmp_path / "new") == "" and (tmp_path / "far" / "none").read_text() == "new"
    assert all((tmp_path / name).is_symlink() for name in ("link", "link2", "new"))
    assert sorted(path.name for path in real.parent.iterdir()) == ["none", "real"]
    (tmp_path / "round").symlink_to("round")
    assert written(tmp_path / "round") == os.strerror(errno.ELOOP)


def test_all_of_several_or_none(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("far")
    last = tmp_path / "last"
    os.mkfifo(last)
    names = ("a", "link", "last")
    with pytest.raises(OSError, match="it is a pipe"):
        files.write_all({tmp_path / name: "new" for name in names})
    assert {path.name for path in tmp_path.iterdir()} == {"link", "last"}
    last.unlink()
    files.write_all({tmp_path / name: name for name in names})
    assert (tmp_path / "link").is_symlink()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        **{name: name for name in names},
        "far": "link",
    }


def test_a_new_file_has_the_mode_that_any_has(tmp_path: Path) -> None:
    files.write_whole(tmp_path / "a", b"1")
    (tmp_path / "b").write_bytes(b"1")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert written(tmp_path / ("x" * 300)) == os.strerror(errno.ENAMETOOLONG)
    assert written(tmp_path / ("x" * 255)) == "", "the draft's name is no longer"
    assert "directory" in written(tmp_path / "file" / "x").lower()


WRITE = """
import os, sys
from pathlib import Path
from common.files import require_writable, write_whole
if "anyone" in sys.argv:  # once all is read that only root may read
    os.setgid(65534)
    os.setuid(65534)
for what in (require_writable, lambda file: write_whole(file, "x" * 1000000)):
    try:
        what(Path(sys.argv[1]))
    except OSError as error:
        print(error.strerror)
"""


def said_by(code: str, file: Path, *words: str, before: str = "") -> str:
    command = [sys.executable, "-c", code, str(file), *words]
    if before:
        command = ["unshare", "-m", "sh", "-c", f'{before}; exec "$@"', "sh", *command]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_where_nothing_may_be_written(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    kept = tmp_path / "kept"
    kept.write_text("old")
    kept.chmod(0o444)
    denied = os.strerror(errno.EACCES)
    anyone = ["anyone"] * (os.geteuid() == 0)
    for file in (kept, tmp_path / "new", tmp_path / "new" / "er"):
        assert said_by(WRITE, file, *anyone).split("\n") == [denied] * 2
    assert kept.read_text() == "old" and list(tmp_path.iterdir()) == [kept]


@root_only
def test_a_full_disk(tmp_path: Path) -> None:
    small = f"mount -t tmpfs -o size=64k none '{tmp_path}' && echo old > '{tmp_path}/a' || exit 0"
    code = WRITE + "print(Path(sys.argv[1]).read_text(), *Path(sys.argv[1]).parent.iterdir())"
    said = said_by(code, tmp_path / "a", before=small)
    if not said:
        pytest.skip("this machine mounts nothing")
    full = "the disk is full: make room, or name a file on another one"
    assert said.split() == [*full.split(), "old", str(tmp_path / "a")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_half_way(tmp_path: Path, number: int) -> None:
    """It comes while the draft is there, and waits until that is a file."""
    code = """
import sys, time, common.files as files
from pathlib import Path
write = files._write
def slowly(*given):
    write(*given)
    print("half-way", flush=True)
    time.sleep(0.5)
files._write = slowly
files.write_whole(Path(sys.argv[1]), "new")
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "a"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as child:  # fmt: skip
        assert child.stdout and child.stdout.readline() == "half-way\n"
        child.send_signal(number)
        assert child.wait(timeout=20) != 0
    assert (tmp_path / "a").read_text() == "new" and len(list(tmp_path.iterdir())) == 1


def test_what_the_command_prints_to_is_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = WRITE.replace("print(", "print('said:', ")
    with out.open("w") as stream:
        subprocess.run(
            [sys.executable, "-c", code, "/proc/self/fd/1"],
            cwd=ROOT, stdout=stream, check=True,
        )  # fmt: skip
    assert out.read_text() == "said: this command prints to it: name another file\n" * 2


@pytest.mark.parametrize("name", ["", "-", "folder/"])
def test_a_name_that_means_no_file(name: str) -> None:
    command = ["tools/measure", "--export", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and re.search("no (file|stream)", done.stderr), done.stderr
