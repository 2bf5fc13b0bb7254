"""A kernel of each chapter and those of long rows, run in Chromium: as the native device does it.

The page's device does what the runtime does (tools/emulator/tests/test_page_device.py), and a page
launches what a program launches (test_device_plans.py), whose kernels of long rows are judged here.
"""

from __future__ import annotations

import base64
import csv
import re
import shutil
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from docs.tests import device
from docs.tests.test_device_plans import LONG
from tools.measuring import profilers
from tools.measuring.launches import Chapter, Listed, Ran

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

SEED = 11
RUN = """async ([base, chapter, cases, spoil]) => {
  await LadderPlans.load(base, chapter);
  const device = await LadderDevice.open(base);
  const text = (bytes) => {
    let characters = "";
    for (let i = 0; i < bytes.length; i += 4096) {
      characters += String.fromCharCode(...bytes.subarray(i, i + 4096));
    }
    return btoa(characters);
  };
  const answers = [];
  for (const { variant, n, block, seed } of cases) {
    const plan = LadderPlans.plan(chapter, variant, { n, block, seed });
    const ptx = plan.request.ptx.replace(...spoil);
    if (spoil[0] && ptx === plan.request.ptx) throw new Error(`no ${spoil[0]}`);
    const result = await device.run({
      ...plan.request, ptx, checks: "", apart: null, limit: 0, lines: false, trace: null,
    });
    if (result.error) throw new Error(`${variant}: ${result.error}`);
    const { launches, fault, read } = result;
    answers.push({ launches, fault, read: read.map(text), verdict: plan.expect(read) });
  }
  return answers;
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("device")


@pytest.fixture(scope="module")
def page(folder: Path, browser: Browser) -> Iterator[Page]:
    """A page from the file system, with the device and all chapters' files."""
    scripts = ("client.js", "plans.js")
    for name in ("client.js", "device.js", "plans.js"):
        shutil.copy(device.STATIC / name, folder)
    for chapter in device.CHAPTERS:
        device.script(chapter, folder)
    tags = "".join(f'<script src="{name}"></script>' for name in scripts)
    (folder / "page.html").write_text(f"<!doctype html>{tags}", encoding="utf-8")
    opened = browser.new_page()
    opened.goto((folder / "page.html").as_uri())
    yield opened
    opened.close()


def shapes(recipe: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Three that a panel offers: a small one, one in the middle, and of the large ones not the
    slowest."""
    sizes, blocks = recipe["sizes"], recipe["blocks"]
    for k, size in enumerate((len(sizes) // 4, len(sizes) // 2, 3 * len(sizes) // 4)):
        yield sizes[size], blocks[(3 * k + 1) % len(blocks)]


Case = tuple[Listed, int, int, Ran, list[dict[str, Any]]]


def natively(chapter: Chapter, recipes: dict[str, Any], folder: Path) -> list[Case]:
    """What the programs launch, count and read."""
    asked = list(
        dict.fromkeys(
            (variant, *shape)
            for variant in chapter.variants
            if variant.name in recipes
            for shape in shapes(recipes[variant.name])
        )
    )

    def run(number: int) -> Case:
        variant, n, block = asked[number]
        counts = folder / f"{number}.csv"
        ran = chapter.ran(variant.name, n, block, SEED, EMU_CSV=str(counts))
        text = counts.read_text(encoding="utf-8") if counts.exists() else ""
        counts.unlink(missing_ok=True)
        return variant, n, block, ran, counted(text)

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, range(len(asked))))


def counted(text: str) -> list[dict[str, Any]]:
    """The launches of a table, with every metric that it has."""
    heading = next(csv.reader([text.partition("\n")[0]]), [])
    return profilers.ncu_launches(text, [name for name in heading if name.endswith(".sum")])


def chosen(recipes: dict[str, Any]) -> dict[str, Any]:
    """The first, and those whose results test_device_plans.py doesn't judge."""
    first = next(iter(recipes))
    return {
        name: recipe
        for name, recipe in recipes.items()
        if name == first or device.rows_of(recipe) >= LONG
    }


def in_the_page(
    page: Page, folder: Path, name: str, cases: list[Case], spoil: tuple[str, str] = ("", "")
) -> list[dict[str, Any]]:
    asked = [
        {"variant": variant.name, "n": n, "block": block, "seed": SEED}
        for variant, n, block, *_ in cases
    ]
    answers: list[dict[str, Any]] = page.evaluate(RUN, [folder.as_uri() + "/", name, asked, spoil])
    return answers


def differing(case: Case, answer: dict[str, Any]) -> list[str]:
    """In what a page's run is not the program's."""
    variant, _, _, ran, counts = case
    found = []
    ours = [launch["counters"] for launch in answer["launches"]]
    theirs = [launch["metrics"] for launch in counts]
    if variant.told["counters"] != "none" and ours != theirs:  # else it looks as often as it takes
        found.append("counters")
    verdict = answer["verdict"]
    if answer["fault"] or ran.status not in (0, 1):
        message = (answer["fault"] or {}).get("message", "no fault")
        if of_any_ptx(message) not in of_any_ptx(ran.err) or verdict["ok"]:
            found.append("fault")
        return found
    count = device.read_so_far(ran, answer["read"])
    read = [zlib.crc32(base64.b64decode(each)) for each in answer["read"][:count]]
    if read != read_sums(ran, count):
        found.append("read")
    said = set(device.verdict_of(ran).splitlines())
    if verdict["ok"] != (ran.status == 0) or not set(verdict["what"].splitlines()) <= said:
        found.append("verdict")
    return found


@pytest.mark.parametrize("name", device.CHAPTERS)
def test_counts_and_results_are_the_native_devices(name: str, page: Page, folder: Path) -> None:
    recipes = chosen(device.committed(name)["variants"])
    chapter = Chapter(device.device(), device.program(name, folder), folder)
    cases = natively(chapter, recipes, folder)
    answers = in_the_page(page, folder, name, cases)
    for case, answer in zip(cases, answers, strict=True):
        variant, n, block, *_ = case
        where = f"{variant.name}, n = {n}, block {block}"
        assert differing(case, answer) == [], where
        assert answer["launches"] or answer["fault"], where
    assert {variant.name for variant, *_ in cases} == recipes.keys()


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ("add.s32 %r10, %r8, %r9;", "sub.s32 %r10, %r8, %r9;", {"read", "verdict"}),
        ("add.s32 %r10, %r8, %r9;", "add.s32 %r10, %r8, %r9;\nmov.u32 %r8, 0;", {"counters"}),
    ],
)
def test_a_planted_instruction_is_seen(
    before: str, after: str, seen: set[str], page: Page, folder: Path
) -> None:
    name = "chapter01_gmem"
    recipe = device.committed(name)["variants"]
    chapter = Chapter(device.device(), device.program(name, folder), folder)
    cases = natively(chapter, {"gmem": recipe["gmem"]}, folder)
    spoilt = in_the_page(page, folder, name, cases, (before, after))
    for case, answer in zip(cases, spoilt, strict=True):
        assert seen <= set(differing(case, answer))


def test_a_chapter_that_is_not_there_is_told(page: Page, folder: Path) -> None:
    said = page.evaluate(
        "base => LadderPlans.load(base, 'chapter99').catch((error) => error.message)",
        folder.as_uri(),
    )
    assert said.endswith("/chapter99.js can't be loaded")
    assert page.evaluate("LadderPlans.variants('chapter99')") == []


def of_any_ptx(text: str) -> str:
    """Without the number of a line of PTX, of which a page has less."""
    return re.sub(r"PTX line \d+", "PTX line", text)


def read_sums(ran: Ran, count: int) -> list[int]:
    """Check sums of what the host read in the end."""
    last = max(i for i, event in enumerate(ran.events) if event["event"] == "launch")
    reads = ran.events[last + 1 : last + 1 + count]
    sums = []
    for event in reads:
        unit = bytes.fromhex(event.get("repeats", ""))
        sums.append(zlib.crc32(unit * (event["bytes"] // len(unit))) if unit else event["crc32"])
    return sums
