// judge: chapter10/1
// rejected: wrong: out[0] holds in[1]
// The same elements in another order: equal sums can't tell.
#include "tree.cuh"

__global__ void copy(const int* in, int* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * (4 * blockDim.x) + threadIdx.x;
  for (unsigned k = 0; k < 4; ++k) {
    const std::size_t i = first + k * blockDim.x;
    const std::size_t other = (i ^ 1) < n ? i ^ 1 : i;
    if (i < n) out[i] = in[other];
  }
}
