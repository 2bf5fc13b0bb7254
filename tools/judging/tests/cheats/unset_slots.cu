// judge: chapter02/1
// rejected: init: reads tile[0], which no thread has written
// Slots past the end hold anything.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  if (i < n) tile[t] = in[i];
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
