// judge: chapter08/2
// rejected: wrong: isn't 0 again
// Leaves the ticket where it is: the next launch finds no last block.
#include "tree.cuh"

__device__ unsigned block_sum(unsigned value) {
  __shared__ int tile[1024];
  __syncthreads();
  tile[threadIdx.x] = static_cast<int>(value);
  __syncthreads();
  add_up(tile);
  return static_cast<unsigned>(tile[0]);
}

__global__ void sum(const int* in, unsigned* partial, unsigned* ticket, unsigned* out,
                    std::size_t n) {
  __shared__ bool last;
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned mine = 0;
  for (std::size_t i = element(); i < n; i += stride) mine += in[i];
  mine = block_sum(mine);
  if (t == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  unsigned rest = 0;
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = block_sum(rest);
  if (t == 0) *out = rest;
}
