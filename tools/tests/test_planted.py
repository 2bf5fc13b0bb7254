"""Ten faults, one of each kind, planted in a copy of the checkout: the default tier finds each.

What is run for a fault follows from where it lies: the default tier's tests of that room, of those
that use the room, and those that look at all files.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools import tiers
from tools.tests.limits import LIMIT
from tools.tests.test_guide import ROOT, Done, Run, edited, there

pytestmark = [pytest.mark.release, pytest.mark.built("guide", "embedded_device")]

#: Who uses a room, as in the house's plan. All else is used by what drives it alone.
USED_BY = {"common": ["chapters"], "tools/emulator": ["chapters"]}
OF_ALL_FILES = "tools/tests"


@dataclass(frozen=True)
class Plant:
    """A fault, and what is said of it."""

    kind: str
    file: str
    true: str
    false: str
    said: str


#: What needs no new program first. A false claim fails the guide, which is read anew after it.
PLANTS = [
    Plant("a stale listing", "docs/chapters/chapter03_divergence.rst",
          "   if (t % (2 * s) == 0 && t + s < blockDim.x)",
          "   if (t % (2 * s) == 0 && t + s <= blockDim.x)", "test_excerpts_are_in_the_kernels"),
    Plant("a dead link", "docs/setup.rst", "\n\n.. ", "\n\n`There <nowhere.html>`__.\n\n.. ",
          r"setup\.html.*nowhere\.html"),
    Plant("a script error in a page", "docs/_static/ladder-play.js",
          "let memory = {", "nothing.of(this.kind);\n  let memory = {", "nothing is not defined"),
    Plant("a wrong claim in prose", "docs/chapters/chapter02_smem.rst",
          "between 7.9 and 8>", "between 8.9 and 9>", "global_load_sectors .* is false"),
    Plant("a wrong verdict of the judge", "tools/judging/judge.py",
          "    if missed:\n", "    if missed and not puzzle.goals:\n", "expected goal: acc"),
    Plant("a misformatted file", "tools/browser.py", "\n\n\ndef ", "\n\ndef ", r"browser\.py"),
    Plant("a broken option", "common/src/cli.cpp",
          "parse_between(option, text, 1, 1024, kBlocks)",
          "parse_between(option, text, 1, 2048, kBlocks)", "--block.*1025"),
    Plant("a wrong kernel", "chapters/chapter09_histogram/kernels.cuh",
          "atomicAdd(&bins[in[i]], 1u);", "if (i + 1 < n) atomicAdd(&bins[in[i]], 1u);",
          "WRONG RESULT"),
    Plant("a race", "chapters/chapter09_histogram/kernels.cuh",
          "    atomicAdd(&mine[in[i]], 1u);\n  }\n  __syncthreads();\n",
          "    atomicAdd(&mine[in[i]], 1u);\n  }\n", "race: "),
    Plant("a counter that is off by one", "tools/emulator/src/machine/access.cpp",
          "d.begin() / 32 + 1;", "d.begin() / 32;",
          r"sectors ld|sectors_pipe_lsu_mem_global_op_ld\.sum"),
]  # fmt: skip


def folders(file: str) -> list[str]:
    """Whose tests are run for a change of this file."""
    top, *under = Path(file).parts
    room = f"{top}/{under[0]}" if top == "tools" and len(under) > 1 else top
    found = [room, *USED_BY.get(room, []), OF_ALL_FILES]
    return [each for each in dict.fromkeys(found) if (ROOT / each).is_dir()]


@pytest.fixture(scope="module")
def copy(checkout: Callable[..., Path]) -> Path:
    """A copy of the checkout with all that is built there, which commands find in its place."""
    made = checkout("planted")
    (made / ".venv").mkdir()
    for name in ("tools", "runs", "static", "figures", "guide"):
        without = shutil.ignore_patterns("sanitized", "mutants")
        shutil.copytree(ROOT / "build" / name, made / "build" / name, symlinks=True, ignore=without)
    return made


def outcome_of(run: Run, copy: Path, file: str) -> Done:
    """What tools/test does for these folders alone, up to what fails first."""
    where = folders(file)
    files = [test for folder in where for test in tiers.test_files(ROOT / folder)]
    files = [each for each in files if tiers.tier_of(each) == tiers.TIERS[0]]
    targets = {target for each in files for target in tiers.targets_of(each, tiers.TIERS[0])}
    tree = ROOT / "build/tools"
    done = there(
        run, copy, "cmake", "--build", tree, "--target", *sorted(targets), timeout=3 * LIMIT
    )
    if done.returncode:
        return done
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--tier={tiers.TIERS[0]}"]
    command = [sys.executable, "-m", "pytest", *options, *where]
    return there(run, copy, *command, timeout=3 * LIMIT, BOOK_BUILD=str(tree))


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.kind)
def test_it_is_found(run: Run, copy: Path, plant: Plant) -> None:
    with edited(copy / plant.file, plant.true, plant.false):
        done = outcome_of(run, copy, plant.file)
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert re.search(plant.said, said), said
