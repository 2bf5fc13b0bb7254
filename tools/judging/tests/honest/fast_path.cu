// judge: chapter05/1
// One path for whole pairs, and one for the tail.
#include <cstddef>
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t a = std::size_t{blockIdx.x} * 2 * blockDim.x + t, b = a + blockDim.x;
  int x = 0, y = 0;
  if (b < n) {
    x = in[a];
    y = in[b];
  } else if (a < n)
    x = in[a];
  tile[t] = x + y;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] += tile[t + half];
    __syncthreads();
    width = half;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
