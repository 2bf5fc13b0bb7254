#include <cstddef>

/// The squared lengths of n vectors of three ints.
__global__ void lengths(const unsigned* in, unsigned* out, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;  // the block's first vector
  unsigned x = 0, y = 0, z = 0;
  // [blank] this thread's vector, through shared memory
  //= if (first + t < n) {
  //=   x = in[3 * (first + t)];
  //=   y = in[3 * (first + t) + 1];
  //=   z = in[3 * (first + t) + 2];
  //= }
  extern __shared__ unsigned tile[];
  const unsigned* row = in + 3 * first;
  const std::size_t left = first < n ? 3 * (n - first) : 0;
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned j = k * blockDim.x + t;
    tile[j] = j < left ? row[j] : 0;
  }
  __syncthreads();
  x = tile[3 * t];
  y = tile[3 * t + 1];
  z = tile[3 * t + 2];
  // [/blank]
  if (first + t < n) out[first + t] = x * x + y * y + z * z;
}
