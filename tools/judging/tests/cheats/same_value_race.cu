// judge: chapter02/1
// rejected: race: write the same value
// All threads write the sum: a race that comes out right.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  partial[blockIdx.x] = tile[0];
}
