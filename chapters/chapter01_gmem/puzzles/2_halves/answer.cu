#include <cstddef>

/// One partial sum per block, in place in global memory. No block starts past the end.
__global__ void sum(int* data, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;  // this thread's element

  // [blank] the tree: thread 0's data[i] becomes the block's sum
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width && i + half < n) data[i] += data[i + half];
    __syncthreads();
    width = half;
  }
  // [/blank]

  if (t == 0) partial[blockIdx.x] = data[i];
}
