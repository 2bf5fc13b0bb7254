// judge: chapter02/1
// rejected: endless: stopped by count
// Counts in steps of two until it is at 0.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = i < n ? in[i] : 0;
  volatile unsigned counter = 1;
  while (counter != 0) counter += 2;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
