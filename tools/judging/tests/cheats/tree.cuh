// What the submissions of this folder have in common: the tree of chapter 2.
#pragma once
#include <cstddef>

/// Adds up tile[0 … blockDim.x) in place, for any block size; the sum ends in tile[0].
__device__ inline void add_up(int* tile) {
  const unsigned t = threadIdx.x;
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }
}

/// This thread's element.
__device__ inline std::size_t element() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
