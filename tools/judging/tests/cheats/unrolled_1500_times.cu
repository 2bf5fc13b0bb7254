// judge: chapter02/1
// rejected: slow: right at the
// Unrolled 1500 times. That takes long, and ends.
#include "tree.cuh"
__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  int x = i < n ? in[i] : 0;
  unsigned salt = t;
#pragma unroll
  for (int k = 0; k < 1500; ++k) {
    salt = salt * 1664525u + 1013904223u;
    x ^= static_cast<int>(salt);
  }
#pragma unroll 1
  for (int k = 0; k < 1500; ++k) {
    salt = (salt - 1013904223u) * 4276115653u;
    x ^= static_cast<int>(salt * 1664525u + 1013904223u);
  }
  tile[t] = x;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
