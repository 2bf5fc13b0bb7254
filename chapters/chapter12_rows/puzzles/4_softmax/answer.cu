#include <cstddef>

/// Each element x of a row becomes exp(x) / the sum of exp of its row. A warp per row, of up to 128
/// columns.
__global__ void softmax(const float* in, float* out, std::size_t n, unsigned columns) {
  const unsigned lane = threadIdx.x % 32;
  const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;  // the whole warp

  float mine[4];
  float sum = 0;
  // [blank] read the row once, and keep exp(x) from overflowing
  //= for (unsigned k = 0; k < 4; ++k) {
  //=   const unsigned c = lane + 32 * k;
  //=   mine[k] = c < columns ? expf(in[row * columns + c]) : 0;
  //=   sum += mine[k];
  //= }
  float most = -INFINITY;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned c = lane + 32 * k;
    mine[k] = c < columns ? in[row * columns + c] : -INFINITY;
    most = fmaxf(most, mine[k]);
  }
  for (unsigned bits = 16; bits > 0; bits /= 2) {
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, bits));
  }
  for (unsigned k = 0; k < 4; ++k) {
    mine[k] = expf(mine[k] - most);
    sum += mine[k];
  }
  // [/blank]
  for (unsigned bits = 16; bits > 0; bits /= 2) sum += __shfl_xor_sync(0xffffffff, sum, bits);

  for (unsigned k = 0; k < 4; ++k) {
    const unsigned c = lane + 32 * k;
    if (c < columns) out[row * columns + c] = mine[k] / sum;
  }
}
