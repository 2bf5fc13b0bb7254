#include <cstddef>

/// One partial sum per block, four elements per thread.
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

  // [blank] the tree; one warp finishes the last 64 slots alone
  //= for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
  //=   if (t < half) tile[t] += tile[t + half];
  //=   __syncthreads();
  //= }
  for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t < 32) {
#pragma unroll
    for (unsigned half = 32; half > 0; half /= 2) {
      if (blockDim.x >= 2 * half && t < half) tile[t] += tile[t + half];
      __syncwarp();
    }
  }
  // [/blank]

  if (t == 0) partial[blockIdx.x] = tile[0];
}
