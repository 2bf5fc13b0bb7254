"""The page launches what the programs launch, on the same bytes, and judges results as they do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docs.tests import device
from tools.measuring import launches
from tools.measuring.launches import Chapter, Listed, Ran

#: Shapes at which no recipe was fitted. At the first two all that is read is written out.
SIZES = (31, 1023, 10_007, 65_537)
BLOCKS = (33, 250, 384, 37, 992, 160)
SEEDS = (2018, 1, 2**63 + 5)
#: A fault of the kernel's ends these on the device, so that nothing is read.
FAULTS = 3

Case = tuple[Listed, int, int, int, Ran]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("device")


def shapes(variant: Listed) -> Iterator[tuple[int, int, int]]:
    blocks = [block for block in BLOCKS if variant.takes(block)] or [variant.block]
    sizes = [
        n if variant.most >= launches.MOST_N else n % min(variant.most, 200) + 1 for n in SIZES
    ]
    every = itertools.cycle([variant.block, *blocks])
    yield from zip(sizes, every, itertools.cycle(SEEDS), strict=False)


def runs(chapter: Chapter, recipes: dict[str, Any]) -> list[Case]:
    asked = [
        (variant, *shape)
        for variant in chapter.variants
        if variant.name in recipes
        for shape in shapes(variant)
    ]
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda a: chapter.ran(a[0].name, a[1], a[2], a[3]), asked)
        return [(*a, ran) for a, ran in zip(asked, done, strict=True)]


def in_node(chapter: str, folder: Path, cases: list[Case]) -> list[dict[str, Any]]:
    asked = [
        {
            "chapter": chapter,
            "variant": variant.name,
            "n": n,
            "block": block,
            "seed": str(seed),
            "read": device.read_in(ran) if ran.status != FAULTS else None,
        }
        for variant, n, block, seed, ran in cases
    ]
    return device.in_node([device.script(chapter, folder)], asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", device.CHAPTERS)
def test_a_plan_is_what_the_program_does(name: str, folder: Path) -> None:
    recipes = device.committed(name)["variants"]
    chapter = Chapter(device.device(), device.program(name, folder), folder)
    cases = runs(chapter, recipes)
    assert len(cases) >= 4 * len(recipes) > 0
    judged = set()
    for (variant, n, block, seed, ran), answer in zip(
        cases, in_node(name, folder, cases), strict=True
    ):
        where = f"{variant.name}, n = {n}, block {block}, seed {seed}"
        native = device.as_in_node(recipes[variant.name], launches.plan_in(ran.events))
        for part in ("buffers", "steps", "read"):
            if part != "read" or native["read"]:
                assert answer[part] == native[part], f"{where}: {part}"
        kernels = {step["kernel"] for step in native["steps"] if "kernel" in step}
        assert set(answer["entries"]) == kernels, where
        if answer["verdict"] and native["read"]:
            said = device.verdict_of(ran).splitlines()
            assert set(answer["verdict"]["what"].splitlines()) <= set(said), where
            assert answer["verdict"]["ok"] == (ran.status == 0), where
            judged.add(variant.name)
    # Of those that a fault ends everywhere there is no result to judge.
    faulty = {variant.name for variant, *_, ran in cases if ran.status == FAULTS}
    assert judged | faulty == recipes.keys()
