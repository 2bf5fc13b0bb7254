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
from common.input import SEED
from common.records import other_libraries as libraries
from figures.chapters import chapter11_floats as floats
from figures.tests.test_traces import trace

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

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
    total = float(sum(exact(at(SEED, position)) for position in range(n)))
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
            word = at(SEED, COMPONENTS * (lane + LANES * load) + component)
            row = loads[turn].addresses[lane] // 8
            assert row == LANES * floats.bin_of(word) + lane


# ------------------------------------------------------------- other people's sums, as recorded

LINE = "torch float ill 5000 4.0e-04 1 2 5 2.50 2.40 2.60"


def test_a_line_of_a_librarys_sum_is_read() -> None:
    (found,) = libraries.float_sums(f"# NVIDIA H200\nlibrary method\n{LINE}\n")
    assert found == libraries.FloatSum("torch", "float", "ill", 5000, 4e-4, 1, 2, 5, 2.5)


@pytest.mark.parametrize("line", ["torch float ill", LINE + " 1", LINE.replace("5000", "many")])
def test_a_line_that_is_no_sum_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="line 2 gives no sum"):
        libraries.float_sums(f"{LINE}\n{line}\n")


def test_a_libraries_row_stands_in_the_picture_where_all_data_are_there() -> None:
    sums = [libraries.FloatSum("torch", "float", data, 4000, 1e-7, 1, 2, 5, 2.0)
            for data in floats.DATA]  # fmt: skip
    (row,) = floats._theirs(sums, 4000)
    assert (row.name, row.speed) == ("PyTorch", "8")
    assert list(floats._theirs(sums[1:], 4000)) == [] == list(floats._theirs(sums, 4001))
    assert row.kept == (True, False, False)
    assert "on all four kinds of data" in floats._bits_told(sums, 4000)
    assert floats._bits_told(sums, 4001) == ""
