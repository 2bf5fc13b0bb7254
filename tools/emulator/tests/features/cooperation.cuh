/// \file
/// Cooperative groups, the grid's barrier, and clusters of blocks.
#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "case.cuh"

namespace features::cooperation {

namespace cg = cooperative_groups;

__global__ void tiles(int* out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int sum = cg::reduce(tile, static_cast<int>(block.thread_rank()), cg::plus<int>());
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum;
}
FEATURE("groups", tiled_groups, "tiles of a block and their reductions") {
  Values<int> out(8);
  tiles<<<1, 64>>>(out.get());
  launched();
  return out[0] == 28 && out[7] == 28 + 8 * 56;
}

__global__ void together(int* out) {
  if (threadIdx.x % 3 == 0) {
    const auto group = cg::coalesced_threads();
    if (group.thread_rank() == 0) *out = static_cast<int>(group.size());
  }
}
FEATURE("groups", coalesced_groups, "coalesced groups") {
  Values<int> out(1);
  together<<<1, 32>>>(out.get());
  launched();
  return out[0] == 11;
}

__global__ void in_two_steps(int* data) {
  const auto grid = cg::this_grid();
  const auto i = static_cast<unsigned>(grid.thread_rank());
  data[i] = static_cast<int>(i);
  grid.sync();
  data[grid.size() + i] = data[grid.size() - 1 - i];
}
FEATURE("groups", grid_barrier, "the grid's barrier (cooperative launch)") {
  Values<int> data(512);
  int* pointer = data.get();
  void* arguments[] = {&pointer};
  cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&in_two_steps), dim3(4), dim3(64),
                                   arguments, 0, nullptr));
  launched();
  return data[256] == 255 && data[511] == 0;
}

__global__ void __cluster_dims__(4) neighbours(int* out) {
  __shared__ int mine;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = static_cast<int>(cluster.block_rank()) + 1;
  cluster.sync();
  int sum = 0;
  for (unsigned i = 0; i < cluster.num_blocks(); ++i) sum += *cluster.map_shared_rank(&mine, i);
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
FEATURE("groups", clusters, "clusters of blocks, with distributed shared memory") {
  Values<int> out(8);
  neighbours<<<8, 32>>>(out.get());
  launched();
  return out[0] == 10 && out[7] == 10;
}

}  // namespace features::cooperation
