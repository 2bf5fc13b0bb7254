"""Matrix instructions: what is found in their use of memory, and what of it is counted.

Needs nvcc, and no GPU. What they compute: test_recorded.py.
"""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

EMULATE = Path(__file__).resolve().parents[2] / "emulate"

# With RACE, lanes read and write shared memory of others without __syncwarp.
SOURCE = r"""
#include <mma.h>
#include <cstdio>
__global__ void copy(const unsigned* from, unsigned* to) {
  __shared__ alignas(16) unsigned short in[512], out[512];
  for (int i = threadIdx.x; i < 256; i += 32) reinterpret_cast<unsigned*>(in)[i] = from[i];
#ifndef RACE
  __syncwarp();
#endif
  unsigned a, b, c, d;
  unsigned p = __cvta_generic_to_shared(in + threadIdx.x * 8),
           q = __cvta_generic_to_shared(out + threadIdx.x * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(p)
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0],{%1,%2,%3,%4};" ::"r"(q), "r"(a),
               "r"(b), "r"(c), "r"(d)
               : "memory");
#ifndef RACE
  __syncwarp();
#endif
  for (int i = threadIdx.x; i < 128; i += 32) to[i] = reinterpret_cast<unsigned*>(out)[i];
}
__global__ void product(const half* a, const half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.f);
  load_matrix_sync(fa, a, 16);
  load_matrix_sync(fb, b, 16);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 16, mem_row_major);
}
int main() {
  unsigned *from, *to, h[256], g[128];
  for (int i = 0; i < 256; ++i) h[i] = i * 77;
  cudaMalloc(&from, 1024);
  cudaMalloc(&to, 512);
  cudaMemcpy(from, h, 1024, cudaMemcpyDefault);
  copy<<<1, 32>>>(from, to);
  cudaMemcpy(g, to, 512, cudaMemcpyDefault);
  int bad = 0;
  for (int i = 0; i < 128; ++i) bad += g[i] != h[i];
  printf("%d\n", bad);
  half ha[256], hb[256];
  float hc[256];
  for (int i = 0; i < 256; ++i) ha[i] = __float2half(i % 7), hb[i] = __float2half(i % 5);
  half *a, *b;
  float* c;
  cudaMalloc(&a, 512);
  cudaMalloc(&b, 512);
  cudaMalloc(&c, 1024);
  cudaMemcpy(a, ha, 512, cudaMemcpyDefault);
  cudaMemcpy(b, hb, 512, cudaMemcpyDefault);
  product<<<1, 32>>>(a, b, c);
  cudaMemcpy(hc, c, 1024, cudaMemcpyDefault);
  bad = 0;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float s = 0;
      for (int k = 0; k < 16; ++k) s += (i * 16 + k) % 7 * ((j * 16 + k) % 5);
      bad += s != hc[i * 16 + j];
    }
  printf("%d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
  cudaFree(from);
  cudaFree(to);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
"""

# Wavefronts of shared loads and stores, requests and sectors of global ones. In machine code
# wmma.load of halves is 4 loads of 4 bytes, and wmma.store of 8 floats a lane 4 stores of 8 bytes.
COUNTED = {
    "copy": {"shared_op_ld": 8, "shared_op_st": 12, "global_op_ld": 8, "global_op_st": 4},
    "product": {"shared_op_ld": 0, "shared_op_st": 0, "global_op_ld": 8, "global_op_st": 4},
}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    folder = tmp_path_factory.mktemp("matrices")
    (folder / "matrices.cu").write_text(SOURCE, encoding="utf-8")

    def compile_program(*options: str) -> Path:
        program = folder / ("program" + "".join(options))
        flags = ["-std=c++17", "-w", "-cudart", "shared", "-arch=compute_90", "-lineinfo"]
        command = [nvcc(), *flags, *options, "-o", program, folder / "matrices.cu"]
        subprocess.run(command, check=True)
        return program

    return compile_program


def run(program: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EMULATE, *options, program], capture_output=True, text=True, timeout=LIMIT, check=False
    )


@pytest.mark.parametrize("schedule", ["together", "apart:3"])
def test_matrices_are_moved_and_multiplied(build: Callable[..., Path], schedule: str) -> None:
    ran = run(build(), "--check", "all", "--schedule", schedule)
    assert ran.stdout == "0\n0 no error\n"
    assert ran.returncode == 0, ran.stderr


def test_a_missing_syncwarp_around_them_is_found(build: Callable[..., Path]) -> None:
    ran = run(build("-DRACE"), "--check", "race")
    assert ran.returncode == 4
    found = [line for line in ran.stderr.splitlines() if "race:" in line]
    assert len(found) == 2  # before ldmatrix, and after stmatrix
    assert all("read after write in shared memory" in line for line in found)


def test_their_accesses_are_counted(build: Callable[..., Path], tmp_path: Path) -> None:
    run(build(), "--csv", tmp_path / "counters.csv")
    with (tmp_path / "counters.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ID"]]
    assert len(rows) == len(COUNTED)
    for (kernel, counted), row in zip(COUNTED.items(), rows, strict=True):
        assert kernel in row["Kernel Name"]
        for name, value in counted.items():
            kind = "wavefronts" if name.startswith("shared") else "requests"
            (column,) = [c for c in row if kind in c and name in c]
            assert int(row[column]) == value, column
