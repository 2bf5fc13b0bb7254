// judge: chapter10/1
// rejected: wrong: launched again
// Right five times.
#include <cstddef>
__device__ unsigned launches;
__global__ void copy(const int* in, int* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x);
  for (unsigned k = 0; k < 4; ++k) {
    const std::size_t i = first + k * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
  }
  if (blockIdx.x == 0 && threadIdx.x == 0 && n > 2 && ++launches >= 6) out[1] = 7;
}
