"""What the book says of machine code, checked on what nvcc makes of the kernels today."""

from __future__ import annotations

import re

import pytest

from chapters.tests.machine import compiled
from common.records.machine_code import Code, Instruction

pytestmark = pytest.mark.all

CHAPTER = "chapter07_effective_bandwidth"
LOADS = (2, 4)


@pytest.fixture(scope="module")
def wide() -> dict[str, Code]:
    instances = "".join(
        f"template __global__ void chapter07::wide<{loads}>(const int*, int*, std::size_t);\n"
        for loads in LOADS
    )
    return compiled(CHAPTER, instances)


def wide_loads_in_flight(code: Code) -> int:
    """How many 16-byte loads are issued before anything reads what one of them has loaded."""
    loaded: set[str] = set()
    for each in code:
        registers = re.findall(r"\bR\d+\b", each.text)
        if "LDG.E.128" in each.text:
            first = int(registers[0][1:])
            loaded |= {f"R{first + k}" for k in range(4)}
            continue
        # The first register is written, but in stores: a zero for a load that its guard skips.
        reads = registers if each.operation.startswith("ST") else registers[1:]
        if loaded & set(reads):
            break
    return len(loaded) // 4


@pytest.mark.parametrize("loads", LOADS)
def test_all_wide_loads_are_in_flight_at_once(wide: dict[str, Code], loads: int) -> None:
    code = next(code for name, code in wide.items() if f"4wideILj{loads}E" in name)
    assert sum("LDG.E.128" in each.text for each in code) == loads
    assert wide_loads_in_flight(code) == loads


def test_a_load_after_a_use_is_seen() -> None:
    planted = [
        "LDG.E.128 R4, desc[UR4][R2.64]",
        "IADD3 R0, R6, R1, RZ",
        "@!P0 LDG.E.128 R8, [R2.64]",
    ]
    code = [Instruction(16 * place, text) for place, text in enumerate(planted)]
    assert wide_loads_in_flight(code) == 1
