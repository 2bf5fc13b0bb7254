"""The page launches what the programs launch, on the same bytes, and judges results as they do."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docs.tests import device
from tools.measuring import launches
from tools.measuring.launches import Chapter, Listed, Ran
from tools.measuring.plans import plan_in

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

SEEDS = (2018, 1, 2**63 + 5)
#: A fault of the kernel's ends these on the device, so that nothing is read.
FAULTS = 3
#: Rows from this length on may have more results than are written out.
LONG = 1024

Case = tuple[Listed, int, int, int, Ran]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("device")


def chapter_of(name: str, folder: Path) -> Chapter:
    return Chapter(device.device(), device.program(name, folder), folder)


def shapes(recipe: dict[str, Any], number: int) -> Iterator[tuple[int, int, int]]:
    """Five that a panel offers: two of the smallest, of which all that is read is written out, and
    three others. The next variant has others, until all had their turn."""
    sizes, blocks = recipe["sizes"], recipe["blocks"]
    chosen = [sizes[0], sizes[1 % len(sizes)]]
    chosen += [sizes[(number + k * len(sizes) // 3) % len(sizes)] for k in range(3)]
    for k, n in enumerate(chosen):
        yield n, blocks[(number + 2 * k) % len(blocks)], SEEDS[k % len(SEEDS)]


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
    native = device.as_in_node(recipe, plan_in(ran.events))
    parts = [part for part in ("buffers", "steps") if answer[part] != native[part]]
    if native["read"]:
        count = device.read_so_far(ran, answer["read"])
        if answer["read"][:count] != native["read"]:
            parts.append("read")
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


@pytest.mark.parametrize("name", device.CHAPTERS)
def test_a_plan_is_what_the_program_does(name: str, folder: Path) -> None:
    recipes = device.committed(name)["variants"]
    chapter = chapter_of(name, folder)
    there = [variant for variant in chapter.variants if variant.name in recipes]
    cases = runs(
        chapter,
        [
            (variant, *shape)
            for number, variant in enumerate(there)
            for shape in shapes(recipes[variant.name], number)
        ],
    )
    assert len(cases) == 5 * len(recipes) > 0
    answers = in_node([device.script(name, folder)], cases)
    judged, faulty, long = set(), set(), set()
    for (variant, n, block, seed, ran), answer in zip(cases, answers, strict=True):
        where = f"{variant.name}, n = {n}, block {block}, seed {seed}"
        assert differing(recipes[variant.name], ran, answer) == [], where
        if answer["verdict"]:
            judged.add(variant.name)
        elif device.rows_of(recipes[variant.name]) >= LONG:
            long.add(variant.name)
        if ran.status == FAULTS:
            faulty.add(variant.name)
    # Of those that a fault ends everywhere there is no result to judge. Results as long as rows are
    # judged where a page runs the kernel (test_device_counts.py).
    assert judged | faulty | long == recipes.keys()
    assert len(judged) > len(recipes) / 2


@pytest.mark.parametrize("name", device.CHAPTERS)
def test_the_largest_inputs_are_the_programs(name: str, folder: Path) -> None:
    recipes = device.committed(name)["variants"]
    chapter = chapter_of(name, folder)
    #: One of each problem.
    problems = {v.told["problem"]: v for v in chapter.variants if v.name in recipes}
    asked = [(v, recipes[v.name]["sizes"][-1], v.block, 3) for v in problems.values()]
    cases = runs(chapter, asked)
    answers = in_node([device.script(name, folder)], cases)
    assert answers
    for (variant, *_, ran), answer in zip(cases, answers, strict=True):
        assert differing(recipes[variant.name], ran, answer) == [], variant.name


@pytest.mark.release
@pytest.mark.parametrize("name", device.CHAPTERS)
def test_recording_again_gives_the_same_launches(name: str, folder: Path) -> None:
    """At every size and block that a panel offers, the program launches what is committed."""
    again = launches.recorded(device.device(), device.program(name, folder))
    file = device.ROOT / launches.FOLDER / f"{name}.json"
    assert again.splitlines() == file.read_text(encoding="utf-8").splitlines()


# ------------------------------------------------------------------------------ planted faults

PLANS = "plans.js"
SCRIPT = "chapter01_gmem.js"


@pytest.mark.parametrize(
    ("file", "before", "after", "part"),
    [
        (SCRIPT, ",16,10,8,", ",16,11,8,", "steps"),
        (SCRIPT, '"e803000000000000"', '"e903000000000000"', "steps"),
        (SCRIPT, "[4,124,132,4000,", "[4,124,132,4004,", "buffers"),
        (PLANS, "block: width, both", "block: size, both", "steps"),
        (PLANS, "size * blocks.length + width", "width * sizes.length + size", "steps"),
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
    shapes = [(1000, 100, 2018), (1000, 100, 2**64 - 1)]
    clean, spoilt = seen(SCRIPT, "gmem", shapes, (file, before, after), folder, tmp_path)
    assert clean == set()
    assert part in spoilt


TABLE = "chapter12_rows.js"


@pytest.mark.parametrize(
    ("variant", "file", "before", "after", "part"),
    [
        ("sum_lanes_32", PLANS, "Math.floor(n / columns)", "Math.ceil(n / columns)", "verdict"),
        ("sum_lanes_32", PLANS, "{ columns, rows:", "{ columns: 2 * columns, rows:", "buffers"),
        (
            "layer_norm_lanes_4",
            TABLE,
            "weightBits(column) * 2",
            "weightBits(column) * 3",
            "buffers",
        ),
        ("moments_of_squares", TABLE, "fround(16384 + (high", "(0 + (high", "buffers"),
        ("maximum_without_nan", TABLE, "? Infinity : number", "? -Infinity : number", "buffers"),
        # What a result is held to: each takes a right one for wrong, or tells it otherwise.
        ("sum_lanes_32", TABLE, "facts.sum += x", "facts.sum += 2 * x", "verdict"),
        ("sum_lanes_32", TABLE, "but for rounding`", "but rounded`", "verdict"),
        ("column_sum_4", TABLE, "element(i, which)", "element(which, i)", "verdict"),
        ("copy_rows_32", TABLE, "(!Object.is(", "(Object.is(", "verdict"),
        ("maximum_lanes_32", TABLE, "x > facts.most", "x < facts.most", "verdict"),
        ("argmax_lanes_32", TABLE, "facts.column = i", "facts.column = 0", "verdict"),
        ("moments_lanes_32", TABLE, "(away * away)", "away", "verdict"),
        ("softmax_lanes_4", TABLE, "facts.exponentials += ", "facts.exponentials = ", "verdict"),
        ("layer_norm_lanes_4", TABLE, "scaled + bias : NaN", "scaled - bias : NaN", "verdict"),
        ("row_of_one_block", TABLE, "text(allowed, 2)", "text(allowed, 3)", "verdict"),
        ("moments_added_up", TABLE, "depthOf(columns, block)], //", "0], //", "verdict"),
        ("maximum_without_nan", TABLE, "(Number.isNaN(x) &&", "(x === 0 &&", "verdict"),
    ],
)
def test_a_fault_planted_in_a_table_is_seen(
    variant: str, file: str, before: str, after: str, part: str, folder: Path, tmp_path: Path
) -> None:
    recipe = device.committed(Path(TABLE).stem)["variants"][variant]
    columns = device.rows_of(recipe)
    # Few rows, so that what is read of them is written out, and elements that make no row.
    few = next(n for n in recipe["sizes"] if n > 3 * columns and n % columns)
    shapes = [(few, 128, 2018)]
    clean, spoilt = seen(TABLE, variant, shapes, (file, before, after), folder, tmp_path)
    assert clean == set()
    assert part in spoilt


def seen(
    script: str,
    variant: str,
    shapes: list[tuple[int, int, int]],
    fault: tuple[str, str, str],
    folder: Path,
    tmp_path: Path,
) -> tuple[set[str], set[str]]:
    """What differs from the program in a variant's plans, without a planted fault and with it."""
    name = Path(script).stem
    recipe = device.committed(name)["variants"][variant]
    chapter = chapter_of(name, folder)
    listed = next(each for each in chapter.variants if each.name == variant)
    cases = runs(chapter, [(listed, *shape) for shape in shapes])
    sources = {PLANS: device.STATIC / PLANS, script: device.script(name, folder)}
    scripts = [tmp_path / each for each in sources]
    for copy, source in zip(scripts, sources.values(), strict=True):
        copy.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")

    def parts() -> set[str]:
        answers = in_node(scripts, cases)
        return {
            part
            for (*_, ran), answer in zip(cases, answers, strict=True)
            for part in differing(recipe, ran, answer)
        }

    clean = parts()
    file, before, after = fault
    spoilt = tmp_path / file
    text = spoilt.read_text(encoding="utf-8")
    assert before in text
    spoilt.write_text(text.replace(before, after), encoding="utf-8")
    return clean, parts()
