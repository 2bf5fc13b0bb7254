// judge: chapter02/1
// rejected: form: reads the clock
// Nothing but time passes.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  const long long began = clock64();
  int turns = 0;
  while (clock64() - began < 500) ++turns;
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0] + (turns < 0);
}
