"""Code that a story quotes without naming a region is in its chapter's kernels, line for line."""

from __future__ import annotations

import re

import pytest

from tools.tests.built import ROOT

#: Stories that quote lines from the middle of a region.
QUOTING = ("chapter07_effective_bandwidth", "chapter08_multi_pass")


def stripped(code: str) -> str:
    return "\n".join(line.strip() for line in code.strip().splitlines())


def quoted(chapter: str) -> list[str]:
    story = (ROOT / f"docs/chapters/{chapter}.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"^\.\. code-block:: cuda\n\n((?:   .*\n|\n)+)", story, re.M)
    return [stripped(block) for block in blocks]


def strangers(excerpts: list[str], chapter: str) -> list[str]:
    """Those of the excerpts that the chapter's kernels don't have."""
    source = stripped((ROOT / f"chapters/{chapter}/kernels.cuh").read_text(encoding="utf-8"))
    return [excerpt for excerpt in excerpts if excerpt not in source]


@pytest.mark.parametrize("chapter", QUOTING)
def test_excerpts_are_in_the_kernels(chapter: str) -> None:
    excerpts = quoted(chapter)
    assert excerpts
    assert strangers(excerpts, chapter) == []
    changed = excerpts[0].replace("++k", "k++", 1)
    assert strangers([changed], chapter) == [changed]
