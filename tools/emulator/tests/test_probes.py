"""The probes on the embedded device count what hardware counted, launch by launch: equality.

probes/nvidia-h200.csv is what ncu recorded (probes/record); the same source runs here, with no GPU.
"""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path

import pytest

from tools.emulator.tests.probes import forms
from tools.measuring.profilers import kernel_name
from tools.tests.built import nvcc

pytestmark = pytest.mark.built("programs", "embedded_device")

EMULATOR = Path(__file__).resolve().parents[1]
PROBES = EMULATOR / "probes"
WHERE = ("kernel", "grid", "block")


def recorded() -> list[dict[str, str]]:
    lines = (PROBES / "nvidia-h200.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    folder = tmp_path_factory.mktemp("probes")
    program, page = folder / "probes", folder / "page.csv"
    options = ["-std=c++20", "-O3", "-cudart", "shared", "-arch=compute_90"]
    subprocess.run([nvcc(), *options, "-o", program, PROBES / "probes.cu"], check=True)
    emulate = EMULATOR.parent / "emulate"
    names = subprocess.run(
        [emulate, "--csv", page, program], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    with page.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ID"]]
    assert len(rows) == len(names)
    return [{**row, "probe": name.split(" ", 1)[1]} for row, name in zip(rows, names, strict=True)]


def test_the_list_of_probes_is_the_recorded_one(counted: list[dict[str, str]]) -> None:
    assert [row["probe"] for row in counted] == [row["probe"] for row in recorded()]


def test_every_counter_of_every_probe_is_the_hardwares(counted: list[dict[str, str]]) -> None:
    metrics = [name for name in recorded()[0] if name.endswith(".sum")]
    assert len(metrics) == 8
    differing = [
        f"{ours['probe']}: {metric} is {ours[metric]}, hardware counted {theirs[metric]}"
        for ours, theirs in zip(counted, recorded(), strict=True)
        for metric in metrics
        if int(ours[metric]) != int(theirs[metric])
    ]
    assert differing == []


def test_kernels_and_shapes_are_named_as_ncu_names_them(counted: list[dict[str, str]]) -> None:
    columns = {"kernel": "Kernel Name", "grid": "Grid Size", "block": "Block Size"}
    differing = [
        (ours[columns[what]], theirs[what])
        for ours, theirs in zip(counted, recorded(), strict=True)
        for what in WHERE
        if ours[columns[what]] != theirs[what]
    ]
    # ncu writes numbers among a template's arguments with their type, but here without, and leaves
    # out nvcuda's inner namespace. What tools/measure reads is the same.
    own = re.compile(r"<\(unsigned int\)\d>|nvcuda::wmma::")
    assert [names for names in differing if not own.search(names[0])] == []
    assert len(differing) == sum(
        "matrix" in row["kernel"] or "nvcuda" in row["kernel"] for row in recorded()
    )
    for ours, theirs in differing:
        assert kernel_name(ours) == kernel_name(theirs)


# ------------------------------------------------------------------ what a run says of its counts


PTX = """
.visible .entry k(
\t.param .u64 k_param_0
)
.maxntid 64, 1, 1
{
\t.reg .pred \t%p<2>;
\t.loc\t1 3 5
$L__BB0_1:
\tld.param.u64 \t%rd1, [k_param_0]; // a comment; with.a.word
\t@!%p1 bra.uni \t$L__BB0_1;
\t{ atom.shared.add.u32 %r1, [%r2], 1; }
\tcall.uni (retval0), f, (param0);
\tret;

}
"""


def test_forms_are_what_instructions_begin_with() -> None:
    expected = {"ld.param.u64", "bra.uni", "atom.shared.add.u32", "call.uni", "ret"}
    assert forms.forms(PTX) == expected


SOURCE = """
#include <cuda_runtime.h>
__global__ void plain(int* to) { to[threadIdx.x] = threadIdx.x; }
__global__ void sine(float* to) { to[threadIdx.x] = __sinf(to[threadIdx.x]); }
__global__ void histogram(int* to) {
  __shared__ int mine[32];
  atomicAdd(&mine[to[threadIdx.x]], 1);
  __syncthreads();
  to[threadIdx.x] = mine[threadIdx.x];
}
__global__ void tile(float* to) {
  __shared__ __align__(16) float mine[64];
  mine[threadIdx.x] = to[threadIdx.x];
  __syncthreads();
  float a, b;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(mine));
  asm("ld.shared.f32 %0, [%1];" : "=f"(a) : "r"(at));
  asm("ld.shared.f32 %0, [%1+4];" : "=f"(b) : "r"(at));
  to[threadIdx.x] = a + b;
}
int main(int, char** arguments) {
  int* memory;
  cudaMalloc(&memory, 256);
  cudaMemset(memory, 0, 256);
  for (const char* which = arguments[1]; *which; ++which) {
    if (*which == 'p') plain<<<1, 32>>>(memory);
    if (*which == 's') sine<<<1, 32>>>(reinterpret_cast<float*>(memory));
    if (*which == 'h') histogram<<<1, 32>>>(memory);
    if (*which == 't') tile<<<1, 32>>>(reinterpret_cast<float*>(memory));
  }
  cudaDeviceSynchronize();
  cudaFree(memory);
}
"""
EXACT = "embedded device: counts: requests and sectors are hardware's, and so are shared wavefronts"


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    source, program = folder / "kinds.cu", folder / "kinds"
    source.write_text(SOURCE, encoding="utf-8")
    options = ["-cudart", "shared", "-arch=compute_90"]
    subprocess.run([nvcc(), *options, "-o", program, source], check=True)
    return program


def said(program: Path, which: str, *options: str | Path) -> str:
    command = [EMULATOR.parent / "emulate", *options, program, which]
    return subprocess.run(command, check=True, capture_output=True, text=True).stderr


def test_a_run_that_counts_says_what_its_counts_are_worth(kinds: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.csv"
    (plain,) = said(kinds, "p", "--csv", page).splitlines()
    assert plain.startswith(EXACT + "; of the ")
    assert plain.endswith(" forms of instructions, all were compared with an H200")
    (sine,) = said(kinds, "psps", "--csv", page).splitlines()
    assert sine.endswith(", 1 wasn't compared with an H200: sin.approx.f32")
    (histogram,) = said(kinds, "h", "--csv", page).splitlines()
    assert histogram.startswith(EXACT + " (those of shared atomics aren't counted); of the ")
    (tile,) = said(kinds, "t", "--csv", page).splitlines()
    assert "which may be fewer there in tile(float *), where the assembler may merge loads" in tile
    # Where nothing is counted there is nothing to say.
    assert said(kinds, "p") == ""
    assert said(kinds, "", "--csv", page) == ""
    (apart,) = said(kinds, "p", "--csv", page, "--schedule", "apart:1").splitlines()
    assert "this schedule's, not hardware's" in apart
