"""Chapter 11's diagram shows the floats of its program, and the bins that its kernel takes."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from chapters.tests.programs import program
from figures.chapters import chapter11_floats as floats
from figures.tests.test_traces import trace

KINDS = {"wide": floats.wide_at, "uniform": floats.uniform_at}
LANES, LOADS, COMPONENTS = 32, 4, 4


def exact(word: int) -> Fraction:
    return Fraction(struct.unpack("<f", struct.pack("<I", word))[0])


@pytest.mark.parametrize(("kind", "at"), KINDS.items())
def test_its_floats_add_up_to_the_programs_sum(kind: str, at: Callable[[int, int], int]) -> None:
    n = 1000
    done = subprocess.run(
        [program(floats.NAME), "--device", "embedded", "--once", "--variant", f"exact_{kind}",
         "--n", str(n)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = re.search(r"the exact sum, to the nearest float: (\S+)", done.stdout)
    assert told
    total = float(sum(exact(at(floats.SEED, position)) for position in range(n)))
    assert struct.pack("<f", total) == struct.pack("<f", float(told[1]))


@pytest.mark.parametrize(("kind", "at"), KINDS.items())
def test_a_lane_finds_its_bin_where_the_diagram_has_it(
    kind: str, at: Callable[[int, int], int], tmp_path: Path
) -> None:
    n = LANES * LOADS * COMPONENTS  # so that no place is past the end
    traced = trace(tmp_path, floats.NAME, f"exact_{kind}", n, LANES, 0)
    loads = [
        part
        for instruction in traced.of_warp(0)
        for part in instruction.parts
        if (part.space, part.direction) == ("shared", "load")
    ]
    for turn in range(LOADS * COMPONENTS):
        load, component = divmod(turn, COMPONENTS)
        for lane in range(LANES):
            word = at(floats.SEED, COMPONENTS * (lane + LANES * load) + component)
            row = loads[turn].addresses[lane] // 8
            assert row == LANES * floats.bin_of(word) + lane
