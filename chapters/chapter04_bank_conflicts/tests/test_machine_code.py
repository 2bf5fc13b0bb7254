"""What the page says of machine code, checked on what nvcc makes of the kernels today."""

from __future__ import annotations

import pytest

from chapters.tests import machine
from chapters.tests.machine import REGISTER
from common.records import machine_code
from common.records.machine_code import Code

pytestmark = pytest.mark.all

CHAPTER = "chapter04_bank_conflicts"


@pytest.fixture(scope="module")
def kernels() -> dict[str, Code]:
    return machine.shown(CHAPTER)


@pytest.mark.parametrize(
    ("name", "wide", "narrow"),
    [
        ("tile_as_written", 0, 64),
        ("tile", 16, 0),
        ("tile_padded", 8, 32),
        ("tile_padded4", 16, 0),
        ("tile_swizzled", 8, 32),
        ("tile_swizzled4", 16, 0),
    ],
)
def test_shared_loads_of_a_tile_are_merged_where_they_can_be(
    kernels: dict[str, Code], name: str, wide: int, narrow: int
) -> None:
    """Chapter 4's numbers of loads for 32 products, 16 bytes or 4 of them."""
    code = machine_code.loop(kernels[f"{CHAPTER}/{name}"])
    loads = [each.text for each in code if each.operation == "LDS"]
    assert sum("LDS.128" in load for load in loads) == wide
    assert sum("LDS.128" not in load and "LDS.64" not in load for load in loads) == narrow
    assert len(loads) == wide + narrow
    assert len([each for each in code if each.operation == "FFMA"]) == 32


def test_the_walk_loads_its_own_addresses(kernels: dict[str, Code]) -> None:
    """Eight rounds in one: as many loads, each of the address that the one before brought."""
    code = kernels[f"{CHAPTER}/stride_walk"]
    loads = [each for each in code if each.operation == "LDS"]
    assert len(loads) == 8
    backwards = [each for each in code if each.target is not None and each.target < each.address]
    (around,) = [each for each in backwards if each.target <= loads[0].address < each.address]
    inside = [each for each in code if around.target <= each.address <= around.address]
    assert len(inside) < 3 * len(loads)
    for load in loads:
        to, address = REGISTER.findall(load.text)
        assert to == address
    assert not [each for each in inside if each.operation in ("STS", "LDG", "STG")]
