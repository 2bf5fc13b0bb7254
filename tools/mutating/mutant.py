"""One change to a kernel."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self


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
