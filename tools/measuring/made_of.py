"""What the embedded device's set was made of: hashes of the device and of each chapter's program.

They are of sources, comments and white space aside. While they, the toolkit and the flags are what
the set was recorded with, running a program again gives what the set has, so the guide's build
takes it from there and runs only what differs. ``figures/data/embedded/sources.json`` has them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools.measuring import ROOT, Failure

NAME = "sources.json"
_QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_CODE = ("*.cu", "*.cuh", "*.cpp", "*.hpp", "*.h", "*.inc")


@dataclass(frozen=True)
class Facts:
    """What a build says of itself, in the header that its programs are compiled with; and the GPUs
    that it was made for."""

    architectures: str
    toolkit: str
    flags: str
    gpus: str = ""

    @classmethod
    def of(cls, build: Path) -> Facts:
        try:
            header = (build / "common" / "build_facts.h").read_text(encoding="utf-8")
            cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
        except OSError as error:
            raise Failure(f"{error.filename} is not there: configure the build first") from None
        said = dict(re.findall(r'^#define BOOK_(\w+) "(.*)"$', header, re.MULTILINE))
        gpus = re.search(r"^BOOK_GPUS:\w+=(.*)$", cache, re.MULTILINE)
        return cls(said["ARCHITECTURES"], said["TOOLKIT"], said["FLAGS"], gpus[1] if gpus else "")

    @property
    def has_counted_ptx(self) -> bool:
        """Whether the PTX that the set was counted from is in it: the device takes no newer."""
        return not {"90-virtual", "90"}.isdisjoint(self.architectures.split(";"))


def device_sources(root: Path = ROOT) -> list[Path]:
    emulator = root / "tools" / "emulator"
    return list(_code_under(emulator / "src", emulator / "include"))


def device_hash(root: Path = ROOT) -> str:
    """Of the embedded device: what its library is made of."""
    return _hash(root, device_sources(root))


def program_hash(chapter: str, facts: Facts, root: Path = ROOT) -> str:
    """Of a chapter's program: its folder, what that includes of other chapters, common, flags."""
    folder = root / "chapters" / chapter
    common = root / "common"
    sources = {*_code_in(folder), *_code_under(common / "src", common / "include")}
    following = list(sources)
    while following:
        for included in _included(following.pop()):
            if included not in sources:
                sources.add(included)
                following.append(included)
    # What it links, and how it is compiled.
    cmake = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    told = re.sub(r"#.*|\s+", " ", cmake)
    table = json.loads((common / "counters.json").read_text(encoding="utf-8"))["counters"]
    counters = "\n".join(f"{each['name']} {each['ncu']}" for each in table)
    return _hash(root, sources, f"{' '.join(told.split())}\n{facts.flags}\n{counters}\n")


def text(chapters: Iterable[str], facts: Facts, root: Path = ROOT) -> str:
    """The set's file."""
    made_of = {
        "toolkit": facts.toolkit,
        "device": device_hash(root),
        "programs": {chapter: program_hash(chapter, facts, root) for chapter in sorted(chapters)},
    }
    return json.dumps(made_of, indent=1) + "\n"


def is_recorded(chapter: str, facts: Facts, folder: Path, root: Path = ROOT) -> bool:
    """Whether the set in *folder* was recorded with the device and the program that are here."""
    try:
        recorded: dict[str, Any] = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False  # it is run again, which is never wrong
    return (
        facts.has_counted_ptx
        and recorded["toolkit"] == facts.toolkit
        and recorded["device"] == device_hash(root)
        and recorded["programs"].get(chapter) == program_hash(chapter, facts, root)
    )


def forget() -> None:
    """Files are read once; for tests, which edit them."""
    _code_hash.cache_clear()


def _included(path: Path) -> Iterator[Path]:
    """Files beside it that it includes; what is in common's headers counts anyway."""
    for name in _QUOTED.findall(path.read_text(encoding="utf-8")):
        included = (path.parent / name).resolve()
        if included.is_file():
            yield included


def _code_in(folder: Path) -> Iterator[Path]:
    for pattern in _CODE:
        yield from (path.resolve() for path in folder.glob(pattern))


def _code_under(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        for inner in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            yield from _code_in(inner)


@cache
def _code_hash(path: Path) -> str:
    from common.records.regions import region_hash  # comments and white space aside

    return region_hash(path.read_text(encoding="utf-8"))


def _hash(root: Path, sources: Iterable[Path], more: str = "") -> str:
    whole = hashlib.sha256(more.encode())
    named = {path.relative_to(root.resolve()).as_posix(): path for path in sources}
    for name in sorted(named):
        whole.update(f"{name} {_code_hash(named[name])}\n".encode())
    return whole.hexdigest()[:16]
