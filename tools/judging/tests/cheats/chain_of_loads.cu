// judge: chapter05/2
// rejected: goal: no load waits for another's value
// Each load needs the one before.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  std::size_t i = std::size_t{blockIdx.x} * 4 * blockDim.x + t;
  int mine = 0;
  for (int k = 0; k < 4; ++k) {
    const int v = i < n ? in[i] : 0;
    int none;
    asm volatile("and.b32 %0, %1, 0;" : "=r"(none) : "r"(v));
    mine += v;
    i += blockDim.x + none;
  }
  tile[t] = mine;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
