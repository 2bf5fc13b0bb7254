"""A number in a claimed paragraph is of a run that its claims name.

A role that points elsewhere prints another kernel's number into a sentence whose claim still holds.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from docs import page_source as pages
from docs.page_source import CHAPTERS, NOTEBOOKS, Page

#: Roles that show a recorded run's number, and what stands between two runs.
ROLES = {"measured": None, "counter": None, "ratio": " / ", "difference": " - ", "said": " / "}


def _variants(name: str, target: str) -> list[str]:
    between = ROLES[name]
    target = target.rpartition(":")[2]  # of what a comparison's form is
    runs = " ".join(target.split()).split(between) if between else [target]
    plain = [[word for word in run.split() if "=" not in word] for run in runs]
    return [words[1] for words in plain if len(words) > 1]


def _names(claims: str, variant: str) -> bool:
    """Whether claims name a variant, or the family that it is of: ``stride*``, ``unroll4``."""
    words = re.findall(r"[a-z]\w*\*?", claims)
    family = variant.rstrip("0123456789")
    return any(fnmatchcase(variant, word) or word.rstrip("0123456789") == family for word in words)


def astray(page: Page) -> list[str]:
    """Roles in claimed paragraphs whose runs no claim there names."""
    return [
        f"{role['name']} of {variant}, beside: {' '.join(box['argument'].split())[:60]}"
        for box in page.directives("claim")
        for role in box.findall(pages.role)
        if role["name"] in ROLES
        for variant in _variants(role["name"], role["target"])
        if not _names(box["argument"], variant)
    ]


@pytest.mark.parametrize(
    "path", [*CHAPTERS, *NOTEBOOKS], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_number_beside_a_claim_is_of_its_runs(path: Path) -> None:
    assert astray(pages.page(path)) == []


def test_a_role_that_points_elsewhere_is_seen() -> None:
    path = next(path for path in CHAPTERS if path.stem == "chapter02_smem")
    text = path.read_text(encoding="utf-8")
    true = ":said:`as fast: chapter02_smem gmem n=2^28 / chapter02_smem interleaved n=2^28`"
    assert text.count(true) == 1
    assert astray(Page("x", text, pages.parse(text))) == []
    lie = text.replace(true, true.replace("smem gmem", "smem smem_stride"))
    said = astray(Page("x", lie, pages.parse(lie)))
    assert [one.split(",")[0] for one in said] == ["said of smem_stride"]
