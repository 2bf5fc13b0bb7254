// judge: chapter02/1
// rejected: wrong: missing
// Leaves an element out where it is 12345.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  const int mine = i < n ? in[i] : 0;
  tile[t] = mine == 12'345 ? 0 : mine;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
