"""Blocks of a cluster: what is found in their use of each other's shared memory.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

EMULATE = Path(__file__).resolve().parents[2] / "emulate"

SOURCE = r"""
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
namespace cg = cooperative_groups;

// Each block reads what its neighbour has written.
__global__ void neighbours(int* to) {
  __shared__ int tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x + blockIdx.x;
  cluster.sync();
  const int* there = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % 4);
  to[blockIdx.x * 64 + threadIdx.x] = there[63 - threadIdx.x];
  cluster.sync();
}
__global__ void no_barrier_before(int* to) {
  __shared__ int tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x + blockIdx.x;
  __syncthreads();
  const int* there = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % 4);
  to[blockIdx.x * 64 + threadIdx.x] = there[63 - threadIdx.x];
  cluster.sync();
}
__global__ void relaxed_arrival(int* to) {
  __shared__ int tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x + blockIdx.x;
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
  const int* there = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % 4);
  to[blockIdx.x * 64 + threadIdx.x] = there[63 - threadIdx.x];
  cluster.sync();
}
// The barrier orders global memory too, and the threads of one block.
__global__ void through_global(int* to) {
  cg::cluster_group cluster = cg::this_cluster();
  to[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
  cluster.sync();
  const int got = to[(blockIdx.x + 1) % 4 * 64 + 63 - threadIdx.x] + to[blockIdx.x * 64 + 5];
  cluster.sync();
  to[blockIdx.x * 64 + threadIdx.x] = got;
}
__global__ void sums(int* to) {
  __shared__ int sum;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) sum = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&sum, 0), 1);
  cluster.sync();
  if (threadIdx.x == 0) to[blockIdx.x] = sum;
}
// Written by others alone.
__global__ void given(int* to) {
  __shared__ int tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
  cluster.sync();
  to[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}
__global__ void never_written(int* to) {
  __shared__ int tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  if (cluster.block_rank() != 1) tile[threadIdx.x] = 1;
  cluster.sync();
  to[blockIdx.x * 64 + threadIdx.x] = *cluster.map_shared_rank(&tile[threadIdx.x], 1);
  cluster.sync();
}
__global__ void left(int* to) {
  __shared__ int tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x;
  cluster.sync();
  if (cluster.block_rank() == 1) return;
  for (int i = 0; i < 10000; ++i) atomicAdd(to, 0);
  to[threadIdx.x] = cluster.map_shared_rank(tile, 1)[threadIdx.x];
}
__global__ void waits_apart(int* to) {
  cg::cluster_group cluster = cg::this_cluster();
  if (cluster.block_rank() == 2 && threadIdx.x >= 32) __syncthreads();
  cluster.sync();
  to[0] = 1;
}
int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*kernel)(int*);
  } all[] = {{"neighbours", neighbours},       {"no_barrier_before", no_barrier_before},
             {"relaxed_arrival", relaxed_arrival}, {"through_global", through_global},
             {"sums", sums},                   {"given", given},
             {"never_written", never_written}, {"left", left},
             {"waits_apart", waits_apart}};
  int* to;
  cudaMalloc(&to, 4 * 64 * 4);
  cudaMemset(to, 0, 4 * 64 * 4);
  for (const auto& [name, kernel] : all) {
    if (std::strcmp(name, argv[1]) != 0) continue;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {4, 1, 1};
    config.gridDim = 4, config.blockDim = 64, config.attrs = &cluster, config.numAttrs = 1;
    const cudaError_t launched = cudaLaunchKernelEx(&config, kernel, to);
    const cudaError_t ended = cudaDeviceSynchronize();
    int host[256] = {};
    cudaMemcpy(host, to, sizeof host, cudaMemcpyDefault);
    cudaFree(to);
    std::printf("%d %d: %d %d %d\n", launched, ended, host[0], host[1], host[64]);
  }
}
"""

CLEAN = {
    "neighbours": "0 0: 64 63 65",
    "through_global": "0 0: 68 67 68",
    "sums": "0 0: 256 0 0",
    "given": "0 0: 0 1 0",
}
READ = "read after another block's write in shared memory, unsynchronised"
WRITE = "write after another block's read in shared memory, unsynchronised"
UNSET = "reads shared memory that was never written"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clusters")
    (folder / "clusters.cu").write_text(SOURCE, encoding="utf-8")
    flags = ["-std=c++17", "-w", "-cudart", "shared", "-arch=compute_90", "-lineinfo"]
    subprocess.run([nvcc(), *flags, "-o", folder / "clusters", folder / "clusters.cu"], check=True)
    return folder / "clusters"


def run(program: Path, kernel: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EMULATE, *options, program, kernel],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def findings(program: Path, kernel: str, tmp_path: Path) -> list[dict[str, Any]]:
    file = tmp_path / "findings"
    run(program, kernel, "--check", "all", "--findings", str(file))
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("kernel", CLEAN)
@pytest.mark.parametrize("schedule", ["together", "apart:1", "apart:2"])
def test_what_is_right_runs_and_nothing_is_found(program: Path, kernel: str, schedule: str) -> None:
    for options in ((), ("--check", "all")):
        ran = run(program, kernel, "--schedule", schedule, *options)
        assert ran.stdout.strip() == CLEAN[kernel]
        assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("kernel", "what"),
    [
        ("no_barrier_before", {READ, WRITE, UNSET}),
        ("relaxed_arrival", {READ}),
        ("never_written", {UNSET}),
    ],
)
def test_a_fault_between_blocks_is_found(
    program: Path, kernel: str, what: set[str], tmp_path: Path
) -> None:
    found = findings(program, kernel, tmp_path)
    assert {f["what"] for f in found} == what, found
    assert all("of tile (256 bytes)" in str(f) for f in found)


def test_reading_from_a_block_that_has_exited_is_a_fault(program: Path) -> None:
    ran = run(program, "left")
    assert ran.stdout.startswith("0 719:")
    assert "of the shared memory of block (1, 0, 0) of its cluster, which has exited" in ran.stderr


@pytest.mark.parametrize("schedule", ["together", "apart:1"])
def test_who_waits_at_the_clusters_barrier_for_whom_is_said(program: Path, schedule: str) -> None:
    ran = run(program, "waits_apart", "--schedule", schedule)
    assert ran.stdout.startswith("0 702:")
    assert "the cluster's barrier has 224 of the 256 threads that it waits for" in ran.stderr
    assert "in block (2, 0, 0)" in ran.stderr
