// judge: chapter02/1
// rejected: wrong: is in it twice: added again at first_of_a_block_twice.cu:11
// Adds the first element of each later block twice.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  if (t == 0 && blockIdx.x > 0 && i < n) tile[t] += in[i];
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
