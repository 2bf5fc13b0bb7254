#include <cstddef>

/// One partial sum per block: the additions of the interleaved tree, by the first threads.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    // [blank] which slot does thread t add to?
    //= const unsigned slot = t % (2 * s) == 0 ? t : blockDim.x;
    const unsigned slot = 2 * s * t;
    // [/blank]
    if (slot + s < blockDim.x) tile[slot] += tile[slot + s];
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
