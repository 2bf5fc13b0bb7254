"""tools/emulate --check on CUDA programs: each fault is found where it is, and its cure is clean.

Needs nvcc, and no GPU.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("embedded_device")]

EMULATE = Path(__file__).resolve().parents[2] / "emulate"

# A comment `// @A` names a line for what is expected of it.
SOURCE = r"""
#include <cstdio>
#include <cstring>
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

__global__ void last_warp_volatile(int* data, int) {
  __shared__ int tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = data[t];
  __syncthreads();
  if (t < 32) {
    volatile int* v = tile;
    v[t] = v[t] + v[t + 32];  // @A
    v[t] = v[t] + v[t + 16];  // @B
    v[t] = v[t] + v[t + 8];   // @C
  }
}
__global__ void last_warp_syncwarp(int* data, int) {
  __shared__ int tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = data[t];
  __syncthreads();
  if (t < 32) {
    for (unsigned half = 32; half > 0; half /= 2) {
      const int other = tile[t + half];
      __syncwarp();
      tile[t] += other;
      __syncwarp();
    }
  }
}
__global__ void sum_unsynchronised(int* data, int) {
  __shared__ int tile[256];
  const unsigned t = threadIdx.x;
  tile[t] = data[t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];  // @A
  }
  if (t == 0) data[0] = tile[0];
}
__global__ void sum(int* data, int) {
  __shared__ int tile[256];
  const unsigned t = threadIdx.x;
  tile[t] = data[t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) data[0] = tile[0];
}
__global__ void histogram_uncleared(int* data, int) {
  extern __shared__ int bins[];
  atomicAdd(&bins[data[threadIdx.x] % 8], 1);  // @A
  __syncthreads();
  if (threadIdx.x < 8) data[threadIdx.x] = bins[threadIdx.x];  // @B
}
__global__ void histogram(int* data, int) {
  extern __shared__ int bins[];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[data[threadIdx.x] % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) data[threadIdx.x] = bins[threadIdx.x];
}
__global__ void shift(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = i < n ? data[i + 1] : 0;  // @A
  __syncthreads();
  if (i < n) data[i] = next;
}
__device__ int lock, counter;
template <bool Fences>
__device__ void count() {
  if (threadIdx.x % 16) return;
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      if (Fences) __threadfence();
      *const_cast<volatile int*>(&counter) = *const_cast<volatile int*>(&counter) + 1;  // @A
      if (Fences) __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
}
__global__ void lock_with_fences(int*, int) { count<true>(); }
__global__ void lock_without(int*, int) { count<false>(); }
__global__ void last_block(int* data, int) {
  __shared__ bool last;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    data[blockIdx.x] = 1;
    __threadfence();
    last = atomicAdd(&counter, 1) == static_cast<int>(gridDim.x) - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && t < gridDim.x) atomicAdd(&data[8], data[t]);
}
__global__ void tiles(int* data, int) {
  namespace cg = cooperative_groups;
  __shared__ int tile[256];
  const auto group = cg::tiled_partition<8>(cg::this_thread_block());
  tile[threadIdx.x] = data[threadIdx.x];
  group.sync();
  data[threadIdx.x] = tile[threadIdx.x ^ 7];
  cg::this_thread_block().sync();
  data[threadIdx.x ^ 255] += group.shfl_down(1, 1);
}
__global__ void tiles_too_far(int* data, int) {
  namespace cg = cooperative_groups;
  __shared__ int tile[256];
  const auto group = cg::tiled_partition<8>(cg::this_thread_block());
  tile[threadIdx.x] = data[threadIdx.x];  // @A
  group.sync();
  data[threadIdx.x] = tile[threadIdx.x ^ 8];  // @B
}
__global__ void barrier_in_branches(int* data, int) {
  if (threadIdx.x % 2) {
    data[threadIdx.x] += 1;
    __syncthreads();  // @A
  } else {
    data[threadIdx.x] += 2;
    __syncthreads();  // @B
  }
}
__global__ void half_comes(int* data, int) {
  if (threadIdx.x < 32) asm volatile("bar.sync 3, 64;" ::: "memory");  // @A
  data[threadIdx.x] = 1;
}
template <bool Waits>
__device__ void copy(int* data) {
  __shared__ int tile[256];
  __pipeline_memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], 4);  // @A
  __pipeline_commit();
  if (Waits) __pipeline_wait_prior(0);
  __syncthreads();
  data[256 + threadIdx.x] = tile[255 - threadIdx.x];  // @B
}
__global__ void copy_waited(int* data, int) { copy<true>(data); }
__global__ void copy_unwaited(int* data, int) { copy<false>(data); }
__global__ void all_write(int* data, int) {
  __shared__ int tile[256];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[256] = tile[0];  // @A
}
__global__ void touch(int* data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] += 1;  // @A
}
// nvcc makes a load and a selection of the branch.
template <bool Always>
__device__ void padded(int* data, int n) {
  __shared__ int tile[256];
  const unsigned t = threadIdx.x;
  if (t < n) tile[t] = data[t];
  __syncthreads();
  int x = 0;
  if (Always || t < n) x = tile[t];  // @A
  data[t] = x;  // @B
}
__global__ void padded_guarded(int* data, int) { padded<false>(data, 100); }
__global__ void padded_used(int* data, int) { padded<true>(data, 100); }
__global__ void skips_a_barrier(int* data, int) {
  if (threadIdx.x < 64) {
    data[threadIdx.x] += 1;
    __syncthreads();  // @A
  }
  data[threadIdx.x] += 1;
  __syncthreads();  // @B
  data[threadIdx.x] += 1;
}
template <bool Early>
__device__ void part_of_a_block(int* data) {
  __shared__ int tile[256];
  if (Early && threadIdx.x >= 128) return;
  tile[threadIdx.x] = data[threadIdx.x];  // @A
  if (threadIdx.x < 128) {
    __syncthreads();  // @B
    data[threadIdx.x] = tile[threadIdx.x + (Early ? 0 : 128)];  // @C
  }
}
__global__ void leaves_with_something(int* data, int) { part_of_a_block<false>(data); }  // @D
__global__ void leaves_early(int* data, int) { part_of_a_block<true>(data); }
__global__ void ballot_without_itself(int* data, int) {
  if (threadIdx.x < 32) data[threadIdx.x] = __ballot_sync(0xfffffffe, threadIdx.x & 1);  // @A
}
__global__ void syncwarp_without_itself(int* data, int) {
  __syncwarp(0xfffffffe);  // @A
  data[threadIdx.x] = 1;
}
__global__ void waits_for_flag(int* data, int) {
  volatile int* flag = data;
  if (threadIdx.x == 0) {
    while (*flag == 0) {  // @A
    }
  }
  __syncthreads();
  if (threadIdx.x == 32) *flag = 1;
}
__global__ void some_blocks_come(int* data, int) {
  if (blockIdx.x > 0) return;
  cooperative_groups::this_grid().sync();
  data[threadIdx.x] = 1;
}
__global__ void several_wild(int* data, int) {
  const unsigned t = threadIdx.x;
  data[512 + t] = 1;   // @A
  data[t] = data[-1];  // @B
  if (t == 3) data[600] = 1;  // @C
}
__global__ void heap_overflow(int* data, int) {
  int* own = new int[3];
  own[3] = data[threadIdx.x];  // @A
  delete[] own;
}
__global__ void heap_after_free(int* data, int) {
  int* own = new int[3];
  own[0] = data[threadIdx.x];
  delete[] own;
  data[threadIdx.x] = own[0];  // @A
}
__global__ void heap_leak(int* data, int) {
  if (threadIdx.x < 5) data[threadIdx.x] = *new int(7);  // @A
}
__global__ void heap(int* data, int) {
  int* own = new int[3];
  own[2] = data[threadIdx.x];
  data[threadIdx.x] = own[2];
  delete[] own;
}

#define IS(name) (strcmp(kernel, #name) == 0)
#define RUN(name) if (IS(name)) name<<<2, 256, 1024>>>(data, 256)
int main(int, char** arguments) {
  const char* kernel = arguments[1];
  int *data, host[256];
  cudaMalloc(&data, 512 * sizeof(int));
  cudaMemset(data, 0, 512 * sizeof(int));
  if (IS(last_warp_volatile)) last_warp_volatile<<<1, 64>>>(data, 0);
  if (IS(last_warp_syncwarp)) last_warp_syncwarp<<<1, 64>>>(data, 0);
  if (IS(sum_unsynchronised)) sum_unsynchronised<<<1, 256>>>(data, 0);
  if (IS(sum)) sum<<<1, 256>>>(data, 0);
  if (IS(histogram_uncleared)) histogram_uncleared<<<1, 256, 32>>>(data, 0);
  if (IS(histogram)) histogram<<<1, 256, 32>>>(data, 0);
  if (IS(shift)) shift<<<1, 512>>>(data, 512);
  RUN(lock_with_fences);
  RUN(lock_without);
  if (IS(last_block)) last_block<<<4, 64>>>(data, 0);
  if (IS(tiles)) tiles<<<1, 256>>>(data, 0);
  if (IS(tiles_too_far)) tiles_too_far<<<1, 256>>>(data, 0);
  if (IS(barrier_in_branches)) barrier_in_branches<<<1, 256>>>(data, 0);
  if (IS(copy_waited)) copy_waited<<<1, 256>>>(data, 0);
  if (IS(copy_unwaited)) copy_unwaited<<<1, 256>>>(data, 0);
  if (IS(all_write)) all_write<<<1, 256>>>(data, 0);
  if (IS(half_comes)) half_comes<<<1, 256>>>(data, 0);
  if (IS(padded_guarded)) padded_guarded<<<1, 256>>>(data, 0);
  if (IS(padded_used)) padded_used<<<1, 256>>>(data, 0);
  if (IS(skips_a_barrier)) skips_a_barrier<<<1, 256>>>(data, 0);
  if (IS(leaves_with_something)) leaves_with_something<<<1, 256>>>(data, 0);
  if (IS(leaves_early)) leaves_early<<<1, 256>>>(data, 0);
  if (IS(ballot_without_itself)) ballot_without_itself<<<1, 256>>>(data, 0);
  if (IS(syncwarp_without_itself)) syncwarp_without_itself<<<1, 32>>>(data, 0);
  if (IS(waits_for_flag)) waits_for_flag<<<1, 64>>>(data, 0);
  if (IS(some_blocks_come)) {
    int none = 0;
    void* parameters[] = {&data, &none};
    cudaLaunchCooperativeKernel(some_blocks_come, 3, 32, parameters);
  }
  if (IS(several_wild)) several_wild<<<1, 32>>>(data, 0);
  if (IS(heap_overflow)) heap_overflow<<<1, 256>>>(data, 0);
  if (IS(heap_after_free)) heap_after_free<<<1, 256>>>(data, 0);
  if (IS(heap_leak)) heap_leak<<<1, 256>>>(data, 0);
  if (IS(heap)) heap<<<1, 256>>>(data, 0);
  if (IS(leak_before_reset)) {
    int* lost;
    cudaMalloc(&lost, 1000);
    cudaFree(data);
    cudaDeviceReset();
    cudaMalloc(&data, 512 * sizeof(int));
    cudaMemset(data, 0, 512 * sizeof(int));
  }
  if (IS(unset)) {
    int* fresh;
    cudaMalloc(&fresh, 1024);
    touch<<<1, 256>>>(fresh, 100);
    cudaMemcpy(host, fresh, 100 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(fresh);
  }
  if (IS(unset_copy)) {
    int* fresh;
    cudaMalloc(&fresh, 1024);
    cudaMemcpy(host, fresh, 1024, cudaMemcpyDeviceToHost);
    cudaFree(fresh);
  }
  if (IS(freed)) {
    int* gone;
    cudaMalloc(&gone, 1024);
    cudaFree(gone);
    touch<<<1, 256>>>(gone, 100);
  }
  if (IS(freed_twice)) {
    int* gone;
    cudaMalloc(&gone, 1024);
    cudaFree(gone);
    cudaFree(gone);
  }
  if (IS(leak)) {
    int* lost;
    cudaMalloc(&lost, 1000);
  }
  cudaDeviceSynchronize();
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return IS(fails) ? 7 : 0;
}
"""
LINES = SOURCE.splitlines()
RAW = "read after write in {} memory, unsynchronised"
WAR = "write after read in {} memory, unsynchronised"

# What is found: check, what, and the lines: "later <- earlier".
EXPECTED: dict[str, set[tuple[str, str, str]]] = {
    "last_warp_volatile": {
        ("race", RAW.format("shared"), "B <- A"),
        ("race", RAW.format("shared"), "C <- B"),
        ("race", WAR.format("shared"), "B"),
        ("race", WAR.format("shared"), "C"),
    },
    "last_warp_syncwarp": set(),
    "sum": set(),
    "histogram_uncleared": {
        ("init", "reads shared memory that was never written", "device_atomic_functions.hpp:107"),
        ("init", "reads shared memory that was never written", "B"),
    },
    "histogram": set(),
    "shift": {("memory", "an illegal address", "A")},
    "lock_with_fences": set(),
    "last_block": set(),
    "tiles": set(),
    "tiles_too_far": {("race", RAW.format("shared"), "B <- A")},
    "barrier_in_branches": {("sync", "threads of one warp at different barriers", "B <- A")},
    "copy_waited": set(),
    "copy_unwaited": {
        ("race", RAW.format("shared"), "B <- cuda_pipeline_helpers.h:190"),
        ("init", "reads shared memory that was never written", "B"),
    },
    "all_write": {
        (
            "race",
            "two threads write the same value to one place of global memory, unsynchronised",
            "A",
        )
    },
    "half_comes": {("sync", "threads wait for ever", "A")},
    "unset": {("init", "reads global memory that was never written", "A")},
    "unset_copy": {
        (
            "init",
            "a copy to the host of global memory that was never written",
            "cudaMalloc number 2",
        )
    },
    "freed": {("memory", "an illegal address", "A")},
    "freed_twice": {("memory", "an illegal cudaFree", "freed twice")},
    "padded_guarded": set(),
    "padded_used": {("init", "reads shared memory that was never written", "A")},
    "skips_a_barrier": {("sync", "part of a block skips a barrier", "B <- A")},
    "leaves_with_something": {
        ("race", RAW.format("shared"), "C <- A"),
        ("sync", "part of a block never reaches a barrier", "B <- D"),
    },
    "leaves_early": set(),
    "ballot_without_itself": {("sync", "an undefined result", "sm_30_intrinsics.hpp:134")},
    "syncwarp_without_itself": {("sync", "an undefined result", "sm_30_intrinsics.hpp:110")},
    "waits_for_flag": {("sync", "threads wait for ever", "A")},
    "some_blocks_come": {("sync", "threads wait for ever", "sync.h:98")},
    "several_wild": {("memory", "an illegal address", mark) for mark in "ABC"},
    "heap_overflow": {("memory", "an illegal address in the heap of malloc", "A")},
    "heap_after_free": {("memory", "an illegal address in the heap of malloc", "A")},
    "heap_leak": {("memory", "memory from malloc in a kernel is never freed", "A")},
    "heap": set(),
    "leak_before_reset": {("memory", "memory is never freed", "cudaMalloc number 2")},
    "leak": {("memory", "memory is never freed", "cudaMalloc number 2")},
    "fails": set(),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    (folder / "source.cu").write_text(SOURCE, encoding="utf-8")
    options = ["-std=c++20", "-lineinfo", "-cudart", "shared", "-arch=compute_90"]
    command = [nvcc(), *options, "-o", folder / "program", folder / "source.cu"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder / "program"


def run(
    program: Path, folder: Path, checks: str, kernel: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    file = folder / "findings.json"
    done = subprocess.run(
        [EMULATE, "--check", checks, "--findings", file, program, kernel],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done, [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def marked(place: str) -> str:
    """The mark of a line of SOURCE; of another place its own text."""
    at = re.fullmatch(r"source\.cu:(\d+)", place)
    if not at:
        return place
    line = LINES[int(at[1]) - 1]
    mark = re.search(r"// @(\w)", line)
    return mark[1] if mark else line.strip()


def summary(findings: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(f["check"], f["what"], " <- ".join(map(marked, f["places"]))) for f in findings}


@pytest.mark.parametrize("kernel", EXPECTED)
def test_finds_what_is_wrong_and_no_more(program: Path, tmp_path: Path, kernel: str) -> None:
    done, findings = run(program, tmp_path, "all", kernel)
    assert summary(findings) == EXPECTED[kernel], done.stderr
    clean = 7 if kernel == "fails" else 0
    assert done.returncode == (4 if EXPECTED[kernel] else clean), done.stderr
    if findings:
        word = "finding" if len(findings) == 1 else "findings"
        assert done.stderr.endswith(f"embedded device: {len(findings)} {word}\n")
    else:
        assert done.stderr == ""


def test_races_of_a_sum_without_barriers(program: Path, tmp_path: Path) -> None:
    done, findings = run(program, tmp_path, "race", "sum_unsynchronised")
    assert done.returncode == 4
    assert {(f["what"], *map(marked, f["places"])) for f in findings} >= {
        (RAW.format("shared"), "A"),
        (WAR.format("shared"), "A"),
    }
    assert "thread (" in done.stderr and "byte " in done.stderr and "of tile" in done.stderr


def test_a_lock_without_fences_orders_nothing(program: Path, tmp_path: Path) -> None:
    done, findings = run(program, tmp_path, "race", "lock_without")
    assert done.returncode == 4
    assert {marked(p) for f in findings for p in f["places"]} == {"A"}
    assert "__device__ counter" in done.stderr


def test_only_what_was_asked_for(program: Path, tmp_path: Path) -> None:
    for kernel, checks in (("leak", "race,init,sync"), ("tiles_too_far", "memory,init,sync")):
        done, findings = run(program, tmp_path, checks, kernel)
        assert (done.returncode, findings, done.stderr) == (0, [], "")


def test_says_where_memory_is(program: Path, tmp_path: Path) -> None:
    done, _ = run(program, tmp_path, "all", "shift")
    assert re.search(
        r"thread \(511, 0, 0\), PTX line \d+ \(source.cu:\d+\): reads 4 bytes of global memory at "
        r"0x\w+, outside every allocation; the nearest is 0x\w+, 2048 bytes \(cudaMalloc\), "
        r"0 bytes past its end",
        done.stderr,
    ), done.stderr
    done, _ = run(program, tmp_path, "all", "freed")
    assert "byte 0 of memory that was freed: 0x" in done.stderr


def test_says_who_has_left_before_a_barrier(program: Path, tmp_path: Path) -> None:
    done, _ = run(program, tmp_path, "all", "leaves_with_something")
    assert "thread (0, 0, 0) and others come to the barrier at source.cu:" in done.stderr
    assert "thread (128, 0, 0) has left the block by then, at source.cu:" in done.stderr


def test_needs_no_findings_file(program: Path) -> None:
    for kernel, status in (("leak", 4), ("sum", 0), ("fails", 7)):
        done = subprocess.run([EMULATE, "--check", "all", program, kernel], check=False)
        assert done.returncode == status


@pytest.mark.parametrize("checks", ["", "races", "race,", "race memory"])
def test_refuses_an_unknown_check(program: Path, checks: str) -> None:
    command = [EMULATE, "--check", checks, program, "sum"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "race, memory, init, sync, host, sum and all" in done.stderr


NEIGHBOURS = """
__global__ void next_one(int* out, int limit) {
  __shared__ int first[8];
  __shared__ int second[64];
  extern __shared__ int third[];
  const int t = threadIdx.x;
  if (t < 8) first[t] = t;
  second[t] = t;
  third[t] = t;
  __syncthreads();
  out[t] = ARRAY[t + AHEAD] + second[63 - t] + third[t ^ 1];
}
int main() {
  int* out;
  cudaMalloc(&out, 256);
  next_one<<<1, 64, 256>>>(out, 8);
  const bool right = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(out);
  return right ? 0 : 1;
}
"""


@pytest.mark.parametrize(
    ("array", "ahead", "past"),
    [
        ("first", "0", "96 bytes past the end of first (32 bytes)"),
        ("second", "limit", "right behind the last of second (256 bytes)"),
        ("third", "-limit", "32 bytes before the first of dynamic shared memory (256 bytes)"),
        ("second", "0", ""),
        ("(t & 32 ? second : third)", "0", ""),
    ],
)
def test_an_access_that_lands_in_a_neighbour_array_is_found(
    tmp_path: Path, array: str, ahead: str, past: str
) -> None:
    source, program = tmp_path / "program.cu", tmp_path / "program"
    source.write_text(NEIGHBOURS.replace("ARRAY", array).replace("AHEAD", ahead), encoding="utf-8")
    flags = ["-lineinfo", "-cudart", "shared", "-arch=compute_90", "-code=compute_90"]
    subprocess.run([nvcc(), *flags, "-o", program, source], check=True)
    command = [EMULATE, "--check", "memory", program]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert ran.returncode == (4 if past else 0), ran.stderr
    said = "an access that leaves its array in shared memory"
    assert (said in ran.stderr) == bool(past)
    assert past in ran.stderr
    assert not past or re.search(r" reads 4 bytes at program\.cu:11 ", ran.stderr)
    assert not past or "there lies byte " in ran.stderr
