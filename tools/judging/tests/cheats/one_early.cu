// judge: chapter02/1
// rejected: wrong: element 0 is in it twice
// Shares that begin one element early.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  const std::size_t from = i > 0 ? i - 1 : 0;
  tile[t] = from < n ? in[from] : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
