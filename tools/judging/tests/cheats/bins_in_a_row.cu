// judge: chapter11/3
// rejected: goal: no bank conflicts
// Each thread's bins in a row: lanes with the same bin meet in one bank.
#include "../bins.cuh"

__global__ void sum(const float* in, unsigned long long* bins, std::size_t n) {
  extern __shared__ long long bin[];
  const unsigned t = threadIdx.x;
  for (unsigned k = 0; k < 16; ++k) bin[16 * t + k] = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += stride) {
    const unsigned k = __float_as_uint(in[i]) >> 27 & 15;
    bin[16 * t + k] += shifted(in[i], k);
  }
  __syncthreads();
  for (unsigned k = t; k < 16; k += blockDim.x) {
    long long all = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) all += bin[16 * i + k];
    atomicAdd(&bins[k], static_cast<unsigned long long>(all));
  }
}
