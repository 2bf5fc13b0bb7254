#include <cstddef>

/// Goes through a buffer of n ints, and adds its sum to *total.
__global__ void flush(int* data, unsigned* total, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;

  unsigned mine = 0;
  // [blank] leave no dirty line behind
  //= for (std::size_t i = first; i < n; i += threads) data[i] = 0;
  for (std::size_t i = first; i < n; i += threads) mine += data[i];
  // [/blank]
  atomicAdd(total, mine);
}
