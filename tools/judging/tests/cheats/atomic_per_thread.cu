// judge: chapter08/1
// rejected: goal: one atomic per block
// Right, with an atomic for each thread.
#include <cstddef>

__global__ void sum(const int* in, unsigned long long* total, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  long long mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    mine += in[i];
  }
  atomicAdd(total, static_cast<unsigned long long>(mine));
}
