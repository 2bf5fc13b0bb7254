#include <cstddef>

/// One partial sum per block, four elements per thread.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;

  int mine = 0;
  // [blank] the sum of this thread's four elements
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x) + t;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const std::size_t i = first + k * blockDim.x;
    mine += i < n ? in[i] : 0;
  }
  // [/blank]
  tile[t] = mine;
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
