// judge: chapter08/1
// rejected: wrong: is the sum too large for its type?
// Adds in int: overflows by design.
#include "tree.cuh"

__global__ void sum(const int* in, unsigned long long* total, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  int mine = 0;
  for (std::size_t at = i; at < n; at += stride) mine += in[at];
  tile[t] = mine;
  __syncthreads();
  add_up(tile);
  const long long all = tile[0];
  if (t == 0) atomicAdd(total, static_cast<unsigned long long>(all));
}
