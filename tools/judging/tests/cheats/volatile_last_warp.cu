// judge: chapter05/3
// rejected: race: in shared memory, unsynchronised
// The classic last warp: volatile, and no __syncwarp.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x) + t;
  int mine = 0;
  for (unsigned k = 0; k < 4; ++k)
    mine += first + k * blockDim.x < n ? in[first + k * blockDim.x] : 0;
  tile[t] = mine;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t < 32) {
    volatile int* last = tile;
    for (unsigned half = 32; half > 0; half /= 2) {
      if (blockDim.x >= 2 * half && t < half) last[t] = last[t] + last[t + half];
    }
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
