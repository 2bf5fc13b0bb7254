#include <cstddef>

/// out[i] = in[i], for any grid.
__global__ void copy(const int* in, int* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // [blank] copy this thread's elements
  //= if (first < n) out[first] = in[first];
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = first; i < n; i += threads) out[i] = in[i];
  // [/blank]
}
