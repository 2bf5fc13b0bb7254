"""Reads a recorded file, and refuses what cannot be vouched for.

Nothing here guesses: a fault is one :class:`DataError` that names file, run and field.
"""

from __future__ import annotations

import functools
import json
import math
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from figures.records.naming import LOCAL, run_name
from figures.records.schema import (
    CHECKED,
    SCHEMA_VERSION,
    ChapterFile,
    CheckedRun,
    CountersFile,
    EmbeddedFile,
    ManifestFile,
    ProbesFile,
    SanitizerFile,
    TimedRun,
)

File = TypeVar("File", ChapterFile, CountersFile, SanitizerFile, EmbeddedFile, ProbesFile)


class DataError(Exception):
    """A recorded file that is not to be trusted: which, where in it, and why."""

    def __init__(self, path: Path | str, where: str, what: str) -> None:
        self.path = Path(path)
        self.where = where
        self.what = what
        super().__init__(": ".join(part for part in (str(path), where, what) if part))


# ------------------------------------------------------------------------------ each kind


def read_chapter(path: Path) -> ChapterFile:
    data = _read(path, ChapterFile)
    for run in data["runs"]:
        _check_times(path, run_name(run, data["chapter"]), run)
    _refuse_twins(path, data["runs"], data["chapter"])
    return data


def read_counters(path: Path) -> CountersFile:
    data = _read(path, CountersFile)
    _refuse_twins(path, data["runs"])
    return data


def read_sanitizer(path: Path) -> SanitizerFile:
    data = _read(path, SanitizerFile)
    for run in data["runs"]:
        _check_check(path, run)
    _refuse_twins(path, data["runs"])
    return data


def read_embedded(path: Path) -> EmbeddedFile:
    """The counters of an embedded device, the book's or the reader's own."""
    data = _read(path, EmbeddedFile)
    for field in ("date", "hardware"):
        if field in data:
            raise DataError(path, f"field '{field}'", "the embedded device has none")
    _refuse_twins(path, data["runs"])
    return data


def read_probes(path: Path) -> ProbesFile:
    data = _read(path, ProbesFile)
    if "date" in data:
        raise DataError(path, "field 'date'", "the embedded device has none")
    _refuse_twins(path, data["runs"])
    return data


def read_manifest(path: Path) -> ManifestFile:
    try:
        return msgspec.json.decode(path.read_bytes(), type=ManifestFile)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(path, "", f"is not the manifest of a set: {error}") from None


#: What a run is told apart by, beside its params.
_TOLD_APART_BY = ("chapter", "variant", "n", "block", "repeat", "tool", "number")


def _refuse_twins(path: Path, runs: Sequence[Any], chapter: str = "") -> None:
    seen = set()
    for run in runs:
        name = (
            *(str(run.get(field)) for field in _TOLD_APART_BY),
            *sorted((key, str(value)) for key, value in run.get("params", {}).items()),
        )
        if name in seen:
            raise DataError(path, run_name(run, chapter), "recorded twice under the same name")
        seen.add(name)


# ------------------------------------------------------------------------- reading a file


def _read(path: Path, kind: type[File]) -> File:
    try:
        written = path.read_bytes()
    except OSError as error:
        raise DataError(path, "", f"cannot be read ({error.strerror})") from None
    try:
        data: File = msgspec.json.decode(written, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _fault(path, written, kind, error) from None
    return data


def _fault(path: Path, written: bytes, kind: type[Any], error: Exception) -> DataError:
    """What is wrong with a file that msgspec has refused, in the words of recorded runs."""
    try:
        # Python's reader takes NaN and Infinity, which JSON has not: so they can be found.
        data = json.loads(written.decode("utf-8"))
    except UnicodeDecodeError:
        return DataError(path, "", "is not UTF-8 text")
    except json.JSONDecodeError as fault:
        where = f"line {fault.lineno}, column {fault.colno}"
        return DataError(path, where, f"not whole JSON ({fault.msg}): half-written?")
    if not isinstance(data, dict):
        return DataError(path, "", "holds no JSON object at its top")
    if "schema" not in data:
        return DataError(path, "field 'schema'", "missing")
    if data["schema"] != SCHEMA_VERSION:
        return DataError(path, "field 'schema'", _other_version(path, data["schema"]))
    steps = next(_nonfinite(data), None)
    if steps is not None:
        return DataError(path, _where(data, steps), f"{_value(data, steps)} is not a number")
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError as fault:
        return DataError(path, *_located(data, kind, str(fault)))
    return DataError(path, "", str(error))


def _other_version(path: Path, version: Any) -> str:
    if version != 1:
        return f"version {version!r} is unknown here; this book reads {SCHEMA_VERSION}"
    name = path.parent.name
    renew = {LOCAL: "tools/measure", "runs": "tools/guide"}.get(
        name, f"tools/measure --record {name}"
    )
    return f"version 1 is an older book's, this one reads {SCHEMA_VERSION}; renew it: {renew}"


Steps = tuple[str | int, ...]

_MESSAGE = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<field>\w+)|\[(?P<index>\d+)\]|(?P<any>\[\.\.\.\])")
_MISSING = re.compile(r"Object missing required field `(?P<field>\w+)`")


def _located(data: Any, kind: type[Any], message: str) -> tuple[str, str]:
    """Where in the file, and what: from msgspec's message, and the value that it is about."""
    match = _MESSAGE.fullmatch(message)
    assert match
    steps: Steps = ()
    for step in _STEP.finditer(match["path"] or ""):
        if step["any"]:
            steps = (*steps, _wrong_key(data, steps, kind))
        else:
            steps = (*steps, step["field"] or int(step["index"]))
    if missing := _MISSING.match(match["what"]):
        return _where(data, (*steps, missing["field"])), "missing"
    value = _value(data, steps)
    if len(steps) == 2 and steps[0] == "runs":
        return f"runs[{steps[1]}]", "is not an object"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and match["what"].endswith("> 0.0"):  # the schema has it on times alone
        what = f"{value} is not a time: it must be above 0"
    elif not is_number and match["what"].startswith("Expected `float`,"):
        what = f"{value!r} is not a number"
    else:
        what = f"{value!r}: {match['what']}"
    return _where(data, steps), what


def _wrong_key(data: Any, steps: Steps, kind: type[Any]) -> str:
    """Which entry of the mapping at *steps* is wrong: msgspec says only that one is."""
    *before, last = steps
    holder = _value(data, tuple(before))
    entries = holder[last]
    for key, value in entries.items():
        holder[last] = {key: value}
        try:
            msgspec.convert(data, kind)
        except msgspec.ValidationError:
            return str(key)
        finally:
            holder[last] = entries
    return "..."


def _value(data: Any, steps: Steps) -> Any:
    for step in steps:
        data = data[step]
    return data


def _where(data: Any, steps: Steps) -> str:
    """The run, by its name, and the field."""
    run = ""
    if len(steps) > 1 and steps[0] == "runs":
        at = data["runs"][steps[1]]
        run = run_name(at, data.get("chapter", "")) if isinstance(at, dict) else f"runs[{steps[1]}]"
        steps = steps[2:]
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return _field(run, name.removeprefix("."))


def _field(run: str, name: str) -> str:
    return ", ".join([*([run] if run else []), *([f"field '{name}'"] if name else [])])


def _nonfinite(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    if isinstance(value, float) and not math.isfinite(value):
        yield steps
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _nonfinite(inner, (*steps, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _nonfinite(inner, (*steps, position))


# ----------------------------------------------------------------- what no schema can say

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


def _check_times(path: Path, where: str, run: TimedRun) -> None:
    """The numbers of one run agree with one another."""

    def agree(name: str, stated: float, computed: float, rounding: float = _ROUNDING_US) -> None:
        if abs(stated - computed) > rounding + _RELATIVE * abs(computed):
            what = f"{stated} where its samples have {computed:g}"
            raise DataError(path, _field(where, name), what)

    if not run["verified"]:
        what = "the run's result was not verified, so its time means nothing"
        raise DataError(path, _field(where, "verified"), what)
    samples = sorted(run["samples_us"])
    quartiles = statistics.quantiles(samples, n=4, method="inclusive") if samples[1:] else samples
    agree("median_us", run["median_us"], statistics.median(samples))
    agree("min_us", run["min_us"], samples[0])
    agree("p25_us", run["p25_us"], quartiles[0])
    agree("p75_us", run["p75_us"], quartiles[-1])
    ranks, interval = _median_ranks(len(samples)), run["median_ci_us"]
    if (ranks is None) != (interval is None):
        what = f"{interval} of {len(samples)} samples"
        raise DataError(path, _field(where, "median_ci_us"), what)
    if ranks and interval:
        for end, rank in enumerate(ranks):
            agree(f"median_ci_us[{end}]", interval[end], samples[rank])
    rate = (run["bytes_read"] + run["bytes_written"]) / run["median_us"] * 1e-3
    if abs(run["gb_per_s"] - rate) > _ROUNDING_GB + _RELATIVE * rate:
        what = f"{run['gb_per_s']} where bytes over median make {rate:.4g}"
        raise DataError(path, _field(where, "gb_per_s"), what)


def _check_check(path: Path, run: CheckedRun) -> None:
    """A check that found nothing took place, and one that didn't says why."""
    where = run_name(run)
    if run["findings"] is None:
        if not run["messages"]:
            what = "there are none, and the check did not take place"
            raise DataError(path, _field(where, "messages"), what)
    elif run["exit"] not in CHECKED:
        what = f"{run['exit']} is not the status of a check that took place"
        raise DataError(path, _field(where, "exit"), what)
