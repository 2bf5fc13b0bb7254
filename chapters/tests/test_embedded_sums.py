"""Every kernel of the book that sums is proved: each element is in its sums once, for all data.

Of sums of floats less can be said: tests of their chapter hold what.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from chapters.expected import CHAPTERS, expected
from chapters.tests.programs import program
from tools.tests.limits import LIMIT

pytestmark = pytest.mark.built("programs", "embedded_device")

#: Numbers of elements, each with a block: none, one, around a warp, around powers of two.
SHAPES = (
    (0, 256),
    (1, 32),
    (31, 32),
    (33, 64),
    (255, 1024),
    (1025, 128),
    (2047, 512),
    (4097, 96),
    (12345, 256),
)
#: Problems that are sums, as the programs name them.
_SUM = re.compile(r"^book::(Sum|FinishedSum|WholeSum<.*>)$|^chapter08::(Ramp|Small|TakeHome)\b")


def sums_of(chapter: str, folder: Path, block: int | None = None) -> list[str]:
    """A chapter's variants that sum as they should, and take this block."""
    file = folder / "list.json"
    subprocess.run([program(chapter), "--list", "--json", file], check=True, capture_output=True)

    def takes(low: int, high: int, powers_of_two: bool, multiple_of: int, **_: str) -> bool:
        return block is None or (
            low <= block <= high
            and block % multiple_of == 0
            and not (powers_of_two and block & (block - 1))
        )

    return [
        each["name"]
        for each in json.loads(file.read_text("utf-8"))["variants"]
        if _SUM.match(each["problem"])
        and each["name"] not in expected(chapter).unfollowed
        and not each["legacy"]
        and takes(**each["blocks"])
    ]


def said(chapter: str, folder: Path, *arguments: str) -> list[dict[str, Any]]:
    file = folder / "findings.json"
    file.write_text("", encoding="utf-8")
    done = subprocess.run(
        [program(chapter), "--device", "embedded", "--once", *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env={**os.environ, "EMU_CHECK": "sum", "EMU_FINDINGS": str(file)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_sums_are_proved(chapter: str, tmp_path: Path) -> None:
    for name in sums_of(chapter, tmp_path):  # by itself: what is said twice is written once
        proved(said(chapter, tmp_path, "--variant", name, "--n", "1000"), 1000, 1)
    for n, block in SHAPES:
        # A value of one element that is made of two words is two copies.
        sums = [s for s in sums_of(chapter, tmp_path, block) if n > 1 or not s.endswith("_long")]
        if sums:
            shape = ("--n", str(n), "--block", str(block))
            proved(said(chapter, tmp_path, "--variant", *sums, *shape), n, min(n, 1))


def proved(all_said: list[dict[str, Any]], n: int, at_least: int) -> None:
    """Nothing but proofs is said, and so many of them."""
    right = re.compile(rf"each of {n} elements? is in (it|them) once, for all data$")
    assert [one for one in all_said if not right.search(one["what"])] == []
    assert len(all_said) >= at_least


def test_chapters_have_sums(tmp_path: Path) -> None:
    assert sum(len(sums_of(chapter, tmp_path)) for chapter in CHAPTERS) > 100
