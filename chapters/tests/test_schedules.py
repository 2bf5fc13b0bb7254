"""Lanes that run apart: kernels that hand data over are right in many schedules, the classic last
warp is not.

The embedded device runs the lanes of a warp together unless EMU_SCHEDULE=apart:SEED asks otherwise.
Then they meet where PTX says so and nowhere else, as hardware since Volta may have it.
Kernels whose threads meet at barriers alone need no schedules: the race check asks what orders two
accesses, whichever ran first (test_embedded_checks.py).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache

import pytest

from chapters.expected import CHAPTERS, ROOT, expected
from chapters.tests.programs import program, variants
from common.records.regions import regions
from tools.measuring.programs import Variant
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

N = 8192
SEEDS = range(100, 108)
# The last warp without __syncwarp, and the same steps with it.
CLASSIC = {
    (chapter, classic): repaired
    for chapter in CHAPTERS
    for classic, repaired in expected(chapter).in_step.items()
}


def run(
    chapter: str, schedule: str, *arguments: str, n: int = N
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(chapter), "--device", "embedded", "--once", "--n", str(n), *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env={**os.environ, "EMU_SCHEDULE": schedule},
    )


#: What hands data to a thread that waits for it, or that comes last.
HANDS_OVER = re.compile(r"__threadfence|mbarrier|acquire|cluster|volatile unsigned")


@cache
def handing(chapter: str) -> list[Variant]:
    """The modern variants whose kernels hand data over."""
    known = regions(ROOT)

    def hands_over(variant: Variant) -> bool:
        code = known.get(variant.region or "")
        if variant.legacy or not variant.embedded or not code:
            return False
        return any(HANDS_OVER.search(known[name].text) for name in (code.name, *code.uses))

    return [each for each in variants(chapter).values() if hands_over(each)]


def assert_right(chapter: str, seed: int, *arguments: str, n: int = N) -> None:
    done = run(chapter, f"apart:{seed}", *arguments, n=n)
    assert done.returncode == 0, f"seed {seed}\n{done.stdout}{done.stderr}"
    assert f"apart:{seed}" in done.stderr, "nothing ran apart"


def wrong(chapter: str, variant: str, schedule: str) -> bool:
    done = run(chapter, schedule, "--variant", variant, "--block", "256")
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert (done.returncode == 1) == ("WRONG RESULT" in done.stderr)
    return done.returncode == 1


def cases(
    chapter: str, block: int, sizes: tuple[int, ...]
) -> Iterator[tuple[int, list[str], range]]:
    """The sizes, the arguments that name what runs there, and the seeds.

    A table with longer rows than n has no row. Its kernels do the same then for each such n, at
    length, since they have a block for some columns each. So they run at the first size, and where
    no size gives them a row, with one seed: each of their blocks has a schedule of its own.
    """
    runs = [variant for variant in handing(chapter) if variant.takes(block)]
    empty = [v.name for v in runs if v.params.get("columns", 1) > sizes[-1]]
    if empty:
        yield sizes[0], ["--variant", *empty], SEEDS[:1]
    for n in sizes:
        most = sizes[-1] if n == sizes[0] else n
        names = [v.name for v in runs if v.params.get("columns", 1) <= most]
        if names:
            yield n, ["--variant", *names], SEEDS


def test_there_are_kernels_that_hand_data_over() -> None:
    known = [chapter for chapter in CHAPTERS if handing(chapter)]
    assert len(known) >= 5 and "chapter08_multi_pass" in known


@pytest.mark.parametrize("block", [1, 33, 64, 1024])
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_hands_data_over_is_right_in_many_schedules(chapter: str, block: int) -> None:
    # A block of one thread has nothing to run apart, and takes a warp's time all the same.
    most = min(expected(chapter).apart or 10_000, 1000 if block == 1 else 10_000)
    sizes = (max(1, expected(chapter).least), 33, most + 1)
    for n, named, seeds in cases(chapter, block, sizes):
        for seed in seeds:
            assert_right(chapter, seed, "--block", str(block), *named, n=n)


@pytest.mark.parametrize(("chapter", "variant"), CLASSIC)
def test_the_classic_last_warp_leans_on_lanes_in_step(chapter: str, variant: str) -> None:
    assert not wrong(chapter, variant, "together")
    assert any(wrong(chapter, variant, f"apart:{seed}") for seed in range(5))


@pytest.mark.parametrize(("chapter", "variant"), CLASSIC)
def test_syncwarp_is_all_that_it_lacked(chapter: str, variant: str) -> None:
    seeds = range(60)
    assert sum(wrong(chapter, variant, f"apart:{seed}") for seed in seeds) > 50
    repaired = CLASSIC[chapter, variant]
    assert not any(wrong(chapter, repaired, f"apart:{seed}") for seed in seeds)


def test_a_seed_is_one_schedule() -> None:
    def say(threads: str, seed: int) -> str:
        os.environ["EMU_THREADS"] = threads
        try:
            arguments = ("--variant", "last_warp_classic", "--block", "256")
            return run("chapter05_unroll4", f"apart:{seed}", *arguments).stderr
        finally:
            del os.environ["EMU_THREADS"]

    assert say("1", 7) == say("2", 7) != say("1", 8)
