// judge: chapter02/1
// rejected: sync: barrier
// Lanes of a warp wait at different barriers.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  if (t % 2 == 0) {
    __syncthreads();
  } else {
    asm volatile("bar.sync 1;" ::: "memory");
  }
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
