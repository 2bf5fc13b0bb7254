"""Which words of a sentence state something that could be wrong.

A *claiming word* is a number (in digits or as a word), a comparative or superlative, or another
word that compares ("doubles", "beats", "as fast as"). `claiming` finds them. It leaves out what
names rather than states, by these rules and no others:

chapter    "chapter 5", "chapters 1 to 6", "Part II"
label      which one of several: "lane 0", "threads 0 to 31", "bank 5", "exit status 77"
shape      of a launch or a tile: "blocks of 256", "256 threads per block", "32×32"
size       a power of two, "2²⁴"; but "from 2²⁰ on" and "above 2²⁰" compare, and count
formula    a number joined to a variable of one letter: "2n", "n/2", "n = 0", "i < 4·k"
name       digits inside a name ("H200", "reduce1", "sm_90", "C++20"), and versions after a
           product's name ("CUDA 13.0", "compute capability 9.0", "GTX 10xx")
width      a type's or an access's name: "32-bit", "16-byte", "four-element"
date       "2026-11-21", and a year after "in", "since" and the like
back       a determiner and a number word, which count what the page has named: "the two kernels"
idiom      "no longer", "rather than" and others that only look like comparatives

question   asks, and states nothing, unless it begins with "why"

"One" (mostly a pronoun), "zero" (mostly a value that is stored), ordinals ("the first") and times
("later", "an earlier chapter") count as no claim. Code and formulas' letters are marked by `CODE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Stand in a sentence's text for a piece of code, and for a value that the build puts there.
CODE, VALUE = "◇", "□"
SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
#: Digits in groups of three by (no-break or thin) spaces or commas, with decimals or an exponent.
NUMBER = (
    r"(?:\d{1,3}(?:[ \u00a0\u2009\u202f,]\d{3})+(?!\d)|\d+)(?:\.\d+)*"
    rf"(?:\^\d+|[{SUPERSCRIPT}]+)?"
)
SIZE = rf"2(?:\^\d+|[{SUPERSCRIPT}]+)"


def _words(text: str) -> list[str]:
    return text.split()


_SMALL = _words("two three four five six seven eight nine ten eleven twelve")
_LARGE = _words(
    """
    thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty thirty-two forty
    fifty sixty sixty-four seventy eighty ninety hundred hundreds thousand thousands million
    millions billion billions dozen dozens
    """
)
_FRACTION = _words(
    "third fourth fifth sixth seventh eighth ninth tenth twelfth sixteenth hundredth"
)
CARDINAL = "|".join(sorted(_SMALL + _LARGE, key=len, reverse=True))

#: Adjectives that things in this book are compared by; `_forms` makes the rest.
_ADJECTIVES = _words(
    """
    bare big brief bright broad busy cheap clean clear clever close cold common cool costly dark
    dear deep dense dirty early easy empty few fine firm flat free fresh full gentle great handy
    happy hard heavy high honest hot huge idle large late lazy lean light likely long loose loud
    low lucky mild narrow near neat new nice noisy old plain poor pretty pure quick quiet rare
    rich risky rough safe scarce sharp short shallow simple slim slow small smart smooth soft
    sparse steady steep strict strong sure tall tame thick thin tight tiny tough true ugly vast
    warm weak wide wild wise young fast
    """
)
_IRREGULAR = _words(
    """
    better best worse worst more most less least fewer fewest further furthest farther farthest
    lesser
    """
)
_VERBS = _words(
    """
    beat beats beaten exceed exceeds exceeded outrun outruns outran outperform outperforms
    outperformed overtake overtakes overtaken overtook outweigh outweighs double doubles doubled
    doubling halve halves halved halving triple triples tripled tripling quadruple quadruples
    quadrupled quadrupling tie ties tied
    """
)
_TIMES = _words("twice thrice half quarter quarters twofold threefold fourfold eightfold tenfold")


def _forms(adjective: str) -> list[str]:
    if adjective.endswith("y") and adjective[-2] not in "aeiou":
        stems = [adjective[:-1] + "i"]
    elif adjective.endswith("e"):
        stems = [adjective[:-1]]
    elif re.search(r"[^aeiou][aeiou][bdgmnpt]$", adjective):
        stems = [adjective + adjective[-1], adjective]
    else:
        stems = [adjective]
    return [stem + ending for stem in stems for ending in ("er", "est")]


_PLAIN = {word for adjective in _ADJECTIVES for word in _forms(adjective)}
_PLAIN -= {
    "later",
    "earlier",
    "sooner",
    "latest",
    "fairer",
}  # times and editions, for the most part
_PLAIN |= {*_IRREGULAR, *_VERBS, *_TIMES}

_CLAIMING = re.compile(
    "|".join(
        (
            rf"(?P<from>from {SIZE} (?:on|up|onwards?)\b)",
            r"(?P<bound>\b(?:above|below|beyond|past|under|over|up to) "
            rf"(?:{NUMBER}|\b(?:{CARDINAL})\b))",
            rf"(?P<number>{NUMBER}(?:x\b|×|[ \u00a0\u202f]?%)?)",
            rf"(?P<cardinal>\b(?:{CARDINAL})\b)",
            rf"(?P<fraction>\b(?:{'|'.join(_FRACTION)})s\b"
            rf"|\b(?:a|an|one) (?:{'|'.join(_FRACTION)}) (?=of|as|less|more|the|to)\b)",
            r"(?P<equal>\bas (?!soon|well|long|far|if)\w+ as\b|\bas (?:many|much|few|little|fast)\b"
            r"|\bthe same (?:time|speed|bandwidth|throughput|rate|number)\b)",
            rf"(?P<word>\b(?:{'|'.join(sorted(_PLAIN, key=len, reverse=True))})\b)",
        )
    ),
    re.IGNORECASE,
)

_SEVERAL = rf"(?:{NUMBER}|[IVX]+\b)(?:(?:,| and| or| to|–|…|-| …)\s?(?:and |or )?(?:{NUMBER}))*"
_LABELLED = _words(
    """
    lane thread block bank warp step row column word sector bit line figure table exercise status
    code error page slot element index byte stage level seed section schema option answer lesson
    address port pass question
    """
)
_PRODUCTS = "|".join(
    [
        *_words(
            "CUDA NVRTC Debian Ubuntu Python CMake GTX RTX GCC Clang Sphinx Doxygen WSL Windows"
        ),
        *_words("Volta Pascal Turing Ampere Hopper GeForce Tesla PTX nvcc"),
        r"PTX ISA|Visual Studio|CC BY|g\+\+|C\+\+",
        "[Dd]rivers?|[Rr]eleases?|[Vv]ersions?|[Tt]oolkits?",
        "[Cc]apabilit(?:y|ies)",
    ]
)
_VERSION = r"\d+(?:\.(?:\d+|x))*x*"
_VARIABLE = r"(?<![A-Za-z0-9_])[b-zB-HJ-Zλ](?![A-Za-z0-9_])"
_TERM = rf"(?:{NUMBER}[b-zB-HJ-Z](?![A-Za-z0-9])|{NUMBER}|{_VARIABLE}|{CODE})"
_OPERATOR = r"[ \u00a0]?(?:[-−+·×*/%^=≠≤≥<>…]|mod)[ \u00a0]?"

#: Where a rule's words stand, no number, number word or comparative in them is a claim.
RULES: dict[str, re.Pattern[str]] = {
    "chapter": re.compile(rf"\b(?:chapters?|parts?) {_SEVERAL}", re.IGNORECASE),
    "label": re.compile(rf"\b(?:{'|'.join(_LABELLED)})s? {_SEVERAL}", re.IGNORECASE),
    "shape": re.compile(
        rf"\bblocks?(?: size)?s? (?:of )?{_SEVERAL}(?: threads)?"
        rf"|{_SEVERAL} threads (?:per|to a|a) block\b|\b\d+×\d+(?:×\d+)?\b"
    ),
    "size": re.compile(rf"(?<!\d){SIZE}"),
    "formula": re.compile(rf"{_TERM}(?:{_OPERATOR}{_TERM})+|{NUMBER}[nN]\b"),
    "name": re.compile(
        rf"[A-Za-z_+][\w+-]*-?\d[\w.]*|\d+[A-Za-wyz_][\w-]*"
        rf"|\b(?:{_PRODUCTS}) {_VERSION}(?:(?:,| and| or| to|/) ?{_VERSION})*"
    ),
    "width": re.compile(rf"\b(?:{NUMBER}|{CARDINAL})-(?:bits?|bytes?|elements?)\b", re.IGNORECASE),
    "date": re.compile(
        r"\b\d{4}-\d\d-\d\d\b"
        r"|(?:\b(?:in|since|until|before|after|by|of|[A-Z][a-z]+)|[,(]) (?:19[7-9]|20[0-3])\d\b"
    ),
    "back": re.compile(
        r"\b(?:the|these|those|all|its|their|our|your|other|last|first|next)(?: other)? "
        rf"(?:{'|'.join(_SMALL)})\b",
        re.IGNORECASE,
    ),
    "idiom": re.compile(
        r"\b(?:no longer|rather than|other than|any ?more|once more|more or less|a little more"
        r"|better not|at best|for the most part)\b",
        re.IGNORECASE,
    ),
}  # fmt: skip
#: Formulas claim something where they have numbers alone: "69 × 65 536 = 4 521 984".
_SYMBOL = re.compile(rf"{_VARIABLE}|\d[b-zB-HJ-Z](?![A-Za-z0-9])|{CODE}")
_QUESTION = re.compile(r"\?[”\"’)]*\s*$")
_PRESUMING = re.compile(r"\W*(?:why|what makes|how come)\b", re.IGNORECASE)
#: A rule that excuses numbers doesn't excuse the words that compare.
_COMPARING = ("from", "bound", "equal", "word", "fraction")


@dataclass(frozen=True)
class Word:
    """A claiming word and where it stands in its sentence."""

    start: int
    text: str


def _named(text: str) -> Iterator[tuple[str, int, int]]:
    for rule, pattern in RULES.items():
        for found in pattern.finditer(text):
            if rule != "formula" or _SYMBOL.search(found[0]):
                yield rule, found.start(), found.end()


def claiming(text: str) -> list[Word]:
    """The claiming words of a sentence, in their order."""
    matches = list(_CLAIMING.finditer(text))
    if not matches or (_QUESTION.search(text) and not _PRESUMING.match(text)):
        return []
    named = list(_named(text))
    found = []
    for match in matches:
        comparing = match.lastgroup in _COMPARING
        start, end = match.span()
        excused = any(
            first <= start and end <= last and (not comparing or rule in ("idiom", "width"))
            for rule, first, last in named
        )
        if not excused:
            found.append(Word(start, " ".join(match[0].split())))
    return found
