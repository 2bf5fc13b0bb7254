"""A recorded set as one file, to send to others: ``tools/measure --export`` writes it.

It is gzipped JSON: which schema the set has, each of its files as text, and a checksum of them all.
Samples, which are gzipped in a set, are plain text here. The same set gives the same bytes. Reading
one executes nothing, writes only files with the names of a set's own, and stops at a size that no
recording comes near. Only the standard library is used here: ``tools/measure`` has nothing else.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.records import columns

FORMAT = "a recording of The Reduction Ladder"
VERSION = 2
#: Bytes of the file, and of what is in it. The book's largest set has 4 MB, in a file of 0.9.
MOST_PACKED = 32 * 2**20
MOST_UNPACKED = 256 * 2**20
#: A set's own files: a chapter's times and console text, and what is said of all chapters.
_NAME = re.compile(
    r"(chapter[0-9]{2}_[a-z0-9_]{1,60})\.(json|txt|samples\.gz)|(counters|sanitizer|manifest)\.json"
)
_SET = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class BadExport(Exception):
    """Why a file is not taken, in one sentence."""


@dataclass(frozen=True)
class Exported:
    """What an exported file holds: the set's name and its files."""

    name: str
    schema: Any
    files: dict[str, str]

    def write(self, folder: Path) -> None:
        """Lays the set's files into *folder*, which is new."""
        folder.mkdir(parents=True)
        for name, text in self.files.items():
            is_packed = name.endswith(columns.SAMPLES)
            (folder / name).write_bytes(columns.packed(text) if is_packed else text.encode())


def pack(folder: Path) -> bytes:
    """The file's bytes, of the set in *folder*."""
    paths = [path for path in sorted(folder.glob("*.*")) if _NAME.fullmatch(path.name)]
    if not any(path.match("chapter*.json") for path in paths):
        raise BadExport(f"{folder} holds no recorded chapter")
    try:
        files = {path.name: _text_of(path) for path in paths}
        first = json.loads(next(files[path.name] for path in paths if path.match("chapter*.json")))
        schema, device = first["schema"], first["device"]["name"]
    except (OSError, ValueError, KeyError, TypeError, columns.Torn) as error:
        raise BadExport(f"{folder} can't be read ({error})") from None
    if schema != columns.SCHEMA_VERSION:
        raise BadExport(
            f"{folder} holds a recording of schema {schema!r}, and this book exports "
            f"{columns.SCHEMA_VERSION}: measure again with tools/measure"
        )
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "schema": schema,
        "set": folder.name,
        "device": device,
        "sha256": _checksum(files),
        "files": files,
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
    packed = columns.packed(text)
    if len(packed) > MOST_PACKED or len(text) > MOST_UNPACKED:
        raise BadExport(f"{folder} is too large for one file")
    return packed


def _text_of(path: Path) -> str:
    if path.name.endswith(columns.SAMPLES):
        return columns.unpacked(path)
    return path.read_text(encoding="utf-8")


def unpack(path: Path) -> Exported:
    """Reads a file that ``pack`` has made; anything else is a :class:`BadExport`."""
    told = _object(path, _text(path))
    if told.get("format") != FORMAT:
        raise BadExport(f"{path} is not an exported recording")
    if (version := told.get("version")) != VERSION:
        older = ": it is of an older book; measure and export again" if version == 1 else ""
        raise BadExport(
            f"{path} was exported as version {version!r}, and this book reads {VERSION}{older}"
        )
    name, files = told.get("set"), told.get("files")
    if not isinstance(name, str) or not _SET.fullmatch(name) or len(name) > 60:
        raise BadExport(f"{path} gives its set the name {str(name)[:60]!r}, which no set has")
    if not isinstance(files, dict) or not files:
        raise BadExport(f"{path} holds no files")
    for file, text in files.items():
        if not _NAME.fullmatch(file):
            raise BadExport(f"{path} holds {file[:60]!r}, and a recording has no such file")
        if not isinstance(text, str):
            raise BadExport(f"{path} holds {file} in a form other than text")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise BadExport(f"{path} holds {file} with letters that are none")
    if told.get("sha256") != _checksum(files):
        raise BadExport(f"{path} is damaged: its contents don't match its checksum")
    return Exported(name, told.get("schema"), files)


def _text(path: Path) -> bytes:
    """What is in the file, no more of it than a recording could have."""
    try:
        with path.open("rb") as file:
            packed = file.read(MOST_PACKED + 1)
    except OSError as error:
        raise BadExport(f"{path} can't be read ({error.strerror})") from None
    if len(packed) > MOST_PACKED:
        raise BadExport(f"{path} is larger than {MOST_PACKED >> 20} MiB, which no recording is")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            text = stream.read(MOST_UNPACKED + 1)
    except gzip.BadGzipFile as error:
        damaged = packed[:2] == b"\x1f\x8b"
        what = f"is damaged ({error})" if damaged else "is not an exported recording"
        raise BadExport(f"{path} {what}") from None
    except (EOFError, zlib.error):
        raise BadExport(f"{path} is not whole: its end is missing or its bytes changed") from None
    if len(text) > MOST_UNPACKED:
        raise BadExport(f"{path} unpacks to more than {MOST_UNPACKED >> 20} MiB")
    return text


def _object(path: Path, text: bytes) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise BadExport(f"{path} is not an exported recording") from None
    if not isinstance(told, dict):
        raise BadExport(f"{path} is not an exported recording")
    return told


def _checksum(files: Mapping[str, str]) -> str:
    """Of all names and texts, each with its length, so that none runs into the next."""
    digest = hashlib.sha256()
    for name, text in sorted(files.items()):
        for part in (name.encode(), text.encode()):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
