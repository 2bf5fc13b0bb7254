// judge: chapter12/4
// rejected: wrong: and should be
// Subtracts the row's first element, not the largest.
#include <cstddef>
__global__ void softmax(const float* in, float* out, std::size_t n, unsigned columns) {
  const unsigned lane = threadIdx.x % 32;
  const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  float mine[4], sum = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned c = lane + 32 * k;
    mine[k] = c < columns ? in[row * columns + c] : -INFINITY;
  }
  const float first = __shfl_sync(0xffffffff, mine[0], 0);
  for (unsigned k = 0; k < 4; ++k) {
    mine[k] = expf(mine[k] - first);
    sum += mine[k];
  }
  for (unsigned bits = 16; bits > 0; bits /= 2) sum += __shfl_xor_sync(0xffffffff, sum, bits);
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned c = lane + 32 * k;
    if (c < columns) out[row * columns + c] = mine[k] / sum;
  }
}
