"""What each chapter's ``tests/mutants.toml`` says: mistakes planted by hand, and which changes are
none.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from tools.mutating import ROOT, Failure
from tools.mutating.mutant import Mutant

FILE = "tests/mutants.toml"


@dataclass(frozen=True)
class Mistake:
    """A mistake, where it is made, and what has to reject it, saying what."""

    chapter: str
    name: str
    what: str
    net: str
    says: str
    mutant: Mutant


def _told(chapter: str) -> dict[str, list[dict[str, str]]]:
    path = ROOT / "chapters" / chapter / FILE
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def chapters() -> list[str]:
    return sorted(path.parent.parent.name for path in ROOT.glob(f"chapters/chapter*/{FILE}"))


def mistakes(chapter: str) -> list[Mistake]:
    """The mistakes of a chapter; a Failure where one's text isn't in its region."""
    file = f"chapters/{chapter}/kernels.cuh"
    source = (ROOT / file).read_text(encoding="utf-8")
    found = []
    for each in _told(chapter).get("mistake", []):
        region = each["region"]
        start, end = source.find(f"// begin {region}\n"), source.find(f"// end {region}\n")
        at = source.find(each["before"], start, end) if 0 <= start < end else -1
        if at < 0:
            raise Failure(f"{chapter}: {each['name']} isn't in the region {region} of {file}")
        begin = len(source[:at].encode())
        line = source.count("\n", 0, at) + 1
        mutant = Mutant(
            file,
            line,
            at - source.rfind("\n", 0, at),
            begin,
            begin + len(each["before"].encode()),
            "mistake",
            each["before"],
            each["after"],
            region,
        )
        found.append(
            Mistake(chapter, each["name"], each["what"], each["net"], each["says"], mutant)
        )
    return found
