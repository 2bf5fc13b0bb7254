// judge: chapter05/4
// rejected: sync: shuffle_with_half_a_mask.cu:14
// Reads lanes that its mask doesn't name.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int slot[32];
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (8 * blockDim.x) + t;
  int mine = 0;
  for (unsigned k = 0; k < 8; ++k)
    mine += first + k * blockDim.x < n ? in[first + k * blockDim.x] : 0;
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    if (t % 32 < offset) mine += __shfl_down_sync(0x0000ffff, mine, offset);
  }
  if (t % 32 == 0) slot[t / 32] = mine;
  __syncthreads();
  if (t == 0) {
    int all = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) all += slot[w];
    partial[blockIdx.x] = all;
  }
}
