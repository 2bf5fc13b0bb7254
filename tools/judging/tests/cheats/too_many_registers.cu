// judge: chapter02/1
// rejected: refused: registers per thread, and a block of 1024 threads has 64
// Right, but a block of 1024 threads can't be launched.
#include <cstddef>
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  const volatile int* again = tile;
  int kept[120], forth = 0, back = 0;
#pragma unroll
  for (int k = 0; k < 120; ++k) kept[k] = again[t];
#pragma unroll
  for (int k = 0; k < 120; ++k) forth = 31 * forth + kept[k];
#pragma unroll
  for (int k = 120; k-- > 0;) back = 31 * back + kept[k];
  __syncthreads();
  tile[t] += forth != back;  // all are alike
  __syncthreads();
  for (unsigned w = blockDim.x; w > 1;) {
    const unsigned half = (w + 1) / 2;
    if (t + half < w) tile[t] += tile[t + half];
    __syncthreads();
    w = half;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
