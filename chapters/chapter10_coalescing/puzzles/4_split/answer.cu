#include <cstddef>

/// x[i], y[i] and z[i] become the three ints of vector i.
__global__ void split(const int* in, int* x, int* y, int* z, std::size_t n) {
  // [blank] the whole kernel
  extern __shared__ int tile[];
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
  const int* row = in + 3 * first;
  const std::size_t left = first < n ? 3 * (n - first) : 0;
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned j = k * blockDim.x + t;
    if (j < left) tile[j] = row[j];
  }
  __syncthreads();
  if (first + t < n) {
    x[first + t] = tile[3 * t];
    y[first + t] = tile[3 * t + 1];
    z[first + t] = tile[3 * t + 2];
  }
  // [/blank]
}
