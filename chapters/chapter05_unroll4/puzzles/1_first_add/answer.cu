#include <cstddef>

/// One partial sum per block, two elements per thread.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + t;

  int mine = i < n ? in[i] : 0;
  // [blank] this thread's second element
  if (i + blockDim.x < n) mine += in[i + blockDim.x];
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
