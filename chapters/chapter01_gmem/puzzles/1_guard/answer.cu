#include <cstddef>

/// One partial sum per block, in place in global memory. No block starts past the end.
__global__ void sum(int* data, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;  // this thread's element

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    // [blank] add only elements that exist and belong to this block
    //= if (t % (2 * s) == 0) data[i] += data[i + s];
    if (t % (2 * s) == 0 && t + s < blockDim.x && i + s < n) data[i] += data[i + s];
    // [/blank]
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = data[i];
}
