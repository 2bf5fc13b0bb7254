#include <cstddef>

/// out[i] = in[i], four elements per thread.
__global__ void copy(const int* in, int* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x);  // of the block's share
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    // [blank] which element?
    //= const std::size_t i = first + 4 * threadIdx.x + k;
    const std::size_t i = first + k * blockDim.x + threadIdx.x;
    // [/blank]
    if (i < n) out[i] = in[i];
  }
}
