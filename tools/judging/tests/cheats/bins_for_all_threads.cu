// judge: chapter11/3
// rejected: goal: 16 atomics per block
// An atomic for every element.
#include "../bins.cuh"

__global__ void sum(const float* in, unsigned long long* bins, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const unsigned k = __float_as_uint(in[i]) >> 27 & 15;
    atomicAdd(&bins[k], static_cast<unsigned long long>(shifted(in[i], k)));
  }
}
