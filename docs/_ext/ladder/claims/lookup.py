"""Finds what a claim names in one recorded set: runs, counters, floors, and the axis's sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from operator import add, mul, sub, truediv
from typing import Any

from common.records.counters import STALLS
from common.records.floors import EMPTY_BLOCKS, floors
from common.records.naming import DEFAULT_BLOCK, DEFAULT_N, run_name, size_text
from common.records.recordings import RecordedRun, Recordings, counter_of
from common.records.schema import CountedRun, TimedRun
from common.records.sets import NoSuchRun

from ..book import Lost, nearest
from ..names import whole
from .amounts import Kind, Number
from .quantities import DEVICE, FIELDS, FLOORS, SPREAD, STALL_ALL, counter_kind, is_counter
from .statement import Arithmetic, Axis, Claim, Expression, OfDevice, Quantity, Run

#: An amount in each pass; one value where it is the same in all.
Values = tuple[float, ...]

_ARITHMETIC = {"+": add, "-": sub, "*": mul, "/": truediv}


def home(run: Run, known: Mapping[str, set[str]], chapter: str) -> str:
    """The chapter whose run is meant: the page's own, or the only other one that has it."""

    def has(one: str) -> bool:
        return any(fnmatchcase(variant, run.variant) for variant in known[one])

    if run.chapter:
        meant = [one for one in known if one == run.chapter or one.startswith(f"{run.chapter}_")]
        if not meant:
            raise Lost(f"nothing is recorded of {run.chapter}{nearest(run.chapter, known)}")
        if not has(meant[0]):
            near = nearest(run.variant, known[meant[0]])
            raise Lost(f"{meant[0]} has no variant '{run.variant}'{near}")
        return meant[0]
    if chapter in known and has(chapter):
        return chapter
    others = sorted(one for one in known if has(one))
    if len(others) == 1:
        return others[0]
    if others:
        which = " or ".join(others)
        raise Lost(f"several chapters have a variant '{run.variant}'; say which: {which}")
    variants = known.get(chapter) or set().union(*known.values())
    where = f"{chapter} has no" if chapter in known else "no chapter has a"
    raise Lost(f"{where} variant '{run.variant}'{nearest(run.variant, variants)}")


@dataclass
class Lookup:
    """A claim's runs in one set; *chapter* is the page's, for variants that name none."""

    claim: Claim
    recordings: Recordings
    set_name: str
    chapter: str
    #: Files and runs that were looked at, in order.
    data: dict[str, None] = field(default_factory=dict)
    #: The claim's own params, and the point of its axis that is being looked at.
    here: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        asked_on, recordings = self.claim.asked_on, self.recordings
        known = recordings.variants_asked_on(asked_on) if asked_on else recordings.variants
        self.homes = {run: home(run, known, self.chapter) for run in self.claim.runs}
        amounts = [one for one in self.claim.amounts if isinstance(one, Quantity)]
        self.counted_runs = {one.run for one in amounts if is_counter(one.name)}

    # -------------------------------------------------------------- the axis

    def points(self) -> list[dict[str, str]]:
        """The params at each point of the claim's axis; its own alone where it has none."""
        fixed, axis = dict(self.claim.params), self.claim.axis
        return [{**fixed, axis.key: value} for value in self.along(axis)] if axis else [fixed]

    def along(self, axis: Axis) -> list[str]:
        """The values of an axis that every run of the claim was recorded at."""
        if axis.values:
            return list(axis.values)
        common: set[str] | None = None
        for run in dict.fromkeys(self.claim.runs):
            there = self.recorded_at(run, axis.key)
            common = there if common is None else common & there
        sizes = sorted(common or (), key=_sortable)
        for end in filter(None, (axis.low, axis.high)):
            # A size of the wrong unit would quietly let everything through, or nothing.
            asked = (self.recordings.reference.name, self.claim.asked_on)
            if end not in sizes and self.set_name in asked:
                raise NoSuchRun(
                    f"{axis.key}={size(axis.key, end)} is not recorded for all of them; there are "
                    f"{', '.join(size(axis.key, one) for one in sizes)}"
                )
        low, high = _sortable(axis.low), _sortable(axis.high)
        kept = [
            size
            for size in sizes
            if (not axis.low or _sortable(size) >= low)
            and (not axis.high or _sortable(size) <= high)
        ]
        if not kept:
            raise NoSuchRun(f"nothing is recorded there along {axis.key}")
        return kept

    def recorded_at(self, run: Run, key: str) -> set[str]:
        """Where along ``key`` a run was recorded, at the book's usual shape in all else."""
        (known,) = self.recordings.sets(self.set_name)
        chapter = self.homes[run]
        record = known.chapters.get(chapter)
        there: list[TimedRun | CountedRun] = list(record.runs) if record else []
        if known.counters and run in self.counted_runs:
            there = [one for one in known.counters["runs"] if one["chapter"] == chapter]
        wanted = {**dict(self.claim.params), **dict(run.params)}
        wanted.pop(key, None)
        shapes = [
            {"n": str(one["n"]), "block": str(one["block"])}
            | {name: str(value) for name, value in one["params"].items()}
            for one in there
            if fnmatchcase(one["variant"], run.variant)
            and (key in one["params"] or key in ("n", "block"))
        ]
        for name, usual in (("n", DEFAULT_N), ("block", DEFAULT_BLOCK)):
            if name != key and len({shape[name] for shape in shapes}) > 1:
                wanted.setdefault(name, str(usual))
        return {
            shape[key]
            for shape in shapes
            if all(shape.get(name) == value for name, value in wanted.items())
        }

    # -------------------------------------------------------------- looking up

    def values(self, expression: Expression) -> Values:
        """An amount in each pass; one value where it is the same in all."""
        match expression:
            case Number(value):
                return (value,)
            case OfDevice(name):
                return (float(DEVICE[name][1](self.recordings.device(self.set_name))),)
            case Arithmetic(left, sign, right):
                pairs = columns([self.values(left), self.values(right)])
                return tuple(_ARITHMETIC[sign](x, y) for x, y in pairs)
            case Quantity(name, run):
                return self.quantity(name, run)

    def quantity(self, name: str, run: Run) -> Values:
        if name in FLOORS:
            return self.floor(name, run)
        if is_counter(name):
            counted = self.counted(run)
            asked = tuple(STALLS) if name == STALL_ALL else (name,)
            value = sum(counter_of(counted, one) for one in asked)
            return (value / 100 if counter_kind(name) is Kind.PERCENT else value,)
        found = self.timed(run)
        if name == SPREAD:
            medians = [one["median_us"] for one in found.repeats]
            return (max(medians) / min(medians) - 1,)
        return tuple(FIELDS[name][1] * value for value in found.values(name))

    def floor(self, name: str, run: Run) -> Values:
        found = self.timed(run)
        chapter, variant, n = EMPTY_BLOCKS
        empty = self.recordings.run(chapter, variant, n, found.run["block"], only=self.set_name)
        try:
            counted = self.counted(run)
        except NoSuchRun:
            counted = self.counted(run, at_usual_size=True)
        kind = name.removesuffix("_floor")
        values = []
        for one, other in zip(found.repeats, empty.repeats, strict=False):
            start_us = other["median_us"] / other["grid"]
            made = floors(one, found.provenance.gpu, counted.run, start_us)
            each = {"issue": made.issue, "starts": made.starts, "bytes": made.move}
            value = made.highest if kind == "highest" else each[kind]
            if value is None:
                raise NoSuchRun(f"no {name} of {run_name(found.run)}: it was not counted there")
            values.append(value)
        return tuple(values)

    def timed(self, run: Run) -> RecordedRun:
        chapter, name, n, block, params = self.asked(run)
        found = self.recordings.run(chapter, name, n, block, params, only=self.set_name)
        self.note(f"{chapter}.json", run_name(_shape(found.run), chapter))
        return found

    def counted(self, run: Run, *, at_usual_size: bool = False) -> RecordedRun[CountedRun]:
        chapter, name, n, block, params = self.asked(run)
        n = None if at_usual_size else n
        found = self.recordings.counters(chapter, name, n, block, params, only=self.set_name)
        self.note("counters.json", run_name(found.run))
        return found

    def asked(self, run: Run) -> tuple[str, str, int | None, int | None, dict[str, str]]:
        params = {**self.here, **dict(run.params)}
        n, block = (params.pop(key, None) for key in ("n", "block"))
        chapter = self.homes[run]
        name = run.variant
        if "*" in name:
            name = self.named(chapter, name, params)
        return chapter, name, n and whole(n), block and whole(block), params  # type: ignore[return-value]

    def named(self, chapter: str, pattern: str, params: Mapping[str, str]) -> str:
        """The one variant of a family, ``stride*``, that has these params."""
        (known,) = self.recordings.sets(self.set_name)
        record = known.chapters.get(chapter)
        fitting = sorted(
            {
                one["variant"]
                for one in (record.runs if record else [])
                if fnmatchcase(one["variant"], pattern)
                and all(str(one["params"].get(key)) == value for key, value in params.items())
            }
        )
        if len(fitting) != 1:
            said = " ".join(f"{key}={value}" for key, value in params.items())
            found = ", ".join(fitting) or "none"
            raise NoSuchRun(
                f"'{pattern}' with {said or 'no params'} should be one variant, and is {found}"
            )
        return fitting[0]

    def note(self, file: str, run: str) -> None:
        self.data[f"figures/data/{self.set_name}/{file}: {run}"] = None


def columns(rows: Sequence[Values]) -> list[Values]:
    """Pass by pass, an amount from each row; what is the same in all passes goes with each."""
    passes = min((len(row) for row in rows if len(row) > 1), default=1)
    return [tuple(row[at] if len(row) > 1 else row[0] for row in rows) for at in range(passes)]


def _shape(run: TimedRun) -> dict[str, Any]:
    """What names a run in all of its passes."""
    return {key: run[key] for key in ("variant", "n", "block", "params")}


def _sortable(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return 0.0


def size(key: str, value: str) -> str:
    """A value of an axis as messages write it."""
    return size_text(int(value)) if key == "n" else value
