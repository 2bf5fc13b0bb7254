// judge: chapter08/2
// rejected: race: another block's write
// The writer has its fence, the reader none.
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
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  unsigned rest = 0;
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) rest += partial[b];
  rest = block_sum(rest);
  if (t == 0) *out = rest;
}
