"""One set: a folder of recorded files, all of one device.

The reference set is committed; the reader's own is ``local``. The set ``embedded`` is the embedded
device's: counters, probes and console text, with no times and no dates.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.records.naming import EMBEDDED, LOCAL
from common.records.reading import (
    DataError,
    read_chapter,
    read_counters,
    read_embedded,
    read_probes,
    read_sanitizer,
)
from common.records.schema import (
    ChapterFile,
    CountersFile,
    Device,
    EmbeddedDevice,
    EmbeddedFile,
    ProbesFile,
    SanitizerFile,
    SourceOrNone,
    TimedRun,
)
from common.records.verdict import over_passes


class NoSuchRun(LookupError):
    """Nothing recorded answers the question; the message says what comes nearest."""


@dataclass(frozen=True)
class Provenance:
    """Where a number comes from."""

    device: Device | EmbeddedDevice
    driver: str
    toolkit: str
    commit: str
    dirty: bool
    date: str
    command: str

    @property
    def gpu(self) -> Device:
        """The device's attributes, of which the embedded one has none."""
        if "sm_count" not in self.device:
            raise NoSuchRun(f"the {self.device['name']} has no attributes")
        return self.device

    @property
    def text(self) -> str:
        """One line for a caption, e.g. 'NVIDIA H200, 2026-11-21, commit 0123456 (modified)'."""
        if not self.date:  # the embedded device's, the same on every day
            return f"{self.device['name']}, CUDA {self.toolkit}"
        changed = " (modified)" if self.dirty else ""
        commit = f"commit {self.commit[:7]}{changed}" if self.commit else "commit unknown"
        return f"{self.device['name']}, {self.date[:10]}, {commit}"


def provenance_of(
    data: ChapterFile | CountersFile | SanitizerFile | EmbeddedFile, command: str = ""
) -> Provenance:
    """Where the numbers of a file come from."""
    if not command and "commands" in data:
        command = "; ".join(" ".join(argv) for argv in data["commands"])
    if "source" not in data:  # the embedded device's, the same wherever it is recorded
        return Provenance(data["device"], "", data["toolkit"], "", False, "", command)
    source = data["source"]
    return Provenance(
        device=data["device"],
        driver=data["driver"],
        toolkit=data["toolkit"],
        commit=source["commit"] if source else "",
        dirty=bool(source and source["dirty"]),
        date=data["date"],
        command=command,
    )


@dataclass(frozen=True)
class ChapterRecord:
    """One chapter's recorded times."""

    path: Path
    data: ChapterFile

    @property
    def runs(self) -> list[TimedRun]:
        """Every pass of every run."""
        return self.data["runs"]

    @functools.cached_property
    def passes(self) -> list[tuple[TimedRun, ...]]:
        """The runs, each with all of its passes in order."""
        found: dict[str, list[TimedRun]] = {}
        for run in self.runs:
            found.setdefault(_key(run), []).append(run)
        return [tuple(sorted(each, key=lambda run: run["repeat"])) for each in found.values()]

    @functools.cached_property
    def shown(self) -> list[TimedRun]:
        """The runs as pages and figures show them: each once, over all of its passes."""
        return [over_passes(each) for each in self.passes]

    @property
    def provenance(self) -> Provenance:
        return provenance_of(self.data)

    def variants(self, *, legacy: bool = False) -> list[str]:
        """Names in the order recorded, without the faulty forms unless they are asked for."""
        return list(
            dict.fromkeys(run["variant"] for run in self.runs if legacy or not run["legacy"])
        )


@dataclass(frozen=True)
class RecordedSet:
    """All of one GPU's recorded runs that a folder holds."""

    name: str
    chapters: dict[str, ChapterRecord] = field(default_factory=dict)
    consoles: dict[str, str] = field(default_factory=dict)
    counters: CountersFile | None = None
    sanitizer: SanitizerFile | None = None
    #: What is to be told of a reader's own set, and refused in a committed one.
    doubts: list[DataError] = field(default_factory=list)

    @functools.cached_property
    def variants(self) -> dict[str, set[str]]:
        """Every chapter's variants, timed or counted."""
        known = {name: set(each.variants(legacy=True)) for name, each in self.chapters.items()}
        for counted in self.counters["runs"] if self.counters else []:
            known.setdefault(counted["chapter"], set()).add(counted["variant"])
        return known

    @property
    def is_local(self) -> bool:
        return self.name == LOCAL

    @property
    def device(self) -> Device:
        for _file, device in self.devices():
            return device
        raise NoSuchRun(f"nothing is recorded in figures/data/{self.name}")

    @property
    def device_name(self) -> str:
        return self.device["name"]

    def devices(self) -> Iterator[tuple[str, Device]]:
        """Each file and the GPU that it says it is of."""
        for name, record in self.chapters.items():
            yield f"{name}.json", record.data["device"]
        if self.counters:
            yield "counters.json", self.counters["device"]
        if self.sanitizer:
            yield "sanitizer.json", self.sanitizer["device"]

    def sources(self) -> Iterator[tuple[str, SourceOrNone]]:
        """Each file of times and counters, and the source that it says it is of."""
        for name, record in self.chapters.items():
            yield f"{name}.json", record.data["source"]
        if self.counters:
            yield "counters.json", self.counters["source"]


@dataclass(frozen=True)
class EmbeddedSet:
    """What the embedded device has counted and printed: the book's set, or a reader's own build."""

    name: str
    consoles: dict[str, str] = field(default_factory=dict)
    counters: EmbeddedFile | None = None
    probes: ProbesFile | None = None

    @property
    def is_local(self) -> bool:
        return self.name == LOCAL

    @property
    def device_name(self) -> str:
        if not self.counters:
            raise NoSuchRun(f"nothing is recorded in figures/data/{self.name}")
        return self.counters["device"]["name"]


def _key(run: Mapping[str, Any]) -> str:
    """What names a run within its chapter."""
    return json.dumps([run[key] for key in ("variant", "n", "block", "params")], sort_keys=True)


def load_embedded_set(folder: Path) -> EmbeddedSet:
    """Reads and checks every file of the embedded device's set."""
    return EmbeddedSet(
        EMBEDDED,
        _consoles(folder, "chapter*.txt"),
        read_embedded(folder / "counters.json"),
        read_probes(folder / "probes.json"),
    )


def read_set(folder: Path) -> RecordedSet:
    """Reads every file of a GPU's set, each checked by itself."""
    if not folder.is_dir():
        raise DataError(folder, "", "no such set of recorded runs")
    chapters: dict[str, ChapterRecord] = {}
    for path in sorted(folder.glob("chapter*.json")):
        data = read_chapter(path)
        if data["chapter"] != path.stem:
            raise DataError(path, "field 'chapter'", f"{data['chapter']} in a file of that name")
        chapters[path.stem] = ChapterRecord(path, data)
    counters, sanitizer = folder / "counters.json", folder / "sanitizer.json"
    loaded = RecordedSet(
        folder.name,
        chapters,
        _consoles(folder, "chapter*.txt"),
        counters=read_counters(counters) if counters.exists() else None,
        sanitizer=read_sanitizer(sanitizer) if sanitizer.exists() else None,
    )
    _refuse_mixed_devices(folder, loaded)
    return loaded


def _consoles(folder: Path, pattern: str) -> dict[str, str]:
    consoles: dict[str, str] = {}
    for path in sorted(folder.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        if not text.startswith("$ "):
            raise DataError(path, "line 1", "is not the command, '$ ./run …'")
        consoles[path.stem] = text
    return consoles


def _refuse_mixed_devices(folder: Path, loaded: RecordedSet) -> None:
    for file, device in loaded.devices():
        if device != loaded.device:
            name, first = device["name"], loaded.device_name
            what = f"'{name}', but the set began on '{first}'"
            if name == first:
                what = f"attributes of '{name}' differ from the set's other files"
            raise DataError(folder / file, "field 'device'", what)
