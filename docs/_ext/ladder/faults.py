"""The faulty forms that the chapters ship as ``legacy`` variants: what is wrong, what rejects it.

The words are those of the comments beside the code, ``// fault: …``. What rejects a form is in the
chapter's ``expected.py``, which the tests hold the embedded device to.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.records.mutants import NETS
from common.records.regions import Region

EXPECTED = "expected.py"  # in a chapter's folder

_FAULT = re.compile(r"(?P<code>.*?)\s*// (?:the )?fault(?: \d+)?: (?P<words>.+)")
_GOES_ON = re.compile(r"\s*// (?P<words>.+)")
#: Words that send the reader to the same line further up in the file.
ABOVE = "as above"
#: Words for what another fault of the same form has said.
SAME = "the same"


class BadFaults(ValueError):
    """A faulty form of which something is missing; the message says what."""


@dataclass(frozen=True)
class Fault:
    code: str  # the line; empty where the comment stands alone
    words: str


@dataclass(frozen=True)
class Rejection:
    net: str  # a key of NETS
    says: tuple[str, ...] = ()  # what it reports; nothing where the program's result is wrong


@dataclass(frozen=True)
class Classic:
    """One faulty form."""

    chapter: str
    variant: str
    region: str  # where its fault stands
    faults: tuple[Fault, ...]
    by: tuple[Rejection, ...]  # in the order of NETS


def classics(root: Path, regions: Mapping[str, Region]) -> list[Classic]:
    """All of them, by chapter; BadFaults where one lacks its words or what rejects it."""
    return [
        _classic(root, regions, path.parent.name, variant, by)
        for path in sorted(root.glob(f"chapters/chapter*/{EXPECTED}"))
        for variant, by in _rejected(path)
    ]


def _rejected(path: Path) -> Iterator[tuple[str, tuple[Rejection, ...]]]:
    expected: Any = runpy.run_path(str(path))["EXPECTED"]
    for variant, findings in expected.findings.items():
        found: dict[str, dict[str, None]] = {}
        for what, *_lines in findings:
            net, _colon, said = what.partition(": ")
            if net not in NETS:
                raise BadFaults(f"{path}: {variant}: '{net}' is none of {', '.join(NETS)}")
            found.setdefault(net, {})[said] = None
        if variant in expected.in_step:
            found["schedule"] = {}
        if not found:  # its accesses are as they should be
            found["result"] = {}
        yield variant, tuple(Rejection(net, tuple(found[net])) for net in NETS if net in found)
    for variant in expected.wrong:
        yield variant, (Rejection("result"),)


def _classic(
    root: Path,
    regions: Mapping[str, Region],
    chapter: str,
    variant: str,
    by: tuple[Rejection, ...],
) -> Classic:
    hyphens = variant.replace("_", "-")
    main = (root / "chapters" / chapter / "main.cu").read_text(encoding="utf-8")
    named = re.findall(rf'"{variant}"[^"]*"([a-z0-9-]+)"', main)
    for name in (f"run-{hyphens}", *named, hyphens):
        region = regions.get(name)
        if region and region.chapter == chapter and (faults := tuple(_faults(root, region))):
            return Classic(chapter, variant, name, faults, by)
    raise BadFaults(f"{chapter} {variant}: no comment '// fault: …' beside its code")


def _faults(root: Path, region: Region) -> Iterator[Fault]:
    above = (root / region.path).read_text(encoding="utf-8").splitlines()
    lines = region.text.splitlines()
    for at, line in enumerate(lines):
        if (found := _FAULT.fullmatch(line)) is None:
            continue
        code, words = found["code"].strip(), found["words"]
        if words == SAME:
            continue
        if words == ABOVE:
            words = _said_above(code, above[: region.first_line])
        for further in lines[at + 1 :] if not code else ():
            if (more := _GOES_ON.fullmatch(further)) is None or _FAULT.fullmatch(further):
                break
            words += f" {more['words']}"
        if code.endswith("="):
            code += f" {lines[at + 1].strip()}"
        yield Fault(code, words)


def _said_above(code: str, lines: list[str]) -> str:
    for line in reversed(lines):
        found = _FAULT.fullmatch(line)
        if found and found["code"].strip() == code and found["words"] != ABOVE:
            return found["words"]
    raise BadFaults(f"'{code}' is wrong {ABOVE}, and no line above says how")
