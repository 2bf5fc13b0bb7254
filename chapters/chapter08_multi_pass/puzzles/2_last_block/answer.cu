#include <cstddef>

/// The sum of a block's values, in every thread.
__device__ unsigned block_sum(unsigned value) {
  __shared__ unsigned tile[1024];
  const unsigned t = threadIdx.x;
  __syncthreads();  // before the tile is used again
  tile[t] = value;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }
  return tile[0];
}

/// *out becomes the sum of n elements; *ticket is 0 before and after.
__global__ void sum(const int* in, unsigned* partial, unsigned* ticket, unsigned* out,
                    std::size_t n) {
  __shared__ bool last;
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += stride) mine += in[i];
  mine = block_sum(mine);

  if (t == 0) {
    // [blank] leave `mine` in partial, draw a ticket: was it the last?
    //= partial[blockIdx.x] = mine;
    //= last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
    // [/blank]
  }
  __syncthreads();
  if (!last) return;

  unsigned rest = 0;
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = block_sum(rest);
  if (t == 0) *out = rest;
}
