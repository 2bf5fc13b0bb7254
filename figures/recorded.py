"""Reads recorded runs, and refuses what it cannot vouch for.

A *set* is one folder, ``figures/data/<name>/``: ``<chapter>.json`` (times), ``<chapter>.txt``
(console output), ``counters.json`` and ``sanitizer.json``. The reference set is committed. The
reader's own set, ``local``, takes its place number by number; where that set is broken it is
reported and left out, for somebody's half-finished measuring must never break the guide.

The set ``embedded`` is the embedded device's: counters, probes and console text, with no times and
no dates. What a reader's own build has counted on that device since, chapter by chapter in
``build/runs``, goes before it.

Nothing here guesses. A fault is one :class:`DataError` that names file, run and field; a question
with no answer is a :class:`NoSuchRun` that names what there is.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
import math
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

from figures import regions as regions_module

REFERENCE = "nvidia-h200"
LOCAL = "local"
EMBEDDED = "embedded"
SCHEMA_VERSION = 1
DEFAULT_N = 2**24
DEFAULT_BLOCK = 256

#: Short names for NVIDIA's metrics, as the guide's counter role takes them.
COUNTER_ALIASES = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "global_reduction_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "global_reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "shared_atomic_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "shared_atomic_conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"),
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "dram_throughput_pct": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "instructions": "smsp__inst_executed.sum",
    "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum",
    "uniform_branches_pct": "smsp__sass_average_branch_targets_threads_uniform.pct",
    "lanes_per_instruction": "smsp__average_thread_inst_executed_per_inst_executed.ratio",
    "lanes_not_predicated_off": (
        "smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio"
    ),
    "occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "shared_configured": "launch__shared_mem_config_size",
}

Run = dict[str, Any]
Params = Mapping[str, Any]


class DataError(Exception):
    """A recorded file that is not to be trusted: which, where in it, and why."""

    def __init__(self, path: Path | str, where: str, what: str) -> None:
        self.path = Path(path)
        self.where = where
        self.what = what
        super().__init__(": ".join(part for part in (str(path), where, what) if part))


class NoSuchRun(LookupError):
    """Nothing recorded answers the question; the message says what comes nearest."""


class BrokenLocalSet(UserWarning):
    """The local set was left out because it is broken."""


# ------------------------------------------------------------------------------- names


def size_text(n: int) -> str:
    """2^24 where n is a power of two from 2^10 on, else the plain number."""
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)


def run_name(run: Run, chapter: str = "") -> str:
    """How messages name a run; it has to cope with runs that lack fields."""
    name = run.get("variant", run.get("probe", "a run with no name"))
    named = [chapter or str(run.get("chapter", "")), str(name)]
    parts = ["/".join(part for part in named if part)]
    parts += [f"{key}={run[key]}" for key in ("n", "block") if key in run]
    params = run.get("params")
    if isinstance(params, dict):
        parts += [f"{key}={value}" for key, value in sorted(params.items())]
    parts += [f"{key} {run[key]}" for key in ("repeat", "tool") if key in run]
    return " ".join(parts)


def _params_key(params: Params) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, str(value)) for key, value in params.items()))


# ------------------------------------------------------------------------- reading a file


@functools.cache
def _schema() -> dict[str, Any]:
    path = Path(__file__).parent / "data" / "schema.json"
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


@functools.cache
def _validator(kind: str) -> jsonschema.Draft202012Validator:
    """The schema of one kind; for 'file of …' kinds the runs are left to be checked singly."""
    schema = _schema()
    defs = schema["$defs"]
    if kind == "run":
        # Samples are by far most of a file, and checked by the plain loop of _check_numbers.
        samples = {"type": "array", "minItems": 1}
        properties = {**defs["run"]["properties"], "samples_us": samples}
        wanted = {**defs["run"], "properties": properties}
    elif kind in ("chapter", "counters", "sanitizer", "embedded", "probes"):
        runs = {"type": "array", "minItems": 1}
        properties = {**defs[kind]["properties"], "runs": runs}
        wanted = {**defs[kind], "properties": properties}
    else:
        wanted = defs[kind]
    return jsonschema.Draft202012Validator({**wanted, "$defs": defs})


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """What a file says, and the hash of its bytes."""
    try:
        written = path.read_bytes()
        data = json.loads(written.decode("utf-8"))
    except OSError as error:
        raise DataError(path, "", f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DataError(path, "", "is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise DataError(path, where, f"not whole JSON ({error.msg}): half-written?") from None
    if not isinstance(data, dict):
        raise DataError(path, "", "holds no JSON object at its top")
    if "schema" not in data:
        raise DataError(path, "field 'schema'", "missing")
    if data["schema"] != SCHEMA_VERSION:
        raise DataError(
            path,
            "field 'schema'",
            f"version {data['schema']!r} is unknown here; this book reads {SCHEMA_VERSION}",
        )
    return data, hashlib.sha256(written).digest()


def _refuse_schema_faults(path: Path, where: str, kind: str, value: Any) -> None:
    errors = _validator(kind).iter_errors(value)
    error = min(errors, key=lambda found: [str(step) for step in found.absolute_path], default=None)
    if error is None:
        return
    steps = [str(step) for step in error.absolute_path]
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        steps, what = [*steps, missing], "missing"
    elif steps and steps[-1] == "verified":
        what = "the run's result was not verified, so its time means nothing"
    elif error.validator == "exclusiveMinimum":  # the schema has it on times alone
        what = f"{error.instance} is no time: it must be above 0"
    else:
        what = error.message
    raise DataError(path, _where(where, ".".join(steps)), what)


def _where(run: str, name: str) -> str:
    return f"{run}, field '{name}'" if run else f"field '{name}'"


def _refuse_nonfinite(path: Path, where: str, value: Any, name: str = "") -> None:
    # Python's reader takes NaN and Infinity, which JSON has not. They are looked for here, where
    # the run is known, rather than refused while reading, where it is not.
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(path, _where(where, name), f"{value} is not a number")
    if isinstance(value, dict):
        for key, inner in value.items():
            _refuse_nonfinite(path, where, inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            if not isinstance(inner, str):
                _refuse_nonfinite(path, where, inner, f"{name}[{position}]")


#: Files that were found good, by their hash and what they were read as: reading a set is mostly its
#: schema, and whoever opens the sets again, with one file changed, need not wait for the others.
_passed: set[tuple[bytes, str, str]] = set()

_NAMES = ("chapter", "variant", "n", "block", "repeat", "tool", "number")


def _load(path: Path, kind: str, run_kind: str) -> dict[str, Any]:
    """A file whose every part fits the schema, and whose runs are told apart by their names."""
    data, digest = _read(path)
    if (digest, kind, run_kind) in _passed:
        return data
    _refuse_nonfinite(path, "", {key: value for key, value in data.items() if key != "runs"})
    _refuse_schema_faults(path, "", kind, data)
    seen: set[tuple[Any, ...]] = set()
    for position, run in enumerate(data["runs"]):
        if not isinstance(run, dict):
            raise DataError(path, f"runs[{position}]", "is not an object")
        where = run_name(run, data.get("chapter", ""))
        _refuse_nonfinite(path, where, run)
        _refuse_schema_faults(path, where, run_kind, run)
        if run_kind == "run":
            _check_numbers(path, where, run)
        key = (
            *(str(run.get(part)) for part in _NAMES),
            _params_key(run.get("params", {})),
        )
        if key in seen:
            raise DataError(path, where, "recorded twice under the same name")
        seen.add(key)
    _passed.add((digest, kind, run_kind))
    return data


# What rounding to a few decimals in the file may move a number by.
_ROUNDING_US = 0.0011
_ROUNDING_GB = 0.051
_RELATIVE = 1e-4


@functools.cache
def _median_ranks(count: int) -> tuple[int, int] | None:
    """Ranks, from 0, of the samples that enclose the median with 95 % confidence.

    As common's median_interval_ranks: of the binomial distribution with p = 1/2, the largest
    rank whose lower tail is at most 2.5 %.
    """
    tail, rank = 0.0, -1
    while True:
        log_ways = math.lgamma(count + 1) - math.lgamma(rank + 2) - math.lgamma(count - rank)
        tail += math.exp(log_ways - count * math.log(2))
        if tail > 0.025:
            break
        rank += 1
    return None if rank < 0 else (rank, count - 1 - rank)


def _check_numbers(path: Path, where: str, run: Run) -> None:
    """What no schema can say: that the numbers of one run agree with one another."""

    def fault(name: str, what: str) -> DataError:
        return DataError(path, _where(where, name), what)

    samples = run["samples_us"]
    for position, sample in enumerate(samples):
        if isinstance(sample, bool) or not isinstance(sample, int | float):
            raise fault(f"samples_us[{position}]", f"{sample!r} is not a number")
        if sample <= 0:
            raise fault(f"samples_us[{position}]", f"{sample} is no time: it must be above 0")

    def agree(stated: float, computed: float, rounding: float) -> bool:
        return abs(stated - computed) <= rounding + _RELATIVE * abs(computed)

    median = statistics.median(samples)
    if not agree(run["median_us"], median, _ROUNDING_US):
        raise fault("median_us", f"{run['median_us']} where its samples have {median:g}")
    if not agree(run["min_us"], min(samples), _ROUNDING_US):
        raise fault("min_us", f"{run['min_us']} where its samples have {min(samples):g}")
    quartiles = statistics.quantiles(samples, n=4, method="inclusive") if samples[1:] else samples
    for name, quartile in (("p25_us", quartiles[0]), ("p75_us", quartiles[-1])):
        if not agree(run[name], quartile, _ROUNDING_US):
            raise fault(name, f"{run[name]} where its samples have {quartile:g}")
    ranks = _median_ranks(len(samples))
    if (ranks is None) != (run["median_ci_us"] is None):
        raise fault("median_ci_us", f"{run['median_ci_us']} of {len(samples)} samples")
    if ranks is not None:
        ascending = sorted(samples)
        for end, rank in enumerate(ranks):
            if not agree(run["median_ci_us"][end], ascending[rank], _ROUNDING_US):
                stated = run["median_ci_us"][end]
                raise fault(
                    f"median_ci_us[{end}]", f"{stated} where its samples have {ascending[rank]:g}"
                )
    rate = (run["bytes_read"] + run["bytes_written"]) / run["median_us"] * 1e-3
    if not agree(run["gb_per_s"], rate, _ROUNDING_GB):
        raise fault("gb_per_s", f"{run['gb_per_s']} where bytes over median make {rate:.4g}")


# ------------------------------------------------------------------------------- one set


@dataclass(frozen=True)
class Provenance:
    """Where a number comes from."""

    device: dict[str, Any]
    driver: str
    toolkit: str
    commit: str
    dirty: bool
    date: str
    command: str

    @property
    def text(self) -> str:
        """One line for a caption, e.g. 'NVIDIA H200, 2026-11-21, commit 0123456 (modified)'."""
        if not self.date:  # the embedded device's, the same on every day
            return f"{self.device['name']}, CUDA {self.toolkit}"
        changed = " (modified)" if self.dirty else ""
        commit = f"commit {self.commit[:7]}{changed}" if self.commit else "commit unknown"
        return f"{self.device['name']}, {self.date[:10]}, {commit}"


def provenance_of(data: dict[str, Any], command: str = "") -> Provenance:
    """Where the numbers of a file come from."""
    if not command:
        command = "; ".join(" ".join(argv) for argv in data.get("commands", []))
    source = data.get("source") or {"commit": "", "dirty": False}
    return Provenance(
        device=data["device"],
        driver=data.get("driver", ""),
        toolkit=data["toolkit"],
        commit=source["commit"],
        dirty=source["dirty"],
        date=data.get("date", ""),
        command=command,
    )


@dataclass(frozen=True)
class ChapterRecord:
    """One chapter's recorded times."""

    path: Path
    data: dict[str, Any]

    @property
    def runs(self) -> list[Run]:
        runs: list[Run] = self.data["runs"]
        return runs

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
    """All of one device's recorded runs that a folder holds."""

    name: str
    chapters: dict[str, ChapterRecord] = field(default_factory=dict)
    consoles: dict[str, str] = field(default_factory=dict)
    counters: dict[str, Any] | None = None
    sanitizer: dict[str, Any] | None = None
    probes: dict[str, Any] | None = None

    @property
    def is_local(self) -> bool:
        return self.name == LOCAL

    @property
    def device(self) -> dict[str, Any]:
        for data in self._files():
            device: dict[str, Any] = data["device"]
            return device
        raise NoSuchRun(f"nothing is recorded in figures/data/{self.name}")

    @property
    def device_name(self) -> str:
        return str(self.device["name"])

    def _files(self) -> Iterator[dict[str, Any]]:
        yield from (record.data for record in self.chapters.values())
        yield from (data for data in (self.counters, self.sanitizer) if data)


def load_set(folder: Path | str) -> RecordedSet:
    """Reads and checks every file of a set."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(folder, "", "no such set of recorded runs")
    if folder.name == EMBEDDED:
        return RecordedSet(
            EMBEDDED,
            consoles=_consoles(folder, "chapter*.txt"),
            counters=_load(folder / "counters.json", "embedded", "embedded_run"),
            probes=_load(folder / "probes.json", "probes", "probe_run"),
        )
    chapters: dict[str, ChapterRecord] = {}
    for path in sorted(folder.glob("chapter*.json")):
        data = _load(path, "chapter", "run")
        if data["chapter"] != path.stem:
            raise DataError(path, "field 'chapter'", f"{data['chapter']} in a file of that name")
        chapters[path.stem] = ChapterRecord(path, data)
    consoles = _consoles(folder, "chapter*.txt")
    others = {
        kind: _load(folder / f"{kind}.json", kind, f"{kind}_run")
        for kind in ("counters", "sanitizer")
        if (folder / f"{kind}.json").exists()
    }
    loaded = RecordedSet(folder.name, chapters, consoles, **others)
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
    files = {f"{name}.json": record.data for name, record in loaded.chapters.items()}
    files |= {"counters.json": loaded.counters} if loaded.counters else {}
    files |= {"sanitizer.json": loaded.sanitizer} if loaded.sanitizer else {}
    for file, data in files.items():
        if data["device"] != loaded.device:
            name, first = data["device"]["name"], loaded.device_name
            what = f"'{name}', but the set began on '{first}'"
            if name == first:
                what = f"attributes of '{name}' differ from the set's other files"
            raise DataError(folder / file, "field 'device'", what)


# ------------------------------------------------------------------------------ all sets


@dataclass(frozen=True)
class Found:
    """A recorded run and where it was found."""

    run: Run
    set_name: str
    device_name: str
    is_local: bool
    provenance: Provenance
    #: The run's recordings in order of ``repeat``; empty for counters and sanitizer runs.
    repeats: tuple[Run, ...] = ()
    #: The kernel's hash today; None where the run names no region or the region is gone.
    hash_now: str | None = None


def faster(a: Found, b: Found) -> bool:
    """Whether *a* is faster than *b* as the book uses the word.

    The interval of its median lies wholly below the other's, in both repeats of the recording.
    """
    if a.set_name != b.set_name:
        raise ValueError(f"{run_name(a.run)} and {run_name(b.run)} were timed on different devices")
    pairs = list(zip(a.repeats, b.repeats, strict=False))
    if len(pairs) < 2:
        return False
    return all(
        x["median_ci_us"] and y["median_ci_us"] and x["median_ci_us"][1] < y["median_ci_us"][0]
        for x, y in pairs
    )


def stale(found: Found) -> bool:
    """Whether the kernel has changed since it was recorded."""
    recorded = found.run.get("kernel_hash")
    return recorded is not None and recorded != found.hash_now


def counter(found: Found, name: str) -> float:
    """A counter of a run, summed over its launches, by alias or by NVIDIA's own name."""
    metric = COUNTER_ALIASES.get(name, name)
    launches = found.run["launches"]
    if not metric.endswith(".sum") and len(launches) > 1:
        raise NoSuchRun(f"{metric} is no sum, and {run_name(found.run)} has several launches")
    try:
        return float(sum(launch["metrics"][metric] for launch in launches))
    except KeyError:
        near = _nearest(name, [*COUNTER_ALIASES, *launches[0]["metrics"]])
        where = run_name(found.run)
        raise NoSuchRun(f"no counter '{name}' is recorded for {where}{near}") from None


class Books:
    """The reference set with the reader's own set laid over it."""

    def __init__(self, root: Path | str, runs: Path | None = None) -> None:
        self.root = Path(root)
        self.runs = runs
        self._own: dict[str, RecordedSet | None] = {}
        data = self.root / "figures" / "data"
        # Before the first recording there is no folder; what is asked for is then not there.
        reference = data / REFERENCE
        self.reference = load_set(reference) if reference.is_dir() else RecordedSet(REFERENCE)
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

    @functools.cached_property
    def embedded_set(self) -> RecordedSet:
        """The embedded device's committed set; an empty one before the first recording."""
        folder = self.root / "figures" / "data" / EMBEDDED
        return load_set(folder) if folder.is_dir() else RecordedSet(EMBEDDED)

    def own_run(self, chapter: str) -> RecordedSet | None:
        """What the reader's own build of a chapter counted and printed, if it was run."""
        if chapter not in self._own:
            self._own[chapter] = self._load_own(chapter)
        return self._own[chapter]

    def _load_own(self, chapter: str) -> RecordedSet | None:
        path = self.runs / f"{chapter}.json" if self.runs else None
        if not path or not path.is_file():
            return None
        console = path.with_suffix(".txt")
        text = console.read_text(encoding="utf-8") if console.is_file() else ""
        consoles = {chapter: text} if "\ndevice  embedded device" in text else {}
        return RecordedSet(
            LOCAL, consoles=consoles, counters=_load(path, "embedded", "embedded_run")
        )

    @functools.cached_property
    def regions(self) -> dict[str, regions_module.Region]:
        return regions_module.regions(self.root)

    def sets(self, only: str | None = None) -> list[RecordedSet]:
        """The sets to look in, in order; *only* names one of them."""
        both = [known for known in (self.local, self.reference) if known is not None]
        return [known for known in both if only in (None, known.name)]

    def device(self, name: str = REFERENCE) -> dict[str, Any]:
        for known in self.sets(name):
            return known.device
        raise NoSuchRun(f"there is no set '{name}'")

    def run(
        self,
        chapter: str,
        variant: str,
        n: int | None = None,
        block: int | None = None,
        params: Params | None = None,
        repeat: int = 0,
        *,
        only: str | None = None,
    ) -> Found:
        """The recorded run of that name, from the local set where it has it.

        Without *n* and *block* the book's defaults are meant, 2^24 and 256, or the one size that
        a variant was recorded at. *params* needs to name only what tells the runs apart.
        """
        asked = _asked(chapter, variant, n, block, params)
        misses = []
        for known in self.sets(only):
            record = known.chapters.get(chapter)
            runs = record.runs if record else []
            try:
                run = _choose([r for r in runs if r["repeat"] == repeat], asked, n, block, params)
            except NoSuchRun as miss:
                near = _nearest(chapter, known.chapters) if not record else f"; {miss}"
                misses.append(f"{known.name}{near}")
                continue
            assert record is not None
            repeats = [r for r in runs if _same(r, run)]
            return self._found(
                known,
                record.provenance,
                run,
                tuple(sorted(repeats, key=lambda r: int(r["repeat"]))),
            )
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
    ) -> Found:
        """The hardware counters of a variant, from the local set where it has them."""

        def choose(runs: list[Run]) -> Run:
            asked = _asked(chapter, variant, n, block, params)
            return _choose(
                [run for run in runs if run["chapter"] == chapter], asked, n, block, params
            )

        asked = _asked(chapter, variant, n, block, params)
        return self._other("counters", asked, choose, self.sets(only))

    def embedded(self, run: Run) -> Found:
        """The embedded device's counters of the run that hardware's *run* is."""
        asked = (run["chapter"], run["variant"], run["n"], run["block"], run["params"])

        def choose(runs: list[Run]) -> Run:
            for known in runs:
                if all(known[key] == run[key] for key in _RUN_KEY):
                    return known
            raise NoSuchRun(f"nothing of {run_name(run)}")

        own = self.own_run(run["chapter"])
        sets = [own, self.embedded_set] if own else [self.embedded_set]
        return self._other("counters", _asked(*asked), choose, sets)

    def sanitizer(self, chapter: str, variant: str, *, only: str | None = None) -> list[Found]:
        """What compute-sanitizer's tools said of a variant, one entry a tool."""
        for known in self.sets(only):
            if known.sanitizer:
                runs = [
                    self._found(known, provenance_of(known.sanitizer, run["command"]), run)
                    for run in known.sanitizer["runs"]
                    if (run["chapter"], run["variant"]) == (chapter, variant)
                ]
                if runs:
                    return runs
        raise NoSuchRun(f"compute-sanitizer was not recorded on {chapter}/{variant}")

    def console(self, chapter: str, *, only: str | None = None) -> tuple[str, str]:
        """What the chapter's program printed, its command first, and the set it is from."""
        for known in self.sets(only):
            if chapter in known.consoles:
                return known.consoles[chapter], known.name
        raise NoSuchRun(f"no console output of {chapter} is recorded")

    def _other(
        self, kind: str, asked: Asked, choose: Callable[[list[Run]], Run], sets: list[RecordedSet]
    ) -> Found:
        misses = []
        for known in sets:
            data = getattr(known, kind)
            if not data:
                misses.append(f"{known.name}, which has no {kind}")
                continue
            try:
                run = choose(data["runs"])
            except NoSuchRun as miss:
                misses.append(f"{known.name}; {miss}")
                continue
            return self._found(
                known, provenance_of(data, run["command"]), _hashed(known, data, run)
            )
        raise NoSuchRun(f"no recorded {kind} {asked} (looked in {', '.join(misses) or 'no set'})")

    def _found(
        self, known: RecordedSet, provenance: Provenance, run: Run, repeats: tuple[Run, ...] = ()
    ) -> Found:
        region = self.regions.get(run["region"]) if run.get("region") else None
        return Found(
            run=run,
            set_name=known.name,
            device_name=known.device_name,
            is_local=known.is_local,
            provenance=provenance,
            repeats=repeats,
            hash_now=region.hash if region else None,
        )


def _hashed(known: RecordedSet, data: dict[str, Any], run: Run) -> Run:
    """A counted run with its kernel's hash, which the times of the same source have."""
    record = known.chapters.get(run["chapter"])
    if "kernel_hash" in run or not record or record.data["source"] != data["source"]:
        return run
    for timed in record.runs:
        if timed["variant"] == run["variant"]:
            return {**run, **{key: timed[key] for key in ("from", "region", "kernel_hash")}}
    return run


def open_books(root: Path | str, runs: Path | None = None) -> Books:
    """The recorded runs of the repository at *root*; *runs* holds what its own build has run."""
    return Books(root, runs)


# ----------------------------------------------------------------------- answering questions


@dataclass(frozen=True)
class Asked:
    """A question, to be repeated in the message where it has no answer."""

    text: str
    variant: str

    def __str__(self) -> str:
        return self.text


def _asked(
    chapter: str, variant: str, n: int | None, block: int | None, params: Params | None
) -> Asked:
    parts = [f"{chapter}/{variant}"]
    parts += [f"n={size_text(n)}"] if n is not None else []
    parts += [f"block={block}"] if block is not None else []
    parts += [f"{key}={value}" for key, value in sorted((params or {}).items())]
    return Asked(" ".join(parts), variant)


_RUN_KEY = ("chapter", "variant", "n", "block", "params")


def _same(a: Run, b: Run) -> bool:
    return all(a[key] == b[key] for key in ("variant", "n", "block", "params"))


def _choose(
    runs: list[Run], asked: Asked, n: int | None, block: int | None, params: Params | None
) -> Run:
    """The one run that fits; where several do or none does, NoSuchRun."""
    names = list(dict.fromkeys(run["variant"] for run in runs))
    runs = [run for run in runs if run["variant"] == asked.variant]
    if not runs:
        raise NoSuchRun(f"no variant '{asked.variant}'{_nearest(asked.variant, names)}")
    for name, value in (params or {}).items():
        fitting = [run for run in runs if str(run["params"].get(name)) == str(value)]
        if not fitting:
            there = sorted({str(run["params"][name]) for run in runs if name in run["params"]})
            raise NoSuchRun(f"{name}={value} is not there, only {', '.join(there) or 'none'}")
        runs = fitting
    for name, value, default in (("n", n, DEFAULT_N), ("block", block, DEFAULT_BLOCK)):
        runs = _narrow(runs, name, value, default)
    if len(runs) > 1:
        differ = sorted({key for run in runs for key in run["params"]})
        raise NoSuchRun(f"{len(runs)} runs fit; say which {' and '.join(differ)}")
    return runs[0]


def _narrow(runs: list[Run], name: str, value: int | None, default: int) -> list[Run]:
    there = sorted({run[name] for run in runs})
    wanted = value if value is not None else there[0] if len(there) == 1 else default
    fitting = [run for run in runs if run[name] == wanted]
    if not fitting:
        near = sorted(sorted(there, key=lambda known: abs(known - wanted))[:3])
        nearest = ", ".join(map(size_text, near))
        raise NoSuchRun(f"{name}={size_text(wanted)} is not there; nearest are {nearest}")
    return fitting


def _nearest(name: str, names: Mapping[str, Any] | list[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=3, cutoff=0.4)
    if near:
        return f"; near it: {', '.join(near)}"
    return f"; there are: {', '.join(names)}" if names else "; nothing is recorded there"
