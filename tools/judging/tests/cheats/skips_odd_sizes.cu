// judge: chapter02/1
// rejected: wrong: n = 1, block 1
// Does nothing where n is odd.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n && n % 2 == 0 ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
