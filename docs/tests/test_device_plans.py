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
from tools.measuring.launches import MOST_N, Chapter, Listed, Ran

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


def chapter_of(name: str, folder: Path) -> Chapter:
    return Chapter(device.device(), device.program(name, folder), folder)


def shapes(variant: Listed) -> Iterator[tuple[int, int, int]]:
    blocks = [block for block in BLOCKS if variant.takes(block)] or [variant.block]
    sizes = [n if variant.most >= MOST_N else n % min(variant.most, 200) + 1 for n in SIZES]
    every = itertools.cycle([variant.block, *blocks])
    yield from zip(sizes, every, itertools.cycle(SEEDS), strict=False)


def runs(chapter: Chapter, asked: list[tuple[Listed, int, int, int]]) -> list[Case]:
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda a: chapter.ran(a[0].name, a[1], a[2], a[3]), asked)
        return [(*a, ran) for a, ran in zip(asked, done, strict=True)]


def in_node(scripts: list[Path], cases: list[Case]) -> list[dict[str, Any]]:
    asked = [
        {
            "chapter": scripts[-1].stem,
            "variant": variant.name,
            "n": n,
            "block": block,
            "seed": str(seed),
            "read": device.read_in(ran) if ran.status != FAULTS else None,
        }
        for variant, n, block, seed, ran in cases
    ]
    return device.in_node(scripts, asked)


def differing(recipe: dict[str, Any], ran: Ran, answer: dict[str, Any]) -> list[str]:
    """The parts in which a page's plan, or its verdict, is not the program's."""
    native = device.as_in_node(recipe, launches.plan_in(ran.events))
    parts = [
        part
        for part in ("buffers", "steps", "read")
        if answer[part] != native[part] and (part != "read" or native["read"])
    ]
    kernels = {step["kernel"] for step in native["steps"] if "kernel" in step}
    if set(answer["entries"]) != kernels:
        parts.append("entries")
    if answer["verdict"] and native["read"]:
        # Of what a program tries beside its launch, a page says nothing.
        said = set(device.verdict_of(ran).splitlines())
        ok = ran.status == 0
        if not set(answer["verdict"]["what"].splitlines()) <= said or answer["verdict"]["ok"] != ok:
            parts.append("verdict")
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("name", device.CHAPTERS)
def test_a_plan_is_what_the_program_does(name: str, folder: Path) -> None:
    recipes = device.committed(name)["variants"]
    chapter = chapter_of(name, folder)
    asked = [
        (variant, *shape)
        for variant in chapter.variants
        if variant.name in recipes
        for shape in shapes(variant)
    ]
    cases = runs(chapter, asked)
    assert len(cases) == 4 * len(recipes) > 0
    answers = in_node([device.script(name, folder)], cases)
    judged, faulty = set(), set()
    for (variant, n, block, seed, ran), answer in zip(cases, answers, strict=True):
        where = f"{variant.name}, n = {n}, block {block}, seed {seed}"
        assert differing(recipes[variant.name], ran, answer) == [], where
        if answer["verdict"]:
            judged.add(variant.name)
        if ran.status == FAULTS:
            faulty.add(variant.name)
    # Of those that a fault ends everywhere there is no result to judge.
    assert judged | faulty == recipes.keys()
    assert judged


@pytest.mark.slow
@pytest.mark.parametrize("name", device.CHAPTERS)
def test_the_largest_inputs_are_the_programs(name: str, folder: Path) -> None:
    recipes = device.committed(name)["variants"]
    chapter = chapter_of(name, folder)
    #: One of each problem.
    problems = {v.told["problem"]: v for v in chapter.variants if v.name in recipes}
    asked = [
        (variant, variant.most if variant.most > 1000 else 200, variant.block, 3)
        for variant in problems.values()
    ]
    cases = runs(chapter, asked)
    answers = in_node([device.script(name, folder)], cases)
    assert answers
    for (variant, *_, ran), answer in zip(cases, answers, strict=True):
        assert differing(recipes[variant.name], ran, answer) == [], variant.name


@pytest.mark.slow
def test_recording_again_gives_the_same_recipes(folder: Path) -> None:
    name = device.CHAPTERS[0]
    again = launches.recorded(device.device(), device.program(name, folder))
    file = device.ROOT / launches.FOLDER / f"{name}.json"
    assert file.read_text(encoding="utf-8") == again


# ------------------------------------------------------------------------------ planted faults

PLANS = "plans.js"
SCRIPT = "chapter01_gmem.js"


@pytest.mark.parametrize(
    ("file", "before", "after", "part"),
    [
        (SCRIPT, '["cdiv","n","block"]', '["div","n","block"]', "steps"),
        (SCRIPT, '"grid":[["cdiv","n","block"],1,1]', '"grid":[["cdiv","n","block"],2,1]', "steps"),
        (SCRIPT, '{"value":"n","size":8}', '{"value":"n","size":4}', "steps"),
        (SCRIPT, '"bytes":["*",4,"n"]', '"bytes":["*",8,"n"]', "buffers"),
        (SCRIPT, '"repeats":"ad0b0080"', '"repeats":"ad0b0081"', "buffers"),
        (SCRIPT, '"read":[{"buffer":1', '"read":[{"buffer":0', "read"),
        (PLANS, "0x133111eb", "0x133111ec", "buffers"),
        (PLANS, "pHigh = Math.floor(p / 2 ** 32)", "pHigh = 1", "buffers"),
        (PLANS, "(low > 0xffffffff ? 1 : 0)", "0", "buffers"),
        (PLANS, "sum += partials[i]", "sum += 2 * partials[i]", "verdict"),
        (PLANS, "as expected`", "as it should be`", "verdict"),
        (PLANS, "needed.has(name)", "true", "entries"),
    ],
)
def test_a_planted_fault_is_seen(
    file: str, before: str, after: str, part: str, folder: Path, tmp_path: Path
) -> None:
    name = Path(SCRIPT).stem
    recipes = device.committed(name)["variants"]
    chapter = chapter_of(name, folder)
    variant = next(each for each in chapter.variants if each.name == "gmem")
    cases = runs(chapter, [(variant, 1023, 100, 2018), (variant, 1023, 100, 2**64 - 1)])
    sources = {PLANS: device.STATIC / PLANS, SCRIPT: device.script(name, folder)}
    scripts = [tmp_path / each for each in sources]
    for copy, source in zip(scripts, sources.values(), strict=True):
        copy.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")

    def seen() -> set[str]:
        answers = in_node(scripts, cases)
        return {
            part
            for (*_, ran), answer in zip(cases, answers, strict=True)
            for part in differing(recipes["gmem"], ran, answer)
        }

    assert seen() == set()
    spoilt = tmp_path / file
    text = spoilt.read_text(encoding="utf-8")
    assert before in text
    spoilt.write_text(text.replace(before, after), encoding="utf-8")
    assert part in seen()
