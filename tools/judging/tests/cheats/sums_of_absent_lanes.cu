// judge: chapter05/4
// rejected: sync: sums_of_absent_lanes.cu:
// Adds what lanes hold that the mask leaves out.
#include "tree.cuh"

__global__ void sum(const int* in, int* partial, std::size_t n) {
  __shared__ int slot[32];
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (8 * blockDim.x) + t;
  int mine = 0;
  for (unsigned k = 0; k < 8; ++k)
    mine += first + k * blockDim.x < n ? in[first + k * blockDim.x] : 0;
  for (unsigned offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(~0u, mine, offset);
  if (t % 32 == 0) slot[t / 32] = mine;
  __syncthreads();
  const unsigned warps = blockDim.x / 32;
  if (t < warps) {
    const unsigned mask = warps == 32 ? ~0u : (1u << warps) - 1;
    int all = slot[t];
    for (unsigned offset = 16; offset > 0; offset /= 2) all += __shfl_down_sync(mask, all, offset);
    if (t == 0) partial[blockIdx.x] = all;
  }
}
