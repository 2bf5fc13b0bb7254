// judge: chapter02/1
// rejected: wrong: in is an input, and writes_and_restores.cu:
// The input is as it was in the end, and not meanwhile.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  int* mine = const_cast<int*>(in);
  int was = 0;
  if (i < n) {
    was = mine[i];
    *(volatile int*)(mine + i) = was + 1;
    *(volatile int*)(mine + i) = was;
  }
  tile[t] = was;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
