"""What a page gets of each chapter: the build's own PTX, small, and the programs' own words."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from common.records import columns
from common.records.counters import OF_BOTH
from docs.tests import device
from tools.measuring import page
from tools.measuring.launches import Chapter, Listed
from tools.measuring.ptx import digest
from tools.tests.built import ROOT

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

PTX_LIMIT = 400_000  # bytes, compressed, of all chapters


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("device")


def data_of(chapter: str, folder: Path) -> dict[str, Any]:
    text = device.script(chapter, folder).read_text(encoding="utf-8").splitlines()[0]
    begin = f'LadderPlans.add("{chapter}", '
    assert text.startswith(begin) and text.endswith(");")
    data: dict[str, Any] = json.loads(text[len(begin) : -2])
    return data


def body_of(name: str, text: str) -> str:
    """A kernel in the program's PTX, without the names of inlined functions and empty lines."""
    # Inline PTX may end in a brace of its own: the last one stands before the next item.
    end = r"^}$(?=\n+(?:\.(?!loc)|/)|\s*\Z)"
    found = re.search(rf"^\.visible \.entry {re.escape(name)}\(.*?{end}", text, re.M | re.S)
    assert found, name
    named = re.sub(r", function_name \S+(?=,)", "", found[0])
    return "\n".join(line for line in named.splitlines() if line.strip())


@pytest.mark.parametrize("chapter", device.CHAPTERS)
def test_the_ptx_is_the_builds(chapter: str, folder: Path) -> None:
    ptx = data_of(chapter, folder)["ptx"]
    printed = page.printed_ptx(device.device(), device.program(chapter, folder).path)
    assert ptx["hash"] == digest(ptx["head"], ptx["files"], *ptx["items"].values())
    assert ptx["uses"]
    for kernel, uses in ptx["uses"].items():
        assert kernel in uses and set(uses) <= ptx["items"].keys()
        assert ptx["items"][kernel] == body_of(kernel, printed)


@pytest.mark.parametrize("chapter", device.CHAPTERS)
def test_nothing_of_one_machine_is_in_it(chapter: str, folder: Path) -> None:
    ptx = data_of(chapter, folder)["ptx"]
    assert "_INTERNAL_" not in "".join(ptx["items"].values())
    files = re.findall(r'"([^"]*)"', ptx["files"])
    assert any(file.startswith(f"chapters/{chapter}/") for file in files)
    for file in files:
        assert not file.startswith("/")
        assert "/" not in file or (ROOT / file).is_file()


def test_all_chapters_are_small(folder: Path) -> None:
    texts = [json.dumps(data_of(chapter, folder)["ptx"]) for chapter in device.CHAPTERS]
    assert len(texts) >= 10
    size = sum(len(gzip.compress(text.encode(), 9)) for text in texts)
    assert 20_000 < size < PTX_LIMIT


@pytest.mark.parametrize("chapter", device.CHAPTERS)
def test_every_variant_is_there_or_left_out(chapter: str, folder: Path) -> None:
    known = device.committed(chapter)
    program = Chapter(device.device(), device.program(chapter, folder), folder)
    names = [variant.name for variant in program.variants]
    assert sorted([*known["variants"], *known["left_out"]]) == sorted(names)
    for variant in program.variants:
        if variant.name in known["variants"]:
            assert known["variants"][variant.name]["region"] == variant.told["region"]


def test_what_hardware_counted_is_what_was_recorded(folder: Path) -> None:
    chapter, variant = "chapter02_smem", "smem"
    data = data_of(chapter, folder)
    rows = {(v, n, block): counts for v, n, block, counts in data["hardware"]}
    assert len(rows) == len(data["hardware"]) > 20
    assert max(n for _, n, _ in rows) == 2**20
    small = (ROOT / "chapters/tests/nvidia-h200.csv").read_text(encoding="utf-8")
    (line,) = re.findall(
        rf"^{chapter},--once --variant {variant} --n 1000 --block 64,.*$", small, re.M
    )
    assert rows[variant, 1000, 64] == [int(count) for count in line.split(",")[5:13]]
    (run,) = [
        run
        for run in columns.read(ROOT / "figures/data/nvidia-h200/counters.json")["runs"]
        if (run["chapter"], run["variant"], run["n"], run["block"])
        == (chapter, variant, 2**20, 256)
    ]
    (launch,) = run["launches"]
    assert rows[variant, 2**20, 256] == [launch["metrics"][m] for m in OF_BOTH]


def bad_shapes(variant: Listed) -> list[tuple[int, int]]:
    shapes = [(-1, variant.block), (1000, 0), (1000, 1025), (1000, -7)]
    shapes += [(1, block) for block in (31, 96, 1000, 1023) if not variant.takes(block)]
    if variant.most < 2**20:
        most = variant.most
        shapes += [(most + 1, variant.block), (12 * most, variant.block), (2**20, variant.block)]
    return shapes


@pytest.mark.parametrize("name", device.CHAPTERS)
def test_refusals_are_the_programs_words(name: str, folder: Path) -> None:
    recipes = device.committed(name)["variants"]
    chapter = Chapter(device.device(), device.program(name, folder), folder)
    #: One of each way to refuse.
    kinds = {
        (variant.told["blocks"]["text"], variant.most): variant
        for variant in chapter.variants
        if variant.name in recipes
    }
    cases = [
        {"chapter": name, "variant": variant.name, "n": n, "block": block, "seed": "1"}
        for variant in kinds.values()
        for n, block in bad_shapes(variant)
    ]
    answers = device.in_node([device.script(name, folder)], cases)
    assert len(cases) >= 4
    for case, answer in zip(cases, answers, strict=True):
        native = chapter.ran(case["variant"], case["n"], case["block"])
        assert native.refusal and answer == {"refused": native.refusal}, case


@pytest.mark.parametrize("name", device.CHAPTERS)
def test_no_elements_are_no_launch(name: str, folder: Path) -> None:
    chapter = Chapter(device.device(), device.program(name, folder), folder)
    runs = device.committed(name)["variants"]
    variant = next(each for each in chapter.variants if each.name in runs)
    case = {"chapter": name, "variant": variant.name, "n": 0, "block": variant.block, "seed": "1"}
    (answer,) = device.in_node([device.script(name, folder)], [case])
    said = chapter.ran(variant.name, 0, variant.block).out.splitlines()[-1]
    assert answer == {"nothing": said}


@pytest.mark.parametrize("chapter", device.CHAPTERS)
def test_what_a_page_does_not_offer_is_refused(chapter: str, folder: Path) -> None:
    recipes = device.committed(chapter)["variants"]
    for name in (next(iter(recipes)), list(recipes)[-1]):
        sizes, blocks = recipes[name]["sizes"], recipes[name]["blocks"]
        shape = {"chapter": chapter, "variant": name, "seed": "1"}
        other = next(n for n in range(sizes[1], sizes[-1]) if n not in sizes)
        cases = [{**shape, "n": other, "block": blocks[0]}]
        takes = Chapter(device.device(), device.program(chapter, folder), folder).variants
        (variant,) = [each for each in takes if each.name == name]
        narrow = [block for block in range(1, 1025) if variant.takes(block) and block not in blocks]
        cases += [{**shape, "n": sizes[0], "block": block} for block in narrow[:1]]
        said = device.in_node([device.script(chapter, folder)], cases)
        assert "a page takes n of 0, " in said[0]["refused"], name
        for answer in said[1:]:
            assert answer["refused"].startswith(f"--block {narrow[0]}: a page takes blocks of ")


def test_more_than_a_page_takes_is_refused(folder: Path) -> None:
    chapter = device.CHAPTERS[0]
    (variant, *_) = device.committed(chapter)["variants"]
    case = {"chapter": chapter, "variant": variant, "n": 2**20 + 1, "block": 256, "seed": "1"}
    large = {**case, "n": 999999999999999 * 2**30}  # JavaScript's own text of it is 1.07e+24
    said = device.in_node([device.script(chapter, folder)], [case, large])
    for answer, n in zip(said, ("1 048 577", "1 073 741 823 999 998 926 258 176"), strict=True):
        assert answer == {
            "refused": f"--n {n}: a page takes n of 0, 1, 31, 33, 1000, 2^10, 2^12, 10 007, 2^14, "
            "2^16, 65 537, 65 539, 2^17, 2^18, 1 048 575 or 2^20; the program itself takes others"
        }
    (answer,) = device.in_node([device.script(chapter, folder)], [{**case, "variant": "none"}])
    assert "has no variant none" in answer["refused"]
