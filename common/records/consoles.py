"""Whether what programs printed agrees with what they recorded.

A set's console texts were printed by the same process that wrote the first pass of the record, so
each figure in them is the recorded one, rounded. Transcripts beside the chapters' sources are of
other sittings on the same kind of device: there the kernels and their launches agree exactly, and a
median lies between the fastest and the slowest sample of all passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.records.counters import NCU
from common.records.rates import peak_of
from common.records.reading import DataError
from common.records.schema import ChapterFile, Device, TimedRun
from common.records.sets import RecordedSet

_DEVICE = re.compile(
    r"device  (?P<name>.+), compute capability (?P<cc>[\d.]+), (?P<sms>\d+) SMs, "
    r"L2 (?P<l2>.+), peak (?P<peak>\d+) GB/s"
)
_DIGITS = re.compile(r"-?\d+(?:\.(?P<decimals>\d+))?")
#: Sums of floats have one more: how far off they are.
_COLUMNS = (9, 10)
#: What rounding in the record may move a number by.
_RECORDED = 0.0011


@dataclass(frozen=True)
class Row:
    """One line of a program's table, as printed."""

    line: int
    variant: str
    n: int
    block: str
    grid: str
    median: str
    half_interval: str
    rate: str
    share: str
    registers: str
    error: str  # of a sum of floats; empty where the table has no such column
    us: float  # microseconds in the unit of its times


def rows(text: str) -> Iterator[Row]:
    """The rows of every table of times in a console text."""
    us = 0.0
    for number, line in enumerate(text.splitlines(), start=1):
        cells = re.split(r" {2,}", line)
        if cells[0] == "variant":
            us = {"median µs": 1.0, "median ms": 1000.0}.get(cells[4], 0.0) if cells[5:] else 0.0
        elif us and len(cells) in _COLUMNS:
            name, n, block, grid, median, half, rate, share, registers, error = [*cells, ""][:10]
            yield Row(
                number, name.split()[0], count(n) or 0, block, grid, median, half, rate, share,
                registers, error, us,
            )  # fmt: skip
        else:
            us = 0.0


def count(text: str) -> int | None:
    """A count as programs print it: 2^24, 21 846, or – for none."""
    power = re.fullmatch(r"2\^(\d+)", text)
    if power:
        return 1 << int(power[1])
    digits = text.replace(" ", "").replace("\u2009", "")
    return int(digits) if digits.isdigit() else None


def check_consoles(folder: Path, loaded: RecordedSet) -> None:
    """The consoles are those of the recorded runs, and transcripts could be."""
    for chapter, text in loaded.consoles.items():
        record = loaded.chapters.get(chapter)
        if record and "\ndevice  " in text:
            path = folder / f"{chapter}.txt"
            _check_heading(path, text, record.data)
            _check_rows(path, text, record.data)
    root = folder.absolute().parents[2]
    for path in sorted(root.glob(f"chapters/chapter*/transcripts/{folder.name}/*.txt")):
        text = path.read_text(encoding="utf-8")
        _check_other_sitting(path, text, path.parents[2].name, loaded)


def _check_heading(path: Path, text: str, data: ChapterFile) -> None:
    lines = text.splitlines()
    at, printed = next((i, line) for i, line in enumerate(lines) if line.startswith("device  "))
    _check_device(path, at + 1, printed, data["device"])
    found = _DEVICE.fullmatch(printed)
    if found and abs(int(found["peak"]) - data["device"]["peak_gb_per_s"]) > 0.5 + _RECORDED:
        stated = data["device"]["peak_gb_per_s"]
        raise DataError(
            path, f"line {at + 1}", f"peak {found['peak']} where {stated:g} is recorded"
        )
    built = f"built   CUDA {data['toolkit']} for {data['architectures']}; "
    built += f"driver takes CUDA {data['driver']}"
    if built not in lines:
        raise DataError(path, "line 'built'", f"is not as recorded: {built}")
    run = next((line for line in lines if line.startswith("run  ")), "")
    if f"seed {data['seed']}" not in run:
        raise DataError(path, "line 'run'", f"is not of the recorded seed, {data['seed']}")


def _check_device(path: Path, line: int, printed: str, device: Device) -> None:
    found = _DEVICE.fullmatch(printed)
    told = (device["name"], device["compute_capability"], str(device["sm_count"]))
    if not found or found.group("name", "cc", "sms") != told:
        name, capability, sms = told
        what = f"'{printed}' where the set is of the {name}, compute capability {capability}, "
        raise DataError(path, f"line {line}", f"{what}{sms} SMs")


def _check_rows(path: Path, text: str, data: ChapterFile) -> None:
    first = [run for run in data["runs"] if run["repeat"] == 0]
    seen = set()
    for row in rows(text):
        run = next((r for r in first if (r["variant"], r["n"]) == (row.variant, row.n)
                    and row.block in ("–", str(r["block"]))), None)  # fmt: skip
        where = f"line {row.line}, {row.variant}"
        if run is None:
            raise DataError(path, where, "is not among the recorded runs of the first pass")
        seen.add(row.variant)
        _check_launch(path, where, row, run)
        interval = run["median_ci_us"]
        median, rate, peak = run["median_us"], run["gb_per_s"], peak_of(run, data["device"])
        moved = run["bytes_read"] + run["bytes_written"]
        wide = max(interval[1] - median, median - interval[0]) if interval else None
        for what, printed, recorded, rounding in (
            ("median", row.median, median / row.us, _RECORDED),
            ("±", row.half_interval, None if wide is None else wide / row.us, 2 * _RECORDED),
            ("GB/s", row.rate, rate if moved else None, _RECORDED),
            ("% of peak", row.share, 100 * rate / peak if moved and peak else None, _RECORDED),
        ):
            if not _rounds_to(printed, recorded, rounding):
                stated = "none" if recorded is None else f"{recorded:g}"
                raise DataError(path, where, f"{what} {printed} where {stated} is recorded")
        if row.error and row.error != (error := _error_text(run)):
            raise DataError(path, where, f"off by {row.error} where {error} is recorded")
    missing = {run["variant"] for run in first if _plain(run, data)} - seen
    if missing:
        raise DataError(path, "", f"has no row of {sorted(missing)[0]}, which is recorded")


def _error_text(run: TimedRun) -> str:
    """How far off a sum of floats is, as programs print it."""
    error = run.get("error")
    return "–" if error is None else "0" if error == 0 else f"{error:.1e}"


def _plain(run: TimedRun, data: ChapterFile) -> bool:
    """Whether the plain run, which the console is of, has every variant: where it is recorded."""
    return not run["legacy"] and data["commands"][0][1:2] == ["--json"]


def _check_launch(path: Path, where: str, row: Row, run: Mapping[str, Any]) -> None:
    """The block, grid and registers of a row are a run's."""
    registers = run["registers"]
    for what, printed, recorded in (
        ("block", row.block, str(run["block"])),
        ("grid", row.grid, str(run["grid"])),
        ("registers", row.registers, "–" if registers is None else str(registers)),
    ):
        if printed == "–" and run["grid"] == 0:
            continue  # a library's own business
        if printed != recorded and str(count(printed)) != recorded:
            raise DataError(path, where, f"{what} {printed} where {recorded} is recorded")


def _rounds_to(printed: str, recorded: float | None, rounding: float) -> bool:
    digits = _DIGITS.fullmatch(printed)
    if not digits or recorded is None:
        return printed == "–" and recorded is None
    unit = 10.0 ** -len(digits["decimals"] or "")
    return abs(float(printed) - recorded) <= unit / 2 + rounding


def _holds(given: float, needed: int) -> bool:
    """Whether a device that gives each thread so many registers gives what the kernel needs, and no
    more than its next step: ncu says 16 for fewer, and for some kernels a multiple of 8."""
    return needed <= given <= max(16, -(-needed // 8) * 8)


#: Commands by which several processes run a program together. The set is of one.
_TOGETHER = re.compile(r"^\$ .*(WORLD_SIZE=|torch\.distributed|mpirun)", re.M)


def _check_other_sitting(path: Path, text: str, chapter: str, loaded: RecordedSet) -> None:
    alone = not _TOGETHER.search(text)
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("device  "):
            _check_device(path, number, line, loaded.device)
    record = loaded.chapters.get(chapter)
    counted = loaded.counters["runs"] if loaded.counters else []
    for row in rows(text):
        where = f"line {row.line}, {row.variant}"
        shape = (row.variant, row.n, row.block)
        timed = [
            run
            for run in (record.runs if record else [])
            if (run["variant"], run["n"], str(run["block"])) == shape
        ]
        if timed:
            _check_launch(path, where, row, timed[0])
            samples = [sample for run in timed for sample in run["samples_us"]]
            low, high = min(samples) / row.us, max(samples) / row.us
            inside = not _DIGITS.fullmatch(row.median) or low <= float(row.median) <= high
            if alone and not inside:
                what = f"median {row.median}, outside the recorded samples, {low:g} to {high:g}"
                raise DataError(path, where, what)
        for run in counted:
            if (run["chapter"], run["variant"], run["n"], str(run["block"])) == (chapter, *shape):
                (launch, *more) = run["launches"]
                if more:
                    continue
                grid = launch["grid"][0]
                if count(row.grid) != grid:
                    raise DataError(
                        path, where, f"grid {row.grid} where {grid} blocks were counted"
                    )
                given = launch["metrics"].get(NCU["registers"])
                if given and row.registers.isdigit() and not _holds(given, int(row.registers)):
                    what = f"registers {row.registers} where the device gave each thread {given:g}"
                    raise DataError(path, where, what)
