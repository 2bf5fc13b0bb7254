"""Reads a claim: ``unroll4 2x faster than smem at 2^24``. README.md lists what can be said.

A claim is words with spaces between them, so that names keep their hyphens and ``GB/s`` its slash.
What it means is settled here as far as it can be without data: kinds of amounts that do not go
together are refused, and every message says what was expected and what comes nearest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from common.records.naming import REFERENCE, SECOND

from ..book import nearest
from ..names import BadName, whole
from .amounts import BadClaim, Kind, Number, combined, comparable
from .quantities import DEVICE, kind_of, names
from .statement import (
    Arithmetic,
    Axis,
    Between,
    Bounds,
    Claim,
    Compare,
    Expression,
    Faster,
    OfDevice,
    Quantity,
    Run,
    Statement,
    Tie,
    Trend,
)

__all__ = ["BadClaim", "read", "read_all", "read_amount"]

SIGNS = ("<", "<=", ">", ">=", "=")
TRENDS = ("rises", "falls", "doubles", "halves", "flat", "never rises", "never falls",
          "highest at", "lowest at")  # fmt: skip
SPEEDS = ("faster than", "slower than", "ahead of", "behind", "fastest of", "slowest of", "tie",
          "ties with", "level", "within … of")  # fmt: skip
BOUNDS = ("at least", "at most", "more than", "less than", "between")
WHERE = ("at", "from", "up to", "KEY=VALUE", "but not on", "on … only", "on …", "because …")
#: Words that name no variant: they go on with the sentence.
_GOES_ON = {"at", "from", "up", "but", "on", "and", "of", "than", "not", "no", "less", "more",
            "between", *(phrase.split()[0] for phrase in (*SPEEDS, *TRENDS))}  # fmt: skip


def read_all(text: str) -> list[Claim]:
    """The claims of a role or directive: one on each line, or between semicolons.

    A line that begins further in goes on with the one above.
    """
    joined = re.sub(r"\n[ \t]+", " ", text)
    lines = [line.strip() for line in re.split(r"[\n;]", joined)]
    if not any(lines):
        raise BadClaim("there is no claim")
    return [read(line) for line in lines if line]


def read(text: str) -> Claim:
    return _Reader(" ".join(text.split())).claim()


def read_amount(text: str) -> Claim:
    """An amount with its params, ``time of A / time of B, n=2^28``: a claim of one side."""
    return _Reader(" ".join(text.split())).amount_alone()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = re.findall(r"[(),]|[^\s(),]+", text)
        self.position = 0
        #: The quantity of the side before, which ``2x that of smem`` and a bare run take over.
        self.carried: tuple[str, Kind] | None = None

    # ------------------------------------------------------------------ words

    def peek(self, ahead: int = 0) -> str:
        position = self.position + ahead
        return self.words[position] if position < len(self.words) else ""

    def take(self) -> str:
        word = self.peek()
        self.position += 1
        return word

    def accept(self, phrase: str) -> bool:
        """Takes the words of ``phrase`` if they come next."""
        words = phrase.split()
        if self.words[self.position : self.position + len(words)] != words:
            return False
        self.position += len(words)
        return True

    def one_of(self, phrases: Sequence[str]) -> str:
        return next((phrase for phrase in phrases if self.accept(phrase)), "")

    def fail(self, expected: Sequence[str], hint: str = "") -> BadClaim:
        before = " ".join(self.words[: self.position])
        where = f"after '{before}' " if before else ""
        found = f"'{self.peek()}'" if self.peek() else "the end"
        message = f"{where}expected {', '.join(expected)}; found {found}"
        if self.peek():
            first_words = {phrase.split()[0] for phrase in expected if phrase[0].islower()}
            message += _near(self.peek(), first_words)
        return self.bad(message + (f" ({hint})" if hint else ""))

    def bad(self, message: str) -> BadClaim:
        return BadClaim(f"'{self.text}': {message}")

    # ------------------------------------------------------------------ the whole

    def placed(self, read: Callable[[], Statement]) -> Claim:
        """What is read, and where it holds."""
        try:
            return self.where(Claim(self.text, read()))
        except BadClaim as error:
            # Amounts know nothing of the sentence that they stand in.
            if str(error).startswith(f"'{self.text}'"):
                raise
            raise self.bad(str(error)) from None

    def claim(self) -> Claim:
        claim = self.placed(self.statement)
        statement = claim.statement
        if not claim.runs and not any(isinstance(one, OfDevice) for one in claim.amounts):
            raise self.bad("names no recorded run")
        if isinstance(statement, Trend) and statement.peak and not claim.axis:
            claim = replace(claim, axis=Axis(statement.peak.partition("=")[0]))
        if isinstance(statement, Trend) and len(statement.values) < 2 and not claim.axis:
            raise self.bad(
                f"'{statement.how}' needs several runs, 'time of A, B, C {statement.how}', or an "
                "axis, 'at each of stride=1,2,4' or 'from 2^20 to 2^28'"
            )
        return claim

    def amount_alone(self) -> Claim:
        claim = self.placed(lambda: Compare((self.expression(),), ()))
        if claim.axis or not claim.runs:
            raise self.bad("should be one amount of recorded runs, with 'n=2^28' behind a comma")
        return claim

    def statement(self) -> Statement:
        word = self.peek()
        if word in ("(", "device") or self.peek(1) == "of" or Number.read(word, self.peek(1)):
            return self.about_amounts()
        return self.about_speed()

    # ------------------------------------------------------------------ runs

    def is_run(self, ahead: int = 0) -> bool:
        word = self.peek(ahead)
        return bool(re.fullmatch(r"[a-z]\w*\*?", word)) and word not in _GOES_ON

    def run(self) -> Run:
        if not self.is_run():
            raise self.fail(["a variant's name"])
        first, chapter = self.take(), ""
        if re.fullmatch(r"chapter\d\d(_\w+)?", first):
            chapter = first
            if not self.is_run():
                raise self.fail([f"a variant of {chapter}"])
            first = self.take()
        params = []
        while "=" in self.peek() and self.peek() not in SIGNS:
            params.append(self.param())
        return Run(first, chapter, tuple(params))

    def runs(self) -> tuple[Run, ...]:
        """One run, or several with commas or ``and`` between them."""
        found = [self.run()]
        while self.peek() in (",", "and") and self.is_run(1):
            self.take()
            found.append(self.run())
        return tuple(found)

    def param(self) -> tuple[str, str]:
        key, _equals, value = self.take().partition("=")
        return key, self.size(key, value)

    def size(self, key: str, value: str) -> str:
        """A value of a param or an axis; n and block are whole numbers of elements and threads."""
        if not value:
            raise self.bad(f"{key}= has no value")
        if key not in ("n", "block"):
            return value
        following = self.peek()
        number = Number.read(value, following)
        if number and number[0].kind is not Kind.COUNT and value[-1:] not in "KMG":
            what = "elements" if key == "n" else "threads"
            unit = f"{value} {following}" if number[1] else value
            raise self.bad(
                f"{key} is a number of {what} (1024, 2^24 or 16M), and '{unit}' is "
                f"{number[0].kind.value}"
            )
        try:
            return str(whole(value))
        except BadName as error:
            raise self.bad(f"{key}: {error}") from None

    # ------------------------------------------------------------------ speed

    def about_speed(self) -> Statement:
        first = self.runs()
        if self.peek() in SIGNS:
            raise self.fail(
                SPEEDS, f"or say what is compared: 'time of {first[0]} {self.peek()} …'"
            )
        if self.accept("within"):
            within = self.share()
            if not self.accept("of"):
                raise self.fail(["of"])
            sides = [Quantity("time", run, Kind.TIME) for run in (*first, self.run())]
            return Compare(tuple(sides), ("=",) * (len(sides) - 1), within)
        if self.one_of(("ties with", "tie with")):
            return Tie((*first, *self.runs()))
        if self.one_of(("tie", "ties")):
            return self.several(Tie(first), "tie")
        if self.accept("level"):
            return self.several(Tie(first, is_level=True), "level")
        is_denied = self.accept("not") or self.accept("no")
        bounds = self.bounds()
        word = self.one_of(SPEEDS[:6])
        if not word:
            raise self.fail(SPEEDS if not bounds else SPEEDS[:2])
        second = self.runs()
        if word.endswith("est of"):
            second = tuple(run for run in second if run not in first)
        is_turned = word in ("slower than", "behind", "slowest of")
        if is_turned:
            first, second = second, first
        made = Faster(first, second, bounds, is_denied, is_turned, word.endswith("est of"))
        if self.peek() in ("faster", "slower"):
            raise self.bad("one comparison a claim: order several with 'time of A < B < C'")
        return made

    def several(self, made: Tie, word: str) -> Tie:
        if len(made.runs) < 2:
            raise self.bad(f"'{word}' needs two runs: 'A and B {word}'")
        return made

    def bounds(self) -> Bounds | None:
        """``2x``, ``at least 2x``, ``between 1.2x and 1.3x``, ``at most 5 %``: how many times."""
        start, word = self.position, self.one_of(BOUNDS)
        if not word:
            factor = self.factor()
            return Bounds(factor) if factor is not None else None
        low = self.factor()
        if low is None:
            self.position = start
            raise self.fail(
                ["how many times, as '2x' or '5 %', behind 'between' and its like", *SPEEDS]
            )
        match word:
            case "at least":
                return Bounds(low)
            case "more than":
                return Bounds(low, is_low_open=True)
            case "at most":
                return Bounds(1.0, low, is_low_open=True)
            case "less than":
                return Bounds(1.0, low, is_low_open=True, is_high_open=True)
        if not self.accept("and"):
            raise self.fail(["and"])
        high = self.factor()
        if high is None:
            raise self.fail(["how many times, as '2x' or '5 %'"])
        if high < low:
            raise self.bad("the bounds of 'between' stand the wrong way round")
        return Bounds(low, high)

    def factor(self) -> float | None:
        """``2x``; ``5 %`` faster is 1.05 times as fast."""
        found = Number.read(self.peek(), self.peek(1))
        if not found:
            return None
        number, apart = found
        if number.kind not in (Kind.RATIO, Kind.PERCENT):
            raise self.fail(["how many times, as '2x' or '5 %'"])
        self.position += 1 + apart
        return number.value + (1 if number.kind is Kind.PERCENT else 0)

    def share(self) -> float:
        """A share, ``3 %``."""
        found = Number.read(self.peek(), self.peek(1))
        if not found or found[0].kind is not Kind.PERCENT:
            raise self.fail(["a percentage, as '3 %'"])
        self.position += 1 + found[1]
        return found[0].value

    # ------------------------------------------------------------------ amounts

    def about_amounts(self) -> Statement:
        first = self.expression()
        several = [first]
        while isinstance(first, Quantity) and self.peek() in (",", "and") and self.is_run(1):
            self.take()
            several.append(Quantity(first.name, self.run(), first.kind))
        trend = self.one_of(TRENDS)
        if len(several) > 1 and not trend:
            raise self.fail(TRENDS)
        if trend:
            peak = self.peak() if trend.endswith(" at") else ""
            within = self.share() if self.accept("within") else 0.0
            return Trend(tuple(several), trend.removesuffix(" at"), within, peak)
        if self.accept("between"):
            low = self.expression()
            if not self.accept("and"):
                raise self.fail(["and"])
            high = self.expression()
            self.check_comparable(first, low, high)
            return Between(first, low, high)
        sides, signs = [first], []
        while self.peek() in SIGNS:
            signs.append(self.take())
            sides.append(self.expression())
        if not signs:
            raise self.fail([*SIGNS, "between", *TRENDS])
        self.check_comparable(*sides)
        within = self.share() if self.accept("within") else 0.0
        if within and set(signs) != {"="}:
            raise self.bad("'within' goes with '='")
        return Compare(tuple(sides), tuple(signs), within)

    def peak(self) -> str:
        key, equals, value = self.take().partition("=") if self.peek() else ("", "", "")
        if not equals:
            key, value = "n", key
        return f"{key}={self.size(key, value)}"

    def check_comparable(self, *sides: Expression) -> None:
        first = sides[0]
        for other in sides[1:]:
            if not comparable(first.kind, other.kind):
                raise self.bad(
                    f"'{first}' is {first.kind.value}, and '{other}' is {other.kind.value}"
                )

    def expression(self) -> Expression:
        made = self.term()
        while self.peek() in ("+", "-"):
            made = self.joined(made, self.take(), self.term())
        return made

    def term(self) -> Expression:
        made = self.amount()
        while self.peek() in ("*", "/"):
            made = self.joined(made, self.take(), self.amount())
        return made

    @staticmethod
    def joined(left: Expression, sign: str, right: Expression) -> Expression:
        return Arithmetic(left, sign, right, combined(sign, left.kind, right.kind))

    def amount(self) -> Expression:
        if self.accept("("):
            made = self.expression()
            if not self.accept(")"):
                raise self.fail([")"])
            return made
        if found := Number.read(self.peek(), self.peek(1)):
            number, apart = found
            self.position += 1 + apart
            if number.kind is Kind.RATIO and self.is_amount():  # 2x that of smem
                return self.joined(number, "*", self.amount())
            return number
        if self.accept("device"):
            name = self.peek()
            if name not in DEVICE:
                raise self.bad(f"a device has no '{name}'{nearest(name, DEVICE)}")
            self.take()
            return OfDevice(name, DEVICE[name][0])
        if self.accept("that of"):
            return self.carry()
        if self.peek(1) == "of":
            name = self.peek()
            kind = kind_of(name)
            if kind is None:
                raise self.bad(f"there is no quantity '{name}'{nearest(name, names())}")
            self.position += 2
            self.carried = (name, kind)
            return Quantity(name, self.run(), kind)
        if self.carried and self.is_run():
            return self.carry()
        raise self.fail(["a number", "QUANTITY of RUN", "device ATTRIBUTE"])

    def is_amount(self) -> bool:
        return self.peek() in ("(", "device", "that") or self.is_run()

    def carry(self) -> Quantity:
        if not self.carried:
            raise self.bad("'that of' follows a quantity: 'instructions of A = 2x that of B'")
        name, kind = self.carried
        return Quantity(name, self.run(), kind)

    # ------------------------------------------------------------------ where it holds

    def where(self, claim: Claim) -> Claim:
        while self.peek():
            self.accept(",")
            if self.accept("at"):
                claim = self.with_axis(claim, self.at())
            elif self.accept("from"):
                claim = self.with_axis(claim, self.span(is_from=True))
            elif self.accept("up to"):
                claim = self.with_axis(claim, self.span(is_from=False))
            elif self.accept("but not on"):
                claim = replace(claim, denied_on=(*claim.denied_on, self.second_set()))
            elif self.accept("on"):
                if self.accept(f"{REFERENCE} only"):
                    claim = replace(claim, denied_on=SECOND)
                elif self.peek() in SECOND:
                    claim = replace(claim, asked_on=self.second_set())
                else:
                    raise self.fail([f"{REFERENCE} only", *SECOND])
            elif self.accept("because"):
                claim = replace(claim, reason=" ".join(self.words[self.position :]))
                self.position = len(self.words)
            elif "=" in self.peek() and self.peek() not in SIGNS:
                claim = replace(claim, params=(*claim.params, self.param()))
            else:
                raise self.fail(WHERE)
        return claim

    def with_axis(self, claim: Claim, axis: Axis) -> Claim:
        if claim.axis:
            raise self.bad("has two axes: one 'at', 'from' or 'up to' a claim, and KEY=VALUE")
        return replace(claim, axis=axis)

    def second_set(self) -> str:
        name = self.peek()
        if name not in SECOND:
            raise self.bad(f"there is no second set '{name}'{nearest(name, SECOND)}")
        return self.take()

    def at(self) -> Axis:
        if self.accept("every"):
            if not re.fullmatch(r"[a-z_]+", self.peek()):
                raise self.fail(["n", "block", "a param's name"])
            return Axis(self.take())
        self.accept("each of") or self.accept("each")
        if not self.peek():
            raise self.fail(["a size (2^24)", "KEY=VALUE", "every n"])
        key, value = self.keyed(self.take())
        values = [self.size(key, value)]
        while self.peek() in (",", "and") and re.fullmatch(r"\d\S*", self.peek(1)):
            self.take()
            values.append(self.size(key, self.take()))
        return Axis(key, tuple(values))

    def span(self, *, is_from: bool) -> Axis:
        key, low, high = "n", "", ""
        if not self.peek():
            raise self.fail(["a size (2^24)", "KEY=VALUE"])
        if is_from:
            key, value = self.keyed(self.take())
            low = self.size(key, value)
        if not is_from or self.one_of(("to", "up to")):
            if not self.peek():
                raise self.fail(["a size (2^24)", "KEY=VALUE"])
            upper, value = self.keyed(self.take())
            if is_from and upper not in ("n", key):
                raise self.bad(f"goes from {key} to {upper}")
            key = key if is_from else upper
            high = self.size(key, value)
        return Axis(key, (), low, high)

    @staticmethod
    def keyed(word: str) -> tuple[str, str]:
        key, equals, value = word.partition("=")
        return (key, value) if equals else ("n", key)


def _near(word: str, known: set[str]) -> str:
    """Only what comes near: the list of all stands in the message already."""
    near = nearest(word, known)
    return near if near.startswith("; nearest") else ""
