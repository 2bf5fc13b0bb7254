// judge: chapter11/1
// rejected: goal: no doubles
// Adds in double, one thread for the whole block.
#include <cstddef>

__global__ void sum(const float* in, float* partial, std::size_t n) {
  if (threadIdx.x != 0) return;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  double all = 0;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < n; first += stride) {
    for (std::size_t i = first; i < n && i < first + blockDim.x; ++i) all += in[i];
  }
  partial[blockIdx.x] = static_cast<float>(all);
}
