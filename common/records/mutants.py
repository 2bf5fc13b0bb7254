"""What became of the changes made to the chapters' kernels, as ``tools/mutating`` recorded it.

``figures/data/mutants.json`` has every change, a row each, by file and function; each chapter's
``tests/mutants.toml`` says which of those that pass do no harm, and why.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

FILE = "figures/data/mutants.json"
TOLD = "tests/mutants.toml"  # in a chapter's folder
SCHEMA_VERSION = 3
#: A change's row. Its outcome is the nets that catch it, or else its state. Changes of a file that
#: come to the same code have the same number; those that pass end with the line as they leave it.
COLUMNS = (
    *("line", "column", "begin", "length", "operator", "before", "after", "outcome", "code"),
    "leaves",
)

OPERATORS = {
    "comparison": "< becomes <= or >=, == becomes !=",
    "condition": "a side of && or || is lost, or a choice is made for good",
    "arithmetic": "+ becomes -, * becomes +, << becomes >>, += becomes =",
    "constant": "one more, one less, 0; a mask loses lanes",
    "barrier": "a barrier is lost, or waits for a warp only",
    "fence": "a fence is lost, or reaches its block only",
    "atomic": "an atomic becomes a load and a store, or reaches its block only",
    "shuffle": "a value comes from another lane, or from none",
    "index": "one off, or another built-in variable",
    "statement": "a statement is lost, or some threads return before a barrier",
    "type": "64 bits become 32, and an index gets 16",
}
#: The nets, in the order of the page.
NETS = {
    "result": "wrong result",
    "stopped": "the device stops it",
    "race": "race check",
    "memory": "address check",
    "init": "check of unwritten memory",
    "sync": "barrier check",
    "sum": "sum check",
    "schedule": "wrong result with lanes apart",
    "counters": "memory counters",
}


class BadMutants(ValueError):
    """A record that can't be read; the message says what is wrong."""


@dataclass(frozen=True)
class Change:
    """One change, and what became of it."""

    file: str
    line: int
    column: int
    begin: int
    end: int
    operator: str
    before: str
    after: str
    function: str
    state: str  # refused, same, caught or passed
    by: tuple[str, ...]  # the nets that catch it
    code: str  # alike where two changes come to the same code
    leaves: str = ""  # the line as it leaves it; of those that pass

    @property
    def chapter(self) -> str:
        return Path(self.file).parts[1]

    def changed_line(self, source: bytes) -> str:
        """The line of the source as the change leaves it."""
        start = source.rfind(b"\n", 0, self.begin) + 1
        stop = source.find(b"\n", self.end)
        whole = source[start : self.begin] + self.after.encode() + source[self.end : stop]
        return " ".join(whole.decode().split())


@dataclass(frozen=True)
class Mistake:
    """A mistake made by hand, and what the net that has to reject it said."""

    chapter: str
    name: str
    what: str
    region: str
    before: str
    after: str
    net: str
    how: str


@dataclass(frozen=True)
class Run:
    """One run: the first over all changes, each later one over those that had passed till then."""

    date: str
    commit: str
    tried: int
    nets: str = ""  # tells whether the nets have changed since; the first runs didn't keep it


@dataclass(frozen=True)
class Mutants:
    """A whole record."""

    runs: tuple[Run, ...]
    toolkit: str
    listed: int  # changes that there are, of which some or all were tried
    sources: Mapping[str, str]  # digests, by file
    changes: tuple[Change, ...]
    mistakes: tuple[Mistake, ...]

    @property
    def date(self) -> str:
        """Of the last run: what an earlier one has rejected is not tried again."""
        return self.runs[-1].date

    @cached_property
    def distinct(self) -> list[Change]:
        """Those that are other code than the book's, each code once."""
        found: dict[tuple[str, str], Change] = {}
        for each in self.changes:
            if each.state in ("caught", "passed"):
                found.setdefault((each.file, each.code), each)
        return list(found.values())

    def count(self, state: str) -> int:
        return sum(each.state == state for each in self.changes)

    @property
    def caught(self) -> list[Change]:
        return [each for each in self.distinct if each.state == "caught"]

    @property
    def passed(self) -> list[Change]:
        return [each for each in self.distinct if each.state == "passed"]

    def by_net(self, those: Sequence[Change]) -> Counter[str]:
        """How many of those each net catches by itself."""
        return Counter(net for each in those for net in each.by)

    def alone(self, those: Sequence[Change]) -> Counter[str]:
        """How many of those a net catches that no other catches."""
        return Counter(each.by[0] for each in those if len(each.by) == 1)


def digest(source: bytes) -> str:
    """Of a source. The readers lay in figures/ when the runs of today's record were made: where a
    module lies makes no kernel and no net another."""
    return hashlib.sha256(source.replace(b"common.records", b"figures.records")).hexdigest()[:16]


def read(text: str) -> Mutants:
    """A record from its text; BadMutants where it isn't whole."""
    try:
        told = json.loads(text)
        if told["schema"] != SCHEMA_VERSION:
            raise BadMutants(f"{FILE} has schema {told['schema']}: record it again")
        if tuple(told["columns"]) != COLUMNS:
            raise BadMutants(f"{FILE} has other columns: record it again")
        changes = tuple(
            sorted(
                (
                    _change(file, function, row)
                    for file, functions in told["changes"].items()
                    for function, rows in functions.items()
                    for row in rows
                ),
                key=place,
            )
        )
        mistakes = tuple(Mistake(**each) for each in told["mistakes"])
        for change in changes:
            if change.operator not in OPERATORS or set(change.by) - NETS.keys():
                raise BadMutants(f"{FILE}: no words for {change.operator} or {change.by}")
        return Mutants(
            tuple(Run(**each) for each in told["runs"]),
            told["toolkit"],
            told["listed"],
            told["sources"],
            changes,
            mistakes,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadMutants(f"{FILE} isn't whole: {error}") from error


def place(change: Change) -> tuple[str, int, int, str]:
    """What the changes are in order of."""
    return change.file, change.begin, change.end, change.after


#: What becomes of a change that no net catches.
_UNCAUGHT = ("refused", "same", "passed")


def _change(file: str, function: str, row: Sequence[Any]) -> Change:
    line, column, begin, length, operator, before, after, outcome, code, *leaves = row
    state, by = (outcome, ()) if outcome in _UNCAUGHT else ("caught", tuple(outcome.split()))
    code = "" if code is None else str(code)
    facts = (file, line, column, begin, begin + length, operator, before, after, function)
    return Change(*facts, state, by, code, *leaves)


def _rows(changes: Iterable[Change]) -> dict[str, dict[str, list[str]]]:
    """By file and function, each a line of JSON."""
    found: dict[str, dict[str, list[str]]] = {}
    codes: dict[str, dict[str, int]] = {}
    for each in changes:
        known = codes.setdefault(each.file, {})
        row = [
            *(each.line, each.column, each.begin, each.end - each.begin),
            *(each.operator, each.before, each.after, " ".join(each.by) or each.state),
            known.setdefault(each.code, len(known)) if each.code else None,
            *([each.leaves] if each.leaves else []),
        ]
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        found.setdefault(each.file, {}).setdefault(each.function, []).append(line)
    return found


def written(mutants: Mutants) -> str:
    """The text that `read` reads, with a line per change."""

    def block(brackets: str, lines: Iterable[str]) -> str:
        return f"{brackets[0]}\n" + ",\n".join(lines) + f"\n{brackets[1]}"

    def members(of: Mapping[str, str]) -> str:
        return block("{}", (f"{json.dumps(name)}: {text}" for name, text in of.items()))

    head = {
        "schema": SCHEMA_VERSION,
        "runs": [vars(each) for each in mutants.runs],
        "toolkit": mutants.toolkit,
        "listed": mutants.listed,
        "sources": dict(mutants.sources),
        "columns": COLUMNS,
    }
    start = json.dumps(head, ensure_ascii=False)[:-1]
    mistakes = block("[]", (json.dumps(vars(m), ensure_ascii=False) for m in mutants.mistakes))
    rows = _rows(sorted(mutants.changes, key=place)).items()
    of_files = {
        file: members({function: block("[]", lines) for function, lines in functions.items()})
        for file, functions in rows
    }
    return f'{start}, "mistakes": {mistakes}, "changes": {members(of_files)}}}\n'


def kernel_files(root: Path) -> list[str]:
    """What the chapters ship for a device, from the repository's root."""
    names = ("kernels.cuh", "take_home.cuh")
    found = [path for name in names for path in root.glob(f"chapters/chapter*/{name}")]
    return sorted(str(path.relative_to(root)) for path in found)


def untried(mutants: Mutants, root: Path) -> list[str]:
    """The files whose changes no run has tried yet."""
    return [file for file in kernel_files(root) if file not in mutants.sources]


def earlier(mutants: Mutants, root: Path) -> list[str]:
    """The files that have changed since."""
    return [
        file
        for file, was in mutants.sources.items()
        if not (root / file).exists() or digest((root / file).read_bytes()) != was
    ]


def unchanged(mutants: Mutants, root: Path) -> Mutants:
    """Without the files that have changed since, and without their chapters' mistakes."""
    gone = set(earlier(mutants, root))
    chapters = {Path(file).parts[1] for file in gone}
    return replace(
        mutants,
        sources={file: was for file, was in mutants.sources.items() if file not in gone},
        changes=tuple(each for each in mutants.changes if each.file not in gone),
        mistakes=tuple(each for each in mutants.mistakes if each.chapter not in chapters),
    )


def reasons(root: Path, chapter: str) -> dict[tuple[str, str], str]:
    """Why a changed line does no harm, by function and the line as the change leaves it."""
    path = root / "chapters" / chapter / TOLD
    if not path.exists():
        return {}
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        (each["function"], line): each["reason"]
        for each in told.get("equivalent", [])
        for line in each["lines"]
    }


@dataclass(frozen=True)
class Survivor:
    """A change that every net lets through, and why it does no harm (empty: not explained)."""

    change: Change
    reason: str


def survivors(mutants: Mutants, root: Path) -> list[Survivor]:
    known = {c: reasons(root, c) for c in {each.chapter for each in mutants.passed}}
    return [
        Survivor(each, known[each.chapter].get((each.function, each.leaves), ""))
        for each in mutants.passed
    ]


def score(mutants: Mutants, found: Sequence[Survivor]) -> float:
    """The share caught of those that are faults."""
    faults = len(mutants.caught) + sum(not each.reason for each in found)
    return len(mutants.caught) / faults if faults else 1.0
