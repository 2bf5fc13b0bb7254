"""Code that a story quotes without naming a region is in the kernels, line for line."""

from __future__ import annotations

import re

import pytest

from tools.tests.built import ROOT

#: Stories that quote lines from the middle of a region; a launch is written for the page.
QUOTING = (
    "chapter01_gmem",
    "chapter03_divergence",
    "chapter07_effective_bandwidth",
    "chapter08_multi_pass",
)


def stripped(code: str) -> str:
    """The lines without their indents, and without comments, which a quotation may leave out."""
    return "\n".join(line.split("//")[0].strip() for line in code.strip().splitlines())


def quoted(chapter: str) -> list[str]:
    story = (ROOT / f"docs/chapters/{chapter}.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"^\.\. code-block:: cuda\n\n((?:   .*\n|\n)+)", story, re.M)
    return [stripped(block) for block in blocks if "<<<" not in block]


def strangers(excerpts: list[str], chapter: str) -> list[str]:
    """Those of the excerpts that the kernels of the chapter, and of those before, don't have."""
    folders = sorted(ROOT.glob("chapters/chapter*/kernels.cuh"))
    known = [path for path in folders if path.parent.name <= chapter]
    source = "\n".join(stripped(path.read_text(encoding="utf-8")) for path in known)
    return [excerpt for excerpt in excerpts if excerpt not in source]


@pytest.mark.parametrize("chapter", QUOTING)
def test_excerpts_are_in_the_kernels(chapter: str) -> None:
    excerpts = quoted(chapter)
    assert excerpts
    assert strangers(excerpts, chapter) == []
    changed = re.sub(r"\w+", "other", excerpts[0], count=1)
    assert strangers([changed], chapter) == [changed]
