// judge: chapter02/1
// rejected: init: never written
// Threads past the end leave before the barrier.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  if (i >= n && n > 0) return;
  tile[t] = n > 0 ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
