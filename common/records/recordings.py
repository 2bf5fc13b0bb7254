"""All recorded sets together, and the questions that pages and figures put to them.

The reader's own set, ``local``, takes the reference's place number by number; where that set is
broken it is reported and left out: half-finished measuring must never break the guide. What a
reader's own build has counted on the embedded device, chapter by chapter in ``build/runs``, goes
before that device's committed set.

A question with no answer is a :class:`NoSuchRun` that names what there is.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections import UserDict
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal

from typing_extensions import TypeVar

from common.records import regions
from common.records.checks import load_set
from common.records.counters import NCU, ncu_name
from common.records.naming import (
    DEFAULT_BLOCK,
    DEFAULT_N,
    EMBEDDED,
    LOCAL,
    REFERENCE,
    SECOND,
    nearest,
    run_name,
    size_text,
)
from common.records.quantities import QUANTITIES
from common.records.reading import DataError, read_embedded
from common.records.schema import (
    CheckedRun,
    CountedRun,
    CountersFile,
    Device,
    EmbeddedRun,
    TimedRun,
)
from common.records.sets import (
    EmbeddedSet,
    NoSuchRun,
    Provenance,
    RecordedSet,
    load_embedded_set,
    provenance_of,
)
from common.records.verdict import Outcome, verdict

Params = Mapping[str, Any]
#: The kind of run that is meant: a timed one where nothing else is said.
Run = TypeVar("Run", bound=Mapping[str, Any], default=TimedRun)
Kind = TypeVar("Kind", TimedRun, CountedRun)


class BrokenLocalSet(UserWarning):
    """The local set was left out because it is broken."""


@dataclass(frozen=True)
class RecordedRun(Generic[Run]):
    """A recorded run and where it was found; a timed one over all of its passes."""

    run: Run
    set_name: str
    device_name: str
    is_local: bool
    provenance: Provenance
    #: A timed run's passes, in order; none of counters and sanitizer runs.
    repeats: tuple[TimedRun, ...] = ()
    #: The kernel's hash today; None where the run names no region or the region is gone.
    hash_now: str | None = None

    def values(self, name: str) -> tuple[float, ...]:
        """One of the quantities of a timed run, in each pass."""
        return tuple(self._quantity(name, run) for run in self.repeats)

    def value(self, name: str) -> float:
        """The same over all passes."""
        return self._quantity(name, self.run)

    def _quantity(self, name: str, run: Any) -> float:
        try:
            return float(QUANTITIES[name](run, self.provenance.gpu))
        except KeyError:
            where = run_name(self.run)
            raise NoSuchRun(f"'{name}' is null, or missing, in {where}") from None


#: What a counter is asked of: hardware's count, or the embedded device's.
Counted = RecordedRun[CountedRun] | RecordedRun[EmbeddedRun]


def is_faster(a: RecordedRun, b: RecordedRun) -> bool:
    """Whether *a* is faster than *b* as the book uses the word: by the passes of both."""
    if a.set_name != b.set_name:
        raise ValueError(f"{run_name(a.run)} and {run_name(b.run)} were timed on different devices")
    return verdict(a.repeats, b.repeats).outcome is Outcome.FASTER


def is_stale(recorded: RecordedRun[Any]) -> bool:
    """Whether the kernel has changed since it was recorded."""
    kernel_hash = recorded.run.get("kernel_hash")
    return kernel_hash is not None and kernel_hash != recorded.hash_now


def counter_of(counted: Counted, name: str) -> float:
    """A counter of a run, summed over its launches, by alias or by NVIDIA's own name."""
    metric = ncu_name(name)
    launches = counted.run["launches"]
    if not metric.endswith(".sum") and len(launches) > 1:
        raise NoSuchRun(f"{metric} is not a sum, and {run_name(counted.run)} has several launches")
    try:
        return float(sum(launch["metrics"][metric] for launch in launches))
    except KeyError:
        near = nearest(name, [*NCU, *launches[0]["metrics"]])
        where = run_name(counted.run)
        raise NoSuchRun(f"no counter '{name}' is recorded for {where}{near}") from None


def _variants_of(sets: Iterable[RecordedSet]) -> dict[str, set[str]]:
    """Every chapter's variants in any of these."""
    known: dict[str, set[str]] = {}
    for one in sets:
        for chapter, variants in one.variants.items():
            known.setdefault(chapter, set()).update(variants)
    return known


class SecondSets(UserDict[str, Any]):
    """Further cards' sets by their names, each read once it is asked for."""

    def __getitem__(self, name: str) -> RecordedSet:
        known = self.data[name]
        if isinstance(known, Path):
            known = self.data[name] = load_set(known)
        return known  # type: ignore[no-any-return]


class Recordings:
    """The reference set with the reader's own set laid over it."""

    def __init__(self, root: Path | str, runs: Path | None = None) -> None:
        """Of the repository at *root*; *runs* holds what its own build has run."""
        self.root = Path(root)
        self.runs = runs
        self._own: dict[str, EmbeddedSet | None] = {}
        self._told_by: dict[str, Recordings] = {}  # for `of`, by the card's name
        data = self.root / "figures" / "data"
        # Before the first recording there is no folder; what is asked for is then not there.
        reference = data / REFERENCE
        self.reference = load_set(reference) if reference.is_dir() else RecordedSet(REFERENCE)
        #: Further cards' sets, asked by name alone.
        self.second: MutableMapping[str, RecordedSet] = SecondSets(
            {name: data / name for name in SECOND if (data / name).is_dir()}
        )
        self.local: RecordedSet | None = None
        #: Why the local set was left out, for those that want to say it themselves.
        self.local_fault: DataError | None = None
        if (data / LOCAL).is_dir():
            try:
                self.local = load_set(data / LOCAL)
            except DataError as error:
                self.local_fault = error
                warnings.warn(
                    f"the local recording is left out: {error}", BrokenLocalSet, stacklevel=2
                )

    def of(self, chapter: str) -> Recordings:
        """These, as a page of *chapter* shows them: by the first card that has recorded it.

        A chapter that the reference has no recording of is told by a second card's, and so is all
        that it is compared with.
        """
        if chapter in self.reference.chapters:
            return self
        for name, known in self.second.items():
            if chapter in known.chapters:
                if name not in self._told_by:
                    self._told_by[name] = self._told_by_card(name)
                return self._told_by[name]
        return self

    def _told_by_card(self, name: str) -> Recordings:
        there = copy.copy(self)
        there.__dict__.pop("variants", None)  # they are those of the reference's chapters
        there.reference = self.second[name]
        there.second = {REFERENCE: self.reference, **self.second}
        del there.second[name]
        there._told_by = {}
        return there

    @functools.cached_property
    def embedded_set(self) -> EmbeddedSet:
        """The embedded device's committed set; an empty one before the first recording."""
        folder = self.root / "figures" / "data" / EMBEDDED
        return load_embedded_set(folder) if folder.is_dir() else EmbeddedSet(EMBEDDED)

    def own_run(self, chapter: str) -> EmbeddedSet | None:
        """What the reader's own build of a chapter counted and printed, if it was run."""
        if chapter not in self._own:
            self._own[chapter] = self._load_own(chapter)
        return self._own[chapter]

    def _load_own(self, chapter: str) -> EmbeddedSet | None:
        path = self.runs / f"{chapter}.json" if self.runs else None
        if not path or not path.is_file():
            return None
        console = path.with_suffix(".txt")
        text = console.read_text(encoding="utf-8") if console.is_file() else ""
        consoles = {chapter: text} if "\ndevice  embedded device" in text else {}
        return EmbeddedSet(LOCAL, consoles, read_embedded(path))

    @functools.cached_property
    def regions(self) -> dict[str, regions.Region]:
        return regions.regions(self.root)

    @functools.cached_property
    def variants(self) -> dict[str, set[str]]:
        """Every chapter's variants, timed or counted, of the reference and the reader's own set."""
        return _variants_of(self.sets())

    def variants_asked_on(self, name: str) -> dict[str, set[str]]:
        """The same, and a second card's, of which four GPUs' has more."""
        return _variants_of([*self.sets(), *self.sets(name)])

    def sets(self, only: str | None = None) -> list[RecordedSet]:
        """The sets to look in, in order; *only* names one of them, or a second card's."""
        if only is not None and only in self.second:
            return [self.second[only]]
        both = [known for known in (self.local, self.reference) if known is not None]
        return [known for known in both if only in (None, known.name)]

    def device(self, name: str = "") -> Device:
        """The device of a set, the reference's without a name."""
        for known in self.sets(name or self.reference.name):
            return known.device
        raise NoSuchRun(f"there is no set '{name}'")

    def run(
        self,
        chapter: str,
        variant: str,
        n: int | None = None,
        block: int | None = None,
        params: Params | None = None,
        *,
        only: str | None = None,
    ) -> RecordedRun:
        """The recorded run of that name over all its passes, from the local set where it has it.

        Without *n* and *block* the book's defaults are meant, 2^24 and 256, or the one size that
        a variant was recorded at. *params* needs to name only what tells the runs apart.
        """
        asked = Question(chapter, variant, n, block, params)
        misses = []
        for known in self.sets(only):
            record = known.chapters.get(chapter)
            try:
                run = asked.choose(record.shown if record else [])
            except NoSuchRun as miss:
                near = nearest(chapter, known.chapters) if not record else f"; {miss}"
                misses.append(f"{known.name}{near}")
                continue
            assert record is not None
            passes = next(each for each in record.passes if _same(each[0], run))
            return self._recorded(known, record.provenance, run, passes)
        raise NoSuchRun(f"no recorded run {asked} (looked in {', '.join(misses) or 'no set'})")

    def counters(
        self,
        chapter: str,
        variant: str,
        n: int | None = None,
        block: int | None = None,
        params: Params | None = None,
        *,
        only: str | None = None,
    ) -> RecordedRun[CountedRun]:
        """The hardware counters of a variant, from the local set where it has them."""
        asked = Question(chapter, variant, n, block, params)
        misses = []
        for known in self.sets(only):
            data = known.counters
            if not data:
                misses.append(f"{known.name}, which has no counters")
                continue
            try:
                run = asked.choose([run for run in data["runs"] if run["chapter"] == chapter])
            except NoSuchRun as miss:
                misses.append(f"{known.name}; {miss}")
                continue
            provenance = provenance_of(data, run["command"])
            return self._recorded(known, provenance, _hashed(known, data, run))
        raise NoSuchRun(f"no recorded counters {asked} (looked in {', '.join(misses) or 'no set'})")

    def embedded(self, run: TimedRun | CountedRun, chapter: str = "") -> RecordedRun[EmbeddedRun]:
        """The embedded device's counters of hardware's *run*.

        A timed one doesn't say of which chapter it is, so that has to be given.
        """
        chapter = chapter or str(run.get("chapter"))
        asked = Question(chapter, run["variant"], run["n"], run["block"], run["params"])

        own = self.own_run(chapter)
        misses = []
        for known in [own, self.embedded_set] if own else [self.embedded_set]:
            if not known.counters:
                misses.append(f"{known.name}, which has no counters")
                continue
            for counted in known.counters["runs"]:
                if counted["chapter"] == chapter and _same(counted, run):
                    provenance = provenance_of(known.counters, counted["command"])
                    return self._recorded(known, provenance, counted)
            misses.append(f"{known.name}; nothing of {run_name(run, chapter)}")
        raise NoSuchRun(f"no recorded counters {asked} (looked in {', '.join(misses)})")

    def sanitizer(
        self, chapter: str, variant: str, *, only: str | None = None
    ) -> list[RecordedRun[CheckedRun]]:
        """What compute-sanitizer's tools said of a variant, one entry a tool."""
        for known in self.sets(only):
            if known.sanitizer:
                runs = [
                    self._recorded(known, provenance_of(known.sanitizer, run["command"]), run)
                    for run in known.sanitizer["runs"]
                    if (run["chapter"], run["variant"]) == (chapter, variant)
                ]
                if runs:
                    return runs
        raise NoSuchRun(f"compute-sanitizer was not recorded on {chapter}/{variant}")

    def _recorded(
        self,
        known: RecordedSet | EmbeddedSet,
        provenance: Provenance,
        run: Run,
        repeats: tuple[TimedRun, ...] = (),
    ) -> RecordedRun[Run]:
        region = self.regions.get(str(run.get("region")))
        return RecordedRun(
            run=run,
            set_name=known.name,
            device_name=known.device_name,
            is_local=known.is_local,
            provenance=provenance,
            repeats=repeats,
            hash_now=region.hash if region else None,
        )


def _hashed(known: RecordedSet, data: CountersFile, run: CountedRun) -> CountedRun:
    """A counted run with its kernel's hash, which the times of the same source have."""
    record = known.chapters.get(run["chapter"])
    if "kernel_hash" in run or not record or record.data["source"] != data["source"]:
        return run
    for timed in record.runs:
        if timed["variant"] == run["variant"]:
            return {
                **run,
                "from": timed["from"],
                "region": timed["region"],
                "kernel_hash": timed["kernel_hash"],
            }
    return run


def _same(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return all(a[key] == b[key] for key in ("variant", "n", "block", "params"))


# ----------------------------------------------------------------------- answering questions


@dataclass(frozen=True)
class Question:
    """Which run is asked for."""

    chapter: str
    variant: str
    n: int | None
    block: int | None
    params: Params | None

    def __str__(self) -> str:
        parts = [f"{self.chapter}/{self.variant}"]
        parts += [f"n={size_text(self.n)}"] if self.n is not None else []
        parts += [f"block={self.block}"] if self.block is not None else []
        parts += [f"{key}={value}" for key, value in sorted((self.params or {}).items())]
        return " ".join(parts)

    def choose(self, runs: Sequence[Kind]) -> Kind:
        """The one of a chapter's runs that fits; where several do or none does, NoSuchRun."""
        of_variant = [run for run in runs if run["variant"] == self.variant]
        if not of_variant:
            names = list(dict.fromkeys(run["variant"] for run in runs))
            raise NoSuchRun(f"no variant '{self.variant}'{nearest(self.variant, names)}")
        runs = of_variant
        for name, value in (self.params or {}).items():
            fitting = [run for run in runs if str(run["params"].get(name)) == str(value)]
            if not fitting:
                there = sorted({str(run["params"][name]) for run in runs if name in run["params"]})
                raise NoSuchRun(f"{name}={value} is not there, only {', '.join(there) or 'none'}")
            runs = fitting
        runs = _narrow(runs, "n", self.n, DEFAULT_N)
        runs = _narrow(runs, "block", self.block, DEFAULT_BLOCK)
        if len(runs) > 1:
            differ = sorted({key for run in runs for key in run["params"]})
            raise NoSuchRun(f"{len(runs)} runs fit; say which {' and '.join(differ)}")
        return runs[0]


def _narrow(
    runs: Sequence[Kind], name: Literal["n", "block"], value: int | None, default: int
) -> list[Kind]:
    there = sorted({run[name] for run in runs})
    wanted = value if value is not None else there[0] if len(there) == 1 else default
    fitting = [run for run in runs if run[name] == wanted]
    if not fitting:
        near = sorted(sorted(there, key=lambda known: abs(known - wanted))[:3])
        sizes = ", ".join(map(size_text, near))
        raise NoSuchRun(f"{name}={size_text(wanted)} is not there; nearest are {sizes}")
    return fitting
