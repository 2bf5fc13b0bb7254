/// \file
/// Threads of one block: barriers of the block, of a part of it, and of a warp.
#pragma once
#include "case.cuh"

namespace races {

template <bool Faulty>
__global__ void tile_read_early(Places p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = p.data[threadIdx.x];  // @A
  if (!Faulty) __syncthreads();
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void tile_written_early(Places p) {
  __shared__ int tile[64];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = p.data[64 * round + threadIdx.x];  // @A
    __syncthreads();
    p.out[64 * round + threadIdx.x] = tile[63 - threadIdx.x];  // @B
    if (!Faulty) __syncthreads();
  }
}
template <bool Faulty>
__global__ void global_read_early(Places p) {
  p.data[threadIdx.x] = static_cast<int>(threadIdx.x);  // @A
  if (!Faulty) __syncthreads();
  p.out[threadIdx.x] = p.data[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void tree_without_barrier(Places p) {
  __shared__ int tile[128];
  tile[threadIdx.x] = p.data[threadIdx.x];
  __syncthreads();
  for (unsigned half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];  // @AB
    if (!Faulty) __syncthreads();
  }
  if (threadIdx.x == 0) p.out[0] = tile[0];
}
template <bool Faulty>
__global__ void warp_without_barrier(Places p) {
  __shared__ int tile[32];
  tile[threadIdx.x] = p.data[threadIdx.x];  // @A
  if (!Faulty) __syncwarp();
  p.out[threadIdx.x] = tile[31 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void warp_barrier_for_two_warps(Places p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = p.data[threadIdx.x];  // @A
  Faulty ? __syncwarp() : __syncthreads();
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void warp_barrier_of_half(Places p) {
  __shared__ int tile[32];
  const unsigned own = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  tile[threadIdx.x] = p.data[threadIdx.x];  // @A
  __syncwarp(Faulty ? own : 0xffffffffu);
  p.out[threadIdx.x] = tile[31 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void vote_as_barrier(Places p) {
  __shared__ int tile[32];
  tile[threadIdx.x] = p.data[threadIdx.x];  // @A
  if (!Faulty) __syncwarp();
  const bool any = __any_sync(0xffffffffu, threadIdx.x == 3);
  p.out[threadIdx.x] = tile[31 - threadIdx.x] + any;  // @B
}
template <bool Faulty>
__global__ void shuffle_as_barrier(Places p) {
  __shared__ int tile[32];
  tile[threadIdx.x] = p.data[threadIdx.x];  // @A
  const int from = __shfl_xor_sync(0xffffffffu, static_cast<int>(threadIdx.x), 31);
  if (!Faulty) __syncwarp();
  p.out[threadIdx.x] = tile[from];  // @B
}
template <bool Faulty>
__global__ void barrier_with_vote(Places p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = p.data[threadIdx.x];  // @A
  const int all = Faulty ? __all_sync(0xffffffffu, 1) : __syncthreads_and(1);
  p.out[threadIdx.x] = tile[63 - threadIdx.x] + all;  // @B
}
__device__ inline void named_sync() {
  asm volatile("bar.sync 1, 64;" ::: "memory");
}
__device__ inline void named_arrive() {
  asm volatile("bar.arrive 1, 64;" ::: "memory");
}
template <bool Faulty>
__global__ void arrives_where_it_must_wait(Places p) {
  __shared__ int tile[32];
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = 1;  // @A
    named_sync();
  } else {
    Faulty ? named_arrive() : named_sync();
    p.out[threadIdx.x] = tile[threadIdx.x - 32];  // @B
  }
}
template <bool Faulty>
__global__ void another_named_barrier(Places p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = 1;  // @A
  const unsigned warps = Faulty ? 1 : 2;
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.x / 32 / warps), "r"(32 * warps) : "memory");
  p.out[threadIdx.x] = tile[63 - threadIdx.x];  // @B
}
template <bool Faulty>
__global__ void barrier_of_half_the_block(Places p) {
  __shared__ int tile[128];
  tile[threadIdx.x] = 1;  // @A
  asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
  p.out[threadIdx.x] = tile[threadIdx.x ^ (Faulty ? 96 : 32)];  // @B
}
template <bool Faulty>
__global__ void left_before_the_barrier(Places p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = 1;  // @A
  if (Faulty && threadIdx.x >= 32) return;
  __syncthreads();
  if (threadIdx.x < 32) p.out[threadIdx.x] = tile[threadIdx.x + 32];  // @B
}
template <bool Faulty>
__global__ void bytes_in_shared(Places p) {
  __shared__ unsigned char bytes[64];
  bytes[threadIdx.x / (Faulty ? 2 : 1)] = static_cast<unsigned char>(threadIdx.x);  // @AB
  __syncthreads();
  p.out[threadIdx.x] = bytes[threadIdx.x / 2];
}
template <bool Faulty>
__global__ void all_write_one_value(Places p) {
  __shared__ int value;
  if (Faulty || threadIdx.x == 0) value = p.data[0];  // @AB
  __syncthreads();
  p.out[threadIdx.x] = value;
}
template <bool Faulty>
__global__ void arrays_overlap(Places p) {
  __shared__ int room[96];
  int* const first = room;
  int* const second = room + (Faulty ? 31 : 32);
  if (threadIdx.x < 32)
    first[threadIdx.x] = 1;  // @A
  else
    second[threadIdx.x - 32] = 2;  // @B
  __syncthreads();
  p.out[threadIdx.x] = room[threadIdx.x];
}
template <bool Faulty>
__global__ void one_buffer_for_two(Places p) {
  __shared__ int buffer[2][64];
  for (int k = 0; k < 3; ++k) {
    int* const tile = buffer[Faulty ? 0 : k % 2];
    tile[threadIdx.x] = p.data[64 * k + threadIdx.x];  // @A
    __syncthreads();
    p.out[64 * k + threadIdx.x] = tile[63 - threadIdx.x];  // @B
  }
}
template <bool Faulty>
__global__ void scan_in_place(Places p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = 1;
  __syncthreads();
  for (unsigned step = 1; step < 64; step *= 2) {
    const int left = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;  // @A
    if (!Faulty) __syncthreads();
    tile[threadIdx.x] += left;  // @B
    __syncthreads();
  }
  p.out[threadIdx.x] = tile[threadIdx.x];
}
template <bool Faulty>
__global__ void lane_zero_writes(Places p) {
  __shared__ int chosen[2];
  if (threadIdx.x % 32 == 0) chosen[threadIdx.x / 32] = 3;  // @A
  if (!Faulty) __syncwarp();
  p.out[threadIdx.x] = chosen[threadIdx.x / 32];  // @B
}

inline const Case kBarriers[] = {
    RACES_CASE("barriers", "block", "shared", tile_read_early, 1, 64, "no barrier"),
    RACES_CASE("barriers", "block", "shared", tile_written_early, 1, 64, "no second barrier"),
    RACES_CASE("barriers", "block", "global", global_read_early, 1, 64, "no barrier"),
    RACES_CASE("barriers", "block", "shared", tree_without_barrier, 1, 128, "no barrier"),
    RACES_CASE("barriers", "warp", "shared", warp_without_barrier, 1, 32, "no __syncwarp"),
    RACES_CASE("barriers", "block", "shared", warp_barrier_for_two_warps, 1, 64,
               "a warp's barrier"),
    RACES_CASE("barriers", "warp", "shared", warp_barrier_of_half, 1, 32, "half of the warp"),
    RACES_CASE("barriers", "warp", "shared", vote_as_barrier, 1, 32, "a vote orders nothing"),
    RACES_CASE("barriers", "warp", "shared", shuffle_as_barrier, 1, 32, "a shuffle orders nothing"),
    RACES_CASE("barriers", "block", "shared", barrier_with_vote, 1, 64, "a warp's vote"),
    RACES_CASE("barriers", "block", "shared", arrives_where_it_must_wait, 1, 64,
               "bar.arrive does not wait"),
    RACES_CASE("barriers", "block", "shared", another_named_barrier, 1, 64, "two barriers"),
    RACES_CASE("barriers", "block", "shared", barrier_of_half_the_block, 1, 128,
               "half of the block"),
    RACES_CASE("barriers", "block", "shared", left_before_the_barrier, 1, 64,
               "exits before the barrier"),
    RACES_CASE("barriers", "block", "shared", bytes_in_shared, 1, 64, "two threads write a byte"),
    RACES_CASE("barriers", "block", "shared", all_write_one_value, 1, 64, "all write one value"),
    RACES_CASE("barriers", "block", "shared", arrays_overlap, 1, 64, "arrays overlap"),
    RACES_CASE("barriers", "block", "shared", one_buffer_for_two, 1, 64, "one buffer for two"),
    RACES_CASE("barriers", "block", "shared", scan_in_place, 1, 64, "no barrier before the write"),
    RACES_CASE("barriers", "warp", "shared", lane_zero_writes, 1, 64, "no __syncwarp"),
};

}  // namespace races
