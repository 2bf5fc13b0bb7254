"""The files of a recorded set, in columns: what runs share stands once, and samples beside it.

Everywhere else a run is a dictionary, as the programs write it: one per run and pass. Here such
records become files and files become records, without loss:

- ``<chapter>.json``: the record's head, a line per variant with what all its runs share, and a row
  per run: its launch, then a cell for each pass. ``columns`` and ``pass`` name what is in them.
- ``<chapter>.samples.gz``: text, a line for each cell of a pass, in order. Its first two numbers
  are the tick of the clock in nanoseconds, as far as these samples show it, and the shortest sample
  in ticks; then each sample, in ticks above the shortest. The head has the text's SHA-256.
- ``counters.json``, ``sanitizer.json``, ``probes.json``: a row per run. ``tools`` and ``ran`` are
  the two halves of the commands, each once; a launch has its counts in the order of ``metrics``.

Only what was measured is in them: ``derived`` makes the rest. The same record gives the same bytes.
Python's standard library alone: ``tools/measure`` has nothing else.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 3
SAMPLES = ".samples.gz"
#: Bytes of samples that no recording comes near: the book's largest has 1.9 MB.
MOST_SAMPLES = 256 * 2**20

Record = dict[str, Any]

#: What all runs of a variant have in common, what one launch has, and what each pass of it has.
VARIANT = ("from", "region", "legacy", "params", "cache", "clock", "verified", "kernel_hash")
LAUNCH = (
    *("variant", "n", "block", "grid", "shared_bytes", "registers", "local_bytes"),
    *("blocks_per_sm", "bytes_read", "bytes_written"),
)
PASS = ("stopped_by", "samples", "error")
#: A run as programs write it; not all have an error.
RUN = {*VARIANT, *LAUNCH, "repeat", "samples_us", "stopped_by", "error"}


class Torn(Exception):
    """Files that make no record: the file, where in it, and what is wrong."""

    def __init__(self, path: Path, where: str, what: str) -> None:
        super().__init__(": ".join(part for part in (str(path), where, what) if part))
        self.path, self.where, self.what = path, where, what


# ----------------------------------------------------------------------------- files, by name


def read(path: Path) -> Record:
    """The record in a file, and in the samples beside it. Raises Torn, OSError or ValueError."""
    return record_of(path, json.loads(path.read_text(encoding="utf-8")))


def record_of(path: Path, told: Any) -> Record:
    """The record in a file whose text holds *told*."""
    try:
        return _timed(path, told) if "chapter" in told else _counted(path, told)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        what = f"is not in columns as this book has them ({type(error).__name__}: {error})"
        raise Torn(path, "", what) from None


def files(name: str, record: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a record, by their names; *name* is that of its JSON."""
    if "chapter" not in record:
        return {name: text(record).encode()}
    head, samples = _timed_texts(record)
    return {name: head.encode(), samples_name(name): packed(samples)}


def write(path: Path, record: Mapping[str, Any]) -> None:
    """Writes a record's files, of which *path* is the JSON."""
    for name, content in files(path.name, record).items():
        (path.parent / name).write_bytes(content)


def samples_name(name: str) -> str:
    """Of the samples that go with a chapter's JSON."""
    return name.removesuffix(".json") + SAMPLES


# ------------------------------------------------------------------------------------- times


def _timed_texts(record: Mapping[str, Any]) -> tuple[str, str]:
    """A chapter's head with its rows, and its samples."""
    variants: dict[str, Record] = {}
    launches: dict[Name, Record] = {}
    passes: dict[Name, list[Record | None]] = {}
    for run in record["runs"]:
        if unknown := run.keys() - RUN:
            raise ValueError(f"no column for {', '.join(sorted(unknown))}")
        name = _name(run)
        _share(variants, run["variant"], run, VARIANT, "run")
        _share(launches, name, run, LAUNCH, "pass")
        if not run["samples_us"]:
            raise ValueError(f"{_shown(name)} has no sample")
        cells = passes.setdefault(name, [])
        cells.extend([None] * (run["repeat"] + 1 - len(cells)))
        if cells[run["repeat"]] is not None:
            raise ValueError(f"{_shown(name)}: recorded twice in pass {run['repeat']}")
        cells[run["repeat"]] = run
    lines = [_line(run["samples_us"]) for cells in passes.values() for run in cells if run]
    samples = "".join(f"{line}\n" for line in lines)
    head = {key: value for key, value in record.items() if key != "runs"}
    return _document(
        {**head, "samples": _digest(samples), "variants": variants}
        | {"columns": LAUNCH, "pass": PASS},
        ([*launches[name].values(), *map(_pass, cells)] for name, cells in passes.items()),
    ), samples


#: A run's, within its chapter: a variant has one set of params.
Name = tuple[str, int, int]


def _name(run: Mapping[str, Any]) -> Name:
    return run["variant"], run["n"], run["block"]


def _shown(name: Name) -> str:
    return "{} n={} block={}".format(*name)


def _share(
    found: dict[Any, Record], key: Any, run: Mapping[str, Any], fields: Iterable[str], what: str
) -> None:
    """Notes what runs of a kind share; ValueError where this one differs from those before it."""
    first = found.setdefault(key, {field: run[field] for field in fields})
    for field, value in first.items():
        if run[field] != value:
            differ = f"{field} is {run[field]!r} where it was {value!r}"
            raise ValueError(
                f"{_shown(_name(run))}: {differ}, and must be the same in every {what}"
            )


def _pass(run: Mapping[str, Any] | None) -> list[Any] | None:
    """The cell of a pass; None where a run lacks it."""
    if run is None:
        return None
    error = [run["error"]] if "error" in run else []
    return [run["stopped_by"], len(run["samples_us"]), *error]


def _timed(path: Path, told: Any) -> Record:
    columns, names = told["columns"], told["pass"]
    lines = _lines(path, told["samples"])
    by_pass: dict[int, list[Record]] = {}
    seen = set[Name]()
    for row in told["runs"]:
        launch = dict(zip(columns, row, strict=False))
        if _name(launch) in seen:
            raise Torn(path, _shown(_name(launch)), "recorded twice under the same name")
        seen.add(_name(launch))
        shared = told["variants"][launch["variant"]]
        for repeat, cell in enumerate(row[len(columns) :]):
            if cell is None:
                continue
            run = {**shared, **launch, "repeat": repeat, **dict(zip(names, cell, strict=False))}
            number, run["samples_us"] = next(lines, (0, []))
            if len(run["samples_us"]) != run.pop("samples"):
                what = f"{len(run['samples_us'])} samples where {path.name} has {cell[1]}"
                where = f"line {number}" if number else "its end"
                raise Torn(path.with_name(samples_name(path.name)), where, what)
            by_pass.setdefault(repeat, []).append(run)
    if (over := next(lines, None)) is not None:
        what = f"there is no run for it in {path.name}"
        raise Torn(path.with_name(samples_name(path.name)), f"line {over[0]}", what)
    kept = (key for key in told if key not in ("samples", "variants", "columns", "pass", "runs"))
    runs = [run for _repeat, runs in sorted(by_pass.items()) for run in runs]
    return {**{key: told[key] for key in kept}, "runs": runs}


# ----------------------------------------------------------------------------------- samples


def _line(samples_us: Sequence[float]) -> str:
    """Samples as whole ticks of their clock: of the longest step that makes all of them."""
    times = [round(1000 * us) for us in samples_us]
    for ns, us in zip(times, samples_us, strict=True):
        if ns / 1000 != us:
            raise ValueError(f"a sample of {us!r} µs is not a whole number of nanoseconds")
    tick = math.gcd(*times) or 1
    least = min(times) // tick
    return " ".join(map(str, [tick, least, *(ns // tick - least for ns in times)]))


def _lines(path: Path, digest: str) -> Iterator[tuple[int, list[float]]]:
    """Each line's number, and its samples in microseconds."""
    beside = path.with_name(samples_name(path.name))
    text = unpacked(beside)
    if _digest(text) != digest:
        what = f"are not the samples that {path.name} was recorded with"
        raise Torn(beside, "", what)
    try:  # as JSON, which takes half as long as line by line
        rows = text.strip().replace(" ", ",").replace("\n", "],[")
        lines = json.loads(f"[[{rows}]]", parse_float=_no_count, parse_constant=_no_count)
    except ValueError as error:
        raise Torn(beside, "", f"holds no samples ({error})") from None
    for number, line in enumerate(lines, start=1):
        if len(line) < 3 or min(line[:2]) <= 0 or min(line[2:]) < 0:
            raise Torn(beside, f"line {number}", "holds no times: those are above 0")
        tick, least, *above = line
        shortest = tick * least
        yield number, [(shortest + tick * each) / 1000 for each in above]


def _no_count(text: str) -> int:
    raise ValueError(f"{text} is not a count of ticks")


def _digest(samples: str) -> str:
    return hashlib.sha256(samples.encode()).hexdigest()


def packed(text: str) -> bytes:
    """Text, gzipped: neither a name nor a time in its head, so that it is the same each time."""
    stream = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as file:
        file.write(text.encode())
    return stream.getvalue()


def unpacked(path: Path) -> str:
    """The text of a gzipped file; Torn where it is missing, damaged, or beyond all recordings."""
    try:
        with gzip.open(path) as file:
            text = file.read(MOST_SAMPLES + 1)
        if len(text) > MOST_SAMPLES:
            raise Torn(path, "", f"holds more than {MOST_SAMPLES >> 20} MiB, as no recording does")
        return text.decode("ascii")
    except FileNotFoundError:
        raise Torn(path, "", "is missing: it holds the samples") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError):
        what = "is not whole: its end is missing or its bytes were changed"
        raise Torn(path, "", what) from None


# --------------------------------------------------------- counters, checks and probes

#: Where a command's two halves meet: the tool with its options, and the program with its own.
_PROGRAM = "./run"


def text(record: Mapping[str, Any]) -> str:
    """A file of counters, checks or probes."""
    tools: dict[str, int] = {}
    ran: dict[str, int] = {}

    def cell(field: str, value: Any) -> list[Any]:
        if field == "command":
            tool, _, arguments = value.partition(f" {_PROGRAM}")
            return [
                tools.setdefault(tool, len(tools)),
                ran.setdefault(_PROGRAM + arguments, len(ran)),
            ]
        if field == "launches":
            return [[_launch(launch, record["metrics"]) for launch in value]]
        return [value]

    columns = list(record["runs"][0]) if record["runs"] else []
    rows = []
    for run in record["runs"]:
        if list(run) != columns:
            raise ValueError(f"a run has {', '.join(run)}, and the first {', '.join(columns)}")
        rows.append([each for field in columns for each in cell(field, run[field])])
    head = {key: value for key, value in record.items() if key != "runs"}
    if "command" in columns:
        head |= {"tools": list(tools), "ran": list(ran)}
        columns[columns.index("command")] = "tool at"
        columns.insert(columns.index("tool at") + 1, "ran at")
    return _document({**head, "columns": columns}, rows)


def _launch(launch: Mapping[str, Any], metrics: Sequence[str]) -> list[Any]:
    counts = launch["metrics"]
    if unknown := counts.keys() - set(metrics):
        raise ValueError(f"metrics that the file doesn't name: {', '.join(sorted(unknown))}")
    values = (counts.get(metric) for metric in metrics)
    whole = (int(each) if each is not None and each == int(each) else each for each in values)
    return [launch["kernel"], launch["grid"], launch["block"], *whole]


def _counted(path: Path, told: Any) -> Record:
    names = [field.replace("tool at", "command") for field in told["columns"]]
    has_commands = "ran at" in names
    at = names.index("command") if has_commands else 0
    names = [field for field in names if field != "ran at"]
    runs = []
    for number, row in enumerate(told["runs"]):
        cells = list(row)
        if has_commands:
            cells[at : at + 2] = [f"{told['tools'][cells[at]]} {told['ran'][cells[at + 1]]}"]
        if len(cells) != len(names):
            raise Torn(path, f"runs[{number}]", f"has {len(row)} cells, and not one per column")
        run = dict(zip(names, cells, strict=True))
        if "launches" in run:
            run["launches"] = [_launched(each, told["metrics"]) for each in run["launches"]]
        runs.append(run)
    kept = (key for key in told if key not in ("tools", "ran", "columns", "runs"))
    return {**{key: told[key] for key in kept}, "runs": runs}


def _launched(cells: Sequence[Any], metrics: Sequence[str]) -> Record:
    kernel, grid, block, *counts = cells
    pairs = zip(metrics, counts, strict=True)
    counted = {metric: count for metric, count in pairs if count is not None}
    return {"kernel": kernel, "grid": grid, "block": block, "metrics": counted}


# -------------------------------------------------------------------------------------- text


def _document(head: Mapping[str, Any], rows: Iterable[Sequence[Any]]) -> str:
    """A key per line, and a variant, a command or a row per line."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    def block(brackets: str, lines: Iterable[str]) -> str:
        return f"{brackets[0]}\n    " + ",\n    ".join(lines) + f"\n  {brackets[1]}"

    shown: dict[str, Callable[[Any], str]] = {
        "variants": lambda told: block("{}", (f"{line(k)}: {line(v)}" for k, v in told.items())),
        "ran": lambda told: block("[]", map(line, told)),
        "runs": lambda told: block("[]", map(line, told)),
    }
    whole = {**head, "runs": rows}
    lines = (f"  {line(key)}: {shown.get(key, line)(value)}" for key, value in whole.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"
