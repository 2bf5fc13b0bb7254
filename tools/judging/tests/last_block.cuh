// What the kernels of the last block have in common.
#pragma once
#include <cstddef>

/// The sum of a block's values, in every thread.
__device__ inline unsigned block_sum(unsigned value) {
  __shared__ unsigned tile[1024];
  const unsigned t = threadIdx.x;
  __syncthreads();
  tile[t] = value;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }
  return tile[0];
}

/// The sum of the elements that a block adds up, in every thread.
__device__ inline unsigned sum_of_share(const int* in, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    mine += in[i];
  }
  return block_sum(mine);
}
