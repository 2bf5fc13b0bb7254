"""The verdict: one line, then the one that helps most, then what was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tools.judging import ACCEPTED, FOUND, REFUSED, WRONG
from tools.judging.sums import Members
from tools.judging.trial import Kernel

#: Why a file is rejected, and the status that says so.
STATUS = {
    "": ACCEPTED,
    "compile": WRONG,
    "form": WRONG,
    "wrong": WRONG,
    "goal": WRONG,
    "endless": WRONG,
    "slow": REFUSED,
    "refused": REFUSED,
    "race": FOUND,
    "memory": FOUND,
    "init": FOUND,
    "sync": FOUND,
}


@dataclass
class Verdict:
    """What the judge says of one file."""

    puzzle: str
    title: str
    reason: str = ""  #: a key of STATUS; empty for an accepted file
    headline: str = ""
    line: str = ""  #: what helps most
    details: list[str] = field(default_factory=list)
    counts: list[tuple[str, int, int | None]] = field(default_factory=list)
    counted_at: str = ""
    book: str = ""  #: whose counts stand beside them
    shapes: int = 0
    schedules: int = 0
    seconds: float = 0.0
    times: list[str] = field(default_factory=list)
    kernel: Kernel | None = None  #: what was judged, if it had the form
    sum: Members | None = None  #: who is in a wrong sum, or what is proved of a right one

    @property
    def status(self) -> int:
        return STATUS[self.reason]

    def reject(
        self, reason: str, headline: str, line: str = "", details: tuple[str, ...] = ()
    ) -> None:
        self.reason, self.headline, self.line = reason, headline, line
        self.details += details

    def rename(self, name: str, shown: str) -> None:
        """Where it speaks of `name`, it says `shown`."""
        if name != shown:
            self.line = self.line.replace(name, shown)
            self.headline = self.headline.replace(name, shown)
            self.details = [each.replace(name, shown) for each in self.details]

    def text(self, details: bool) -> str:
        """As a terminal shows it."""
        word = {"": "accepted", "slow": "undecided"}.get(self.reason, "rejected")
        lines = [f"{word:<9} {self.puzzle} {self.title}: {self.headline}"]
        if self.line:
            lines.append(f"          {self.line}")
        lines += [f"          {each}" for each in self.times]
        if details:
            lines += [f"  {each}" for each in self.details]
            if self.sum and self.sum.proved:
                lines += [f"  at {self.sum.shape}: {self.sum.says}"]
                lines += [f"    {each}" for each in self.sum.story]
            lines += self._table()
            lines.append(f"  {self.tried}")
        elif self.details or self.counts:
            lines.append("          more with --details")
        return "\n".join(lines) + "\n"

    @property
    def tried(self) -> str:
        return f"{self.shapes} shapes, {self.schedules} schedules, {self.seconds:.1f} s"

    def _table(self) -> list[str]:
        if not self.counts:
            return []
        rows = [("", "yours", self.book)]
        rows += [(n, str(mine), "" if book is None else str(book)) for n, mine, book in self.counts]
        width = [max(len(row[k]) for row in rows) for k in range(3)]
        table = [
            f"  {a:<{width[0]}}  {b:>{width[1]}}  {c:>{width[2]}}".rstrip() for a, b, c in rows
        ]
        return [f"  counted at {self.counted_at}", *table]

    def record(self) -> dict[str, Any]:
        """As --json has it."""
        return {
            "puzzle": self.puzzle,
            "title": self.title,
            "accepted": not self.reason,
            "reason": self.reason or None,
            "status": self.status,
            "verdict": self.headline,
            "line": self.line,
            "details": self.details,
            "sum": self.sum.record() if self.sum else None,
            "counts": {name: {"yours": mine, "book": book} for name, mine, book in self.counts},
            "counted_at": self.counted_at or None,
            "book": self.book or None,
            "shapes": self.shapes,
            "schedules": self.schedules,
            "seconds": round(self.seconds, 2),
            "times": self.times,
        }
