"""What the page says of machine code, checked on what nvcc makes of the kernels today."""

from __future__ import annotations

import pytest

from chapters.tests.machine import REGISTER, compiled
from common.records.machine_code import Code, Instruction

pytestmark = pytest.mark.all

CHAPTER = "chapter05_unroll4"


@pytest.fixture(scope="module")
def unrolled() -> dict[str, Code]:
    instances = "".join(
        f"template __global__ void chapter05::unroll<{factor}>(const int*, int*, std::size_t);\n"
        for factor in (1, 2, 4, 8, 16)
    )
    instances += "".join(
        f"template __global__ void chapter05::by_warps<{factor}>(const int*, int*, std::size_t);\n"
        for factor in (4, 8)
    )
    return compiled(CHAPTER, instances)


def loads_before_first_use(code: Code) -> tuple[int, int]:
    """How many global loads there are, and how many come before any of their results is read."""
    loaded: set[str] = set()
    before = 0
    used = False
    total = 0
    for each in code:
        registers = REGISTER.findall(each.text)
        if each.operation == "LDG":
            total += 1
            if not used:
                before += 1
                loaded.add(registers[0])
            continue
        writes_first = not each.operation.startswith(("ST", "BRA", "EXIT", "BAR"))
        sources = registers[1:] if writes_first else registers
        # A register set to zero beforehand, for a load that its guard skips, is no use of it.
        used = used or (total > 0 and any(register in loaded for register in sources))
    return total, before


@pytest.mark.parametrize(
    ("kernel", "factor"),
    [*(("unroll", factor) for factor in (1, 2, 4, 8, 16)), ("by_warps", 4), ("by_warps", 8)],
)
def test_all_loads_are_issued_before_the_first_add(
    unrolled: dict[str, Code], kernel: str, factor: int
) -> None:
    code = next(code for name, code in unrolled.items() if f"{kernel}ILj{factor}E" in name)
    assert loads_before_first_use(code) == (factor, factor)


def test_a_load_after_a_use_is_seen() -> None:
    planted = ["LDG.E R2, desc[UR4][R4.64]", "IADD3 R0, R2, R1, RZ", "@!P0 LDG.E R3, [R6.64]"]
    code = [Instruction(16 * place, text) for place, text in enumerate(planted)]
    assert loads_before_first_use(code) == (2, 1)
