"""Reads a recorded file, and refuses what cannot be vouched for.

Nothing here guesses: a fault is one :class:`DataError` that names file, run and field.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from common.records import columns, derived
from common.records.columns import SCHEMA_VERSION
from common.records.naming import LOCAL, run_name
from common.records.schema import (
    CHECKED,
    ChapterFile,
    CheckedRun,
    CountersFile,
    EmbeddedFile,
    ManifestFile,
    MeasuredChapter,
    MeasuredCounters,
    MeasuredSanitizer,
    ProbesFile,
    SanitizerFile,
)

File = TypeVar(
    "File", MeasuredChapter, MeasuredCounters, MeasuredSanitizer, EmbeddedFile, ProbesFile
)


class DataError(Exception):
    """A recorded file that is not to be trusted: which, where in it, and why."""

    def __init__(self, path: Path | str, where: str, what: str) -> None:
        self.path = Path(path)
        self.where = where
        self.what = what
        super().__init__(": ".join(part for part in (str(path), where, what) if part))


# ------------------------------------------------------------------------------ each kind


def read_chapter(path: Path) -> ChapterFile:
    data = _read(path, MeasuredChapter)
    for run in data["runs"]:
        if not run["verified"]:
            what = "the run's result was not verified, so its time means nothing"
            where = run_name(run, data["chapter"])
            raise DataError(path, _field(where, "verified"), what)
    return cast(ChapterFile, derived.completed(data))


def read_counters(path: Path) -> CountersFile:
    data = _read(path, MeasuredCounters)
    _refuse_twins(path, data["runs"])
    return cast(CountersFile, {**data, "device": derived.with_peak(data["device"])})


def read_sanitizer(path: Path) -> SanitizerFile:
    data = _read(path, MeasuredSanitizer)
    for run in data["runs"]:
        _check_check(path, run)
    _refuse_twins(path, data["runs"])
    return cast(SanitizerFile, {**data, "device": derived.with_peak(data["device"])})


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


def _refuse_twins(path: Path, runs: Sequence[Any]) -> None:
    seen = set()
    for run in runs:
        name = (
            *(str(run.get(field)) for field in _TOLD_APART_BY),
            *sorted((key, str(value)) for key, value in run.get("params", {}).items()),
        )
        if name in seen:
            raise DataError(path, run_name(run), "recorded twice under the same name")
        seen.add(name)


# ------------------------------------------------------------------------- reading a file


def _read(path: Path, kind: type[File]) -> File:
    try:
        written = path.read_bytes()
    except OSError as error:
        raise DataError(path, "", f"cannot be read ({error.strerror})") from None
    # Python's reader takes NaN and Infinity, which JSON has not: so they can be named.
    constants: list[str] = []

    def note(name: str) -> float:
        constants.append(name)
        return math.nan

    try:
        told = json.loads(written.decode("utf-8"), parse_constant=note)
    except UnicodeDecodeError:
        raise DataError(path, "", "is not UTF-8 text") from None
    except json.JSONDecodeError as fault:
        where = f"line {fault.lineno}, column {fault.colno}"
        what = f"not whole JSON ({fault.msg}): half-written?"
        raise DataError(path, where, what) from None
    if not isinstance(told, dict):
        raise DataError(path, "", "holds no JSON object at its top")
    if "schema" not in told:
        raise DataError(path, "field 'schema'", "missing")
    if told["schema"] != SCHEMA_VERSION or isinstance(told["schema"], bool):
        raise DataError(path, "field 'schema'", _other_version(path, told["schema"]))
    try:
        record = columns.record_of(path, told)
    except columns.Torn as torn:
        raise DataError(torn.path, torn.where, torn.what) from None
    if constants:
        where = next((_where(record, steps) for steps in _nonfinite(record)), "")
        raise DataError(path, where, f"{constants[0]} is not a number")
    return checked(path, record, kind)


def checked(path: Path, record: Any, kind: type[File]) -> File:
    """A record that has all that its type asks for."""
    try:
        data: File = msgspec.convert(record, kind)
        return data
    except msgspec.ValidationError as fault:
        raise DataError(path, *_located(record, kind, str(fault))) from None


def _other_version(path: Path, version: Any) -> str:
    if version not in (1, 2):
        return f"version {version!r} is unknown here; this book reads {SCHEMA_VERSION}"
    name = path.parent.name
    renew = {LOCAL: "tools/measure", "runs": "tools/guide"}.get(
        name, f"tools/measure --record {name}"
    )
    older = f"version {version} is an older book's, this one reads {SCHEMA_VERSION}"
    return f"{older}; renew it: {renew}"


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
