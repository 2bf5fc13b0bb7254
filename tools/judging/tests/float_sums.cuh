// What the sums of floats have in common: each thread adds up its elements, then a tree the
// threads.
#pragma once
#include <cstddef>

/// The sum of a block's share, as Total adds, in thread 0. \param end  the element to stop at
template <class Total>
__device__ inline Total sum_of_share(const float* in, std::size_t end) {
  __shared__ Total tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  Total mine{};
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < end; i += stride) {
    mine.add(in[i]);
  }
  tile[t] = mine;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t].merge(tile[t + half]);
    __syncthreads();
    width = half;
  }
  return tile[0];
}

struct Kahan {
  float sum, excess;
  __device__ void add(float x) {
    const float wanted = x - excess;
    const float next = sum + wanted;
    excess = (next - sum) - wanted;
    sum = next;
  }
  __device__ void merge(const Kahan& other) {
    add(other.sum);
    add(-other.excess);
  }
};
