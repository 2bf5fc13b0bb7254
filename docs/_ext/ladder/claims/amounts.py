"""What a number in a claim measures: times, rates, bytes, per cents and plain counts.

Amounts are kept in microseconds, bytes and combinations of the two, so that arithmetic on them
needs no factors. A claim that compares a time with a rate is refused before any data is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from .. import units


class BadClaim(ValueError):
    """A claim that cannot be read; the message says what was expected, and what comes nearest."""


class Kind(Enum):
    """What is measured, by its powers of time and of bytes."""

    TIME = "a time"
    RATE = "a rate"
    BYTES = "a number of bytes"
    CLOCK = "a frequency"
    COUNT = "a count"
    PERCENT = "a percentage"
    RATIO = "a ratio"
    ERROR = "an error of a sum"

    @property
    def powers(self) -> tuple[int, int]:
        return _POWERS.get(self, (0, 0))


_POWERS = {
    Kind.TIME: (1, 0),
    Kind.RATE: (-1, 1),
    Kind.BYTES: (0, 1),
    Kind.CLOCK: (-1, 0),
}
_KINDS = {powers: kind for kind, powers in _POWERS.items()}

#: A unit as a claim writes it, what it measures, and one of it in the amounts' own units.
UNITS: dict[str, tuple[Kind, float]] = {
    "ns": (Kind.TIME, 1e-3),
    "us": (Kind.TIME, 1.0),
    "µs": (Kind.TIME, 1.0),
    "ms": (Kind.TIME, 1e3),
    "s": (Kind.TIME, 1e6),
    "GB/s": (Kind.RATE, 1e3),
    "TB/s": (Kind.RATE, 1e6),
    "B": (Kind.BYTES, 1.0),
    "kB": (Kind.BYTES, 1e3),
    "MB": (Kind.BYTES, 1e6),
    "GB": (Kind.BYTES, 1e9),
    "KiB": (Kind.BYTES, 2.0**10),
    "MiB": (Kind.BYTES, 2.0**20),
    "GiB": (Kind.BYTES, 2.0**30),
    "MHz": (Kind.CLOCK, 1.0),
    "GHz": (Kind.CLOCK, 1e3),
    "%": (Kind.PERCENT, 0.01),
    "x": (Kind.RATIO, 1.0),
    "×": (Kind.RATIO, 1.0),
}

_NUMBER = re.compile(
    r"(?P<digits>\d+(?:\.\d+)?(?:e-?\d+)?)(?:\^(?P<power>\d+))?(?P<unit>[^\d.^].*)?"
)


@dataclass(frozen=True)
class Number:
    """A number that stands in a claim."""

    value: float
    kind: Kind
    text: str

    def __str__(self) -> str:
        return self.text

    @classmethod
    def read(cls, word: str, following: str = "") -> tuple[Number, bool] | None:
        """The number in ``word``, and whether ``following`` was its unit; None if it is none."""
        match = _NUMBER.fullmatch(word)
        if not match:
            return None
        value = float(match["digits"]) ** int(match["power"] or 1)
        unit, apart = match["unit"], False
        if unit is None and following in UNITS:
            unit, apart = following, True
        if unit is None:
            return cls(value, Kind.COUNT, word), False
        if unit not in UNITS:
            return None
        kind, one = UNITS[unit]
        return cls(value * one, kind, f"{word} {unit}" if apart else word), apart


def comparable(one: Kind, other: Kind) -> bool:
    """Whether amounts of these kinds may be compared, added and subtracted."""
    if {one, other} == {Kind.ERROR, Kind.COUNT}:  # 1e-6 is a plain number
        return True
    return one == other or (one.powers == other.powers == (0, 0) and Kind.RATIO in (one, other))


def combined(sign: str, one: Kind, other: Kind) -> Kind:
    """The kind of a sum, a difference, a product or a quotient."""
    if sign in "+-":
        if not comparable(one, other):
            raise BadClaim(f"cannot take '{sign}' of {one.value} and {other.value}")
        return one if other is Kind.RATIO else other
    time, bytes_ = one.powers
    more_time, more_bytes = other.powers
    way = 1 if sign == "*" else -1
    powers = (time + way * more_time, bytes_ + way * more_bytes)
    if powers == (0, 0):
        return Kind.COUNT if sign == "*" and Kind.COUNT in (one, other) else Kind.RATIO
    if powers not in _KINDS:
        raise BadClaim(f"'{one.value} {sign} {other.value}' is nothing that the book measures")
    return _KINDS[powers]


def written(kind: Kind, *values: float) -> str:
    """An amount as a page or a message writes it; of several passes, what they share."""
    match kind:
        case Kind.TIME:
            return units.time_difference(*values) if min(values) < 0 else units.time(*values)
        case Kind.RATE:
            return units.rate(*(value / 1e3 for value in values))
        case Kind.BYTES:
            return units.decimal_bytes(max(values))
        case Kind.CLOCK:
            return f"{units.count(*values)}{units.NO_BREAK}MHz"
        case Kind.PERCENT:
            return units.percent(*(100 * value for value in values))
        case Kind.COUNT:
            return units.count(*values)
        case Kind.ERROR:
            return units.error(*values)
    return units.ratio(*values)
