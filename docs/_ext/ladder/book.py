"""What the pages are woven from: the chapters' regions, the recorded runs, the drawn figures.

Everything is looked up for one page, so that the page's inputs are noted on the way. A lookup fails
in one of two ways: :class:`NotYet`, while no reference set has been recorded at all (a placeholder
is shown), or :class:`Lost`, for a name that does not exist (a warning, and with ``-W`` an error).
"""

from __future__ import annotations

import difflib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from common.records import regions as regions_module
from common.records.naming import EMBEDDED, LOCAL, REFERENCE, SECOND
from common.records.reading import DataError
from common.records.recordings import (
    BrokenLocalSet,
    RecordedRun,
    Recordings,
    Run,
)
from common.records.schema import CheckedRun, CountedRun, EmbeddedRun, TimedRun
from common.records.sets import NoSuchRun, Provenance, RecordedSet, provenance_of
from common.records.transcripts import transcripts
from tools.measuring.notices import Notice, Record, of_the_card, sizes_left_out

from . import inputs
from .names import RunName, chapter_of

logger = logging.getLogger(__name__)


class NotYet(Exception):
    """Nothing has been recorded or drawn yet."""


class Lost(Exception):
    """A page names something that does not exist; the message says what comes nearest."""


@dataclass(frozen=True)
class Both(Generic[Run]):
    """The reference's answer and the reader's own; at least one of them is there."""

    reference: RecordedRun[Run] | None
    local: RecordedRun[Run] | None

    def __iter__(self) -> Iterator[RecordedRun[Run] | None]:
        return iter((self.reference, self.local))

    @property
    def first(self) -> RecordedRun[Run]:
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
def _recordings(root: Path, runs: Path) -> Recordings:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BrokenLocalSet)
        recordings = Recordings(root, runs)
    if recordings.local_fault:
        logger.info("[ladder] the local recording is left out: %s", recordings.local_fault)
    for doubt in recordings.local.doubts if recordings.local else []:
        logger.info("[ladder] the local recording is used, but: %s", doubt)
    return recordings


@lru_cache(maxsize=1)
def _launched(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Of each chapter the variants that a page can launch, with the region that each runs, and its
    sizes and blocks."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))["variants"]
        for path in sorted(folder.glob("*.json"))
    }


class Book:
    """Lookups for the page that ``env`` is reading; of *card*, another card's set, alone."""

    def __init__(self, env: BuildEnvironment, card: str = "") -> None:
        self.env = env
        self.card = card
        self.root = Path(env.config.ladder_root).resolve()
        self.figures_dir = Path(env.config.ladder_figures).resolve()
        self.runs_dir = Path(env.config.ladder_runs).resolve()

    # ------------------------------------------------------------------ sources

    def _regions(self, chapter: str) -> dict[str, regions_module.Region]:
        folder = self.root / "chapters" / chapter
        inputs.note(self.env, [folder, *sorted(folder.glob("*.cu*"))])
        return self.all_regions()

    def all_regions(self) -> dict[str, regions_module.Region]:
        """Every chapter's, by name; which files the page depends on is for the caller to say."""
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

    def any_region(self, name: str) -> regions_module.Region:
        """A region of whichever chapter; the page depends on its file."""
        found = _regions(self.root)[name]
        inputs.note(self.env, [self.root / path for path in found.paths])
        return found

    def reference_name(self) -> str:
        """The card whose counters stand beside the reader's."""
        return self._data().reference.device_name

    def launched(self, chapter: str) -> dict[str, dict[str, Any]]:
        """The variants that run in the page, with the region that each runs, and its sizes and
        blocks."""
        folder = self.root / "figures" / "data" / EMBEDDED / "launches"
        inputs.note(self.env, [folder, folder / f"{chapter}.json"])
        return _launched(folder).get(chapter, {})

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

    def _data(self, *files: str, chapter: str = "") -> Recordings:
        """Those that the page shows; on a page of no chapter, those that a page of *chapter*
        would."""
        data = self.root / "figures" / "data"
        try:
            recordings = _recordings(self.root, self.runs_dir)
        except DataError as error:
            raise Lost(str(error)) from None
        except regions_module.RegionError as error:
            raise Lost(str(error)) from None
        recordings = recordings.of(chapter_of(self.env.docname) or chapter)
        for folder in (data / (self.card or recordings.reference.name), data / LOCAL):
            inputs.note(self.env, [folder, *(folder / file for file in files)])
        if not (recordings.reference.chapters or recordings.local):
            raise NotYet
        return recordings

    def everything(self) -> Recordings:
        """All recorded sets, for claims, which may ask for any run of any of them."""
        data = self.root / "figures" / "data"
        folders = [data / name for name in (REFERENCE, *SECOND, LOCAL)]
        files = [path for folder in folders for path in sorted(folder.glob("*.json"))]
        inputs.note(self.env, [*folders, *files])
        return self._data()

    def _both(self, recordings: Recordings, ask: Callable[[str], RecordedRun[Run]]) -> Both[Run]:
        found: dict[str, RecordedRun[Run] | None] = {}
        missed = ""
        card = self.card or recordings.reference.name
        for known in (card,) if self.card else (card, LOCAL):
            try:
                found[known] = ask(known)
            except NoSuchRun as miss:
                found[known] = None
                if known == card:
                    missed = str(miss)
        both = Both(found[card], found.get(LOCAL))
        if not (both.reference or both.local):
            if not recordings.reference.chapters:
                raise NotYet
            raise Lost(missed)
        for one in (both.reference, both.local):
            if one and one.run.get("region"):
                self._note_kernel(one.run["from"], one.run["region"])
        return both

    def _note_kernel(self, chapter: str, region: str | None) -> None:
        """An edit of a kernel, or of what it uses, makes its numbers those of an earlier form."""
        known = self._regions(chapter) if region else {}
        if region in known:
            inputs.note(self.env, [self.root / path for path in known[region].paths])

    def run(self, name: RunName) -> Both:
        recordings = self._data(f"{name.chapter}.json", chapter=name.chapter)
        return self._both(
            recordings,
            lambda only: recordings.run(
                name.chapter, name.variant, name.n, name.block, name.params, only=only
            ),
        )

    def counters(self, name: RunName) -> Both[CountedRun]:
        recordings = self._data("counters.json", chapter=name.chapter)
        return self._both(
            recordings,
            lambda only: recordings.counters(
                name.chapter, name.variant, name.n, name.block, name.params, only=only
            ),
        )

    def counters_on_embedded(self, name: RunName) -> RecordedRun[EmbeddedRun]:
        """The embedded device's counters of a recorded run, where hardware's are not recorded."""
        found = self._embedded(name.chapter, self.run(name).first.run)
        if found is None:
            raise Lost(f"the embedded device has not counted {name.chapter}/{name.variant}")
        return found

    def _note_embedded(self, chapter: str, *files: str) -> None:
        folder = self.root / "figures" / "data" / EMBEDDED
        own = (self.runs_dir / f"{chapter}{end}" for end in (".json", ".txt"))
        inputs.note(self.env, [folder, *(folder / file for file in files), *own])

    def embedded(self, hardware: RecordedRun[CountedRun]) -> RecordedRun[EmbeddedRun] | None:
        """The same run on the embedded device; what the reader's build has counted goes first."""
        return self._embedded(hardware.run["chapter"], hardware.run)

    def _embedded(
        self, chapter: str, run: TimedRun | CountedRun
    ) -> RecordedRun[EmbeddedRun] | None:
        recordings = self._data()
        self._note_embedded(chapter, "counters.json")
        try:
            found = recordings.embedded(run, chapter)
        except DataError as error:
            raise Lost(str(error)) from None
        except NoSuchRun:
            return None
        self._note_kernel(found.run["chapter"], found.run["region"])
        return found

    def is_own(self, found: RecordedRun[EmbeddedRun]) -> bool:
        """Whether the reader's build counted otherwise than the book's, or another kernel."""
        if not found.is_local:
            return False
        committed = self._data().embedded_set.counters
        return committed is None or found.run not in committed["runs"]

    def comparisons(self) -> Recordings:
        """All that the embedded device's counters are compared with hardware's by."""
        recordings = self._data("counters.json")
        for record in recordings.reference.chapters:
            self._note_embedded(record, "counters.json", "probes.json")
        return recordings

    def embedded_console(self, name: str) -> tuple[str, Provenance, bool]:
        """What was printed on the embedded device, and whether the reader's own build did."""
        recordings = self._data()
        self._note_embedded(name, f"{name}.txt", "counters.json")
        try:
            known = recordings.embedded_set
            own = recordings.own_run(name)
            typed = transcripts(self.root)
        except (DataError, ValueError) as error:
            raise Lost(str(error)) from None
        # A chapter that is recorded nowhere yet has what its own build printed.
        here = own.consoles if own else {}
        texts = {**here, **{each: typed[each].text for each in typed}, **known.consoles}
        if name not in texts:
            raise Lost(f"no transcript {name} is recorded{nearest(name, texts)}")
        if name in typed:
            inputs.note(self.env, [self.root / typed[name].path])
        if not known.counters:
            raise NotYet
        provenance = provenance_of(known.counters)
        text = texts[name]
        if own and own.consoles.get(name, text) != text:
            return own.consoles[name], provenance, True
        return text, provenance, False

    def sanitizer(self, chapter: str, variant: str) -> list[RecordedRun[CheckedRun]]:
        recordings = self._data("sanitizer.json", chapter=chapter)
        try:
            return recordings.sanitizer(chapter, variant)
        except NoSuchRun as miss:
            if not recordings.reference.chapters:
                raise NotYet from None
            raise Lost(str(miss)) from None

    def has_local(self) -> bool:
        """Whether the reader's own numbers stand beside these."""
        return not self.card and _recordings(self.root, self.runs_dir).local is not None

    def noticed(self) -> tuple[str, list[Notice]]:
        """The reader's own card and what to know of its recording, as tools/measure warned of it;
        nothing of none."""
        recordings = self.everything()
        if not recordings.local:
            return "", []
        book: dict[str, Record] = {}
        for known in (recordings.reference, *recordings.second.values()):
            book = {name: record.data for name, record in known.chapters.items()} | book
        own = {name: record.data for name, record in recordings.local.chapters.items()}
        found = (*of_the_card(own), *sizes_left_out(own, book))
        return recordings.local.device_name, [each for each in found if each.is_warning]

    def variants(self, chapter: str) -> list[str]:
        """The variants that a chapter times by default, in the order recorded."""
        recordings = self._data(f"{chapter}.json", chapter=chapter)
        for known in (recordings.reference, recordings.local):
            if known and chapter in known.chapters:
                return known.chapters[chapter].variants()
        raise Lost(
            f"nothing is recorded of {chapter}{nearest(chapter, recordings.reference.chapters)}"
        )

    def console(self, chapter: str) -> tuple[str, Provenance]:
        """What the program printed, and where and when."""
        recordings = self._data(f"{chapter}.txt", f"{chapter}.json", chapter=chapter)
        for known in (recordings.local, recordings.reference):
            if known and chapter in known.consoles and chapter in known.chapters:
                return known.consoles[chapter], known.chapters[chapter].provenance
        if not recordings.reference.chapters:
            raise NotYet
        raise Lost(
            f"no console output of {chapter} is recorded"
            + nearest(chapter, recordings.reference.consoles)
        )

    def reference(self) -> RecordedSet:
        known = self._data().reference
        recordings = self._data(*(f"{chapter}.json" for chapter in known.chapters))
        if not known.chapters:
            raise NotYet
        return recordings.sets(self.card or recordings.reference.name)[0]

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
    _recordings.cache_clear()
    _launched.cache_clear()


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _forget)
