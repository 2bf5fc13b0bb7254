"""Mistakes planted by hand: each is rejected, and for the reason that its chapter gives.

Needs nvcc and the matrix programs, and no GPU.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.mutating.mistakes import Mistake, chapters, mistakes
from tools.mutating.nets import LOOKED_AT, ODD, SEEDS, Caught
from tools.mutating.sources import Compiler
from tools.mutating.trial import Bench, programs_of
from tools.tests.built import BUILD, nvcc

pytestmark = [pytest.mark.release, pytest.mark.built("programs", "embedded_device")]

ALL = [mistake for chapter in chapters() for mistake in mistakes(chapter)]


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bench]:
    work = tmp_path_factory.mktemp("benches")
    return {c: Bench(c, BUILD, work, programs_of(c, BUILD)) for c in chapters()}


def test_there_is_one_for_each_net() -> None:
    nets = {"result", "race", "memory", "init", "sync", "sum", "counters", "stopped"}
    assert nets == {m.net for m in ALL}
    assert len(ALL) >= 20


@pytest.mark.parametrize("mistake", ALL, ids=lambda m: f"{m.chapter[:9]}-{m.name}")
def test_a_mistake_is_rejected_for_its_reason(mistake: Mistake, benches: dict[str, Bench]) -> None:
    said = benches[mistake.chapter].rejected(mistake.mutant, mistake.net)
    assert said is not None and mistake.says in said


@pytest.mark.parametrize("chapter", ["chapter02_smem", "chapter10_coalescing"])
def test_the_kernels_as_they_are_get_through(chapter: str, benches: dict[str, Bench]) -> None:
    bench = benches[chapter]
    file, ptx = bench.base("kernels.cuh", older=False)
    assert bench.catch(set(ptx.kernels), file, file).by == {}


#: What a net once took for a fault in the kernels as they are: work that is long a lane at a time,
#: and lanes of a warp that poll what one of them writes.
ONCE_REJECTED = {
    "chapter12_rows": ("column_sums", "softmax_by_blocks"),
    "chapter13_small_and_large": ("sent_to_one", "block_ring"),
}


@pytest.mark.parametrize("chapter", ONCE_REJECTED)
def test_no_net_rejects_a_long_kernel_as_it_is(chapter: str, benches: dict[str, Bench]) -> None:
    bench = benches[chapter]
    file, ptx = bench.base("kernels.cuh", older=False)
    asked = {name for name in ptx.kernels if any(each in name for each in ONCE_REJECTED[chapter])}
    caught = Caught()
    for nets in bench.nets:
        variants = nets.program.that_launch(asked)
        nets.checks(variants, file, file, caught, [*LOOKED_AT, *ODD])
        nets.schedules(variants, file, file, caught, SEEDS)
    assert asked and caught.by == {}


def test_a_broken_change_is_refused_and_a_comment_is_none(tmp_path: Path) -> None:
    compiler = Compiler("chapter02_smem", "kernels.cuh", nvcc(), tmp_path, [])
    assert isinstance(compiler.compile(compiler.source.replace(b"__syncthreads()", b"sync(")), str)
    base = compiler.compile(compiler.source)
    again = compiler.compile(compiler.source.replace(b"add nothing", b"add no thing"))
    assert not isinstance(base, str) and base.kernels
    assert not isinstance(again, str) and again.changed_from(base) == set()
