#include <cstddef>

/// One partial sum per block, for any grid.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + t;

  int mine = 0;
  // [blank] add up this thread's elements
  //= if (first < n) mine = in[first];
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = first; i < n; i += stride) mine += in[i];
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
