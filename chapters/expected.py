"""What a chapter says of its kernels to the tests that all chapters share, and to the pages.

A chapter with something to say has ``expected.py`` in its folder, with one ``EXPECTED``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted(path.parent.name for path in ROOT.glob("chapters/chapter*/main.cu"))

#: Where the embedded device's checks look for a classic kernel's faults: n, and block.
NS = (1000, (1 << 12) + 33)
BLOCKS = (64, 256, 1024)

Shapes = set[tuple[int, int]]
"""n and block."""
Finding = tuple[str, ...]
"""What is wrong, then the source line of the later access and, if another, of the earlier."""

EVERYWHERE: Shapes = {(n, block) for n in NS for block in BLOCKS}

RAW, WAR = "race: read after write", "race: write after read"
UNWRITTEN = "init: reads shared memory that was never written"
SAME = "race: two threads write the same value to one place of global memory, unsynchronised"
WAW = "race: two threads write one place of shared memory, unsynchronised"
SAME_SHARED = SAME.replace("global", "shared")
ILLEGAL, MISALIGNED = "memory: an illegal address", "memory: a misaligned address"


@dataclass(frozen=True)
class Expected:
    """Facts about one chapter's kernels that tests of all chapters need."""

    #: Of each classic kernel what the checks find, where, and at which shapes. An illegal address
    #: in shared memory stops the launch: where it is the first block's, nothing else is found.
    findings: Mapping[str, Mapping[Finding, Shapes]] = field(default_factory=dict)
    #: The n at which the modern kernels are checked; fewer where each element is much work.
    checked: tuple[int, ...] = NS
    #: Its kernels are counted at few shapes: there are dozens, or they have several kinds of data.
    few_shapes: bool = False
    #: The n at which lanes run apart, where kernels do so much that the usual n takes long.
    apart: int | None = None
    #: The smallest n at which each block size has something to launch.
    least: int = 1
    #: The n of its small launches, where it needs others than the rest (tests/record).
    recorded_at: tuple[int, ...] = ()
    #: Classic kernels whose results are wrong, and whose accesses are not.
    wrong: tuple[str, ...] = ()
    #: Sums that the embedded device's sum check can't follow to their end.
    unfollowed: tuple[str, ...] = ()
    #: Classic kernels that lean on lanes in step, each with the same steps synchronised.
    in_step: Mapping[str, str] = field(default_factory=dict)
    #: Classic kernels that a device stops at one of the shapes that `record` gives classic ones.
    stopped: tuple[str, ...] = ()
    #: The kernels whose machine code the page shows; those of a chapter that it includes, too.
    shown: tuple[str, ...] = ()
    #: Instances of templates that it shows: by variant the kernel, and a part of its mangled name.
    instances: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: Variants of which ptxas merges shared loads by an alignment that PTX doesn't state. The
    #: device infers it and flags them; here it infers right, so the counts are compared.
    inferred: tuple[str, ...] = ()
    #: A part of the mangled names of those kernels.
    inferred_kernels: tuple[str, ...] = ()
    #: Variants of which it merges shared stores as well: the device counts them as PTX has them.
    merged_stores: tuple[str, ...] = ()
    #: Kernels with no loop of which ptxas writes a part twice, once for each outcome of a test.
    copied: tuple[str, ...] = ()
    #: Kernels of which ptxas loads a narrower part of what PTX loads, by a part of their names:
    #: the access, and what becomes of it.
    narrowed: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def expected(chapter: str) -> Expected:
    """What a chapter says of itself; the defaults where it says nothing."""
    if not (ROOT / "chapters" / chapter / "expected.py").exists():
        return Expected()
    told: Expected = importlib.import_module(f"chapters.{chapter}.expected").EXPECTED
    return told


def last_warp(tile: str, shapes: Shapes) -> dict[Finding, Shapes]:
    """The volatile last warp: each step reads what the one before wrote, and overwrites it."""
    steps = [f"{tile}[t] = {tile}[t] + {tile}[t + {half}];" for half in (32, 16, 8, 4, 2, 1)]
    found: dict[Finding, Shapes] = {}
    for before, step in pairwise(steps):
        found[RAW, step, before] = shapes
        found[WAR, step] = shapes
    return found
