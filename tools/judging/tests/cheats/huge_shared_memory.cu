// judge: chapter02/1
// rejected: refused: a block has 49152
// More shared memory than any GPU has.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[60000];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
