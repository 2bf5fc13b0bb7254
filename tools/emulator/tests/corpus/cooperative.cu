// Cooperative groups: tiles, coalesced groups, their reductions and scans, and the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.cuh"

namespace cg = cooperative_groups;

__global__ void tiles(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto eight = cg::tiled_partition<8>(warp);
  const int i = block.thread_rank();
  out[i] = cg::reduce(warp, in[i], cg::plus<int>());
  out += block.size();
  out[i] = cg::reduce(eight, in[i], cg::greater<int>());
  out += block.size();
  out[i] = cg::inclusive_scan(warp, in[i], cg::plus<int>());
  out += block.size();
  out[i] = eight.shfl_down(in[i], 1) + eight.meta_group_rank() * 1000;
  out += block.size();
  if (i % 3 == 0) {
    const auto some = cg::coalesced_threads();
    out[i] = cg::reduce(some, in[i], cg::plus<int>()) * 100 + some.size();
  }
  block.sync();
}

__global__ void by_label(const int* in, int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto alike = cg::labeled_partition(warp, in[threadIdx.x] % 3);
  out[threadIdx.x] = cg::reduce(alike, 1, cg::plus<int>());
}

__global__ void staged(const int* in, int* out) {
  extern __shared__ int stage[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, stage, in, sizeof(int) * block.size());
  cg::wait(block);
  out[threadIdx.x] = stage[block.size() - 1 - threadIdx.x];
}

// Each block leaves a sum; after the grid's barrier each thread adds those of all blocks.
__global__ void grid(const int* in, int* partial, int* out, int n) {
  const auto all = cg::this_grid();
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int mine = 0;
  for (int i = all.thread_rank(); i < n; i += all.size()) mine += in[i];
  mine = cg::reduce(warp, mine, cg::plus<int>());
  if (warp.thread_rank() == 0) atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  all.sync();
  int total = 0;
  for (int b = 0; b < gridDim.x; ++b) total += partial[b];
  out[all.thread_rank()] = total;
}

int main() {
  constexpr int kThreads = 256;
  const auto values = numbers(kThreads, 100);
  Buffer<int> in(values), out(5 * kThreads);
  tiles<<<1, kThreads>>>(in.get(), out.get());
  LAUNCHED();
  auto got = out.host();
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0, most = 0, prefix = 0, thirds = 0, count = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      sum += values[j];
      if (j <= i) prefix += values[j];
      if (j / 8 == i / 8 && values[j] > most) most = values[j];
      if (j % 3 == 0) {
        thirds += values[j];
        ++count;
      }
    }
    CHECK(got[i] == sum);
    CHECK(got[kThreads + i] == most);
    CHECK(got[2 * kThreads + i] == prefix);
    CHECK(got[3 * kThreads + i] == values[i % 8 == 7 ? i : i + 1] + i % 32 / 8 * 1000);
    if (i % 3 == 0) CHECK(got[4 * kThreads + i] == thirds * 100 + count);
  }

  by_label<<<1, kThreads>>>(in.get(), out.get());
  LAUNCHED();
  got = out.host();
  for (int i = 0; i < kThreads; ++i) {
    int alike = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) alike += values[j] % 3 == values[i] % 3;
    CHECK(got[i] == alike);
  }

  staged<<<1, kThreads, kThreads * sizeof(int)>>>(in.get(), out.get());
  LAUNCHED();
  got = out.host();
  for (int i = 0; i < kThreads; ++i) CHECK(got[i] == values[kThreads - 1 - i]);

  int per_sm = 0, sms = 0, can = 0;
  CUDA(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
  CHECK(can == 1);
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, grid, kThreads, 0));
  CHECK(per_sm > 0);
  for (const int blocks : {1, 2, 100, sms * per_sm}) {
    int n = 100'000;
    const auto many = numbers(n, 1000, 9);
    long sum = 0;
    for (const int v : many) sum += v;
    Buffer<int> data(many), partial(blocks), all(static_cast<std::size_t>(blocks) * kThreads);
    int *a = data.get(), *b = partial.get(), *c = all.get();
    void* arguments[] = {&a, &b, &c, &n};
    CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid), blocks, kThreads,
                                     arguments, 0, nullptr));
    LAUNCHED();
    for (const int v : all.host()) CHECK(v == sum);
  }
  int n = 0;
  void* arguments[] = {&n, &n, &n, &n};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid), sms * per_sm + 1, kThreads,
                                    arguments, 0, nullptr) == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  return done();
}
