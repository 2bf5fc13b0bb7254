#include <cstddef>

/// One partial sum per block, in place in global memory. No block starts past the end.
__global__ void sum(int* data, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;  // this thread's element

  // [blank] a tree with fewer steps than halving takes
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned third = (width + 2) / 3;
    if (t < third && i < n) {
      int sum = data[i];
      if (t + third < width && i + third < n) sum += data[i + third];
      if (t + 2 * third < width && i + 2 * third < n) sum += data[i + 2 * third];
      data[i] = sum;
    }
    __syncthreads();
    width = third;
  }
  // [/blank]

  if (t == 0) partial[blockIdx.x] = data[i];
}
