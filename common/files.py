"""Files that the tools write: whole, or as they were. Python's standard library alone."""

from __future__ import annotations

import argparse
import errno
import os
import secrets
import signal
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

#: What a name may lead to that no file must take the place of. A rename would: for the whole
#: machine, where root does it to /dev/null.
_KINDS = (
    (stat.S_ISDIR, "it is a folder: name a file in it"),
    (stat.S_ISCHR, "it is a device: name a file"),
    (stat.S_ISBLK, "it is a device: name a file"),
    (stat.S_ISFIFO, "it is a pipe: name a file"),
    (stat.S_ISSOCK, "it is a socket: name a file"),
)
_FULL = {
    errno.ENOSPC: "the disk is full: make room, or name a file on another one",
    errno.EDQUOT: "you may use no more of this disk: make room, or name a file on another one",
}


def write_whole(file: Path, content: str | bytes) -> None:
    """Writes a file and makes its folder. What was there stays until all is written, and nothing
    is left beside it if that fails. A symbolic link stays one: the file that it leads to is
    written, and keeps its mode.

    Raises OSError with the file's name and a reason for people.
    """
    write_all({file: content})


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """The same of several files: all of them are on the disk before the first takes its place."""
    drafts: dict[Path, Path] = {}
    with _undisturbed():
        try:
            for file, content in contents.items():
                with _told_of(file):
                    old = _there(file)
                    target = Path(os.path.realpath(file))  # of a link to nothing, too
                    target.parent.mkdir(parents=True, exist_ok=True)
                    # Short, whatever the file's name is, and past guessing, so that no link is
                    # planted there.
                    part = target.with_name(f".{secrets.token_hex(6)}.new")
                    drafts[part] = target
                    _write(part, content.encode() if isinstance(content, str) else content, old)
            for part, target in drafts.items():
                with _told_of(target):
                    part.replace(target)
        finally:
            for part in drafts:
                part.unlink(missing_ok=True)


def require_writable(file: Path) -> None:
    """Raises what write_whole would, as far as that can be known before there is any content."""
    with _told_of(file):
        _there(file)
        folder = Path(os.path.realpath(file)).parent
        while not folder.exists():
            folder = folder.parent
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def _told_of(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = _FULL.get(error.errno or 0) or error.strerror or type(error).__name__
        raise OSError(error.errno, why, str(file)) from None


def _there(file: Path) -> os.stat_result | None:
    """What the file is now."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    for is_one, why in _KINDS:
        if is_one(found.st_mode):
            raise OSError(errno.EINVAL, why)
    if any(os.path.samestat(stream, found) for stream in _streams()):
        raise OSError(errno.EINVAL, "this command prints to it: name another file")
    if not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return found


def _streams() -> Iterator[os.stat_result]:
    for stream in (1, 2):
        with suppress(OSError):
            yield os.fstat(stream)


def _write(part: Path, content: bytes, old: os.stat_result | None) -> None:
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    with open(handle, "wb") as stream:  # noqa: PTH123  (it is open)
        stream.write(content)
        stream.flush()
        if old:
            with suppress(OSError):  # another user's file stays theirs, where this user may say so
                os.fchown(handle, old.st_uid, old.st_gid)
            os.fchmod(handle, stat.S_IMODE(old.st_mode))
        os.fsync(handle)  # some file systems find out only now that they are full


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A signal that would stop the process waits until the draft is a file or gone."""
    stopping = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stopping)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def named_file(text: str) -> Path:
    """An option's FILE to be written, for argparse."""
    if text == "-":
        raise argparse.ArgumentTypeError('"-" names no stream here; ./- is a file of that name')
    if not text or text.endswith("/"):
        raise argparse.ArgumentTypeError(f'"{text}" names no file')
    return Path(text)


def named_folder(text: str) -> Path:
    """An option's DIR to write into, for argparse."""
    if not text:
        raise argparse.ArgumentTypeError('"" names no folder; . is the one you are in')
    return Path(text)
