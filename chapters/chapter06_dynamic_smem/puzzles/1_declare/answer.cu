#include <cstddef>

/// One partial sum per block. The launch gives 4 * blockDim.x bytes of dynamic shared memory.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  // [blank] the tile
  //= __shared__ int tile[1024];
  extern __shared__ int tile[];
  // [/blank]
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
