"""What the pages say of machine code, checked on what nvcc makes of the kernels today.

Needs no GPU: nvcc compiles for the recorded device's architecture, cuobjdump lists the result.
Run as a program, this writes the listings that pages show (figures/data/machine_code.json).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from figures import machine_code  # noqa: E402
from figures.machine_code import Code, Instruction, MachineCode  # noqa: E402
from tools.tests.built import environment, nvcc, tool  # noqa: E402

ARCH = "sm_90"
#: The kernels that pages show, by chapter; those of a chapter that it includes are there too.
SHOWN = {
    "chapter03_divergence": ("interleaved", "interleaved_mask", "strided", "smem", "mixed"),
    "chapter04_bank_conflicts": ("stride_walk",),
    "chapter08_multi_pass": ("last_block",),
    "chapter09_histogram": ("count_shared",),
}
#: Instances of templates that pages show, by chapter: the variant, its kernel and a part of the
#: mangled name.
INSTANCES = {
    "chapter04_bank_conflicts": {
        "tile": ("product<chapter04::Plain>", "7productINS_5PlainEfE"),
        "tile_padded": ("product<chapter04::Padded>", "7productINS_6PaddedEfE"),
        "tile_padded4": ("product<chapter04::PaddedBy4>", "7productINS_9PaddedBy4EfE"),
        "tile_swizzled": ("product<chapter04::Swizzled>", "7productINS_8SwizzledEfE"),
        "tile_swizzled4": ("product_by_4<chapter04::SwizzledBy4>", "12product_by_4INS_11Swi"),
        "tile_as_written": ("product<chapter04::Plain, volatile float>", "5PlainEVfE"),
    }
}
_REGISTER = re.compile(r"\bR\d+\b")


def _compiled(folder: Path, chapter: str, instances: str = "", arch: str = ARCH) -> dict[str, Code]:
    """Instructions of every kernel of a chapter, by its mangled name."""
    source = folder / f"{chapter}.cu"
    header = ROOT / "chapters" / chapter / "kernels.cuh"
    source.write_text(f'#include "{header}"\n{instances}', encoding="utf-8")
    cubin = folder / f"{chapter}.cubin"
    subprocess.run(
        [nvcc(), "-std=c++20", "-O3", f"-arch={arch}", "-cubin", "-o", cubin, source],
        check=True,
    )
    text = subprocess.run(
        [tool("cuobjdump"), "-sass", cubin],
        check=True,
        capture_output=True,
        text=True,
        env=environment(),
    ).stdout
    return machine_code.parse(text)


def _named(compiled: dict[str, Code], name: str) -> Code:
    """The kernel of that name, which stands in the mangled one behind its length."""
    (code,) = [code for mangled, code in compiled.items() if f"{len(name)}{name}E" in mangled]
    return code


def _shown(folder: Path) -> MachineCode:
    """The listings of SHOWN, from what nvcc makes of the kernels."""
    said = subprocess.run([nvcc(), "--version"], check=True, capture_output=True, text=True)
    version = re.search(r"V(\d+\.\d+\.\d+)", said.stdout)
    assert version, said.stdout
    kernels = {}
    for chapter, names in SHOWN.items():
        instances = INSTANCES.get(chapter, {})
        text = "".join(
            f"template __global__ void {chapter.partition('_')[0]}::{kernel}"
            "(const float*, float*, unsigned);\n"
            for kernel, _ in instances.values()
        )
        compiled = _compiled(folder, chapter, text)
        kernels |= {f"{chapter}/{name}": _named(compiled, name) for name in names}
        for name, (_, part) in instances.items():
            (code,) = [code for mangled, code in compiled.items() if part in mangled]
            kernels[f"{chapter}/{name}"] = code
    return MachineCode(version[1], ARCH, kernels)


# ------------------------------------------------------------------------- what pages show


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MachineCode:
    return _shown(tmp_path_factory.mktemp("machine_code"))


def test_the_listings_shown_are_what_nvcc_makes(made: MachineCode) -> None:
    recorded = machine_code.load(ROOT)
    if recorded.nvcc != made.nvcc:
        pytest.skip(f"recorded with nvcc {recorded.nvcc}; this is {made.nvcc}")
    assert recorded == made, f"if that is right, run {Path(__file__).relative_to(ROOT)}"


TREES = ("interleaved", "interleaved_mask", "strided", "smem")


@pytest.mark.parametrize("name", TREES)
def test_a_trees_short_body_is_predicated(made: MachineCode, name: str) -> None:
    """No branch of it can part lanes: all depend on the block's size alone, or end the thread."""
    code = made.kernel("chapter03_divergence", name)
    steps = machine_code.loop(code)
    assert [each.operation for each in steps if each.operation == "BRA"] == ["BRA"], "but its own"
    memory = [each for each in steps if each.operation in ("LDS", "STS")]
    assert sorted(each.operation for each in memory) == ["LDS", "LDS", "STS"]
    assert all(each.predicated for each in memory)
    assert not [each for each in code if each.operation in ("BSSY", "BSYNC", "BRX", "WARPSYNC")]


@pytest.mark.nvcc
def test_the_classic_last_warp_is_lucky(tmp_path: Path) -> None:
    """Its lanes are not parted, so its sums are right: chapter 3 calls that luck."""
    legacy = ROOT / "chapters/chapter03_divergence/legacy.cuh"
    compiled = _compiled(tmp_path, "chapter03_divergence", f'#include "{legacy}"\n')
    code = _named(compiled, "in_step_classic")
    last_warp = machine_code.between(code, "^BSSY", "^BSYNC")
    over, back = (each for each in last_warp if each.operation == "BRA")
    assert over.target == last_warp[-1].address, "jumped over by whole warps, if (t < 32)"
    assert back.target and back.target < back.address, "and but for its loop, straight on"
    memory = [each for each in last_warp if each.operation in ("LDS", "STS")]
    assert len(memory) == 3 and all(each.predicated for each in memory)


def test_the_remainder_is_most_of_its_loop(made: MachineCode) -> None:
    """Chapter 3's counts of instructions a round."""
    loops = {name: machine_code.loop(made.kernel("chapter03_divergence", name)) for name in TREES}
    divide = {name for name, code in loops.items() if "MUFU" in [i.operation for i in code]}
    assert divide == {"interleaved"}
    if made.nvcc == machine_code.load(ROOT).nvcc:
        assert {name: len(code) for name, code in loops.items()} == {
            "interleaved": 30,
            "interleaved_mask": 14,
            "strided": 14,
            "smem": 13,
        }


def test_paths_are_real_branches_that_meet_again(made: MachineCode) -> None:
    code = made.kernel("chapter03_divergence", "mixed")
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


# --------------------------------------------------------------------- chapter 4's tiles


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
    made: MachineCode, name: str, wide: int, narrow: int
) -> None:
    """Chapter 4's numbers of loads for 32 products, 16 bytes or 4 of them."""
    code = machine_code.loop(made.kernel("chapter04_bank_conflicts", name))
    loads = [each.text for each in code if each.operation == "LDS"]
    assert sum("LDS.128" in load for load in loads) == wide
    assert sum("LDS.128" not in load and "LDS.64" not in load for load in loads) == narrow
    assert len(loads) == wide + narrow
    assert len([each for each in code if each.operation == "FFMA"]) == 32


def test_the_walk_loads_its_own_addresses(made: MachineCode) -> None:
    """Eight rounds in one: as many loads, each of the address that the one before brought."""
    code = made.kernel("chapter04_bank_conflicts", "stride_walk")
    loads = [each for each in code if each.operation == "LDS"]
    assert len(loads) == 8
    backwards = [each for each in code if each.target is not None and each.target < each.address]
    (around,) = [each for each in backwards if each.target <= loads[0].address < each.address]
    inside = [each for each in code if around.target <= each.address <= around.address]
    assert len(inside) < 3 * len(loads)
    for load in loads:
        to, address = _REGISTER.findall(load.text)
        assert to == address
    assert not [each for each in inside if each.operation in ("STS", "LDG", "STG")]


# --------------------------------------------------------------------- chapter 5's loads


@pytest.fixture(scope="module")
def unrolled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Code]:
    instances = "".join(
        f"template __global__ void chapter05::unroll<{factor}>(const int*, int*, std::size_t);\n"
        for factor in (1, 2, 4, 8, 16)
    )
    return _compiled(tmp_path_factory.mktemp("unroll"), "chapter05_unroll4", instances)


def loads_before_first_use(code: Code) -> tuple[int, int]:
    """How many global loads there are, and how many come before any of their results is read."""
    loaded: set[str] = set()
    before = 0
    used = False
    total = 0
    for each in code:
        registers = _REGISTER.findall(each.text)
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


@pytest.mark.parametrize("factor", [1, 2, 4, 8, 16])
def test_all_loads_are_issued_before_the_first_add(unrolled: dict[str, Code], factor: int) -> None:
    code = next(code for name, code in unrolled.items() if f"unrollILj{factor}E" in name)
    assert loads_before_first_use(code) == (factor, factor)


def test_a_load_after_a_use_is_seen() -> None:
    planted = ["LDG.E R2, desc[UR4][R4.64]", "IADD3 R0, R2, R1, RZ", "@!P0 LDG.E R3, [R6.64]"]
    code = [Instruction(16 * place, text) for place, text in enumerate(planted)]
    assert loads_before_first_use(code) == (2, 1)


# --------------------------------------------------------------------- chapter 9's atomics


def atomics_of(folder: Path, arch: str) -> dict[str, set[str]]:
    """The atomics in shared memory of each kernel of chapter 9."""
    instances = "".join(
        f"template __global__ void chapter09::meet<{known}>"
        "(unsigned*, std::size_t, unsigned, unsigned);\n"
        for known in ("true", "false")
    )
    return {
        name: {each.text.split()[0] for each in code if each.operation.startswith("ATOMS")}
        for name, code in _compiled(folder, "chapter09_histogram", instances, arch).items()
    }


@pytest.mark.parametrize(
    ("arch", "known"),
    [("sm_75", "ATOMS.ADD"), ("sm_80", "ATOMS.POPC.INC.32"), (ARCH, "ATOMS.POPC.INC.32")],
)
def test_from_80_on_lanes_that_add_one_are_counted(arch: str, known: str, tmp_path: Path) -> None:
    found = atomics_of(tmp_path, arch)
    for part, wanted in (
        ("4meetILb1E", known),
        ("4meetILb0E", "ATOMS.ADD"),
        ("count_shared", known),
    ):
        assert [made for name, made in found.items() if part in name] == [{wanted}]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = _shown(Path(folder)).text()
    (ROOT / machine_code.FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
