/// \file
/// Cooperative groups: of the grid, of a block, of tiles.
#pragma once
#include <cooperative_groups.h>

#include "case.cuh"

namespace races {
namespace cg = cooperative_groups;

template <bool Faulty>
__global__ void grid_without_barrier(Places p) {
  const auto grid = cg::this_grid();
  p.data[grid.thread_rank()] = 1;  // @A
  if (!Faulty) grid.sync();
  p.out[grid.thread_rank()] = p.data[grid.size() - 1 - grid.thread_rank()];  // @B
}
template <bool Faulty>
__global__ void block_barrier_for_the_grid(Places p) {
  const auto grid = cg::this_grid();
  p.data[grid.thread_rank()] = 1;  // @A
  Faulty ? cg::this_thread_block().sync() : grid.sync();
  p.out[grid.thread_rank()] = p.data[grid.size() - 1 - grid.thread_rank()];  // @B
}
template <bool Faulty>
__global__ void grid_rounds(Places p) {
  const auto grid = cg::this_grid();
  const auto i = static_cast<unsigned>(grid.thread_rank()), n = static_cast<unsigned>(grid.size());
  for (int round = 0; round < 3; ++round) {
    const int value = p.data[(i + 40) % n];  // @A
    if (!Faulty) grid.sync();
    p.data[i] = value + 1;  // @B
    grid.sync();
  }
}
template <bool Faulty>
__global__ void grid_result_of_one(Places p) {
  const auto grid = cg::this_grid();
  atomicAdd(&p.data[0], 1);  // @A
  if (!Faulty) grid.sync();
  if (grid.thread_rank() == 0) p.out[0] = p.data[0];  // @B
}
template <bool Faulty>
__global__ void grid_split_barrier(Places p) {
  const auto grid = cg::this_grid();
  const auto i = static_cast<unsigned>(grid.thread_rank()), n = static_cast<unsigned>(grid.size());
  p.data[i] = 1;  // @A
  auto token = grid.barrier_arrive();
  const int early = p.data[Faulty ? n - 1 - i : 4096 + i];  // @B
  grid.barrier_wait(static_cast<cg::grid_group::arrival_token&&>(token));
  p.out[i] = p.data[n - 1 - i] + early;
}
template <bool Faulty>
__global__ void tile_sync_too_small(Places p) {
  __shared__ int tile[64];
  const auto group = cg::tiled_partition<16>(cg::this_thread_block());
  tile[threadIdx.x] = 1;  // @A
  group.sync();
  p.out[threadIdx.x] = tile[threadIdx.x ^ (Faulty ? 16 : 15)];  // @B
}
template <bool Faulty>
__global__ void tile_shuffle_as_sync(Places p) {
  __shared__ int tile[32];
  const auto group = cg::tiled_partition<32>(cg::this_thread_block());
  tile[threadIdx.x] = 1;  // @A
  if (!Faulty) group.sync();
  const int one = group.shfl_down(1, 1);
  p.out[threadIdx.x] = tile[31 - threadIdx.x] + one;  // @B
}
template <bool Faulty>
__global__ void block_group_without_sync(Places p) {
  __shared__ int tile[64];
  const auto block = cg::this_thread_block();
  tile[block.thread_rank()] = 1;  // @A
  if (!Faulty) block.sync();
  p.out[block.thread_rank()] = tile[63 - block.thread_rank()];  // @B
}
template <bool Faulty>
__global__ void partition_without_sync(Places p) {
  __shared__ int tile[32];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto odd = cg::binary_partition(warp, threadIdx.x % 2);
  int* const own = tile + 16 * (threadIdx.x % 2);
  own[odd.thread_rank()] = 1;  // @A
  if (!Faulty) odd.sync();
  p.out[threadIdx.x] = own[odd.size() - 1 - odd.thread_rank()];  // @B
}
template <bool Faulty>
__global__ void partition_on_global(Places p) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto third = cg::labeled_partition(warp, threadIdx.x % 3);
  int* const own = p.data + 32 * (threadIdx.x % 3);
  own[third.thread_rank()] = 1;  // @A
  if (!Faulty) third.sync();
  p.out[threadIdx.x] = own[third.size() - 1 - third.thread_rank()];  // @B
}

inline const Case kGroups[] = {
    RACES_GRID_CASE("groups", "grid", "global", grid_without_barrier, 4, 64, "no grid.sync"),
    RACES_GRID_CASE("groups", "grid", "global", block_barrier_for_the_grid, 4, 64,
                    "a block's sync"),
    RACES_GRID_CASE("groups", "grid", "global", grid_rounds, 4, 64, "no grid.sync between"),
    RACES_GRID_CASE("groups", "grid", "global", grid_result_of_one, 4, 64, "no grid.sync"),
    RACES_GRID_CASE("groups", "grid", "global", grid_split_barrier, 4, 64, "reads before the wait"),
    RACES_CASE("groups", "warp", "shared", tile_sync_too_small, 1, 64, "reads another tile"),
    RACES_CASE("groups", "warp", "shared", tile_shuffle_as_sync, 1, 32, "a shuffle orders nothing"),
    RACES_CASE("groups", "block", "shared", block_group_without_sync, 1, 64, "no sync"),
    RACES_CASE("groups", "warp", "shared", partition_without_sync, 1, 32, "no sync"),
    RACES_CASE("groups", "warp", "global", partition_on_global, 1, 32, "no sync"),
};

}  // namespace races
