#include <cstddef>

/// out[i] = in[n - 1 - i].
__global__ void reverse(const int* in, int* out, std::size_t n) {
  // [blank] one element per thread
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[n - 1 - i];
  // [/blank]
}
