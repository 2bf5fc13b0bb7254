"""What a recorded set must satisfy as a whole, beyond what ``reading`` asks of each run.

Each check raises one :class:`DataError` that names file, run and field. A committed set that fails
one is refused. A reader's own is used all the same, and they are told: their card's attributes may
understate what it can do, and an older ``tools/measure`` wrote no manifest.

What no file can show is a number changed everywhere it occurs, manifest included. The tests catch
some of that from outside the data: the programs know their useful bytes and their findings, git
knows the kernels at the recorded commit, and the embedded device counts again. The rest takes the
GPU (common/records/tests/test_lies.py lists it).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from common.records import history, manifest
from common.records.consoles import check_consoles
from common.records.floors import EMPTY_BLOCKS, floors
from common.records.naming import SECOND, run_name
from common.records.proportions import check_counters
from common.records.rates import peak_of
from common.records.reading import DataError, read_manifest
from common.records.schema import CheckedRun, CountedRun, TimedRun
from common.records.sets import RecordedSet, read_set

#: What rounding in the files may move a rate or a floor by.
ROUNDING = 1.0005
#: What the timer samples to: the 95 % interval of a median is within so much of it.
PRECISION = 1.01


def load_set(folder: Path | str) -> RecordedSet:
    """Reads and checks every file of a GPU's set, and the set as a whole."""
    folder = Path(folder)
    loaded = read_set(folder)
    if loaded.is_local:
        loaded.doubts.extend(faults(folder, loaded))
    elif _is_recorded(folder):
        check(folder, loaded)
    return loaded


def _is_recorded(folder: Path) -> bool:
    """Whether a set claims to be measured. Tests make sets up, outside the book, for which
    nothing vouches."""
    book = folder.absolute().parents[2] / "CMakeLists.txt"
    return (folder / manifest.NAME).exists() or book.exists()


def check(folder: Path, loaded: RecordedSet) -> None:
    """All checks; the first fault is raised."""
    for fault in faults(folder, loaded):
        raise fault


def faults(folder: Path, loaded: RecordedSet) -> Iterator[DataError]:
    """The first fault that each check finds."""
    for each in (
        check_sources,
        check_passes,
        check_rates,
        check_floors,
        check_consoles,
        check_counters,
        check_sanitizer,
        check_manifest,
    ):
        try:
            each(folder, loaded)
        except DataError as fault:
            yield fault


# ------------------------------------------------------------------------------ provenance


def check_sources(folder: Path, loaded: RecordedSet) -> None:
    """Times and counters are of one commit, which git knows where there is git. What
    compute-sanitizer found takes no part in any time, and may be of another."""
    first = None
    for file, source in loaded.sources():
        commit = source["commit"] if source else None
        if first is None:
            first = file, commit
        elif commit != first[1]:
            what = f"{commit}, but {first[0]} is of {first[1]}: a set is of one commit"
            raise DataError(folder / file, "field 'source.commit'", what)
    named = [first] if first else []
    if loaded.sanitizer and loaded.sanitizer["source"]:
        named.append(("sanitizer.json", loaded.sanitizer["source"]["commit"]))
    for file, commit in named:
        if commit is not None and (what := history.unknown(folder, commit)):
            raise DataError(folder / file, "field 'source.commit'", what)


def check_manifest(folder: Path, loaded: RecordedSet) -> None:
    """The files are those that the manifest has, byte for byte."""
    path = folder / manifest.NAME
    if not path.exists():
        raise DataError(path, "", "missing: nothing vouches for the set's files")
    told = read_manifest(path)
    for file, source in loaded.sources():
        if (source and source["commit"]) != told["commit"]:
            what = f"{told['commit']}, but {file} is of {source and source['commit']}"
            raise DataError(path, "field 'commit'", what)
    found = manifest.hashes(folder)
    for name in sorted({*found, *told["files"]}):
        if name not in found:
            raise DataError(path, f"file '{name}'", "is not there")
        if name not in told["files"]:
            raise DataError(path, f"file '{name}'", "is not in the manifest")
        if found[name] != told["files"][name]:
            raise DataError(path, f"file '{name}'", "was changed after it was recorded")


# ----------------------------------------------------------------------------------- times

Name = tuple[str, int, int, str]


def _name(run: Mapping[str, Any]) -> Name:
    """A run's within its chapter."""
    return run["variant"], run["n"], run["block"], str(sorted(run.get("params", {}).items()))


def _timed(loaded: RecordedSet) -> Iterator[TimedRun]:
    for record in loaded.chapters.values():
        yield from record.runs


def check_passes(folder: Path, loaded: RecordedSet) -> None:
    """Every run is there once per pass."""
    told = folder / manifest.NAME
    if told.exists():
        passes = read_manifest(told)["passes"]
    else:
        passes = 1 + max((run["repeat"] for run in _timed(loaded)), default=-1)
    for record in loaded.chapters.values():
        named: dict[Name, list[TimedRun]] = {}
        for run in record.runs:
            named.setdefault(_name(run), []).append(run)
        for runs in named.values():
            where = run_name({**runs[0], "repeat": None}, record.data["chapter"])
            where = where.removesuffix(" repeat None")
            there = sorted(run["repeat"] for run in runs)
            if there != list(range(passes)):
                what = f"has {there} where a recording of {passes} passes has {[*range(passes)]}"
                raise DataError(record.path, f"{where}, field 'repeat'", what)


def check_rates(folder: Path, loaded: RecordedSet) -> None:
    """From emptied caches no run moves its bytes faster than the memory's peak."""
    for record in loaded.chapters.values():
        for run in record.runs:
            peak = peak_of(run, record.data["device"])
            if run["cache"] == "cold" and peak and run["gb_per_s"] > peak * ROUNDING:
                what = f"{run['gb_per_s']:g} from a cold cache, above the peak of {peak:g}"
                where = run_name(run, record.data["chapter"])
                raise DataError(record.path, f"{where}, field 'gb_per_s'", what)


def check_floors(folder: Path, loaded: RecordedSet) -> None:
    """No run is faster than its instructions can be issued or its blocks be started."""
    counted: dict[tuple[str, str, str], list[CountedRun]] = {}
    for launch in loaded.counters["runs"] if loaded.counters else []:
        variant, _n, _block, params = _name(launch)
        counted.setdefault((launch["chapter"], variant, params), []).append(launch)
    starts = _block_starts(loaded)
    for chapter, record in loaded.chapters.items():
        device = record.data["device"]
        for run in record.runs:
            variant, n, block, params = _name(run)
            near = [
                each
                for each in counted.get((chapter, variant, params), ())
                if each["block"] == block
            ]
            count = next((each for each in near if each["n"] == n), near[0] if near else None)
            beneath = floors(run, device, count, starts.get(block))
            # The rate of issue follows from attributes; that of block starts is itself measured.
            for what, floor, slack in (
                ("instructions", beneath.issue, ROUNDING),
                ("block starts", beneath.starts, PRECISION),
            ):
                if floor is not None and floor > run["median_us"] * slack:
                    said = f"{run['median_us']:g}, below the floor of {floor:.4g} by its {what}"
                    where = run_name(run, chapter)
                    raise DataError(record.path, f"{where}, field 'median_us'", said)


def _block_starts(loaded: RecordedSet) -> dict[int, float]:
    """The least time in which a device has started one block, by threads per block.

    It is measured, so it is a floor only where the fastest sample of all sizes and passes is taken.
    """
    chapter, variant, _n = EMPTY_BLOCKS
    record = loaded.chapters.get(chapter)
    least: dict[int, float] = {}
    for run in record.runs if record else []:
        if run["variant"] == variant:
            each = run["min_us"] / run["grid"]
            least[run["block"]] = min(each, least.get(run["block"], each))
    return least


# --------------------------------------------------------------------------------- sanitizer


def check_sanitizer(folder: Path, loaded: RecordedSet) -> None:
    """Findings come with their status and messages."""
    path = folder / "sanitizer.json"
    for run in loaded.sanitizer["runs"] if loaded.sanitizer else []:
        found = run["findings"]
        if found is None:
            continue
        if (found > 0) != (run["exit"] == 4):
            what = f"{run['exit']} with {found} findings"
            raise DataError(path, f"{run_name(run)}, field 'exit'", what)
        if (found > 0) != bool(run["messages"]) and run["exit"] != 1:
            what = f"{run['messages']} with {found} findings"
            raise DataError(path, f"{run_name(run)}, field 'messages'", what)


def check_findings(
    folder: Path, loaded: RecordedSet, declared: Mapping[tuple[str, str], Iterable[str]]
) -> None:
    """compute-sanitizer found what the variants declare; *declared* is what the programs list.

    A kernel that the device stops leaves the other tools nothing to look at: what they didn't do
    is not a finding erased. A second card's set may do without, and one of several cards has its
    chapters alone.
    """
    if loaded.sanitizer is None and folder.name in SECOND:
        return
    path = folder / "sanitizer.json"
    checked: dict[tuple[str, str], dict[str, CheckedRun]] = {}
    for run in loaded.sanitizer["runs"] if loaded.sanitizer else []:
        checked.setdefault((run["chapter"], run["variant"]), {})[run["tool"]] = run
    for name, tools in declared.items():
        if name[0] not in loaded.chapters:
            continue
        runs = checked.get(name, {})
        where = "/".join(name)
        if tools and not runs:
            raise DataError(path, where, f"declares findings of {', '.join(tools)}; not checked")
        for tool, run in runs.items():
            if run["findings"] is None:
                continue
            if tool in tools and not run["findings"]:
                raise DataError(path, f"{where} {tool}", "declares findings, and none are recorded")
            if tool not in tools and run["findings"]:
                raise DataError(path, f"{where} {tool}", "has findings that it doesn't declare")
        if runs and tools and not any(run["findings"] for run in runs.values()):
            raise DataError(path, where, "declares findings, and no tool recorded any")
