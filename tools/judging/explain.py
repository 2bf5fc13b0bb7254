"""What a checker has found, as the one line that helps most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tools.judging.form import TYPES, Form
from tools.judging.problems import Case

_OUTSIDE = re.compile(
    r"(\w+) \d+ bytes? of global memory at 0x([0-9a-f]+), outside every allocation; "
    r"the nearest is 0x([0-9a-f]+), \d+ bytes \((\w+)\)"
)

_UNSET = re.compile(r"byte (\d+) of (\w+) \(\d+ bytes\).*? reads (\d+) bytes at ")

_NOWHERE = re.compile(r"reads lane (\d+), (which the mask leaves out or which has exited)")

#: What a line of the source is counted as, for a goal's count, and its name.
_BY_LINE = {
    "global_load_requests": ("global_requests", "global requests"),
    "global_store_requests": ("global_requests", "global requests"),
    "requests": ("global_requests", "global requests"),
    "global_load_sectors": ("global_sectors", "global sectors"),
    "global_store_sectors": ("global_sectors", "global sectors"),
    "sectors": ("global_sectors", "global sectors"),
    "shared_load_wavefronts": ("shared_wavefronts", "shared wavefronts"),
    "shared_store_wavefronts": ("shared_wavefronts", "shared wavefronts"),
    "wavefronts": ("shared_wavefronts", "shared wavefronts"),
    "shared_load_conflicts": ("shared_conflicts", "bank conflicts"),
    "shared_store_conflicts": ("shared_conflicts", "bank conflicts"),
    "conflicts": ("shared_conflicts", "bank conflicts"),
    "warp_instructions": ("instructions", "instructions"),
    "diverging_branches": ("diverging_branches", "diverging branches"),
}


def costly_line(lines: Iterable[dict[str, Any]], count: str, name: str) -> str:
    """Which few of the reader's lines bring three quarters of what a goal counts."""
    if count not in _BY_LINE:
        return ""
    key, what = _BY_LINE[count]
    of: Counter[int] = Counter()
    for each in lines:
        place = each if _base(each["file"]) == name else each.get("inlined_at", {"file": ""})
        if _base(place["file"]) == name:
            of[place["line"]] += each[key]
    for few in (1, 2, 3):
        got = sum(count for _line, count in of.most_common(few))
        if 0 < 3 * of.total() <= 4 * got:
            share = "all" if got == of.total() else f"{got} of {of.total()}"
            places = " and ".join(f"{name}:{line}" for line, _count in of.most_common(few))
            return f"{share} {what} come from {places}"
    return ""


def _base(file: str) -> str:
    return file.rpartition("/")[2]


def places(text: str, name: str) -> str:
    """The lines of the reader's file that a text names."""
    own = re.findall(rf"\b{re.escape(name)}:\d+", text)
    return " and ".join(dict.fromkeys(own))


def line_of(finding: dict[str, Any], name: str, form: Form, case: Case) -> str:
    """Where it is, and what is wrong there, in the reader's terms."""
    details = " ".join(finding["details"])
    where = places(" ".join(finding["places"]), name) or places(details, name) or name
    if (outside := _OUTSIDE.search(details)) and (said := _element(outside, form, case)):
        return f"{where} {said}"
    if nowhere := _NOWHERE.search(details):
        line = where.split(" and ")[-1]
        used = places(finding["details"][-1], name).split(" and ")[-1]
        said = f"{line} reads lane {nowhere[1]}, {nowhere[2]}"
        return f"{said}, and {used} uses it" if used not in ("", line) else said
    if finding["check"] == "race":
        return both(finding["details"], name) or where
    if finding["check"] == "init" and (unset := _UNSET.search(details)):
        at, array, size = int(unset[1]), unset[2], int(unset[3])
        place = f"{array}[{at // size}]" if size == 4 else f"byte {at} of {array}"
        return f"{where} reads {place}, which no thread has written"
    if where == name and ": " in details:  # no line of the reader's
        return f"{name}: {finding['details'][-1].rpartition(': ')[2]}"
    return where


_ORDER = re.compile(r"(?:no fence orders them|nothing orders)\b.*")
_WAITS = re.compile(r"(?:warp \d+, )?lanes? [^;]*? waits? for [^;]*?(?=, PTX line|;|$)")


def why(finding: dict[str, Any]) -> str:
    """What has to change, where the checker says so or it is the same for all of a kind."""
    if finding["check"] == "race":
        found = next(filter(None, map(_ORDER.match, finding["details"])), None)
        if found:
            return f": {found[0]}"
        if "shared memory" in finding["what"]:
            return ": no barrier stands between them"
    waits = next(filter(None, map(_WAITS.search, finding["details"])), None)
    return f": {waits[0]}" if waits else ""


def _element(outside: re.Match[str], form: Form, case: Case) -> str:
    """Which element of which parameter an access means that is outside all of them."""
    verb, buffer = outside[1], outside[4]
    parameter = next((p for p in form.parameters if p.name == buffer), None)
    if parameter is None or parameter.name not in case.buffers:
        return ""
    size = TYPES[parameter.type][1]
    given = case.buffers[buffer]
    offset = int(outside[2], 16) - int(outside[3], 16) - given.begins
    has = len(given.data) // size
    elements = "element" if has == 1 else "elements"
    return f"{verb} {buffer}[{offset // size}], and {buffer} has {has or 'no'} {elements}"


def both(details: list[str], name: str) -> str:
    """Who does what in a race: each side's line, place and thread."""
    what = re.search(r"byte \d+ of (?:__device__ )?\w+", " ".join(details))
    said: list[str] = []
    for detail in details:
        found = re.search(r"\b(reads|writes|updates|adds to|changes)\b.*? at ", detail)
        if found and (own := places(detail, name)):
            it = "it" if said else what[0].replace("__device__ ", "") if what else "memory"
            who = ", ".join(
                _plain(each) for each in re.findall(r"(block|thread) (\(.*?\))", detail)
            )
            said.append(f"{own.split(' and ')[-1]} {found[1]} {it} in {who}")
    return ", and ".join(said) if len(said) == 2 else ""


def _plain(who: tuple[str, str]) -> str:
    """block 3, where its y and z are 0."""
    numbers = re.sub(r"^[(](.*), 0, 0[)]$", r"\1", who[1])
    return f"{who[0]} {numbers}"
