"""Named regions of the chapters' sources.

A region lies between two comment lines of its own, ``// begin NAME`` and ``// end NAME``. The guide
shows regions as listings, and a recorded run carries the hash of the region that it timed, so that
a page can say when the kernel has changed since. A kernel whose work is partly done by functions in
other regions says so, ``// begin NAME uses OTHER …``: its hash covers those too.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

#: What a region's file is for, by the file's name.
KINDS = {"kernels.cuh": "kernels", "legacy.cuh": "legacy", "answers.cuh": "answers"}
#: Launches in main.cu may be marked too (``run-NAME``), so that a page can show one alone.
LAUNCHES = "launches"

_MARKER = re.compile(r"\s*//\s*(begin|end)\s+(\S+)(?:\s+uses((?:\s+[a-z0-9-]+)+))?\s*")
_NAME = re.compile(r"[a-z0-9-]+")
# Literals come first, so that a // inside a string is not taken for a comment. The look-behind
# keeps the digit separators of 1'000'000 from opening a character literal.
_TOKEN = re.compile(
    r"""(?P<literal> "(?:\\.|[^"\\\n])*" | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+' )
      | (?P<comment> //[^\n]* | /\*.*?\*/ )""",
    re.VERBOSE | re.DOTALL,
)


class RegionError(Exception):
    """A marker that is unclosed, repeated or badly named; the message begins with file:line."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}")
        self.path = path
        self.line = line
        self.what = what


@dataclass(frozen=True)
class Region:
    """One named piece of a chapter's source, without its two marker lines."""

    name: str
    chapter: str
    path: Path  # relative to the repository's root
    first_line: int  # of the text, counted from 1
    last_line: int
    text: str
    kind: str  # 'kernels', 'legacy', 'answers', or 'launches' for main.cu
    uses: tuple[str, ...] = ()  # regions whose code this one's kernel calls
    hash: str = ""  # region_hash of the text and, in order, of all that it uses


def region_hash(text: str) -> str:
    """The first 16 hex digits of the SHA-256 of the text without comments and white space."""

    def keep_literals(match: re.Match[str]) -> str:
        return match["literal"] or ""

    code = re.sub(r"\s+", "", _TOKEN.sub(keep_literals, text))
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def regions(root: Path | str) -> dict[str, Region]:
    """Every region under ``chapters/chapter*/``, by name."""
    root = Path(root)
    found: dict[str, Region] = {}
    for path in sorted(root.glob("chapters/chapter*/*.cu*")):
        for region in _regions_of(root, path):
            if region.name in found:
                first = found[region.name]
                raise RegionError(
                    region.path,
                    region.first_line - 1,
                    f"region '{region.name}' was already begun at "
                    f"{first.path}:{first.first_line - 1}; names are unique in the whole book",
                )
            found[region.name] = region
    _refuse_prefixes(found)
    return {
        name: replace(region, hash=region_hash(_with_used(region, found)))
        for name, region in found.items()
    }


def _with_used(region: Region, found: dict[str, Region]) -> str:
    """The region's text followed by that of every region it uses, each once."""
    order = [region]
    for current in order:  # grows while we go through it
        for name in current.uses:
            if name not in found:
                raise RegionError(
                    current.path, current.first_line - 1, f"'{name}' after 'uses' is no region"
                )
            if found[name] not in order:
                order.append(found[name])
    return "".join(each.text for each in order)


def _regions_of(root: Path, path: Path) -> Iterator[Region]:
    relative = path.relative_to(root)
    name = ""  # the region that is open, if any
    begun = 0
    text: list[str] = []
    uses: tuple[str, ...] = ()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        marker = _MARKER.fullmatch(line)
        if not marker:
            text.append(line)
            continue
        word, named, used = marker.groups()
        if not _NAME.fullmatch(named):
            raise RegionError(
                relative, number, f"'{named}' is no region name: use a-z, 0-9 and hyphens"
            )
        if word == "begin":
            if name:
                raise RegionError(
                    relative,
                    number,
                    f"region '{named}' begins inside '{name}', begun at line {begun} and not "
                    "yet ended",
                )
            name, begun, text = named, number, []
            uses = tuple((used or "").split())
        else:
            if named != name:
                opened = f"'{name}', begun at line {begun}, is open" if name else "none is open"
                raise RegionError(relative, number, f"'end {named}' without its begin: {opened}")
            yield Region(
                name=name,
                chapter=path.parent.name,
                path=relative,
                first_line=begun + 1,
                last_line=number - 1,
                text="\n".join(text) + "\n",
                kind=KINDS.get(path.name, LAUNCHES),
                uses=uses,
            )
            name = ""
    if name:
        raise RegionError(relative, begun, f"region '{name}' is never ended")


def _refuse_prefixes(found: dict[str, Region]) -> None:
    # In sorted order a name stands right before the first of those that it begins.
    names = sorted(found)
    for shorter, longer in itertools.pairwise(names):
        if longer.startswith(shorter):
            region, other = found[longer], found[shorter]
            raise RegionError(
                region.path,
                region.first_line - 1,
                f"region '{longer}' begins with the name of region '{shorter}' "
                f"({other.path}:{other.first_line - 1}); no name may begin another",
            )
