"""What claims state, as far as words can be held to it: relations, numbers and bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from common.records.naming import DEFAULT_BLOCK, DEFAULT_N

from .amounts import Kind, Number
from .statement import Arithmetic, Between, Claim, Compare, Expression, Faster, Quantity, Tie, Trend
from .words import Asked

#: The relations that answer a word.
SAID_BY = {
    "faster": {"faster"},
    "slower": {"slower"},
    "longer": {"slower", "more"},
    "shorter": {"faster", "less"},
    "more": {"more", "slower"},
    "less": {"less", "faster"},
    "tie": {"tie"},
    "level": {"tie", "level"},
    "rank": {"rank"},
    "most": {"most"},
    "each": {"several"},
    "only": {"apart"},
}
DENIED_BY = {
    "faster": {"level", "tie", "slower"},
    "slower": {"level", "tie", "faster"},
    "longer": {"level", "tie", "faster", "less"},
    "shorter": {"level", "tie", "slower", "more"},
    "more": {"level", "tie", "less", "faster"},
    "less": {"level", "tie", "more", "slower"},
    "level": {"faster", "slower", "more", "less", "tie", "level"},
    "tie": {"faster", "slower", "level"},
}
_TIMES = ("time", "median", "min", "p25", "p75", "stay", "latency")
_RATES = ("gbps", "peak")
_ROUNDING = 1e-9
#: Numbers agree to so much.
_NEAR = 0.011
_NEAR_ONE = 0.05 + _ROUNDING
_MOST = 0.5
#: A bound, and what it is taken for, are at most so many times apart.
_WIDE = 1.5


@dataclass
class Stated:
    """What the claims beside one sentence state together."""

    relations: set[str] = field(default_factory=set)
    numbers: list[float] = field(default_factory=list)
    #: How many runs, claims and sizes there are; shares that two runs differ by.
    counts: list[float] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)
    #: What so many elements of 4 bytes take, in KiB, MiB and GiB.
    sizes: list[float] = field(default_factory=list)
    #: Ranges that a ratio or an amount lies in; an end may be open.
    ranges: list[tuple[float, float]] = field(default_factory=list)


def _leaves(side: Expression) -> Iterable[Expression]:
    if isinstance(side, Arithmetic):
        yield from _leaves(side.left)
        yield from _leaves(side.right)
    else:
        yield side


def _flavour(side: Expression) -> str:
    """Whether more of an amount is more time, more speed, or neither."""
    names = [leaf.name for leaf in _leaves(side) if isinstance(leaf, Quantity)]
    if (names and names[0] in _TIMES) or any(name.endswith("_floor") for name in names[:1]):
        return "time"
    return "rate" if names and names[0] in _RATES else "count"


def _towards(side: Expression, is_more: bool) -> set[str]:
    found = {"more" if is_more else "less"}
    flavour = _flavour(side)
    if flavour == "time":
        found.add("slower" if is_more else "faster")
    if flavour == "rate":
        found.add("faster" if is_more else "slower")
    return found


def _is_floor(side: Expression) -> bool:
    """Whether it is one of the floors, of which the highest counts."""
    return isinstance(side, Quantity) and side.name.endswith("_floor")


def _is_highest(sides: Sequence[Expression]) -> bool:
    """Whether one is the highest of the floors."""
    leaves = (leaf for side in sides for leaf in _leaves(side))
    return any(isinstance(leaf, Quantity) and leaf.name == "highest_floor" for leaf in leaves)


def _factor(side: Expression) -> float | None:
    """How many times something: ``2x that of B``, ``1.05``, ``50 % * time of B``."""
    if isinstance(side, Number):
        return side.value if side.kind in (Kind.RATIO, Kind.COUNT, Kind.PERCENT) else None
    if isinstance(side, Arithmetic) and side.sign == "*" and isinstance(side.left, Number):
        return side.left.value
    return None


def _is_ratio(side: Expression) -> bool:
    return isinstance(side, Arithmetic) and side.sign == "/"


def _compared(left: Expression, sign: str, right: Expression, within: float) -> set[str]:
    factor = _factor(right)
    is_of_one = factor is not None and (_is_ratio(left) or not isinstance(right, Number))
    if sign == "=":
        if isinstance(left, Arithmetic) and left.sign == "-" and isinstance(right, Number):
            return _towards(left, True) | {"exact"}  # so many more
        if factor is not None and is_of_one and abs(factor - 1) > _NEAR:
            return _towards(left, factor > 1) | {"exact"}
        return {"level", "exact"} | (
            {"tie"} if within <= _NEAR and _flavour(left) == "time" else set()
        )
    is_more = sign in (">", ">=")
    if is_of_one and factor is not None and isinstance(right, Number):
        if (is_more and factor >= 1) or (not is_more and factor <= 1):
            return _towards(left, is_more)
        near = {"level"} if abs(factor - 1) <= _NEAR_ONE else set()
        return near | {"more" if is_more else "less"}
    if (
        is_of_one
        and factor is not None
        and ((is_more and factor < 1) or (not is_more and factor > 1))
    ):
        return {"level"} if abs(factor - 1) <= _NEAR_ONE else set()
    return _towards(left, is_more)


def _between(one: Between) -> set[str]:
    low, high = one.low, one.high
    if isinstance(low, Number) and isinstance(high, Number) and _is_ratio(one.value):
        if low.value >= 1:
            return _towards(one.value, True)
        if high.value <= 1:
            return _towards(one.value, False)
        return {"level"}
    if isinstance(one.value, Arithmetic) and one.value.sign == "-":
        return _towards(one.value, True)
    return {"between"}


def _statement(claim: Claim) -> set[str]:
    match claim.statement:
        case Faster(first, second) as faster:
            if faster.is_denied:
                return {"level", "slower" if not faster.is_turned else "faster"}
            word = "slower" if faster.is_turned else "faster"
            found = {word, "more" if faster.is_turned else "less"}
            if faster.is_rank:
                found |= {"rank", "slowest" if faster.is_turned else "fastest"}
            if len(first) > 1 or len(second) > 1:
                found.add("several")
                found.add("rank")
            return found
        case Tie(runs, is_level):
            return ({"level"} if is_level else {"tie", "level"}) | (
                {"several"} if len(runs) > 2 else set()
            )
        case Compare(sides, signs, within):
            found = {"rank"} if all(map(_is_floor, sides)) or _is_highest(sides) else set()
            for left, sign, right in zip(sides, signs, sides[1:], strict=False):
                found |= _compared(left, sign, right, within)
            if len(sides) > 2:
                found |= {"several", "rank"}
            return found
        case Between() as between:
            return _between(between) | ({"rank"} if _is_highest((between.value,)) else set())
        case Trend(values, how) as trend:
            found = {"several"}
            if how in ("rises", "doubles", "never falls"):
                found |= _towards(values[0], True)
            if how in ("falls", "halves", "never rises"):
                found |= _towards(values[0], False)
            if how == "flat":
                found |= {"level"}
            if trend.peak or how in ("highest", "lowest"):
                found |= {"rank"}
            return found
    return set()


_TOKEN = re.compile(r"(?<![\w-])\d+(?:\.\d+)?(?:\^\d+)?(?:e-?\d+)?")
_UNIT_PERCENT = re.compile(r"[ \u00a0]?%")


def _numbers(claim: Claim) -> list[float]:
    found = []
    for token in _TOKEN.finditer(claim.text):
        base, _up, power = token[0].partition("^")
        value = float(base) ** int(power or 1)
        found.append(value)
        if _UNIT_PERCENT.match(claim.text, token.end()):
            found.append(value / 100)
    if not re.search(r"\bn=|at (?:each )?\d|from |every n|up to ", claim.text):
        found.append(DEFAULT_N)
    if "block" not in claim.text:
        found.append(DEFAULT_BLOCK)
    match claim.statement:
        case Trend(_values, "doubles"):
            found.append(2.0)
        case Trend(_values, "halves"):
            found.append(0.5)
    return found


def _counts(claims: Sequence[Claim]) -> list[float]:
    found: list[float] = [len({str(run) for one in claims for run in one.runs}), len(claims)]
    found += [len({str(run) for run in one.runs}) for one in claims]
    # A variant's name says what it has: by_warps8, sum_lanes_32.
    found += [int(one) for claim in claims for run in claim.runs
              for one in re.findall(r"\d+", run.variant)]  # fmt: skip
    return found + [len(one.axis.values) for one in claims if one.axis and one.axis.values]


def _excess(claim: Claim) -> list[float]:
    """The shares of "5 % faster" and "within 3 %"."""
    match claim.statement:
        case Faster(_first, _second, bounds) if bounds and "%" in claim.text:
            return [bounds.low - 1, bounds.high - 1]
        case Compare(_sides, _signs, within) | Trend(_sides, _signs, within) if within:
            return [within]
    return []


def _is_apart(claims: Sequence[Claim]) -> bool:
    """Whether one says what holds where another doesn't: denied, level, or the other way round."""
    each = [_statement(claim) for claim in claims]
    ways = {way for found in each for way in found & {"faster", "slower"} if len(found) > 1}
    denied = any(isinstance(one.statement, Faster) and one.statement.is_denied for one in claims)
    level = any("level" in found for found in each)
    return len(claims) > 1 and (denied or level or ways == {"faster", "slower"})


def _plain(side: Expression) -> float | None:
    """A number as it is written, without its unit."""
    if isinstance(side, Number) and (found := _TOKEN.match(side.text)):
        base, _up, power = found[0].partition("^")
        return float(base) ** int(power or 1)
    return None


def _ranges(claim: Claim) -> list[tuple[float, float]]:
    """What a ratio or an amount lies between; of a number with a unit the digits, too."""
    inf = float("inf")
    match claim.statement:
        case Faster(_first, _second, bounds) if bounds:
            return [(bounds.low, bounds.high)]
        case Between(_value, low, high):
            ends = [(_factor(low), _factor(high)), (_plain(low), _plain(high))]
            return [(a, z) for a, z in ends if a is not None and z is not None]
        case Compare(sides, signs, within):
            found = []
            for left, sign, right in zip(sides, signs, sides[1:], strict=False):
                for end, is_left in ((_factor(right), False), (_plain(right), False),
                                     (_plain(left), True)):  # fmt: skip
                    if end is None:
                        continue
                    if sign == "=":
                        found.append((end * (1 - within), end * (1 + within)))
                    else:
                        is_low = (sign in (">", ">=")) != is_left
                        found.append((end, inf) if is_low else (0.0, end))
            if within:
                found.append((1 - within, 1 + within))
            return found
    return []


def stated(claims: Sequence[Claim]) -> Stated:
    made = Stated()
    for claim in claims:
        made.relations |= _statement(claim)
        made.numbers += _numbers(claim)
        made.ranges += _ranges(claim)
        if claim.axis:
            made.relations.add("several")
        made.excess += _excess(claim)
    if "exact" in made.relations or len(claims) > 1:
        made.relations.add("several")
    made.counts = _counts(claims)
    if _is_apart(claims):
        made.relations.add("apart")
    firsts = [claim.statement.first for claim in claims if isinstance(claim.statement, Faster)]
    if any(firsts.count(one) > 1 for one in firsts):  # faster than each of several
        made.relations.add("rank")
    made.sizes = [4 * n / 2**unit for n in made.numbers for unit in (10, 20, 30) if n >= 2**10]
    return made


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _NEAR * max(abs(one), abs(other))


def _values(one: Asked) -> list[float]:
    """What a number of a sentence may be in an expression."""
    value = one.value
    if one.is_beyond and not one.is_percent:  # a third less
        ways = [1 + value, 1 - value]
        return [*ways, *(1 / way for way in ways if way > 0)]
    return [value, 1 / value] if (one.is_share or one.is_times) and value else [value]


def _answers_number(one: Asked, by: Stated) -> bool:
    values = _values(one)
    numbers = by.numbers + (by.sizes if one.is_size else [])
    if not (one.is_times or one.is_share):
        numbers = numbers + by.counts
    if one.is_beyond and one.is_percent:
        numbers = by.excess
    if any(_near(value, number) for value in values for number in numbers):
        return True
    if one.is_percent:  # within 4 % of it, at 96 %; 5 % longer, 1.05 times
        if any(_near(one.value, abs(1 - number)) for number in by.numbers):
            return True
        values = [1 + one.value, 1 - one.value] + ([] if one.is_beyond else [one.value])
        values += [1 / (1 - one.value)] if one.is_beyond and one.value < 1 else []
    inf = float("inf")
    for low, high in by.ranges:
        if low > 0 and high < inf and high / low <= _WIDE:
            # 1.05 says 5 %, but not where the range says hardly more than 1.
            blurred = one.is_percent and 0.5 < low < 2 and high - low > one.value
            if not blurred and any(low <= value <= high for value in values):
                return True
        for base in (0, 1) if one.is_beyond else (0,):  # less than 1 % slower: below 1.01 times
            if one.bound == "low" and one.value <= low - base <= one.value * _WIDE:
                return True
            if one.bound == "high" and one.value / _WIDE <= high - base <= one.value + _ROUNDING:
                return True
    return False


def answers(one: Asked, by: Stated) -> bool:
    """Whether the claims state what a word or a number of the sentence says."""
    if one.kind == "number":
        return _answers_number(one, by)
    if one.is_denied and one.kind in DENIED_BY:
        return bool(DENIED_BY[one.kind] & by.relations)
    ranks = by.relations & {"fastest", "slowest"}
    if one.text.lower() in ("fastest", "slowest") and len(ranks) == 1:
        return one.text.lower() in ranks
    if one.kind == "most":
        return any(_MOST <= low < 1 for low, _high in by.ranges)
    return bool(SAID_BY[one.kind] & by.relations)
