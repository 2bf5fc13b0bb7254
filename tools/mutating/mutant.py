"""One change to a kernel, and the kinds that there are."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

#: What each operator does, in words, by its name: the page's table has them in this order.
OPERATORS = {
    "comparison": "< becomes <= or >=, == becomes !=",
    "condition": "a side of && or || is lost, one becomes the other, a choice is made for good",
    "arithmetic": "+ becomes -, * becomes +, << becomes >>, += becomes -= or =",
    "constant": "one more, one less, 0; a mask loses a lane, or half of them",
    "barrier": "a barrier is lost, or waits for the warp alone",
    "fence": "a fence is lost, or reaches the block alone",
    "atomic": "an atomic becomes a load and a store, or reaches the block alone",
    "shuffle": "a shuffle takes its value from another lane",
    "index": "an index is one off, or another built-in variable",
    "statement": "a statement is lost, or a return before a barrier is added",
    "type": "a type of 64 bits has 32, an index has 16",
}


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes from *begin* to *end* of *file* become *after*."""

    file: str  # from the repository's root
    line: int
    column: int
    begin: int
    end: int
    operator: str
    before: str
    after: str
    function: str  # that it lies in; empty for a constant outside

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}:{self.column} {self.before!r} {self.after!r}"

    def apply(self, source: bytes) -> bytes:
        """The changed file; its lines keep their numbers."""
        assert source[self.begin : self.end].decode() == self.before
        after = self.after + "\n" * (self.before.count("\n") - self.after.count("\n"))
        return source[: self.begin] + after.encode() + source[self.end :]

    def told(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, told: dict[str, Any]) -> Self:
        return cls(**{name: told[name] for name in cls.__dataclass_fields__})
