"""What the words of a sentence ask of the claims beside it: numbers, and words that compare.

`asked` reads them. A number is digits, a number word or a fraction; a word that compares asks for
one of the relations of `claims.relations`. Left out is what names rather than states:

chapter    "chapter 5", "chapters 1 to 6", "Part II"
label      which one of several: "lane 0", "threads 0 to 31", "exit status 77"
shape      of a launch or a tile: "blocks of 256", "256 threads per block", "32×32"
formula    a number joined to a variable of one letter: "2n", "n/2", "i < 4·k"
name       digits inside a name ("H200", "reduce1"), and versions ("CUDA 13.0")
width      a type's or an access's name: "32-bit", "16-byte", "four-element"
date       "2026-11-21", "in 2017"
back       a determiner and a number word, which count what the page has named: "the two kernels"
idiom      "no longer", "rather than", "at least as", and others that only look like comparatives

A question asks for nothing. ``CODE`` and ``VALUE`` stand for code and for what a role shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

CODE, VALUE = "◇", "□"
_UP = "⁰¹²³⁴⁵⁶⁷⁸⁹"
DIGITS = rf"(?:\d{{1,3}}(?:[ \u00a0\u2009\u202f,]\d{{3}})+(?!\d)|\d+)(?:\.\d+)?(?:\^\d+|[{_UP}]+)?"

_SMALL = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_CARDINALS = {word: value for value, word in enumerate(_SMALL.split(" "), 2)} | {
    "thirty": 30, "thirty-two": 32, "forty": 40, "fifty": 50, "sixty": 60, "sixty-four": 64,
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "dozen": 12,
    "million": 10**6, "billion": 10**9,
}  # fmt: skip
_PARTS = {
    "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "twelfth": 12, "sixteenth": 16, "thirty-second": 32, "hundredth": 100,
}  # fmt: skip
_MULTIPLES = {
    "twice": 2.0, "thrice": 3.0, "twofold": 2.0, "threefold": 3.0, "fourfold": 4.0,
    "eightfold": 8.0,
    "tenfold": 10.0, "double": 2.0, "doubles": 2.0, "doubled": 2.0, "triple": 3.0, "triples": 3.0,
    "quadruple": 4.0, "half": 0.5, "halve": 0.5, "halved": 0.5,
}  # fmt: skip


def _either(words: dict[str, object] | dict[str, int] | dict[str, float] | list[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


CARDINAL = _either(_CARDINALS)
_NUMBER = re.compile(
    rf"(?:\b(?P<over>an?|one|{CARDINAL})[ -](?P<part>{_either(_PARTS)})s?\b"
    r"(?=$|[.,;:)]|s\b|\s(?:of|as|less|more|the|to|fewer|longer|shorter|faster|slower|its))"
    r"|\bhalf a (?P<unit>per cent|million|billion)\b"
    rf"|\b(?P<multiple>{_either(_MULTIPLES)})\b"
    rf"|(?<![\w.^/{_UP}])(?P<digits>{DIGITS})"
    r"(?P<mark>x\b|×|[ \u00a0\u202f]?%| per cent\b| [mb]illion\b)?(?![\w^])"
    rf"|\b(?:(?P<cardinal>{CARDINAL})\b(?P<after> per cent\b| [mb]illion\b)?"
    r"|(?P<one>one|a) per cent\b))",
    re.IGNORECASE,
)

_SEVERAL = rf"(?:{DIGITS}|[IVX]+\b)(?:(?:,| and| or| to|–|…|-| …)\s?(?:and |or )?(?:{DIGITS}))*"
_LABELLED = (
    "lane|thread|block|bank|warp|step|row|column|word|sector|bit|line|figure|table|exercise|status"
    "|code|error|page|slot|element|index|byte|stage|level|seed|section|schema|option|answer|lesson"
    "|address|port|pass|question|round|stride"
)
_PRODUCTS = (
    r"CUDA|NVRTC|Debian|Ubuntu|Python|CMake|[GR]TX|GCC|Clang|Sphinx|Doxygen|WSL|Windows|Volta|Pascal"
    r"|Turing|Ampere|Hopper|GeForce|Tesla|PTX ISA|PTX|nvcc|NCCL|GPT|Visual Studio|CC BY|g\+\+|C\+\+"
    r"|[Dd]rivers?|[Rr]eleases?|[Vv]ersions?|[Tt]oolkits?|[Cc]apabilit(?:y|ies)"
)
_VERSION = r"\d+(?:\.(?:\d+|x))*x*"
_VARIABLE = r"(?<![A-Za-z0-9_])[b-zB-HJ-Zλ](?![A-Za-z0-9_])"
_TERM = rf"(?:{DIGITS}[b-zB-HJ-Z](?![A-Za-z0-9])|{DIGITS}|{_VARIABLE}|{CODE})"
_OPERATOR = r"[ \u00a0]?(?:[-−+·*/^=≠≤≥<>…]|mod|xor)[ \u00a0]?"
NAMES: dict[str, re.Pattern[str]] = {
    "chapter": re.compile(
        rf"\b(?:chapters?|notebooks?|parts?|rungs?) {_SEVERAL}|\b(?:{CARDINAL}) chapters\b",
        re.IGNORECASE,
    ),
    "label": re.compile(
        rf"\b(?:{_LABELLED})s? (?:{_SEVERAL}|(?:{CARDINAL})\b)", re.IGNORECASE
    ),
    "shape": re.compile(
        rf"\b(?:blocks?|grids?)(?: size)?s? (?:of )?{_SEVERAL}(?: threads| lanes)?"
        rf"|{_SEVERAL} threads (?:per|to a|a) block\b|\b\d+×\d+(?:×\d+)?\b"
    ),
    "formula": re.compile(rf"{_TERM}(?:{_OPERATOR}{_TERM})+|{DIGITS}[nN]\b"),
    "name": re.compile(
        rf"[A-Za-z_+][\w+-]*-?\d[\w.]*|\d+[A-Za-wyz_][\w-]*"
        rf"|\b(?:{_PRODUCTS}) {_VERSION}(?:(?:,| and| or| to|/) ?{_VERSION})*"
    ),
    "width": re.compile(
        rf"\b(?:{DIGITS}|{CARDINAL})(?:-(?:bits?|bytes?|elements?|lanes?)| bits?)\b"
        rf"|\b(?:half|quarter)[ -]warps?\b|\bmultiples? of {DIGITS}",
        re.IGNORECASE
    ),
    "date": re.compile(
        r"\b\d{4}-\d\d-\d\d\b"
        r"|(?:\b(?:in|since|until|before|after|by|of|[A-Z][a-z]+)|[,(]) (?:19[7-9]|20[0-3])\d\b"
    ),
    "back": re.compile(
        r"\b(?:the|these|those|its|their|our|your|other|last|first|next|both)(?: other)? "
        rf"(?:{CARDINAL})\b(?! times| per cent)",
        re.IGNORECASE,
    ),
    "idiom": re.compile(
        r"\b(?:no longer|rather than|other than|any ?more|once more|more or less|better not|at best"
        r"|for the most part|at least as|at most as|for longer|all the more|no more than"
        r"|still less|falls? into|to lose|(?:slower|faster) memory)\b",
        re.IGNORECASE,
    ),
}  # fmt: skip
_SYMBOL = re.compile(rf"{_VARIABLE}|\d[b-zB-HJ-Z](?![A-Za-z0-9])|{CODE}")
_QUESTION = re.compile(r"\?[”\"’)]*\s*$")
#: Words that compare, by the relation that they ask for; `relations.SAID_BY` has what states it.
_WORDS = {
    "faster": r"faster|quicker|ahead|beats?|outruns?|overtakes?|wins?"
              r"|(?<!its )(?<!our )(?<!the )leads?",
    "slower": r"slower|(?:is|are|was|were|falls?|stays?|far|still) behind|loses?|worse",
    "longer": r"longer",
    "more": r"more|larger|bigger|greater|higher|rises?|rose|grows?|grew|climbs?|exceeds?",
    "less": r"less|fewer|lower|smaller|falls?|fell|drops?|dropped|shrinks?",
    "shorter": r"shorter|cheaper|sooner",
    "tie": r"ties?|tied",
    "level": r"level|(?:is|are|was|were) equal|equals|equally|no difference|unchanged"
             r"|same (?:time|speed|bandwidth|throughput|rate|number)"
             r"|as (?:fast|long|many|much|few|little)(?: as)?"
             r"|(?:costs?|gains?|gained|adds?|changes?|saves?) (?:next to )?nothing",
    "rank": r"fastest|slowest|quickest|highest|lowest|largest|smallest|longest|shortest|cheapest"
            r"|(?<!at )least|best|worst|greatest|fewest|comes? first",
    "most": r"most(?= (?:of(?! all)|often))|mostly",
    "each": rf"every(?! (?:{DIGITS}|{CARDINAL}))|always|never|everywhere|all (?:{CARDINAL})",
    "only": r"only (?:from|at|up to|below|above|on|where|when|with|for|if)",
}  # fmt: skip
_COMPARE = re.compile(
    "|".join(rf"(?P<{kind}>\b(?:{words})\b)" for kind, words in _WORDS.items()), re.IGNORECASE
)
_OPPOSITE = {"faster": "slower", "slower": "faster", "longer": "shorter", "shorter": "longer",
             "more": "less", "less": "more"}  # fmt: skip
_DENIED = re.compile(
    r"(?:\b(?:no|not|never|neither|nor|nothing|hardly any|too little)|n['’]t)(?: \w+){0,3} $",
    re.IGNORECASE,
)
#: Before a number: what it is a bound of.
_LOW = re.compile(r"\b(?:more than|over|at least|above|beyond|from|exceeds?) (?:an? |the )?$", re.I)
_HIGH = re.compile(
    r"\b(?:less than|under|below|at most|up to|within|fewer than|no more than|to within) $", re.I
)
#: Behind a number: how much of it is added or taken away.
_BEYOND = re.compile(
    r"^(?:[ \u00a0]?(?:per cent|of (?:it|them)))? (?:less|fewer|more|longer|shorter|faster|slower"
    r"|cheaper|lower|higher|larger|smaller|ahead|behind|saved|above|below|off)\b", re.IGNORECASE
)  # fmt: skip
_SAVED = re.compile(
    r"\b(?:(?:saves?|saved|adds?|gains?|gained|worth)(?: \S+){0,8}|\w+ by(?: \S+){0,3}) $", re.I
)
_TO_PERCENT = re.compile(rf"^ (?:to|and) {DIGITS}[ \u00a0]?%")
_TIMES = re.compile(r"^(?:-fold| times| as (?:fast|long|many|much|few)|-thirds)", re.IGNORECASE)


@dataclass(frozen=True)
class Asked:
    """A number or a word of a sentence that a claim beside it must state."""

    kind: str  # number, or one of _WORDS
    text: str
    start: int
    value: float = 0.0
    #: low, high or exact; beyond: a share to add or to take away.
    bound: str = "exact"
    is_share: bool = False
    is_beyond: bool = False
    is_times: bool = False
    is_size: bool = False
    is_denied: bool = False

    @property
    def is_percent(self) -> bool:
        return self.is_share and (self.text[0].isdigit() or self.text.endswith("cent"))


def _digits(text: str) -> float:
    plain = re.sub(r"[ \u00a0\u2009\u202f,]", "", text)
    if "^" in plain:
        base, power = plain.split("^")
        return float(pow(float(base), float(power)))
    if ups := re.search(rf"[{_UP}]+$", plain):
        exponent = int("".join(str(_UP.index(one)) for one in ups[0]))
        return float(pow(float(plain[: ups.start()] or 1), exponent))
    return float(plain)


def number_of(text: str) -> float:
    """The value of digits or of a number word."""
    return float(_CARDINALS.get(text.lower(), 0)) or _digits(text)


def _number(text: str, found: re.Match[str]) -> Asked:
    before, after = text[: found.start()], text[found.end() :]
    is_share = is_times = False
    if found["over"]:
        over = _CARDINALS.get(found["over"].lower(), 1)
        value, is_share = over / _PARTS[found["part"].lower()], True
    elif unit := found["unit"]:
        is_share = unit == "per cent"
        value = 0.005 if is_share else _CARDINALS[unit] / 2
    elif found["multiple"]:
        value = _MULTIPLES[found["multiple"].lower()]
        is_share, is_times = value < 1, value > 1
    elif found["digits"]:
        value, mark = _digits(found["digits"]), (found["mark"] or "").strip(" \u00a0\u202f")
        is_share, is_times = mark in ("%", "per cent"), mark in ("×", "x")
        is_share = is_share or bool(_TO_PERCENT.match(after))  # 95 to 98 %
        value = value / 100 if is_share else value * _CARDINALS.get(mark, 1)
    elif found["one"]:
        value, is_share = 0.01, True
    else:
        behind = (found["after"] or "").strip()
        is_share = behind == "per cent"
        value = float(_CARDINALS[found["cardinal"].lower()]) * _CARDINALS.get(behind, 1)
        value = value / 100 if is_share else value
    bound = "low" if _LOW.search(before) else "high" if _HIGH.search(before) else "exact"
    return Asked(
        "number", " ".join(found[0].split()), found.start(), value, bound, is_share,
        is_beyond=(is_share or is_times) and not _TIMES.search(after)
        and bool(_BEYOND.search(after) or _SAVED.search(before)),
        is_times=is_times or bool(_TIMES.search(after)),
        is_size=bool(re.match(r"[ \u00a0]?[KMG]iB\b", after)),
    )  # fmt: skip


def _named(text: str) -> Iterator[tuple[str, int, int]]:
    for rule, pattern in NAMES.items():
        for found in pattern.finditer(text):
            if rule != "formula" or _SYMBOL.search(found[0]):
                yield rule, found.start(), found.end()


def asked(text: str) -> list[Asked]:
    """What the words of one sentence, or of a phrase, ask of their claims."""
    if _QUESTION.search(text):
        return []
    named = list(_named(text))
    numbers = [
        _number(text, found)
        for found in _NUMBER.finditer(text)
        if not any(low <= found.start() and found.end() <= high for _rule, low, high in named)
    ]
    bounded = re.compile(rf"\b(?:less than|at most|up to) (?:{_NUMBER.pattern}) $", re.IGNORECASE)
    counted = re.compile(rf"\b(?:one|an?|{CARDINAL}|{DIGITS}) $", re.IGNORECASE)
    words = []
    for found in _COMPARE.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        kind = found.lastgroup or ""
        if any(rule == "idiom" and low <= found.start() < high for rule, low, high in named):
            continue
        if kind in ("more", "less", "each") and re.match(
            rf" than (?:an? )?(?:{_NUMBER.pattern})", after
        ):
            continue  # a bound of the number
        if kind in ("more", "less") and re.match(rf" (?:an? |the )?(?:{_NUMBER.pattern})", after):
            continue  # above 5
        if kind in ("more", "less") and counted.search(before):
            continue  # one more launch
        if kind in _OPPOSITE and bounded.search(before):
            continue  # less than 2 % more: the number's bound says it
        if (
            kind == "level"
            and found[0].lower().startswith("as ")
            and (re.search(rf"(?:times|twice|half|{VALUE}|×|third|quarter|\w+th) $", before, re.I))
        ):
            continue  # three times as long: the number says it
        is_denied = bool(_DENIED.search(before))
        words.append(Asked(kind, found[0], found.start(), is_denied=is_denied))
    return numbers + words
