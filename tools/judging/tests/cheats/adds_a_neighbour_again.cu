// judge: chapter02/1
// rejected: wrong: element 64 is in it twice: added again at tree.cuh:10
// The first element of a warp enters a slot of the warp before, too.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  int mine = i < n ? in[i] : 0;
  if (t % 32 == 31 && t > 32 && i + 1 < n) mine += in[i + 1];
  tile[t] = mine;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
