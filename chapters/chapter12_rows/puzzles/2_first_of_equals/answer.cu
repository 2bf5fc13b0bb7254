#include <climits>
#include <cstddef>

/// out[r] becomes the column of row r's largest element, and of equal ones the first. A warp per
/// row.
__global__ void rows(const int* in, unsigned* out, std::size_t n, unsigned columns) {
  const unsigned lane = threadIdx.x % 32;
  const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;  // the whole warp

  int most = INT_MIN;
  unsigned column = 0xffffffff;  // none yet
  for (unsigned c = lane; c < columns; c += 32) {
    const int x = in[row * columns + c];
    if (x > most || column == 0xffffffff) {
      most = x;
      column = c;
    }
  }
  for (unsigned bits = 16; bits > 0; bits /= 2) {
    const int other = __shfl_xor_sync(0xffffffff, most, bits);
    const unsigned at = __shfl_xor_sync(0xffffffff, column, bits);
    // [blank] the larger one wins; and if they are equal?
    //= if (other > most) {
    //=   most = other;
    //=   column = at;
    //= }
    if (other > most || (other == most && at < column)) {
      most = other;
      column = at;
    }
    // [/blank]
  }
  if (lane == 0) out[row] = column;
}
