/// \file
/// Blocks that touch one place with nothing between them.
#pragma once
#include "case.cuh"

namespace races {

template <bool Faulty>
__global__ void tiles_overlap(Places p) {
  const int tile = Faulty ? 31 : 32;
  p.data[blockIdx.x * tile + threadIdx.x] = static_cast<int>(threadIdx.x);  // @AB
}
template <bool Faulty>
__global__ void two_blocks_per_item(Places p) {
  const unsigned item = blockIdx.x / (Faulty ? 2 : 1);
  if (threadIdx.x == 0) p.out[item] = static_cast<int>(blockIdx.x);  // @AB
}
template <bool Faulty>
__global__ void all_say_done(Places p) {
  if (threadIdx.x == 0 && (Faulty || blockIdx.x == 0)) p.out[0] = 1;  // @AB
}
template <bool Faulty>
__global__ void neighbour_tile(Places p) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  p.data[i] = static_cast<int>(i);  // @A
  __syncthreads();
  const unsigned from = (i + (Faulty ? blockDim.x : 0)) % (gridDim.x * blockDim.x);
  p.out[i] = p.data[from];  // @B
}
template <bool Faulty>
__global__ void stencil_in_place(Places p) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int* const to = Faulty ? p.data : p.out;
  const int sum = p.data[i - 1] + p.data[i + 1];  // @A
  __syncthreads();
  to[i] = sum;  // @B
}
template <bool Faulty>
__global__ void transpose_in_place(Places p) {
  const unsigned from = blockIdx.x * 32 + threadIdx.x, across = threadIdx.x * 32 + blockIdx.x;
  const int value = p.data[from];  // @A
  __syncthreads();
  p.data[Faulty ? across : from] = value;  // @B
}
template <bool Faulty>
__global__ void sum_without_atomic(Places p) {
  if (threadIdx.x != 0) return;
  const unsigned place = Faulty ? 0 : blockIdx.x;
  p.out[place] += 1;  // @AB
}
template <bool Faulty>
__global__ void histogram_without_atomic(Places p) {
  int* const bin = &p.out[(blockIdx.x * 7 + threadIdx.x) % 16 + (Faulty ? 0 : 32 * blockIdx.x)];
  if (threadIdx.x < 16) *bin += 1;  // @AB
}
template <bool Faulty>
__global__ void bytes_side_by_side(Places p) {
  char* const bytes = reinterpret_cast<char*>(p.data);
  bytes[blockIdx.x / (Faulty ? 2 : 1)] = 1;  // @AB
}
template <bool Faulty>
__global__ void halves_of_a_word(Places p) {
  short* const halves = reinterpret_cast<short*>(p.data);
  if (blockIdx.x == 0) {
    halves[0] = 1;  // @A
  } else {
    reinterpret_cast<char*>(p.data)[Faulty ? 1 : 2] = 1;  // @B
  }
}
template <bool Faulty>
__global__ void wide_store(Places p) {
  if (blockIdx.x == 0) {
    *reinterpret_cast<int4*>(p.data) = {1, 2, 3, 4};  // @A
  } else {
    p.data[Faulty ? 3 : 4] = 5;  // @B
  }
}
template <bool Faulty>
__global__ void scatter(Places p) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned to = i * (Faulty ? 6 : 5) % (gridDim.x * blockDim.x);
  p.out[to] = static_cast<int>(i);  // @AB
}
template <bool Faulty>
__global__ void grid_stride(Places p) {
  const unsigned stride = gridDim.x * blockDim.x - (Faulty ? 1 : 0);
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < 512; i += stride) {
    p.out[i] = static_cast<int>(i);  // @AB
  }
}
template <bool Faulty>
__global__ void cleared_while_others_count(Places p) {
  if (threadIdx.x != 0) return;
  if (Faulty && blockIdx.x == 1) p.out[0] = 0;  // @A
  atomicAdd(&p.out[0], 1);                      // @B
}
template <bool Faulty>
__global__ void result_read_early(Places p) {
  if (threadIdx.x != 0) return;
  atomicAdd(&p.out[0], 1);  // @A
  const int* const from = &p.out[Faulty ? 0 : 1];
  p.data[blockIdx.x] = *from;  // @B
}
template <bool Faulty>
__global__ void halo(Places p) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  p.data[i] = 1;                                                                  // @A
  if (threadIdx.x == 0 && blockIdx.x > 0) p.data[Faulty ? i - 1 : 4096 + i] = 2;  // @B
}

inline const Case kBlocks[] = {
    RACES_CASE("blocks", "grid", "global", tiles_overlap, 4, 32, "tiles share an element"),
    RACES_CASE("blocks", "grid", "global", two_blocks_per_item, 8, 32, "two blocks write one item"),
    RACES_CASE("blocks", "grid", "global", all_say_done, 4, 32, "all blocks write the same value"),
    RACES_CASE("blocks", "grid", "global", neighbour_tile, 4, 64, "reads another block's tile"),
    RACES_CASE("blocks", "grid", "global", stencil_in_place, 4, 32,
               "writes what a neighbour reads"),
    RACES_CASE("blocks", "grid", "global", transpose_in_place, 32, 32, "writes what others read"),
    RACES_CASE("blocks", "grid", "global", sum_without_atomic, 4, 32, "adds without an atomic"),
    RACES_CASE("blocks", "grid", "global", histogram_without_atomic, 4, 32,
               "counts without atomics"),
    RACES_CASE("blocks", "grid", "global", bytes_side_by_side, 8, 1, "two blocks write one byte"),
    RACES_CASE("blocks", "grid", "global", halves_of_a_word, 2, 1,
               "a byte of another block's half"),
    RACES_CASE("blocks", "grid", "global", wide_store, 2, 1, "the last word of a 16-byte store"),
    RACES_CASE("blocks", "grid", "global", scatter, 4, 32, "indices that occur twice"),
    RACES_CASE("blocks", "grid", "global", grid_stride, 2, 32, "a stride that is one too short"),
    RACES_CASE("blocks", "grid", "global", cleared_while_others_count, 4, 32,
               "one block clears the counter of all"),
    RACES_CASE("blocks", "grid", "global", result_read_early, 4, 32,
               "a plain read of an atomic sum"),
    RACES_CASE("blocks", "grid", "global", halo, 4, 32, "writes into another block's tile"),
};

}  // namespace races
