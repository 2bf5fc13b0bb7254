"""What the page says of machine code, checked on what nvcc makes of the kernels today."""

from __future__ import annotations

import pytest

from chapters.expected import ROOT
from chapters.tests import machine
from chapters.tests.machine import compiled, named
from common.records import machine_code
from common.records.machine_code import Code

pytestmark = pytest.mark.all

CHAPTER = "chapter03_divergence"
TREES = ("interleaved", "interleaved_mask", "strided", "smem")


@pytest.fixture(scope="module")
def kernels() -> dict[str, Code]:
    return machine.shown(CHAPTER)


@pytest.mark.parametrize("name", TREES)
def test_a_trees_short_body_is_predicated(kernels: dict[str, Code], name: str) -> None:
    """No branch of it can part lanes: all depend on the block's size alone, or end the thread."""
    code = kernels[f"{CHAPTER}/{name}"]
    steps = machine_code.loop(code)
    assert [each.operation for each in steps if each.operation == "BRA"] == ["BRA"], "but its own"
    memory = [each for each in steps if each.operation in ("LDS", "STS")]
    assert sorted(each.operation for each in memory) == ["LDS", "LDS", "STS"]
    assert all(each.predicated for each in memory)
    assert not [each for each in code if each.operation in ("BSSY", "BSYNC", "BRX", "WARPSYNC")]


@pytest.mark.nvcc
def test_the_classic_last_warp_is_lucky() -> None:
    """Its lanes are not parted, so its sums are right: chapter 3 calls that luck."""
    code = named(compiled(CHAPTER, header="legacy.cuh"), "in_step_classic")
    last_warp = machine_code.between(code, "^BSSY", "^BSYNC")
    over, back = (each for each in last_warp if each.operation == "BRA")
    assert over.target == last_warp[-1].address, "jumped over by whole warps, if (t < 32)"
    assert back.target and back.target < back.address, "and but for its loop, straight on"
    memory = [each for each in last_warp if each.operation in ("LDS", "STS")]
    assert len(memory) == 3 and all(each.predicated for each in memory)


def test_the_remainder_is_most_of_its_loop(kernels: dict[str, Code]) -> None:
    """Chapter 3's counts of instructions a round."""
    loops = {name: machine_code.loop(kernels[f"{CHAPTER}/{name}"]) for name in TREES}
    divide = {name for name, code in loops.items() if "MUFU" in [i.operation for i in code]}
    assert divide == {"interleaved"}
    if machine.toolkit() == machine_code.load(ROOT).nvcc:
        assert {name: len(code) for name, code in loops.items()} == {
            "interleaved": 30,
            "interleaved_mask": 14,
            "strided": 14,
            "smem": 13,
        }


def test_paths_are_real_branches_that_meet_again(kernels: dict[str, Code]) -> None:
    code = kernels[f"{CHAPTER}/mixed"]
    operations = [each.operation for each in code]
    (parting,), (meeting,) = (
        [place for place, operation in enumerate(operations) if operation == wanted]
        for wanted in ("BSSY", "BSYNC")
    )
    within = code[parting:meeting]
    back = [each for each in within if each.target is not None and each.target < each.address]
    on = [each for each in within if each.predicated and each.operation == "BRA"]
    assert len(back) == 32, "a loop for each path"
    assert len(on) - len(back) == 31, "a branch for each but one"
    assert len({each.text for each in within if each.operation == "LOP3"}) > 32, "patterns differ"
