// judge: chapter02/2
// CUB's sum over a warp, also over a part of one.
#include <cstddef>
#include <cub/warp/warp_reduce.cuh>
__global__ void sum(const int* in, int* partial, std::size_t n) {
  using Warp = cub::WarpReduce<int>;
  __shared__ typename Warp::TempStorage room[32];
  __shared__ int slot[32];
  const unsigned t = threadIdx.x;
  int mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += in[i];
  const unsigned of = min(32u, blockDim.x - t / 32 * 32);
  const int warp = Warp(room[t / 32]).Sum(mine, of);
  if (t % 32 == 0) slot[t / 32] = warp;
  __syncthreads();
  if (t == 0) {
    int all = 0;
    for (unsigned w = 0; w < (blockDim.x + 31) / 32; ++w) all += slot[w];
    partial[blockIdx.x] = all;
  }
}
