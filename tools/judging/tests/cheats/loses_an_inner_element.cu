// judge: chapter02/3
// rejected: wrong: all blocks together are right
// Loses one element in the middle of a block of 1024.
#include <climits>

#include "tree.cuh"

__global__ void largest(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n && !(t == 717 && blockDim.x == 1024) ? in[i] : INT_MIN;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (t + half < width) tile[t] = max(tile[t], tile[t + half]);
    __syncthreads();
    width = half;
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
}
