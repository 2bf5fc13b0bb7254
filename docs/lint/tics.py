"""Turns of phrase that a native engineer would not use.

The rules catch what can be told by its words alone. No tool replaces reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ladder.claims.words import CARDINAL, VALUE

from docs.lint.texts import Paragraph


def _either(words: str) -> str:
    return "|".join(words.split())


#: What there can be so many of for each of something else. The second are verbs as well.
_COUNTED = _either(
    """
    accesses additions arrays atomics banks barriers bits blocks bytes KiB MiB kB B columns
    conflicts cycles elements floats folders hops instructions ints kernels lanes products registers
    requests rows samples sectors shuffles sizes slots sums threads transactions transfers frames
    rungs trees values variants warps wavefronts words work
    """
)
_NUMBERED = _either(
    """
    access addition array atomic bank barrier bit block byte call calls column conflict copies copy
    count counts element entry float fold folds hop instruction int kernel kinds lane launch
    launches line lines load loads name names number numbers pass passes product register request
    result results row sample sector shuffle slot step steps store stores sum test tests thread time
    times tile trees value wavefront word
    """
)
_UNIT = _either(
    """
    access bank block byte chapter column cycle device directory element entry file folder grid
    group hop instruction kernel lane launch line load metric method module page pass program
    repeat request row run rung sample second set shape size slot SM step store sum thread tile
    tree value variant warp wavefront word
    """
)
_QUANTITY = (
    rf"(?:\d|{VALUE}|\b(?:{CARDINAL}|[Oo]ne|many|few|fewer|more|several|partial|single|most))"
)
_JOINING = "(?:to|of|for|in|on|at|with|by|from|as|is|and|or|than|that|was|has|if|but|when|where)"
_VERB = r"(?: (?:is|are|was|has|had|can|may|might|must|does|needs|will|takes|time|of|request)\b)"
_NATIVE = "more|less|worse|different|such|way|need|part|use|proof|reason|accident|mistake|surprise"
_GIVEN = "(?:giv|hand|lend|mak|tak|call|tell|cost|sav|find|gave|made)"

RULES: dict[str, re.Pattern[str]] = {
    "per, not a": re.compile(
        rf"\b(?:{_COUNTED}) an? (?:{_UNIT})\b(?!{_VERB})"
        rf"|{_QUANTITY} (?:{_NUMBERED}) an? (?:{_UNIT})\b(?!{_VERB})"
        rf"|(?<!\bof )\b(?:[Aa]n?|[Oo]ne) (?!{_JOINING}\b)\w+ an? (?:{_UNIT})\b(?!{_VERB})"
        rf"|(?:{VALUE}|\b(?:in flight|under way)) an? (?:{_UNIT})\b(?!{_VERB})"
    ),
    "nobody": re.compile(r"\b(?:nobody|somebody|whoever|everybody|anybody)\b", re.IGNORECASE),
    "had": re.compile(r"\b(?:is|are|was|were|be|been|being) had\b"),
    "no … at all": re.compile(r"\bno (?:\S+ ){1,4}at all\b", re.IGNORECASE),
    "belongs into": re.compile(r"\bbelong(?:s|ed|ing)? into\b"),
    "in flight": re.compile(r"\bunder way\b", re.IGNORECASE),
    "overhead": re.compile(r"\bceremony\b", re.IGNORECASE),
    "what it brings": re.compile(
        r"\bwhat (?:it|this|that|they|the \w+) brings?\b"
        r"|\bwhat (?:does|do|did) (?:\S+ ){1,3}bring\b",
        re.IGNORECASE,
    ),
    "is no": re.compile(
        r"(?<![Tt]here )\b(?:is|are|was|were) no "
        rf"(?!(?:\w+er|{_NATIVE})\b)\w+"
    ),
}  # fmt: skip
SEMICOLONS = "more than one semicolon"


@dataclass(frozen=True)
class Tic:
    """A place, the rule that caught it, and the words around it."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def _around(text: str, start: int, end: int) -> str:
    before = " ".join(text[max(0, start - 40) : start].split())
    after = " ".join(text[end : end + 30].split())
    return f"…{before} [{' '.join(text[start:end].split())}] {after}…"


def tics(paragraph: Paragraph) -> Iterator[Tic]:
    text = paragraph.text
    flat = re.sub(r"\s", " ", text)
    for rule, pattern in RULES.items():
        for found in pattern.finditer(flat):
            line = paragraph.line + text.count("\n", 0, found.start())
            if not (rule == "per, not a" and re.search(rf"\b{_GIVEN}\w* $", flat[: found.start()])):
                yield Tic(paragraph.path, line, rule, _around(text, *found.span()))
    if paragraph.prose and text.count(";") > 1:
        place = [found.start() for found in re.finditer(";", text)][1]
        line = paragraph.line + text.count("\n", 0, place)
        yield Tic(paragraph.path, line, SEMICOLONS, _around(text, place, place + 1))
