"""What the pages are woven from: the chapters' regions, the recorded runs, the drawn figures.

Everything is looked up for one page, so that the page's inputs are noted on the way. A lookup fails
in one of two ways: :class:`NotYet`, while no reference set has been recorded at all (a placeholder
is shown), or :class:`Lost`, for a name that does not exist (a warning, and with ``-W`` an error).
"""

from __future__ import annotations

import difflib
import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from figures import recorded
from figures import regions as regions_module
from figures.transcripts import transcripts

from . import inputs
from .names import RunName

logger = logging.getLogger(__name__)

REFERENCE = recorded.REFERENCE
LOCAL = recorded.LOCAL


class NotYet(Exception):
    """Nothing has been recorded or drawn yet."""


class Lost(Exception):
    """A page names something that does not exist; the message says what comes nearest."""


@dataclass(frozen=True)
class Both:
    """The reference's answer and the reader's own; at least one of them is there."""

    reference: recorded.Found | None
    local: recorded.Found | None

    @property
    def first(self) -> recorded.Found:
        found = self.local or self.reference
        assert found is not None
        return found


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    if near:
        return f"; nearest: {', '.join(near)}"
    return f"; there are: {', '.join(names)}" if names else "; there are none"


@lru_cache(maxsize=1)
def _regions(root: Path) -> dict[str, regions_module.Region]:
    return regions_module.regions(root)


@lru_cache(maxsize=1)
def _books(root: Path, runs: Path) -> recorded.Books:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", recorded.BrokenLocalSet)
        books = recorded.open_books(root, runs)
    if books.local_fault:
        logger.info("[ladder] the local recording is left out: %s", books.local_fault)
    return books


class Book:
    """Lookups for the page that ``env`` is reading."""

    def __init__(self, env: BuildEnvironment) -> None:
        self.env = env
        self.root = Path(env.config.ladder_root).resolve()
        self.figures_dir = Path(env.config.ladder_figures).resolve()
        self.runs_dir = Path(env.config.ladder_runs).resolve()

    # ------------------------------------------------------------------ sources

    def _regions(self, chapter: str) -> dict[str, regions_module.Region]:
        folder = self.root / "chapters" / chapter
        inputs.note(self.env, [folder, *sorted(folder.glob("*.cu*"))])
        try:
            return _regions(self.root)
        except regions_module.RegionError as error:
            raise Lost(str(error)) from None

    def region(self, chapter: str, name: str) -> regions_module.Region:
        known = self._regions(chapter)
        here = {region.name for region in known.values() if region.chapter == chapter}
        if name in here:
            return known[name]
        if name in known:
            raise Lost(f"region '{name}' is in {known[name].chapter}, not in {chapter}")
        if not here:
            chapters = {region.chapter for region in known.values()}
            raise Lost(f"no region '{name}': {chapter} has none{nearest(chapter, chapters)}")
        raise Lost(f"no region '{name}' in {chapter}{nearest(name, here)}")

    def find_region(self, chapter: str, name: str) -> regions_module.Region | None:
        region = self._regions(chapter).get(name)
        return region if region and region.chapter == chapter else None

    def source(self, chapter: str, file: str) -> tuple[Path, str]:
        """A chapter's file: its path from the root, and its text."""
        return self.file(f"chapters/{chapter}/{file}")

    def file(self, name: str) -> tuple[Path, str]:
        """A file of the repository: its path from the root, and its text."""
        path = self.root / name
        inputs.note(self.env, [path])
        try:
            return path.relative_to(self.root), path.read_text(encoding="utf-8")
        except OSError as error:
            raise Lost(f"{name} cannot be read: {error.strerror}") from None

    def files(self, folder: str, pattern: str) -> list[Path]:
        """Files of a folder of the repository."""
        paths = sorted((self.root / folder).glob(pattern))
        inputs.note(self.env, [self.root / folder, *paths])
        return paths

    # ------------------------------------------------------------------ recorded runs

    def _data(self, *files: str) -> recorded.Books:
        data = self.root / "figures" / "data"
        for folder in (data / REFERENCE, data / LOCAL):
            inputs.note(self.env, [folder, *(folder / file for file in files)])
        try:
            books = _books(self.root, self.runs_dir)
        except recorded.DataError as error:
            raise Lost(str(error)) from None
        except regions_module.RegionError as error:
            raise Lost(str(error)) from None
        if not (books.reference.chapters or books.local):
            raise NotYet
        return books

    def _both(self, ask: Any, recorded_yet: bool) -> Both:
        found: dict[str, recorded.Found | None] = {}
        missed = ""
        for known in (REFERENCE, LOCAL):
            try:
                found[known] = ask(known)
            except recorded.NoSuchRun as miss:
                found[known] = None
                if known == REFERENCE:
                    missed = str(miss)
        both = Both(found[REFERENCE], found[LOCAL])
        if not (both.reference or both.local):
            if not recorded_yet:
                raise NotYet
            raise Lost(missed)
        for one in (both.reference, both.local):
            if one and one.run.get("region"):
                self._note_kernel(one.run["from"], one.run["region"])
        return both

    def _note_kernel(self, chapter: str, region: str) -> None:
        """An edit of a kernel, or of what it uses, makes its numbers those of an earlier form."""
        known = self._regions(chapter)
        names = [region]
        for name in names:  # grows while we go through it
            if name in known:
                inputs.note(self.env, [self.root / known[name].path])
                names += [used for used in known[name].uses if used not in names]

    def run(self, name: RunName) -> Both:
        books = self._data(f"{name.chapter}.json")
        return self._both(
            lambda only: books.run(
                name.chapter, name.variant, name.n, name.block, name.params, only=only
            ),
            bool(books.reference.chapters),
        )

    def counters(self, name: RunName) -> Both:
        books = self._data("counters.json")
        return self._both(
            lambda only: books.counters(
                name.chapter, name.variant, name.n, name.block, name.params, only=only
            ),
            bool(books.reference.chapters),
        )

    def counters_on_embedded(self, name: RunName) -> recorded.Found:
        """The embedded device's counters of a recorded run, where hardware's are not recorded."""
        timed = self.run(name).first
        found = self.embedded(replace(timed, run={**timed.run, "chapter": name.chapter}))
        if found is None:
            raise Lost(f"the embedded device has not counted {name.chapter}/{name.variant}")
        return found

    def _note_embedded(self, chapter: str, *files: str) -> None:
        folder = self.root / "figures" / "data" / recorded.EMBEDDED
        own = (self.runs_dir / f"{chapter}{end}" for end in (".json", ".txt"))
        inputs.note(self.env, [folder, *(folder / file for file in files), *own])

    def embedded(self, hardware: recorded.Found) -> recorded.Found | None:
        """The same run on the embedded device; what the reader's build has counted goes first."""
        books = self._data()
        self._note_embedded(hardware.run["chapter"], "counters.json")
        try:
            found = books.embedded(hardware.run)
        except recorded.DataError as error:
            raise Lost(str(error)) from None
        except recorded.NoSuchRun:
            return None
        if found.run.get("region"):
            self._note_kernel(found.run["chapter"], found.run["region"])
        return found

    def is_own(self, found: recorded.Found) -> bool:
        """Whether the reader's build counted otherwise than the book's, or another kernel."""
        if not found.is_local:
            return False
        committed = self._data().embedded_set.counters
        same = (run for run in (committed or {}).get("runs", []) if run == found.run)
        return next(same, None) is None

    def comparisons(self) -> recorded.Books:
        """All that the embedded device's counters are compared with hardware's by."""
        books = self._data("counters.json")
        for record in books.reference.chapters:
            self._note_embedded(record, "counters.json", "probes.json")
        return books

    def embedded_console(self, name: str) -> tuple[str, recorded.Provenance, bool]:
        """What was printed on the embedded device, and whether the reader's own build did."""
        books = self._data()
        self._note_embedded(name, f"{name}.txt", "counters.json")
        try:
            known = books.embedded_set
            own = books.own_run(name)
            typed = transcripts(self.root)
        except (recorded.DataError, ValueError) as error:
            raise Lost(str(error)) from None
        texts = {**{each: typed[each].text for each in typed}, **known.consoles}
        if name not in texts:
            raise Lost(f"no transcript {name} is recorded{nearest(name, texts)}")
        if name in typed:
            inputs.note(self.env, [self.root / typed[name].path])
        provenance = recorded.provenance_of(known.counters or {})
        text = texts[name]
        if own and own.consoles.get(name, text) != text:
            return own.consoles[name], provenance, True
        return text, provenance, False

    def counter(self, found: recorded.Found, metric: str) -> float:
        try:
            return recorded.counter(found, metric)
        except recorded.NoSuchRun as miss:
            raise Lost(str(miss)) from None

    def sanitizer(self, chapter: str, variant: str) -> list[recorded.Found]:
        books = self._data("sanitizer.json")
        try:
            return books.sanitizer(chapter, variant)
        except recorded.NoSuchRun as miss:
            if not books.reference.chapters:
                raise NotYet from None
            raise Lost(str(miss)) from None

    def has_local(self) -> bool:
        return _books(self.root, self.runs_dir).local is not None

    def variants(self, chapter: str) -> list[str]:
        """The variants that a chapter times by default, in the order recorded."""
        books = self._data(f"{chapter}.json")
        for known in (books.reference, books.local):
            if known and chapter in known.chapters:
                return known.chapters[chapter].variants()
        raise Lost(f"nothing is recorded of {chapter}{nearest(chapter, books.reference.chapters)}")

    def console(self, chapter: str) -> tuple[str, recorded.Provenance]:
        """What the program printed, and where and when."""
        books = self._data(f"{chapter}.txt", f"{chapter}.json")
        for known in (books.local, books.reference):
            if known and chapter in known.consoles and chapter in known.chapters:
                return known.consoles[chapter], known.chapters[chapter].provenance
        if not books.reference.chapters:
            raise NotYet
        raise Lost(
            f"no console output of {chapter} is recorded"
            + nearest(chapter, books.reference.consoles)
        )

    def reference(self) -> recorded.RecordedSet:
        chapters = sorted((self.root / "figures" / "data" / REFERENCE).glob("chapter*.json"))
        books = self._data(*(path.name for path in chapters))
        if not books.reference.chapters:
            raise NotYet
        return books.reference

    # ------------------------------------------------------------------ figures

    def figure(self, name: str) -> tuple[Path, Path, dict[str, Any]]:
        """The light and the dark drawing, and what is said of them (alt text, caption, table)."""
        light, dark, words = (
            self.figures_dir / f"{name}{end}" for end in ("-light.svg", "-dark.svg", ".json")
        )
        inputs.note(self.env, [light, dark, words])
        if not words.is_file():
            known = [path.stem for path in self.figures_dir.glob("*.json")]
            if not known or not self._is_recorded():
                raise NotYet
            raise Lost(f"no figure '{name}' was drawn{nearest(name, known)}")
        try:
            said = json.loads(words.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Lost(f"{words.name} cannot be read: {error}") from None
        if not (light.is_file() and dark.is_file()):
            raise Lost(f"figure '{name}' has its words ({words.name}) but not both drawings")
        return light, dark, said

    def _is_recorded(self) -> bool:
        return any((self.root / "figures" / "data" / REFERENCE).glob("chapter*.json"))


def _forget(app: Sphinx) -> None:
    _regions.cache_clear()
    _books.cache_clear()


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _forget)
