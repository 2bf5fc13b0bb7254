"""Run it here: which listings get the fold, and what it hands to the script."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bs4 import Tag

from common.records import columns
from docs.tests.conftest import GMEM, SMEM, Book, Built, write

pytestmark = pytest.mark.all

LEGACY = """\
    namespace chapter02::legacy {
    // begin smem-classic
    __global__ void smem_classic(int* data) { data[0] = helper(); }
    // end smem-classic
    }  // namespace chapter02::legacy
    """
HELPER = """\
    #pragma once
    namespace chapter02 {
    // begin helper
    __device__ inline int helper() { return 1; }
    // end helper
    // begin smem-loop
    __global__ void smem(int* data) { data[0] = helper(); }
    // end smem-loop
    }  // namespace chapter02
    """


@pytest.fixture
def running(recorded_book: Book) -> Book:
    """Chapter 2 has a kernel, what it calls, and a faulty form; both kernels run in the page."""
    root = recorded_book.root
    write(root / "chapters" / SMEM / "kernels.cuh", HELPER)
    write(root / "chapters" / SMEM / "legacy.cuh", LEGACY)
    launched(recorded_book, SMEM, smem="smem-loop", smem_classic="smem-classic", gmem="gmem-loop")
    return recorded_book


def launched(book: Book, chapter: str, **variants: str) -> None:
    """What the embedded set says of the variants that a page can launch."""
    offered = {"sizes": [100, 4096], "blocks": [64, 256]}
    data = {"variants": {name: {"region": region, **offered} for name, region in variants.items()}}
    path = book.root / "figures" / "data" / "embedded" / "launches" / f"{chapter}.json"
    write(path, json.dumps(data))


def folds(built: Built, page: str = "index") -> list[Tag]:
    assert built.warnings == []
    return list(built.page(page).select("details.run-here"))


def data_of(fold: Tag) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(str(fold["data-run"]))
    return data


def page(text: str) -> str:
    return f"Page\n====\n\n{text}"


def test_a_kernel_that_runs_has_its_fold_and_a_helper_has_none(running: Book) -> None:
    text = f".. listing:: {SMEM} smem-loop\n\n.. listing:: {SMEM} helper\n"
    (fold,) = folds(running.build(index=page(text)))
    assert fold["id"] == "run-smem-loop"
    assert data_of(fold) == {
        "chapter": SMEM,
        "region": "smem-loop",
        "device": "H200",
        "variants": [{"name": "smem", "region": "smem-loop"}],
        "presets": [],
    }
    assert "open" not in fold.attrs
    above = fold.find_previous_sibling()
    assert isinstance(above, Tag) and "listing" in above["class"]


def test_it_brings_the_code_that_the_listing_calls(running: Book) -> None:
    (fold,) = folds(running.build(index=page(f".. listing:: {SMEM} smem-loop\n")))
    (listing,) = fold.select(".run-code .listing")
    assert "helper" in listing.get_text() and "smem(int* data)" not in listing.get_text()


def test_the_whole_kernel_has_its_own_fold_where_the_page_lists_less(running: Book) -> None:
    text = f".. changed:: {GMEM} gmem-loop -> {SMEM} smem-loop\n"
    (fold,) = folds(running.build(index=page(text)))
    whole, more = fold.select(".run-code")
    assert whole.select_one("summary").get_text() == "The whole kernel"  # type: ignore[union-attr]
    assert "smem(int* data)" in whole.get_text() and "int helper()" not in whole.get_text()
    assert more.select_one("summary").get_text() == "More of the code that runs"  # type: ignore[union-attr]
    assert "int helper()" in more.get_text()


def test_without_scripts_it_is_a_command(running: Book) -> None:
    presets = "   :presets:\n      Races :: smem_classic n=2^12 block=64 checks=race\n"
    (fold,) = folds(running.build(index=page(f".. listing:: {SMEM} smem-loop\n{presets}")))
    command = (
        f"make {SMEM} && ../tools/emulate --check race ./run --once --variant smem_classic "
        "--n=4096 --block=64"
    )
    without = fold.select_one(".run-without")
    assert without is not None and command in without.get_text()


def test_without_scripts_the_command_has_the_schedule(running: Book) -> None:
    presets = "   :presets:\n      Apart :: smem_classic n=2^12 apart=7\n"
    (fold,) = folds(running.build(index=page(f".. listing:: {SMEM} smem-loop\n{presets}")))
    command = "../tools/emulate --schedule apart:7 ./run --once --variant smem_classic --n=4096"
    without = fold.select_one(".run-without")
    assert without is not None and command in without.get_text()


STILL = {
    "head": "smem, n = 64, block 64: block 0 of 1.",
    "said": "Warp 1, 2 of 32 lanes active: load 4 bytes each from shared memory.",
    "race": "A race: lane 0 reads what lane 16 wrote.",
    "source": ["kernels.cuh: ", "tile[t] < 1;"],
    "warps": [["warp 0", "+" + 31 * "."], ["warp 1", "##" + 30 * "."]],
    "lanes": [["b0", "w1", "on"], ["b0", "w2", "late"], *[["", "", ""]] * 30],
    "key": "b is the bank.",
    "access": [
        {"text": "2 wavefronts", "banks": [["wavefront 1", "#" + 31 * "."]], "sectors": []},
        {"text": "1 sector", "banks": [], "sectors": [["####....", "sector 0: lanes 0\u20133"]]},
    ],
}


def test_without_scripts_a_still_stands_there(running: Book) -> None:
    path = running.root / "docs" / "stills.json.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(columns.packed(json.dumps({"index": {"run-smem-loop": STILL}})))
    text = page(f".. listing:: {SMEM} smem-loop\n")
    (fold,) = folds(running.build(index=text))
    (still,) = fold.select(".run-without .run-still")
    rows = [[cell.get("class") for cell in row.select("i")] for row in still.select(".step-row")]
    assert [row[:2] for row in rows] == [[["was"], None], [["on"], ["on"]], [["on"], None]]
    assert [len(row) for row in rows] == [32, 32, 32]
    assert len(still.select(".step-lanes li")) == 32
    assert [one.get_text() for one in still.select(".step-lanes .late span")] == ["1", "b0", "w2"]
    assert len(still.select(".step-words i.on")) == 4
    for said in (STILL["head"], STILL["said"], STILL["race"], "tile[t] < 1;", "b is the bank."):
        assert str(said) in still.get_text()
    # Another picture is drawn anew, and a panel without one has the command alone.
    path.write_bytes(columns.packed(json.dumps({"index": {"run-gmem-loop": STILL}})))
    (fold,) = folds(running.build(index=text))
    assert fold.select(".run-still") == [] and fold.select_one(".run-without") is not None


def test_a_preset_brings_its_variant_and_that_kernels_code(running: Book) -> None:
    presets = "   :presets:\n      Races :: smem_classic n=2^12 checks=race step=conflict\n"
    (fold,) = folds(running.build(index=page(f".. listing:: {SMEM} smem-loop\n{presets}")))
    data = data_of(fold)
    assert [one["name"] for one in data["variants"]] == ["smem", "smem_classic"]
    assert data["presets"] == [
        {"label": "Races", "variant": "smem_classic", "n": 4096, "checks": "race",
         "step": "conflict"}
    ]  # fmt: skip
    assert "Faulty, shown as it was" in fold.get_text()


def test_the_page_s_own_chapter_runs_what_it_shares(running: Book) -> None:
    """Chapter 2 runs chapter 1's kernel, too: its page asks chapter 2's program."""
    launched(running, GMEM, gmem="gmem-loop")
    text = page(f".. listing:: {GMEM} gmem-loop\n")
    built = running.build(
        index="Book\n====\n\n.. toctree::\n   :glob:\n\n   chapters/*\n",
        **{f"chapters__{SMEM}": text, f"chapters__{GMEM}": text},
    )
    for chapter in (SMEM, GMEM):
        (fold,) = folds(built, f"chapters/{chapter}")
        assert data_of(fold)["chapter"] == chapter


def test_what_changed_runs_too_and_a_page_has_one_fold_for_a_kernel(running: Book) -> None:
    text = f".. changed:: {GMEM} gmem-loop -> {SMEM} smem-loop\n\n.. listing:: {SMEM} smem-loop\n"
    (fold,) = folds(running.build(index=page(text)))
    assert fold["id"] == "run-smem-loop"
    assert "smem(int* data)" in fold.select(".run-code .listing")[0].get_text()


def test_the_directive_stands_alone_and_is_told_apart(running: Book) -> None:
    text = f"""\
.. listing:: {SMEM} smem-loop

.. run-here:: {SMEM} smem-loop
   :label: Try it
   :open:
   :presets:
      Small :: smem n=100
"""
    first, second = folds(running.build(index=page(text)))
    assert [first["id"], second["id"]] == ["run-smem-loop", "run-smem-loop-2"]
    assert second["data-open"] == "yes" and "data-open" not in first.attrs
    summary = second.select_one("summary")
    assert summary is not None and summary.get_text() == "Try it"


def test_a_fold_may_come_later(running: Book) -> None:
    later = f"""\
.. listing:: {SMEM} smem-loop
   :later:

.. changed:: {GMEM} gmem-loop -> {SMEM} smem-loop
   :later:
"""
    assert folds(running.build(index=page(later))) == []
    text = f"{later}\nA guess.\n\n.. run-here:: {SMEM} smem-loop\n"
    (fold,) = folds(running.build(index=page(text)))
    assert fold["id"] == "run-smem-loop"
    above = fold.find_previous_sibling()
    assert isinstance(above, Tag) and above.get_text() == "A guess."


@pytest.mark.parametrize("option", [":step: race", ":presets:\n      Small :: smem"])
def test_a_fold_that_comes_later_has_its_options_there(running: Book, option: str) -> None:
    text = f".. listing:: {SMEM} smem-loop\n   :later:\n   {option}\n"
    built = running.build(index=page(text))
    assert any("it goes to its run-here" in warning for warning in built.warnings)


@pytest.mark.parametrize(
    ("preset", "message"),
    [
        ("Small: smem", "should read LABEL :: VARIANT"),
        ("Small :: smem smem", "should read LABEL :: VARIANT"),
        ("Small :: smen", f"{SMEM} runs no 'smen' in the page; nearest: smem"),
        ("Small :: smem size=3", "a preset has no 'size'"),
        ("Small :: smem n=many", "'many' is not a whole number"),
        ("Small :: smem n=99", "preset 'Small': smem has n= one of 100, 4096"),
        ("Small :: smem block=65", "preset 'Small': smem has block= one of 64, 256"),
        ("Small :: smem checks=races", "checks= is one of all, race, memory, init, sync, not "),
        ("Small :: smem step=middle", "a step is one of conflict"),
        ("Small :: smem step=global:", "a step is one of conflict"),
        ("Small :: smem step=global:x", "a step is one of conflict"),
        ("Small :: smem heat=red", "heat= is one of instructions"),
    ],
)
def test_a_preset_that_says_nothing_is_refused(running: Book, preset: str, message: str) -> None:
    text = f".. listing:: {SMEM} smem-loop\n   :presets:\n      {preset}\n"
    built = running.build(index=page(text))
    assert any(message in warning for warning in built.warnings), built.warnings


@pytest.mark.parametrize(
    ("asked", "given"),
    [("race", "race"), ("global:2", "global:2"), ("17", 17), ("warp-barrier", "warp-barrier")],
)
def test_a_listing_says_where_its_stepper_starts(
    running: Book, asked: str, given: str | int
) -> None:
    (fold,) = folds(
        running.build(index=page(f".. listing:: {SMEM} smem-loop\n   :step: {asked}\n"))
    )
    assert data_of(fold)["step"] == given


def test_a_start_that_is_no_step_is_refused(running: Book) -> None:
    built = running.build(index=page(f".. listing:: {SMEM} smem-loop\n   :step: middle\n"))
    assert any("a step is one of conflict" in warning for warning in built.warnings)


@pytest.mark.parametrize("option", [":step: race", ":presets:\n      Small :: smem"])
def test_presets_want_a_kernel_that_runs(running: Book, option: str) -> None:
    text = f".. listing:: {SMEM} helper\n   {option}\n"
    built = running.build(index=page(text))
    assert any("no variant runs 'helper'" in warning for warning in built.warnings)


def test_run_here_wants_a_kernel_that_runs(running: Book) -> None:
    built = running.build(index=page(f".. run-here:: {SMEM} helper\n"))
    assert any("no variant runs 'helper'" in warning for warning in built.warnings)


def test_a_page_follows_what_can_be_launched(running: Book) -> None:
    text = page(f".. listing:: {SMEM} smem-loop\n")
    assert len(folds(running.build(index=text))) == 1
    launched(running, SMEM, smem_classic="smem-classic")
    built = running.build(index=text)
    assert built.read == ["index"]
    assert folds(built) == []
