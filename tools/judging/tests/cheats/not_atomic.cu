// judge: chapter08/1
// rejected: race: read after another block's write
// Blocks add to one number without an atomic.
#include "tree.cuh"

__global__ void sum(const int* in, unsigned long long* total, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = element();
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  long long mine = 0;
  for (std::size_t at = i; at < n; at += stride) mine += in[at];
  tile[t] = 0;
  for (unsigned who = 0; who < blockDim.x; ++who) {
    if (t == who) *total += static_cast<unsigned long long>(mine);
    __syncthreads();
  }
}
