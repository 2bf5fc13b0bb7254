"""The changes that are made, and what counts as one."""

from __future__ import annotations

import re

import pytest

from common.records.mutants import OPERATORS
from tools.mutating import ROOT
from tools.mutating.mutant import Mutant
from tools.mutating.operators import mutants
from tools.mutating.sources import PRELUDE, Ptx, for_older, kernel_files, older_lines

pytestmark = pytest.mark.all

SOURCE = b"""\
template <unsigned Half>
__device__ void fold(int* tile) {
  if (blockDim.x >= 2 * Half && threadIdx.x < Half) tile[threadIdx.x] += tile[threadIdx.x + Half];
}
int on_the_host(int a) { return a + 1 < 2; }
__global__ void last(const int* in, unsigned* ticket, std::size_t n) {
  extern __shared__ __align__(16) unsigned char bytes[];
  const std::size_t i = blockIdx.x;
  __syncthreads();
  fold<32>(nullptr);
  __threadfence();
  atomicAdd(ticket, i < n ? 1u : 0u);
  atomicExch_system(ticket, 0u);
}
"""


def changes(source: bytes = SOURCE) -> set[tuple[str, str, str]]:
    return {(m.operator, m.before, m.after) for m in mutants("a.cuh", source)}


@pytest.mark.parametrize(
    "wanted",
    [
        ("comparison", ">=", ">"),
        ("comparison", "<", "<="),
        ("condition", "&&", "||"),
        ("condition", "i < n ? 1u : 0u", "(1u)"),
        ("arithmetic", "+=", "="),
        ("arithmetic", "*", "+"),
        ("constant", "32", "31"),
        ("barrier", "__syncthreads();", ";"),
        ("barrier", "__syncthreads", "__syncwarp"),
        ("fence", "__threadfence();", ";"),
        ("fence", "__threadfence", "__threadfence_block"),
        ("atomic", "atomicAdd", "mutating::plain_Add"),
        ("atomic", "atomicAdd", "atomicAdd_block"),
        ("atomic", "atomicExch_system", "mutating::plain_Exch"),
        ("atomic", "atomicExch_system", "atomicExch"),
        ("atomic", "atomicExch_system", "atomicExch_block"),
        ("index", "blockIdx.x", "(blockIdx.x + 1)"),
        ("index", "threadIdx.x + Half", "threadIdx.x + Half + 1"),
        ("statement", "fold<32>(nullptr);", ";"),
        ("type", "std::size_t", "unsigned short"),
    ],
)
def test_each_kind_of_change_is_made(wanted: tuple[str, str, str]) -> None:
    assert wanted in changes()


def test_host_code_and_brackets_of_templates_are_left_alone() -> None:
    found = mutants("a.cuh", SOURCE)
    host = SOURCE.split(b"\n").index(b"int on_the_host(int a) { return a + 1 < 2; }") + 1
    assert not [m for m in found if m.line == host]
    assert not [m for m in found if m.before == "<" and m.line in (1, 10)]


def test_a_change_keeps_the_numbers_of_lines_and_is_made_once() -> None:
    found = mutants("a.cuh", SOURCE)
    assert len({(m.begin, m.end, m.after) for m in found}) == len(found)
    for mutant in found:
        changed = mutant.apply(SOURCE)
        assert changed != SOURCE and changed.count(b"\n") == SOURCE.count(b"\n")
        assert Mutant.read(mutant.told()) == mutant


def test_every_kind_is_found_in_the_kernels() -> None:
    kinds = set()
    for file in kernel_files():
        found = mutants(file, (ROOT / file).read_bytes())
        assert found or "struct" in file
        kinds |= {mutant.operator for mutant in found}
    assert kinds == OPERATORS.keys()


def test_code_for_older_cards_is_known() -> None:
    source = b"""\
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
new
#else
old
#endif
both
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
oldest
#endif
"""
    assert older_lines(source) == {4, 8}
    assert for_older(source).count(b"#if 0\n") == for_older(source).count(b"#if 1\n") == 1


def test_every_condition_on_the_card_is_one_that_is_understood() -> None:
    for file in kernel_files():
        text = (ROOT / file).read_text(encoding="utf-8")
        lines = re.findall(r"^#\s*(?:el)?if.*__CUDA_ARCH__.*$", text, re.M)
        assert len(lines) == sum(
            bool(re.fullmatch(r"#if defined\(__CUDA_ARCH__\) && __CUDA_ARCH__ (<|>=) \d+", line))
            for line in lines
        )


PTX = """\
.shared .align 4 .b8 tile[4096];
.visible .entry one(
)
{
\tmov.u32 %r1, tile; // a comment
\t.loc 1 2 3
\tret;
}
.visible .entry two(
)
{
\tret;
}
"""


def test_kernels_differ_by_code_alone() -> None:
    base = Ptx(PTX)
    assert base.kernels.keys() == {"one", "two"}
    assert Ptx(PTX.replace("1 2 3", "1 9 9").replace("a comment", "")).changed_from(base) == set()
    assert Ptx(PTX.replace("4096", "4092")).changed_from(base) == {"one"}
    assert Ptx(PTX.replace("\tret;\n}\n.vis", "\tbar;\n}\n.vis")).changed_from(base) == {"one"}
    assert Ptx("").changed_from(base) == {"one", "two"}


def test_every_atomic_of_the_book_can_be_lost() -> None:
    """Else the compiler refuses the change, and it would count as refused."""
    lost = {
        mutant.after.removeprefix("mutating::")
        for file in kernel_files()
        for mutant in mutants(file, (ROOT / file).read_bytes())
        if mutant.after.startswith("mutating::")
    }
    assert lost and all(f" {name}(" in PRELUDE for name in lost), lost
