"""What follows from what in a kernel's PTX: of values, and of branches.

Registers are followed wherever they are written, and a branch decides on all that stands between it
and the place where its ways meet again. So too much follows, never too little, but for what goes
through memory: that is for who asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

_REGISTER = re.compile(r"%[A-Za-z_$][\w$.]*|(?<![\w$.%])[A-Za-z_$][\w$]*(?![\w$]*\()")
_LABEL = re.compile(r"\s*([\w$%]+):(?!:)")
_GUARD = re.compile(r"@(!?)\s*([\w$%]+)\s*")
#: What has an effect beyond its result, or gives other threads something.
_ACTS = re.compile(
    r"(?:ld|ldu|st|atom|red|cp|bar|barrier|mbarrier|membar|fence|shfl|vote|match|redux|activemask|"
    r"elect|call|ret|exit|trap|brkpt|prefetch\w*|discard|applypriority|isspacep|tex|tld4|txq|suld|"
    r"sust|suq|sured|wmma|mma|ldmatrix|stmatrix|movmatrix|wgmma|tcgen05|alloca|stacksave|"
    r"stackrestore|griddepcontrol|getctarank|mapa|setmaxnreg|clusterlaunchcontrol|pmevent)\b"
)
#: What puts something into memory.
_STORES = re.compile(r"(?:st|red|atom)\b")


@dataclass(frozen=True)
class Step:
    """One instruction of a function; `line` counts the lines of the PTX from 0 on."""

    line: int
    op: str
    guard: str
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    text: str
    targets: tuple[str, ...] = ()  #: labels, of a branch

    @property
    def acts(self) -> bool:
        return bool(_ACTS.match(self.op))


@dataclass
class Function:
    """Its instructions, and which of them may follow each."""

    name: str = ""
    parameters: frozenset[str] = frozenset()  #: what it is given, and what it gives back
    steps: list[Step] = field(default_factory=list)
    labels: dict[str, list[int]] = field(default_factory=dict)  #: those of a scope may come again

    def after(self, at: int) -> list[int]:
        """Where it goes on; the number of steps stands for its end."""
        step, end = self.steps[at], len(self.steps)
        kind = step.op.split(".")[0]
        ways = [way for label in step.targets for way in self.labels.get(label, [end])]
        if kind == "brx":  # by a table
            ways = [way for each in self.labels.values() for way in each]
        if kind in ("ret", "exit", "trap"):
            ways.append(end)
        if step.guard or kind not in ("bra", "brx", "ret", "exit", "trap"):
            ways.append(at + 1)
        return ways

    def decided_by(self, at: int) -> set[int]:
        """The steps that a branch decides on: from it to where all its ways meet again."""
        end = len(self.steps)
        behind = self.passed[at] & ~(1 << at)
        if all(self.passed[way].bit_count() > end for way in self.after(at)):
            behind = 0  # no way from here ends
        # All that every way passes stands in a row: the first of it has the others behind it.
        meet = max(_bits(behind), key=lambda place: self.passed[place].bit_count(), default=end)
        found: set[int] = set()
        ways = self.after(at)
        while ways:
            here = ways.pop()
            if here not in (meet, end) and here not in found:
                found.add(here)
                ways += self.after(here)
        return found

    @cached_property
    def passed(self) -> list[int]:
        """Of each step, a set of bits: what every way from it to the end passes, itself and the end
        with it."""
        end = len(self.steps)
        every = (1 << (end + 1)) - 1
        known = [every] * end + [1 << end]
        changed = True
        while changed:
            changed = False
            for at in reversed(range(end)):
                now = every
                for way in self.after(at):
                    now &= known[way]
                now |= 1 << at
                changed |= now != known[at]
                known[at] = now
        return known


def _bits(bits: int) -> Iterator[int]:
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1


def functions(code: str) -> list[Function]:
    """Those of a module's PTX, which has no comments any more."""
    found: list[Function] = []
    now = Function()
    depth = 0
    head = ""
    statement, began = "", 0
    scopes: list[dict[str, str]] = []
    for number, line in enumerate(code.split("\n")):
        if line.lstrip().startswith((".loc", ".file", ".pragma")):
            continue
        if depth and not statement.strip() and (label := _LABEL.match(line)):
            now.labels.setdefault(label[1], []).append(len(now.steps))
            line = line[label.end() :]
        for piece in re.split(r"([;{}])", line):
            if piece == ";" and depth:
                _take(now, scopes, statement.strip(), began)
                statement = ""
            elif piece == "{" and not (depth and statement.strip()):
                depth += 1
                if depth == 1:
                    name, parameters = _head(head)
                    now = Function(name, parameters)
                    found.append(now)
                    head = ""
                scopes.append({})
                statement = ""
            elif piece == "}" and depth and not _open(statement):
                depth -= 1
                scopes.pop()
                statement = ""
            elif depth:
                if not statement.strip():
                    began = number
                statement += piece
            else:
                head = f"{head} {piece}" if piece not in (";", "}") else ""
        if depth:
            statement += " " if statement else ""
        else:
            statement = ""
    return found


def _head(text: str) -> tuple[str, frozenset[str]]:
    """A function's name and those of its parameters."""
    found = re.search(r"\b(?:func|entry)\s+(\([^)]*\)\s*)?([\w$%]+)", text)
    names = re.findall(r"([\w$%]+)\s*(?:\[[^]]*\]\s*)?(?=[,)])", text)
    return (found[2] if found else "", frozenset(names))


def _open(statement: str) -> bool:
    """Whether a brace of operands is open."""
    return statement.count("{") > statement.count("}")


def _take(now: Function, scopes: list[dict[str, str]], text: str, line: int) -> None:
    """One statement: a declaration or an instruction."""
    if text.startswith("."):
        if text.startswith(".reg") and len(scopes) > 1:  # of a scope: known there alone
            for name in re.findall(r"([\w$%]+)\s*(?:<\d+>)?\s*(?:,|$)", text):
                scopes[-1][name] = f"{name}.{len(now.steps)}"
        return
    guard = ""
    if found := _GUARD.match(text):
        guard, text = found[2], text[found.end() :]
    op, rest = (*text.split(None, 1), "", "")[:2]

    def named(word: str) -> str:
        return next((scope[word] for scope in reversed(scopes) if word in scope), word)

    guards = (named(guard),) if guard else ()
    if op.split(".")[0] in ("bra", "brx"):
        labels = re.findall(r"[\w$%]+", rest)[:1] if op.startswith("bra") else []
        now.steps.append(Step(line, op, named(guard), (), guards, text, tuple(labels)))
        return
    operands = _operands(rest)
    words = [tuple(named(word) for word in _REGISTER.findall(each)) for each in operands]
    if re.match(r"st\.param\b", op) and words:  # what a call is given, or gives back
        now.steps.append(Step(line, op, named(guard), words[0][:1], (*guards, *words[-1]), text))
        return
    nothing = re.match(
        r"(?:st|red|bar|barrier|membar|fence|nanosleep|ret|exit|trap|prefetch|cp)\b", op
    )
    writes: tuple[str, ...] = (
        () if nothing or not words or operands[0].startswith("[") else words[0]
    )
    reads = tuple(w for each in (words if not writes else words[1:]) for w in each)
    now.steps.append(Step(line, op, named(guard), writes, (*guards, *reads), text))


def _operands(text: str) -> list[str]:
    """Between commas, but not those of a brace or a bracket."""
    out, depth = [""], 0
    for letter in text:
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and depth == 0:
            out.append("")
        else:
            out[-1] += letter
    return [each.strip() for each in out if each.strip()]


@dataclass(frozen=True)
class Follows:
    """What follows from the sources that were asked about."""

    registers: frozenset[str]
    decided: frozenset[int]  #: steps that a branch on such a register decides on

    def reaches(self, function: Function, at: int) -> bool:
        """Whether the step reads such a register, or runs only as one says."""
        return at in self.decided or self.is_read(function.steps[at])

    def is_read(self, step: Step) -> bool:
        return bool(self.registers.intersection(step.reads))


def following(
    function: Function, is_source: Callable[[Step], bool], given: bool = False
) -> Follows:
    """All that the results of certain steps have a part in; where `given`, all that the function is
    called with, too. What of it is kept in shared or local memory counts as all that is loaded from
    there."""
    registers: set[str] = set(function.parameters) if given else set()
    decided: set[int] = set()
    kept: set[str] = set()
    while True:
        before = len(registers), len(decided), len(kept)
        for at, step in enumerate(function.steps):
            follows = is_source(step) or at in decided or bool(registers.intersection(step.reads))
            space = re.search(r"\.(shared|local)\b", step.op)
            if space and step.op.startswith("ld") and space[1] in kept:
                follows = True
            if not follows:
                continue
            registers.update(step.writes)
            if space and (_STORES.match(step.op) or step.op.startswith("cp.")):
                kept.add(space[1])
            if step.op.startswith("br") and registers.intersection(step.reads):
                decided |= function.decided_by(at)
        if before == (len(registers), len(decided), len(kept)):
            return Follows(frozenset(registers), frozenset(decided))


#: A clock's name.
CLOCK = re.compile(r"%(?:clock|clock_hi|clock64|globaltimer\w*)\b")


def clock_uses(code: str) -> Iterator[tuple[int, str]]:
    """Where a clock is read that decides on more than how long a thread sleeps between two looks at
    something else ("clock"), and where a thread sleeps that neither asks one nor waits for what is
    in memory ("sleep"): lines of PTX."""
    found = functions(code)
    read = sum(len(CLOCK.findall(step.text)) for function in found for step in function.steps)
    named = [place.start() for place in CLOCK.finditer(code)]
    if read != len(named):  # in a place that isn't followed
        yield code.count("\n", 0, named[0]), "clock"
    for function in found:
        follows = following(function, lambda step: bool(CLOCK.search(step.text)))
        for at, step in enumerate(function.steps):
            about = follows.reaches(function, at)
            sleeps = step.op.startswith("nanosleep")
            if sleeps and not about:
                if not _polls(function, at):
                    yield step.line, "sleep"
            elif about and not sleeps and (step.acts or _turns(function, at, follows)):
                yield next(s.line for s in function.steps if CLOCK.search(s.text)), "clock"
                break


def _polls(function: Function, at: int) -> bool:
    """Whether it is in a loop that what is loaded ends."""
    follows = following(function, lambda step: bool(re.match(r"ld\b|atom\b", step.op)))
    return any(
        at in function.decided_by(branch) and _turns(function, branch, follows)
        for branch in range(len(function.steps))
        if function.steps[branch].op.startswith("br")
    )


def _turns(function: Function, at: int, follows: Follows) -> bool:
    """Whether it ends a loop, or not, as such a value says."""
    step = function.steps[at]
    decides = step.op.startswith("br") and follows.is_read(step)
    return decides and at in function.decided_by(at)


def dependent_loads(code: str) -> int:
    """Loads from global memory that wait for another: their address comes from what that has
    brought, or a branch that does."""
    found = functions(code)
    called = {function.name: function for function in found if function.name}

    def callees(step: Step) -> list[str]:
        """By what a call names; of one through a pointer, any may be meant."""
        if not step.op.startswith("call"):
            return []
        named = [word for word in re.findall(r"[\w$%]+", step.text) if word in called]
        return named or list(called)

    loading = {name for name, function in called.items() if any(map(_loads, function.steps))}
    given: set[str] = set()  # who is called with such a value, or where one decides
    while True:
        before = len(loading), len(given)
        for name, function in called.items():
            if any(loading.intersection(callees(step)) for step in function.steps):
                loading.add(name)
        count = 0
        for function in found:
            follows = following(
                function,
                lambda step: _loads(step) or bool(loading.intersection(callees(step))),
                function.name in given,
            )
            for at, step in enumerate(function.steps):
                reached = follows.reaches(function, at)
                count += _loads(step) and reached
                if reached:
                    given.update(callees(step))
        if before == (len(loading), len(given)):
            return count


def atomics_of_values(code: str) -> int:
    """Atomics whose operands, or whether they run at all, come from global memory: those that add
    up, and not those that only count who is there."""
    count = 0
    for function in functions(code):
        follows = following(function, _loads)
        for at, step in enumerate(function.steps):
            count += bool(re.match(r"(?:atom|red)\b", step.op)) and follows.reaches(function, at)
    return count


def _loads(step: Step) -> bool:
    """From global memory, into registers or by an asynchronous copy."""
    return bool(re.match(r"ld\b(?!\.(?:param|const|shared|local))|cp\.async\b.*\.global", step.op))
