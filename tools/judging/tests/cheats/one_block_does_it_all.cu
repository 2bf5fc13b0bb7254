// judge: chapter07/1
// rejected: wrong: all blocks are to share them
// Right in total, and as slow as one block.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const int4* fours = reinterpret_cast<const int4*>(in);
  int mine = 0;
  if (blockIdx.x == 0) {
    for (std::size_t k = t; k < n / 4; k += blockDim.x) {
      const int4 v = fours[k];
      mine += v.x + v.y + v.z + v.w;
    }
    if (t == 0) {
      for (std::size_t i = n / 4 * 4; i < n; ++i) mine += in[i];
    }
  }
  tile[t] = mine;
  __syncthreads();
  add_up(tile);
  if (t == 0) partial[blockIdx.x] = tile[0];
}
