"""What --check sum says of this chapter's sums: whose additions it follows, and whose it can't.

It follows who is in a sum, not how additions round. So it proves Kahan's sum as it proves the plain
one, and would prove it with the wrong sign: what rounding does is for the results' bounds to catch.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

from chapters.tests.programs import variants
from chapters.tests.test_embedded_sums import SHAPES, said

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

CHAPTER = "chapter11_floats"
ONCE = "argument 2[0] is the sum of argument 1: each of {} is in it once, "
PROVED = "proved for all data of this size and launch"
NO_SUM = "1 value of argument 2 that the host reads isn't made of its data by additions alone"
TICKET = "for the order in which blocks ran here, which kernels.cuh:"
ANY_ORDER = "which come in any order"

#: By method: what is said, and how far it goes, where several blocks have elements.
METHODS = {
    **dict.fromkeys(
        ("plain", "kahan", "double"),
        (ONCE + "for all data", (PROVED, "added in this order; how they round", TICKET)),
    ),
    "atomics": (ONCE + "for all data", (PROVED, "added in this order, but for", ANY_ORDER)),
    # It compares each element with the sum.
    "neumaier": (ONCE + "in this run", ("so it was with these data", "does depends on them")),
    # It makes integers of floats, and carries.
    "exact": (NO_SUM, ("does with them isn't an addition",)),
}


def methods() -> dict[str, list[str]]:
    """The book's own of 32-bit floats, each with its variants: one for each kind of data."""
    of: dict[str, list[str]] = {}
    for name in variants(CHAPTER):
        if not name.startswith(("cub_", "half_", "bfloat16_")):
            of.setdefault(name.partition("_")[0], []).append(name)
    return of


def test_every_method_is_here() -> None:
    assert methods().keys() == METHODS.keys()


@pytest.mark.parametrize("method", METHODS)
def test_what_is_said_is_true(method: str, tmp_path: Path) -> None:
    what, beside = METHODS[method]
    kinds = cycle(methods()[method])
    told = []
    for n, block in SHAPES:
        if method == "exact" and block & (block - 1):
            continue
        shape = ("--n", str(n), "--block", str(block))
        findings = said(CHAPTER, tmp_path, "--variant", next(kinds), *shape)
        elements = f"{n} element{'s' if n > 1 else ''}"
        assert [each["what"] for each in findings] == [what.format(elements)] * min(n, 1)
        assert not any(each["fault"] for each in findings)
        told += ["\n".join(each["details"]) for each in findings]
    assert all(text in told[-1] for text in beside), told[-1]
