"""Holds a claim against one recorded set, in every pass of the recording.

"Faster", "slower" and "tie" are the book's own words for two runs (``common/records/verdict.py``),
over all passes together. Everything else, and every bound on a ratio, is looked at pass by pass and
must hold in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from operator import ge, gt, le, lt

from common.records.naming import run_name
from common.records.recordings import RecordedRun, Recordings
from common.records.sets import NoSuchRun
from common.records.verdict import Outcome as Verdict
from common.records.verdict import verdict

from .. import units
from ..book import Lost
from ..strings import _
from .amounts import Kind, Number, written
from .lookup import Lookup, Values, columns, size
from .statement import (
    Arithmetic,
    Between,
    Claim,
    Compare,
    Expression,
    Faster,
    Quantity,
    Run,
    Statement,
    Tie,
    Trend,
)

COMPARE = {"<": lt, "<=": le, ">": gt, ">=": ge}
#: Amounts that are computed differ in the last bits.
ROUNDING = 1e-9
#: How many false points of an axis a message spells out.
SPELT_OUT = 3


@dataclass(frozen=True)
class Finding:
    """Whether a claim holds at one point of its axis, and the numbers that say so."""

    holds: bool
    #: What a mark shows: 0.90×.
    short: str
    #: Both sides, with numbers, for a message.
    sides: str
    #: Files and runs that were looked at.
    data: tuple[str, ...] = ()
    #: How many times the nearest bound lies from what was recorded.
    slack: float = 1.0


@dataclass(frozen=True)
class Outcome:
    """What became of a claim on one set."""

    set_name: str
    device: str
    holds: bool
    short: str
    sides: str
    data: tuple[str, ...]
    slack: float = 1.0


def judge(claim: Claim, recordings: Recordings, set_name: str, chapter: str = "") -> Outcome:
    """The claim on one set; *chapter* is the page's, for variants that name none.

    Raises Lost for a name that no set knows and for a set that isn't there, and NoSuchRun for a run
    that this set doesn't have.
    """
    known = next(iter(recordings.sets(set_name)), None)
    if not known:
        raise Lost(f"nothing is recorded on {set_name}")
    lookup = Lookup(claim, recordings, set_name, chapter)
    found = findings(claim, lookup)
    false = [one for one in found if not one.holds]
    shown = (false or found)[:SPELT_OUT]
    sides = "; ".join(one.sides for one in shown)
    if len(false) > len(shown):
        sides += f"; and {len(false) - len(shown)} more like these"
    data = tuple(dict.fromkeys(entry for one in shown for entry in one.data))
    slack = min(one.slack for one in found)
    return Outcome(set_name, known.device_name, not false, shown[0].short, sides, data, slack)


def amount(claim: Claim, recordings: Recordings, set_name: str, chapter: str = "") -> Values:
    """What ``language.read_amount`` read comes to on one set, in each pass."""
    lookup = Lookup(claim, recordings, set_name, chapter)
    (lookup.here,) = lookup.points()
    assert isinstance(claim.statement, Compare)
    return lookup.values(claim.statement.sides[0])


def findings(claim: Claim, lookup: Lookup) -> list[Finding]:
    """What is found at each point of the claim's axis; of a trend along it, one finding for all."""
    points = lookup.points()
    statement, axis = claim.statement, claim.axis
    if isinstance(statement, Trend) and len(statement.values) == 1 and axis:
        rows, labels = [], []
        for lookup.here in points:
            rows.append(lookup.values(statement.values[0]))
            labels.append(f"{axis.key}={size(axis.key, lookup.here[axis.key])}")
        return [replace(_trend(statement, rows, labels), data=tuple(lookup.data))]
    found = []
    for lookup.here in points:
        lookup.data.clear()
        finding = _finding(statement, lookup)
        found.append(replace(finding, data=tuple(lookup.data)))
    return found


def _finding(statement: Statement, lookup: Lookup) -> Finding:
    match statement:
        case Faster(first, second):
            each = [_faster(statement, a, b, lookup) for a, b in product(first, second)]
            return _worst(each)
        case Tie(runs, is_level):
            return _worst([_tie(a, b, is_level, lookup) for a, b in combinations(runs, 2)])
        case Compare(sides, signs, within):
            return _compare(sides, signs, within, lookup)
        case Between(value, low, high):
            return _compare((low, value, high), ("<=", "<="), 0, lookup, main=1)
        case Trend(values):
            rows = [lookup.values(value) for value in values]
            return _trend(statement, rows, [str(value) for value in values])


def _worst(findings: Sequence[Finding]) -> Finding:
    return next((one for one in findings if not one.holds), findings[0])


# ---------------------------------------------------------------------------- two runs


def _faster(faster: Faster, first: Run, second: Run, lookup: Lookup) -> Finding:
    a, b = lookup.timed(first), lookup.timed(second)
    said = verdict(a.repeats, b.repeats)
    is_faster = said.outcome is Verdict.FASTER
    bounds = faster.bounds
    if bounds is None:
        return _two(a, b, is_faster != faster.is_denied)
    in_bounds = [bounds.hold(ratio) != faster.is_denied for ratio in said.ratios]
    needs_verdict = bounds.low >= 1 and not faster.is_denied
    slack = max(
        _slack(ratio, end)
        for ratio in said.ratios
        for end in (bounds.low, bounds.high)
        if 1 < end < float("inf")
    )
    made = _two(a, b, is_faster or not needs_verdict, in_bounds)
    return replace(made, slack=1.0 if faster.is_denied else slack)


def _slack(value: float, bound: float) -> float:
    """How many times a bound and what was recorded lie apart."""
    if value * bound <= 0:
        return 1.0
    return max(value / bound, bound / value)


def _tie(first: Run, second: Run, is_level: bool, lookup: Lookup) -> Finding:
    a, b = lookup.timed(first), lookup.timed(second)
    enough = {Verdict.TIE, Verdict.UNDECIDED} if is_level else {Verdict.TIE}
    return _two(a, b, verdict(a.repeats, b.repeats).outcome in enough)


_WORDS = {
    Verdict.FASTER: _("the first is faster"),
    Verdict.SLOWER: _("the first is slower"),
    Verdict.TIE: _("they tie"),
    Verdict.UNDECIDED: _("no difference is shown"),
}


def _two(a: RecordedRun, b: RecordedRun, holds: bool, passes: Sequence[bool] = ()) -> Finding:
    first, second = (
        f"{_name(one)} {_list(units.time(each['median_us']) for each in one.repeats)}"
        for one in (a, b)
    )
    said = verdict(a.repeats, b.repeats)
    each = _list(map(units.ratio, said.ratios))
    sides = f"{first}; {second}; {each}: {_WORDS[said.outcome]}"
    return Finding(holds and all(passes), units.ratio(*said.ratios), sides + _false_in(passes))


def _false_in(passes: Sequence[bool]) -> str:
    """In which passes it is false, where it is not in all."""
    false = [str(number) for number, held in enumerate(passes, 1) if not held]
    if len(false) in (0, len(passes)):
        return ""
    return _(", false in pass {false} of {all}").format(false=" and ".join(false), all=len(passes))


def _name(found: RecordedRun) -> str:
    return run_name({key: value for key, value in found.run.items() if key != "repeat"})


# ---------------------------------------------------------------------------- amounts


def _compare(
    sides: Sequence[Expression],
    signs: Sequence[str],
    within: float,
    lookup: Lookup,
    main: int = 0,
) -> Finding:
    """Amounts with signs between; *main* is the side that a mark shows."""
    values = [lookup.values(side) for side in sides]
    passes = [
        all(
            _agree(sign, x, y, within) for sign, (x, y) in zip(signs, pairwise(column), strict=True)
        )
        for column in columns(values)
    ]
    apart = all(
        _apart(sign, *two, lookup) for sign, two in zip(signs, pairwise(sides), strict=True)
    )
    kinds = [side.kind for side in sides]
    if Kind.PERCENT in kinds:  # a ratio beside it is one, too
        kinds = [Kind.PERCENT if kind is Kind.RATIO else kind for kind in kinds]
    texts = [
        _list(dict.fromkeys(written(kind, one) for one in value))
        for value, kind in zip(values, kinds, strict=True)
    ]
    said = [
        str(side) if isinstance(side, Number) else f"{side} is {text}"
        for side, text in zip(sides, texts, strict=True)
    ]
    base = _base(sides[1])
    if len(sides) == 2 and not isinstance(base, Number) and all(below := lookup.values(base)):
        short = units.ratio(*(x / y for x, y in columns([values[0], below])))
    else:
        short = written(kinds[main], *values[main])
    bounded = [
        _slack(x, y)
        for sign, (one, other), (xs, ys) in zip(
            signs, pairwise(sides), pairwise(values), strict=True
        )
        if sign != "=" and (_is_bound(one) or _is_bound(other))
        for x, y in columns([xs, ys])
    ]
    slack = max(bounded, default=1.0)
    return Finding(apart and all(passes), short, "; ".join(said) + _false_in(passes), slack=slack)


def _is_bound(side: Expression) -> bool:
    """Whether a person chose how large it is: a number, or so many times something."""
    match side:
        case Number():
            return True
        case Arithmetic(Number(), "*"):
            return True
    return False


def _base(side: Expression) -> Expression:
    """What a side is a multiple of: of ``2x that of smem`` the last."""
    match side:
        case Arithmetic(Number(), "*", right):
            return right
    return side


def _agree(sign: str, x: float, y: float, within: float) -> bool:
    if sign == "=":
        return abs(x - y) <= (within + ROUNDING) * abs(y)
    return bool(COMPARE[sign](x, y))


def _apart(sign: str, one: Expression, other: Expression, lookup: Lookup) -> bool:
    """Of two runs' times the lesser has to be faster, as the book uses the word."""
    sides = (one, other) if sign == "<" else (other, one)
    runs = [
        side.run for side in sides if isinstance(side, Quantity) and side.name in ("time", "median")
    ]
    if sign not in "<>" or len(runs) < 2:
        return True
    a, b = (lookup.timed(run).repeats for run in runs)
    return verdict(a, b).outcome is Verdict.FASTER


# ---------------------------------------------------------------------------- trends


def _trend(trend: Trend, rows: Sequence[Values], labels: Sequence[str]) -> Finding:
    if len(rows) < 2:
        raise NoSuchRun(f"'{trend.how}' needs two points, and one is recorded")
    kind = trend.values[0].kind
    shown = [
        f"{label}: {_list(dict.fromkeys(written(kind, value) for value in row))}"
        for label, row in zip(labels, rows, strict=True)
    ]
    short = " → ".join(written(kind, *rows[at]) for at in (0, -1))
    what = f"{trend.values[0]}: " if len(trend.values) == 1 else ""
    passes = [_has(trend, column, labels) for column in columns(rows)]
    return Finding(all(passes), short, what + "; ".join(shown) + _false_in(passes))


def _has(trend: Trend, values: Sequence[float], labels: Sequence[str]) -> bool:
    steps = list(pairwise(values))
    within = trend.within + ROUNDING
    match trend.how:
        case "rises":
            return all(b > a for a, b in steps)
        case "falls":
            return all(b < a for a, b in steps)
        case "never rises":
            return all(b <= a for a, b in steps)
        case "never falls":
            return all(b >= a for a, b in steps)
        case "doubles":
            return all(abs(b - 2 * a) <= within * 2 * a for a, b in steps)
        case "halves":
            return all(abs(2 * b - a) <= within * a for a, b in steps)
        case "flat":
            return max(values) <= min(values) * (1 + within)
    best = max(values) if trend.how == "highest" else min(values)
    key, _equals, value = trend.peak.partition("=")
    return labels[values.index(best)] == f"{key}={size(key, value)}"


def _list(words: Iterable[str]) -> str:
    return ", ".join(words)
