"""What a claim says, once it has been read: plain values that ``evaluate`` goes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .amounts import Kind, Number


@dataclass(frozen=True)
class Run:
    """A recorded run as a claim names it; what it leaves out comes from around it."""

    variant: str
    chapter: str = ""
    params: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        words = [self.chapter, self.variant, *(f"{key}={value}" for key, value in self.params)]
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Quantity:
    """A field or a counter of a run: ``peak of unroll16``."""

    name: str
    run: Run
    kind: Kind

    def __str__(self) -> str:
        return f"{self.name} of {self.run}"


@dataclass(frozen=True)
class OfDevice:
    """An attribute of the device that a set was recorded on: ``device l2``."""

    name: str
    kind: Kind

    def __str__(self) -> str:
        return f"device {self.name}"


@dataclass(frozen=True)
class Arithmetic:
    left: Expression
    sign: str
    right: Expression
    kind: Kind

    def __str__(self) -> str:
        sides = (
            f"({side})" if isinstance(side, Arithmetic) and self.sign in "*/" else str(side)
            for side in (self.left, self.right)
        )
        return f" {self.sign} ".join(sides)


Expression = Number | Quantity | OfDevice | Arithmetic


def parts(expression: Expression) -> Iterator[Expression]:
    """An amount and all that it is made of."""
    yield expression
    if isinstance(expression, Arithmetic):
        yield from parts(expression.left)
        yield from parts(expression.right)


@dataclass(frozen=True)
class Bounds:
    """What a ratio must lie in; an open end is not part of it."""

    low: float = 0.0
    high: float = float("inf")
    is_low_open: bool = False
    is_high_open: bool = False

    def hold(self, value: float) -> bool:
        above = value > self.low if self.is_low_open else value >= self.low
        below = value < self.high if self.is_high_open else value <= self.high
        return above and below


@dataclass(frozen=True)
class Faster:
    """Each of ``first`` is faster than each of ``second``, or so many times as fast; or not."""

    first: tuple[Run, ...]
    second: tuple[Run, ...]
    bounds: Bounds | None = None
    is_denied: bool = False
    #: Written the other way round, "B slower than A"; and as a rank, "fastest of".
    is_turned: bool = False
    is_rank: bool = False


@dataclass(frozen=True)
class Tie:
    """Any two of the runs tie; or they are level, that is, neither is faster."""

    runs: tuple[Run, ...]
    is_level: bool = False


@dataclass(frozen=True)
class Compare:
    """Amounts with signs between: ``<``, ``<=``, ``>``, ``>=`` or ``=``."""

    sides: tuple[Expression, ...]
    signs: tuple[str, ...]
    within: float = 0.0


@dataclass(frozen=True)
class Between:
    value: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True)
class Trend:
    """How an amount changes, over a list of runs or along the claim's axis."""

    values: tuple[Expression, ...]
    how: str
    within: float = 0.0
    peak: str = ""


Statement = Faster | Tie | Compare | Between | Trend


@dataclass(frozen=True)
class Axis:
    """Along which of a run's numbers a claim goes, and how far."""

    key: str
    values: tuple[str, ...] = ()
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Claim:
    """One claim: what it says, of which runs, and on which sets the text says that it is false."""

    text: str
    statement: Statement
    params: tuple[tuple[str, str], ...] = ()
    axis: Axis | None = None
    #: The second sets that the text takes out; ``*`` are all of them.
    denied_on: tuple[str, ...] = ()
    #: The one card that the sentence speaks of, where it isn't the reference.
    asked_on: str = ""
    #: Why a bound lies far from what was recorded.
    reason: str = ""

    @property
    def amounts(self) -> list[Expression]:
        """All the amounts that the claim is made of."""
        sides: tuple[Expression, ...] = ()
        match self.statement:
            case Compare(several) | Trend(several):
                sides = several
            case Between(value, low, high):
                sides = (value, low, high)
        return [part for side in sides for part in parts(side)]

    @property
    def runs(self) -> list[Run]:
        match self.statement:
            case Faster(first, second):
                return [*first, *second]
            case Tie(runs):
                return list(runs)
        return [part.run for part in self.amounts if isinstance(part, Quantity)]
