"""How a page names a recorded run: ``CHAPTER VARIANT [n=2^28] [block=256] [param=value ...]``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

#: Folders whose pages are each about one chapter, and named as it is.
ABOUT_A_CHAPTER = ("chapters", "notebooks")


def chapter_of(page: str) -> str:
    """The chapter that a page is about, ``chapters/X`` or ``notebooks/X``; none of another page."""
    folder, _slash, name = page.rpartition("/")
    return name if folder in ABOUT_A_CHAPTER else ""


class BadName(ValueError):
    """What a page wrote does not name a run."""


@dataclass(frozen=True)
class RunName:
    """Where ``n`` and ``block`` are None, the book's defaults are meant (2^24 and 256)."""

    chapter: str
    variant: str
    n: int | None = None
    block: int | None = None
    params: dict[str, str] = field(default_factory=dict)

    def at(self, n: int | None, block: int | None) -> RunName:
        return replace(self, n=n, block=block)


def whole(text: str) -> int:
    """``16777216``, ``2^24`` or ``16M``, as the programs' own options take them."""
    if power := re.fullmatch(r"(\d+)\^(\d+)", text):
        number: int = int(power[1]) ** int(power[2])
        return number
    if plain := re.fullmatch(r"(\d+)([KMG]?)", text):
        return int(plain[1]) * {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[plain[2]]
    raise BadName(f"'{text}' is not a whole number (1024, 2^24 or 16M)")


def parse(text: str, *then: str) -> tuple[RunName, list[str]]:
    """The run that ``text`` names, and the words that follow the variant, one for each ``then``."""
    words = text.split()
    plain = [word for word in words if "=" not in word]
    if len(plain) != 2 + len(then):
        wanted = " ".join(["CHAPTER VARIANT [n=...] [block=...] [param=...]", *then])
        raise BadName(f"'{text}' should read {wanted}")
    given = dict(word.split("=", 1) for word in words if "=" in word)
    n, block = (whole(given.pop(key)) if key in given else None for key in ("n", "block"))
    return RunName(plain[0], plain[1], n, block, given), plain[2:]
