#include <cstddef>

/// out[r] becomes the sum of row r, of n rows. Eight lanes work for each row.
__global__ void rows(const int* in, int* out, std::size_t n, unsigned columns) {
  const unsigned lane = threadIdx.x % 8;
  const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 8;

  // [blank] eight lanes read the row, and add up what they have
  //= int sum = 0;
  //= for (unsigned c = 0; lane == 0 && row < n && c < columns; ++c) sum += in[row * columns + c];
  int sum = 0;
  for (unsigned c = lane; row < n && c < columns; c += 8) sum += in[row * columns + c];
  for (unsigned bit = 4; bit > 0; bit /= 2) sum += __shfl_xor_sync(0xffffffff, sum, bit);
  // [/blank]

  if (lane == 0 && row < n) out[row] = sum;
}
