#include <cstddef>

/// One partial sum per block, through shared memory.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];  // one per thread of the largest block
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;  // this thread's element

  // [blank] put element i into slot t
  tile[t] = i < n ? in[i] : 0;
  // [/blank]
  __syncthreads();

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
