// judge: chapter02/1
// rejected: wrong: are missing
// Wrong for blocks of 7, 39, 71 and so on.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  if (blockDim.x % 32 == 7 && t == 3) tile[t] = 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
