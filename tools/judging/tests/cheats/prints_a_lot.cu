// judge: chapter02/1
// rejected: wrong: element 0 is never added
// Floods the terminal.
#include "tree.cuh"

#include <cstdio>

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  tile[t] = 0;
  for (unsigned k = 0; k < 1000; ++k) printf("%u\n", k);
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
