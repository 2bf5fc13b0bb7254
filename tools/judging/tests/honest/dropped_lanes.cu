// judge: chapter06/2
// Sixteen lanes add up by shuffles; the upper ones get what nobody uses.
#include <cstddef>

__global__ void sum(const int* in, int* partial, std::size_t n) {
  extern __shared__ int slot[];
  const unsigned t = threadIdx.x, lane = t % 32, warps = blockDim.x / 32;
  const std::size_t first = std::size_t{blockIdx.x} * (8 * blockDim.x) + t;
  int mine = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    const std::size_t i = first + k * blockDim.x;
    mine += i < n ? in[i] : 0;
  }
  for (unsigned by = 16; by > 0; by /= 2) mine += __shfl_down_sync(~0u, mine, by);
  if (lane == 0) slot[t / 32] = mine;
  __syncthreads();
  if (t < 16) {
    mine = t < warps ? slot[t] : 0;
    if (t + 16 < warps) mine += slot[t + 16];
    for (unsigned by = 8; by > 0; by /= 2) mine += __shfl_down_sync(0xffffu, mine, by);
    if (t == 0) partial[blockIdx.x] = mine;
  }
}
