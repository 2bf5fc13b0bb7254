#include <cstddef>

/// One partial sum per block: its first thread adds the block's elements, one after another.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  if (threadIdx.x != 0) return;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;

  int sum = 0;
  // [blank] stop at the end of the input, too
  //= for (std::size_t i = first; i < first + blockDim.x; ++i) sum += in[i];
  for (std::size_t i = first; i < first + blockDim.x && i < n; ++i) sum += in[i];
  // [/blank]
  partial[blockIdx.x] = sum;
}
