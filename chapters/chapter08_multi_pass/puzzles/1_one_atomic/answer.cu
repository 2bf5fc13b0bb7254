#include <cstddef>

/// Adds the sum of n elements to *total.
__global__ void sum(const int* in, unsigned long long* total, std::size_t n) {
  __shared__ long long tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;

  long long mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += stride) mine += in[i];
  tile[t] = mine;
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }

  // [blank] tile[0] is this block's sum: add it to *total
  //= *total += tile[0];
  if (t == 0) atomicAdd(total, static_cast<unsigned long long>(tile[0]));
  // [/blank]
}
