// judge: chapter05/3
// Fewer instructions than the tree, and more than the book's answer.
#include <cstddef>

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x) + t;
  int mine = 0;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const std::size_t i = first + k * blockDim.x;
    mine += i < n ? in[i] : 0;
  }
  tile[t] = mine;
  __syncthreads();
  unsigned half = blockDim.x / 2;
  for (; half > 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t < 32) {
    for (; half > 0; half /= 2) {
      const int other = t + half < blockDim.x ? tile[t + half] : 0;
      __syncwarp();
      tile[t] += other;
      __syncwarp();
    }
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
