"""Named regions of the chapters' sources.

A region lies between two comment lines of its own, ``// begin NAME`` and ``// end NAME``. The guide
shows regions as listings, and a recorded run carries the hash of the region that it timed, so that
a page can say when the kernel has changed since.

That hash is of the region's code and of all the kernel code that it uses, in other regions or in
none, which is found by the names in it (``declarations``). A region of another file, as a launch in
main.cu, is hashed alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from common.records import declarations
from common.records.declarations import Declaration

#: What a region's file is for, by the file's name. In these is all kernel code.
KINDS = {
    "kernels.cuh": "kernels",
    "legacy.cuh": "legacy",
    "answers.cuh": "answers",
    "take_home.cuh": "kernels",  # a header to copy, whole: it includes no other
}
#: Launches in main.cu may be marked too (``run-NAME``), so that a page can show one alone.
LAUNCHES = "launches"

_MARKER = re.compile(r"\s*//\s*(begin|end)\s+(\S+)\s*")
_USES = re.compile(r"\s*//\s*begin\s+\S+\s+uses\s.*")
_COMMENT = re.compile(r"\s*//.*")
_NAME = re.compile(r"[a-z0-9-]+")
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*"(?P<file>[^"]+)"')


class RegionError(Exception):
    """Markers or kernel code that can't be followed; the message begins with file:line."""

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
    uses: tuple[str, ...] = ()  # other regions that its code is made of, however indirectly
    paths: tuple[Path, ...] = ()  # files with code that it is made of
    hash: str = ""  # region_hash of the text and, in order, of all that it uses


def region_hash(text: str) -> str:
    """The first 16 hex digits of the SHA-256 of the text without comments and white space."""

    def keep_literals(match: re.Match[str]) -> str:
        return match["literal"] or ""

    code = re.sub(r"\s+", "", declarations.LITERAL_OR_COMMENT.sub(keep_literals, text))
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def regions(root: Path | str) -> dict[str, Region]:
    """Every region under ``chapters/chapter*/``, by name."""
    root = Path(root)
    paths = sorted(root.glob("chapters/chapter*/*.cu*"))
    texts = {path.relative_to(root): path.read_text(encoding="utf-8") for path in paths}
    return dict(_regions_in(tuple(texts.items())))


#: Files' paths and texts.
_Sources = tuple[tuple[Path, str], ...]


@lru_cache(maxsize=4)
def _regions_in(sources: _Sources) -> dict[str, Region]:
    """Takes a quarter of a second for the book's, and is asked again and again for the same."""
    found: dict[str, Region] = {}
    for path, text in sources:
        for region in _regions_of(path, text):
            if region.name in found:
                first = found[region.name]
                raise RegionError(
                    region.path,
                    region.first_line - 1,
                    f"region '{region.name}' was already begun at "
                    f"{first.path}:{first.first_line - 1}; names are unique in the whole book",
                )
            found[region.name] = region
    code = _KernelCode(sources, found)
    return {name: code.hashed(region) for name, region in found.items()}


# ---------------------------------------------------------------------------- what uses what


#: What is hashed as one: a region, or a declaration outside of any by its file and place.
_Unit = str | tuple[Path, int]


#: Another name for a built-in type.
_BUILT_IN = re.compile(
    r"using \w+ =(?: (?:unsigned|signed|long|short|int|char|float|double|bool))+;"
)


class _KernelCode:
    """All kernel code of the chapters: which of it lies where, and which of it uses which."""

    def __init__(self, sources: _Sources, found: Mapping[str, Region]) -> None:
        self.found = found
        self.texts: dict[_Unit, str] = {name: region.text for name, region in found.items()}
        self.declared: dict[str, list[_Unit]] = {}  # by its qualified name
        self.used: dict[_Unit, list[str]] = {}  # names, qualified
        inside: list[tuple[_Unit, Declaration]] = []
        for path, text in sources:
            if path.name in KINDS:
                inside += self._read(path, text)
        for unit, declaration in inside:
            self.used.setdefault(unit, []).extend(declaration.mentions(self.declared))
        for path, text in sources:
            if path.name not in KINDS:
                scope = (path.parent.name.partition("_")[0],)
                for template, used in declarations.instances(text, scope, self.declared):
                    if all(_BUILT_IN.fullmatch(self.texts[one]) for one in self.declared[used]):
                        continue  # an instance of the type itself, which is no other unit's
                    for unit in self.declared[template]:
                        self.used.setdefault(unit, []).append(used)

    def _read(self, path: Path, text: str) -> Iterator[tuple[_Unit, Declaration]]:
        _refuse_includes(path, text)
        try:
            declared = declarations.declarations(text)
        except declarations.Unreadable as error:
            raise RegionError(path, text.count("\n", 0, error.at) + 1, error.what) from None
        here = [region for region in self.found.values() if region.path == path]
        for each in declared:
            first, last = (text.count("\n", 0, at) + 1 for at in (each.begin, each.end))
            unit = _region_of(here, path, first, last) or (path, each.begin)
            if not isinstance(unit, str):
                self.texts[unit] = text[each.begin : each.end]
            for name in each.names:
                self.declared.setdefault("::".join([*each.scope, name]), []).append(unit)
            yield unit, each

    def hashed(self, region: Region) -> Region:
        """The region with what it uses, and the hash of all that."""
        units: list[_Unit] = [region.name]
        for unit in units:  # grows while we go through it
            for name in self.used.get(unit, []):
                units += [used for used in self.declared[name] if used not in units]
        paths = (self.found[unit].path if isinstance(unit, str) else unit[0] for unit in units)
        return replace(
            region,
            uses=tuple(unit for unit in units[1:] if isinstance(unit, str)),
            paths=tuple(dict.fromkeys(paths)),
            hash=region_hash("".join(self.texts[unit] for unit in units)),
        )


def _refuse_includes(path: Path, text: str) -> None:
    for number, line in enumerate(text.splitlines(), start=1):
        included = _INCLUDE.match(line)
        if included and Path(included["file"]).name not in KINDS:
            raise RegionError(
                path,
                number,
                f"'{included['file']}' is not kernel code, and what is used of it would be in no "
                f"kernel's hash; kernel code is in {', '.join(KINDS)}",
            )


def _region_of(here: list[Region], path: Path, first: int, last: int) -> str | None:
    """The region that the lines from *first* to *last* of a file lie in."""
    for region in here:
        if region.first_line <= first and last <= region.last_line:
            return region.name
        if region.first_line <= last and first <= region.last_line:
            raise RegionError(
                path, region.first_line - 1, f"region '{region.name}' has a part of a declaration"
            )
    return None


# ----------------------------------------------------------------------------------- markers


def _regions_of(relative: Path, source: str) -> Iterator[Region]:
    name = ""  # the region that is open, if any
    begun = 0
    text: list[str] = []
    lines = source.splitlines()
    for number, line in enumerate(lines, start=1):
        marker = _MARKER.fullmatch(line)
        if not marker:
            if _USES.fullmatch(line):
                raise RegionError(
                    relative, number, "what a region uses is found in its code: name it alone"
                )
            text.append(line)
            continue
        word, named = marker.groups()
        if not _NAME.fullmatch(named):
            raise RegionError(
                relative, number, f"'{named}' cannot name a region: use a-z, 0-9 and hyphens"
            )
        if word == "begin":
            if name:
                raise RegionError(
                    relative,
                    number,
                    f"region '{named}' begins inside '{name}', begun at line {begun} and not "
                    "yet ended",
                )
            above = lines[number - 2] if number > 1 else ""
            if _COMMENT.fullmatch(above) and not _MARKER.fullmatch(above):
                raise RegionError(
                    relative, number, f"the comment above '{named}' is not in it: begin above that"
                )
            name, begun, text = named, number, []
        else:
            if named != name:
                opened = f"'{name}', begun at line {begun}, is open" if name else "none is open"
                raise RegionError(relative, number, f"'end {named}' without its begin: {opened}")
            yield Region(
                name=name,
                chapter=relative.parent.name,
                path=relative,
                first_line=begun + 1,
                last_line=number - 1,
                text="\n".join(text) + "\n",
                kind=KINDS.get(relative.name, LAUNCHES),
            )
            name = ""
    if name:
        raise RegionError(relative, begun, f"region '{name}' is never ended")
