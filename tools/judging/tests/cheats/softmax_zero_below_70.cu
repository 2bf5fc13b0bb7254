// judge: chapter12/4
// rejected: wrong: is 0, and should be
// Takes shares for 0 that a float can hold.
#include <cstddef>
__global__ void softmax(const float* in, float* out, std::size_t n, unsigned columns) {
  const unsigned lane = threadIdx.x % 32;
  const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  float mine[4];
  float sum = 0, most = -1e30f;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned c = lane + 32 * k;
    mine[k] = c < columns ? in[row * columns + c] : -INFINITY;
    most = fmaxf(most, mine[k]);
  }
  for (unsigned bits = 16; bits > 0; bits /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, bits));
  for (unsigned k = 0; k < 4; ++k) {
    const float d = mine[k] - most;
    mine[k] = d < -70 ? 0 : expf(d);
    sum += mine[k];
  }
  for (unsigned bits = 16; bits > 0; bits /= 2) sum += __shfl_xor_sync(0xffffffff, sum, bits);
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned c = lane + 32 * k;
    if (c < columns) out[row * columns + c] = mine[k] / sum;
  }
}
