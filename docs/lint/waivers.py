"""The claiming words that nothing covers yet: waivers.txt, a line for each sentence and kind.

A waiver names page, section and sentence (a hash of its text), so that a sentence that moves
within its section keeps it and one that changes loses it. Kinds: ``open`` is to be covered;
``arithmetic`` is what the reader can do on the spot; ``citation`` has its source in a sentence
beside it; ``opinion`` is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from docs import page_source as pages
from docs.lint import figures, prose
from docs.lint.prose import Sentence

FILE = Path(__file__).with_name("waivers.txt")
KINDS = ("open", "arithmetic", "citation", "opinion")
_HEAD = """\
# page | section | sentence | kind | claiming words that nothing covers | how the sentence begins
# Kinds: {kinds}. docs/lint/words.py says which words claim.
# `python -m docs.lint claims` lists these and what is new; --renew takes out what is stale.
"""
_WIDTH = 60


@dataclass(frozen=True)
class Waiver:
    """The words of one sentence that are let be; words and counts as they stand there."""

    page: str
    section: str
    hash: str
    kind: str
    words: tuple[str, ...]
    begins: str

    @property
    def place(self) -> tuple[str, str, str]:
        return self.page, self.section, self.hash

    def __str__(self) -> str:
        words = "; ".join(self.words)
        return f"{self.page} | {self.section} | {self.hash} | {self.kind} | {words} | {self.begins}"


class Malformed(ValueError):
    """A line of the file that is no waiver."""


def parse(text: str) -> list[Waiver]:
    waivers = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ", 5)]
        if len(parts) != 6 or parts[3] not in KINDS or not parts[4]:
            raise Malformed(f"line {number} is no waiver: {line}")
        page, section, sentence, kind, words, begins = parts
        waivers.append(Waiver(page, section, sentence, kind, tuple(words.split("; ")), begins))
    return waivers


def text_of(waivers: Iterable[Waiver]) -> str:
    lines = sorted({str(waiver) for waiver in waivers if waiver.words})
    return _HEAD.format(kinds=", ".join(KINDS)) + "".join(f"{line}\n" for line in lines)


def guide() -> list[Sentence]:
    """All that the guide says: its pages, and the alt texts and captions of its figures."""
    found: list[Sentence] = []
    for path in sorted(pages.DOCS.rglob("*.rst")):
        name = path.relative_to(pages.ROOT).as_posix()
        found += prose.sentences(name, pages.page(path).tree)
    for path in figures.modules(pages.ROOT):
        name = path.relative_to(pages.ROOT).as_posix()
        found += figures.sentences(name, path.read_text(encoding="utf-8"))
    return found


def uncovered(sentences: Iterable[Sentence]) -> list[Waiver]:
    """A waiver for each sentence that needs one."""
    needed: dict[tuple[str, str, str], Waiver] = {}
    for one in sentences:
        words = tuple(word.text for word in one.open_words())
        if not words:
            continue
        begins = one.text if len(one.text) <= _WIDTH else one.text[:_WIDTH].rstrip() + "…"
        made = Waiver(one.page, one.section.replace("|", "/"), one.hash, "open", words, begins)
        twin = needed.get(made.place)  # a sentence may stand twice in a section
        needed[made.place] = replace(made, words=twin.words + words) if twin else made
    return list(needed.values())


def _less(waiver: Waiver, taken: Counter[str]) -> Waiver:
    """A waiver without the words in ``taken``, which are taken off there."""
    kept = []
    for word in waiver.words:
        if taken[word]:
            taken[word] -= 1
        else:
            kept.append(word)
    return replace(waiver, words=tuple(kept))


def _apart(ones: Sequence[Waiver], others: Sequence[Waiver]) -> list[Waiver]:
    """What ``ones`` have beyond ``others``."""
    taken: dict[tuple[str, str, str], Counter[str]] = {}
    for other in others:
        taken.setdefault(other.place, Counter()).update(other.words)
    apart = [_less(one, taken.get(one.place, Counter())) for one in ones]
    return [one for one in apart if one.words]


def new(needed: Sequence[Waiver], kept: Sequence[Waiver]) -> list[Waiver]:
    """What is in the guide and not in the file."""
    return _apart(needed, kept)


def stale(needed: Sequence[Waiver], kept: Sequence[Waiver]) -> list[Waiver]:
    """What is in the file and no more in the guide."""
    return _apart(kept, needed)


def renewed(needed: Sequence[Waiver], kept: Sequence[Waiver]) -> list[Waiver]:
    """The file without what is stale."""
    return _apart(kept, stale(needed, kept))


def message(waiver: Waiver, sentences: Iterable[Sentence]) -> str:
    """Where a new place is, what it says, and what to do about it."""
    one = next(
        s for s in sentences if (s.page, s.section.replace("|", "/"), s.hash) == waiver.place
    )
    word = next((word for word in one.open_words() if word.text in waiver.words), None)
    line = one.line_of(word) if word else one.line
    words = ", ".join(f"'{word}'" for word in waiver.words)
    return (
        f"{one.page}:{line}: nothing covers {words} in: {one.text}\n"
        "    Cover it: a role that reads the recording, a claim, calc, or a source in the sentence."
    )
