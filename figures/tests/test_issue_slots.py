"""The pictures of chapters 1 and 2 show what the hardware counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from common.records import machine_code
from common.records.machine_code import Code, NoSuchCode
from common.records.recordings import Recordings, counter_of
from figures.chapters.chapter01_gmem.walks import walks
from figures.chapters.chapter02_smem import slot_colours
from figures.kit import slots
from figures.kit.style import LIGHT, contrast, luminance

pytestmark = pytest.mark.all

WARPS, STEPS = 8, 8


def _code(repository: Path) -> Code:
    return machine_code.load(repository).kernel("chapter03_divergence", "interleaved")


def _issued(code: Code) -> int:
    """By a block of 256: every warp goes through the loop eight times, the first to the end."""
    body = machine_code.loop(code)
    first, last = code.index(body[0]), code.index(body[-1])
    leave = next(place for place in range(last, len(code)) if code[place].operation == "EXIT")
    by_every_warp = first + STEPS * len(body) + (leave - last)
    return WARPS * by_every_warp + len(code) - 1 - leave


def test_the_slots_drawn_are_those_counted(repository: Path) -> None:
    counted = Recordings(repository).counters("chapter02_smem", "interleaved")
    grid = counted.run["launches"][0]["grid"][0]
    code = _code(repository)
    assert _issued(code) * grid == counter_of(counted, "instructions")
    within = code.index(machine_code.loop(code)[3])
    assert _issued(code[:within] + code[within + 1 :]) * grid < counter_of(counted, "instructions")


def test_what_the_loop_issues_its_instructions_for(repository: Path) -> None:
    kinds = slots.kinds(_code(repository))
    assert len(kinds) == 30
    counts = {kind: kinds.count(kind) for kind in set(kinds)}
    assert counts == {slots.ADD: 1, slots.SHARED: 3, slots.BARRIER: 1, slots.REST: 25}


def test_a_loop_that_warps_go_through_differently_is_refused(repository: Path) -> None:
    code = _code(repository)
    place = code.index(machine_code.loop(code)[5])
    jump = replace(code[place], text=f"@P0 BRA 0x{code[place + 2].address:x}")
    with pytest.raises(NoSuchCode, match="branches within"):
        slots.kinds([*code[:place], jump, *code[place + 1 :]])
    store = next(each for each in code if each.operation == "STS" and each.predicated)
    with pytest.raises(NoSuchCode, match="stores 2 times"):
        slots.kinds([replace(store, address=each.address) if each is code[place] else each
                     for each in code])  # fmt: skip


def test_the_walks_drawn_are_those_counted(repository: Path) -> None:
    steps = walks(256)
    assert [step.additions for step in steps] == [128, 64, 32, 16, 8, 4, 2, 1, 0]
    assert [step.loaded + step.stored for step in steps] == [96, 96, 96, 48, 24, 12, 6, 3, 2]
    counted = Recordings(repository).counters("chapter01_gmem", "gmem_interleaved")
    grid = counted.run["launches"][0]["grid"][0]
    for name, moved in (
        ("global_load_sectors", sum(step.loaded for step in steps)),
        ("global_store_sectors", sum(step.stored for step in steps)),
    ):
        assert moved * grid == counter_of(counted, name)


def test_printed_in_grey_the_kinds_of_slot_stay_apart() -> None:
    colours = sorted(slot_colours(LIGHT).values(), key=luminance)
    ratios = [contrast(one, other) for one, other in pairwise(colours)]
    assert len(ratios) == 3 and min(ratios) > 1.5, ratios
