"""What the page says of machine code, checked on what nvcc makes of the kernels today."""

from __future__ import annotations

import pytest

from chapters.tests.machine import ARCH, compiled

pytestmark = pytest.mark.all

CHAPTER = "chapter09_histogram"


def atomics_of(arch: str) -> dict[str, set[str]]:
    """The atomics in shared memory of each kernel of chapter 9."""
    instances = "".join(
        f"template __global__ void chapter09::meet<{known}>"
        "(unsigned*, std::size_t, unsigned, unsigned);\n"
        for known in ("true", "false")
    )
    return {
        name: {each.text.split()[0] for each in code if each.operation.startswith("ATOMS")}
        for name, code in compiled(CHAPTER, instances, arch).items()
    }


@pytest.mark.parametrize(
    ("arch", "known"),
    [("sm_75", "ATOMS.ADD"), ("sm_80", "ATOMS.POPC.INC.32"), (ARCH, "ATOMS.POPC.INC.32")],
)
def test_from_80_on_lanes_that_add_one_are_counted(arch: str, known: str) -> None:
    found = atomics_of(arch)
    for part, wanted in (
        ("4meetILb1E", known),
        ("4meetILb0E", "ATOMS.ADD"),
        ("count_shared", known),
    ):
        assert [made for name, made in found.items() if part in name] == [{wanted}]
