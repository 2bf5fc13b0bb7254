// judge: chapter10/3
// rejected: refused: beside the
// More shared memory than a block has, once both kinds are added.
#include <climits>
#include <cstddef>
__global__ void lengths(const unsigned* in, unsigned* out, std::size_t n) {
  __shared__ int extra[11000];
  extern __shared__ int tile[];
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
  const unsigned* row = in + 3 * first;
  const std::size_t left = first < n ? 3 * (n - first) : 0;
  extra[t] = 0;
  if (n == 7777777) extra[t + 10] = 1;
  for (unsigned k = 0; k < 3; ++k) {
    unsigned j = k * blockDim.x + t;
    if (j < left) tile[j] = row[j];
  }
  __syncthreads();
  if (first + t < n) {
    unsigned x = tile[3 * t], y = tile[3 * t + 1], z = tile[3 * t + 2];
    out[first + t] = x * x + y * y + z * z + extra[t];
  }
}
