"""Opens what is to be compared: a committed set by its name, a set's folder, or an exported file.

A recording is used as far as it goes. A file of it that can't be read is left out, with the reason;
a recording of which nothing is left is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from common.records import checks
from common.records.exported import BadExport, unpack
from common.records.naming import EMBEDDED, LOCAL, REFERENCE, SECOND
from common.records.proportions import check_counters
from common.records.reading import DataError, read_chapter, read_counters, read_sanitizer
from common.records.recordings import Recordings
from common.records.sets import ChapterRecord, RecordedSet
from tools.comparing import ROOT, Refused

Kind = TypeVar("Kind")

#: What a set must satisfy as a whole, of ``checks``; what git and the manifest say comes apart.
CHECKS = (
    checks.check_passes,
    checks.check_rates,
    checks.check_floors,
    check_counters,
    checks.check_sanitizer,
)


@dataclass(frozen=True)
class Opened:
    """A recording, as far as it goes."""

    #: What was asked for.
    asked: str
    known: RecordedSet
    #: Files that were left out, each with the reason.
    left_out: tuple[str, ...] = ()
    #: What the checks of a whole set say of this one.
    doubts: tuple[str, ...] = field(default=())


@contextmanager
def opened(asked: Sequence[str], recordings: Recordings) -> Iterator[list[Opened]]:
    """Each of what was asked for, under names of their own; the book's own *recordings* are read
    and checked already."""
    there = {REFERENCE: recordings.reference, **recordings.second}
    with TemporaryDirectory(prefix="compare-") as unpacked:
        found: list[Opened] = []
        for place, one in enumerate(asked):
            taken = {each.known.name for each in found}
            if one in (REFERENCE, *SECOND) and one in there:
                if one in taken:  # by its folder
                    raise Refused(f"{one}: given twice")
                found.append(Opened(one, there[one]))
                continue
            folder, name = _folder_of(one, Path(unpacked) / str(place))
            if folder.resolve().parent != ROOT / "figures" / "data":  # those keep their names
                taken |= {REFERENCE, *SECOND, LOCAL}
            elif folder.resolve().name in taken:
                raise Refused(f"{one}: given twice")
            found.append(read(one, folder, _name(name, taken)))
        yield found


def _folder_of(asked: str, unpacked: Path) -> tuple[Path, str]:
    """Where the recording lies, and what to call it."""
    committed = ROOT / "figures" / "data" / asked
    if re.fullmatch(r"[a-z0-9-]+", asked) and committed.is_dir():
        if asked == EMBEDDED:
            raise Refused(f"{asked}: the embedded device's set has no times to compare")
        return committed, asked
    path = Path(asked)
    if path.is_dir():
        return path, path.absolute().name
    if path.is_file():
        try:
            exported = unpack(path)
        except BadExport as error:
            raise Refused(str(error)) from None
        # As deep as a set lies in a checkout: what reads sets looks for the checkout around them.
        folder = unpacked / "figures" / "data" / exported.name
        exported.write(folder)
        stem = path.name.partition(".")[0]
        return folder, stem if exported.name == LOCAL else exported.name
    if asked == LOCAL:
        raise Refused("nothing of your own is recorded yet: run tools/measure")
    there = sorted(
        each.name
        for each in (ROOT / "figures" / "data").iterdir()
        if each.is_dir() and each.name != EMBEDDED
    )
    raise Refused(
        f"{asked} is neither a folder, nor an exported file, nor a set of this book's; its sets "
        f"are {', '.join(there)}"
    )


def _name(wanted: str, taken: set[str]) -> str:
    """A set's name, no other set's."""
    plain = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:40] or "set"
    numbered = (f"{plain}-{number}" for number in range(2, 100))
    return plain if plain not in taken else next(one for one in numbered if one not in taken)


def read(asked: str, folder: Path, name: str) -> Opened:
    """The set in *folder*, called *name*."""
    left_out: list[str] = []

    def take(read_file: Callable[[Path], Kind], path: Path) -> Kind | None:
        try:
            return read_file(path)
        except DataError as error:
            left_out.append(
                ": ".join(part for part in (error.path.name, error.where, error.what) if part)
            )
        except RecursionError:
            left_out.append(f"{path.name}: its JSON is nested too deep")
        return None

    chapters: dict[str, ChapterRecord] = {}
    for path in sorted(folder.glob("chapter*.json")):
        if data := take(read_chapter, path):
            if data["chapter"] == path.stem:
                chapters[path.stem] = ChapterRecord(path, data)
            else:
                left_out.append(f"{path.name}: holds {data['chapter']}")
    counters, sanitizer = folder / "counters.json", folder / "sanitizer.json"
    known = RecordedSet(
        name,
        chapters,
        counters=take(read_counters, counters) if counters.is_file() else None,
        sanitizer=take(read_sanitizer, sanitizer) if sanitizer.is_file() else None,
    )
    if not chapters:
        why = left_out[0] if left_out else "it holds no chapter's times"
        raise Refused(f"{asked} is refused: {why}")
    _refuse_two_cards(asked, known)
    doubts = []
    for check in CHECKS:
        try:
            check(folder, known)
        except DataError as error:
            doubts.append(": ".join((error.path.name, error.where, error.what)))
        except (ArithmeticError, LookupError, ValueError) as error:
            doubts.append(f"{check.__name__.replace('_', ' ')} could not be done ({error})")
    return Opened(asked, known, tuple(left_out), tuple(doubts))


def _refuse_two_cards(asked: str, known: RecordedSet) -> None:
    """A set is of one card: times of two mean nothing beside each other."""
    for file, device in known.devices():
        if device != known.device:
            names = f"'{known.device_name}' and '{device['name']}'"
            what = (
                f"files of two cards, {names}"
                if device["name"] != known.device_name
                else f"two sets of attributes for '{device['name']}'"
            )
            raise Refused(f"{asked} is refused: it has {what} ({file})")


def is_reference(one: Opened) -> bool:
    """Whether it is the book's own, which its claims are about."""
    return one.known.name == REFERENCE
