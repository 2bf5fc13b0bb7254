"""Blocks of code as pages show them: under a caption, with the lines' numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from docutils import nodes

from common.records.regions import Region

from .strings import _


def block(
    text: str, language: str, caption: Sequence[nodes.Node], *classes: str
) -> nodes.container:
    """A block of code under a caption."""
    literal = nodes.literal_block(text, text, language=language)
    made = nodes.container("", literal_block=True, classes=["literal-block-wrapper", *classes])
    made += nodes.caption("", "", *caption)
    made += literal
    return made


def printed(text: str, label: str, wrapped: bool = True) -> nodes.container:
    """What a program printed; `wrapped` where long lines are messages, not a table's."""
    classes = ["output", "wrapped"] if wrapped else ["output"]
    return block(text.rstrip("\n"), "printed", [nodes.Text(label)], *classes)


def numbered(made: nodes.container, first_line: int) -> nodes.container:
    """Line numbers, as in the file."""
    literal: Any = made.children[-1]
    literal["linenos"] = True
    literal["highlight_args"] = {"linenostart": first_line}
    return made


def source_block(
    path: Path, first: int, last: int, text: str, kind: str, language: str = "cuda"
) -> nodes.container:
    where = _("{path}, lines {first}\u2013{last}").format(path=path, first=first, last=last)
    caption: list[nodes.Node] = [nodes.Text(where)]
    classes = ["listing"]
    if kind == "legacy":
        caption.insert(0, nodes.strong("", _("Faulty, shown as it was: ")))
        classes.append("legacy")
    return numbered(block(text.rstrip("\n"), language, caption, *classes), first)


def region_block(region: Region) -> nodes.container:
    """A region's code. Words that list a kernel's parameters are for its reference."""
    lines, first = textwrap.dedent(region.text).splitlines(), region.first_line
    code, first_of_code = code_of(region)
    if any(r"\param" in line for line in lines[: len(lines) - len(code)]):
        lines, first = code, first_of_code
    return source_block(region.path, first, region.last_line, "\n".join(lines), region.kind)


def code_of(region: Region) -> tuple[list[str], int]:
    """A region's lines and the number of the first, without the words above its kernel."""
    lines = textwrap.dedent(region.text).splitlines()
    words = sum(1 for _ in takewhile(lambda line: line.startswith("///") or not line, lines))
    return lines[words:], region.first_line + words
