#include <cstddef>

/// Adds n floats to 16 whole numbers: bins[k] counts in units of 2^(16 k - 150).
__global__ void sum(const float* in, unsigned long long* bins, std::size_t n) {
  extern __shared__ long long bin[];  // 16 for each thread, with the threads side by side
  const unsigned t = threadIdx.x;
  const unsigned threads = blockDim.x;
  for (unsigned k = 0; k < 16; ++k) bin[k * threads + t] = 0;

  const std::size_t stride = std::size_t{gridDim.x} * threads;
  for (std::size_t i = std::size_t{blockIdx.x} * threads + t; i < n; i += stride) {
    const float x = in[i];
    // [blank] which of its bins x belongs to, and x in that bin's units
    //= bin[t] += __float2ll_rz(x);
    const unsigned k = __float_as_uint(x) >> 27 & 15;
    const float scale = __uint_as_float((127 + 75 - 8 * k) << 23);  // 2^(75 - 8 k)
    bin[k * threads + t] += __float2ll_rz(x * scale * scale);
    // [/blank]
  }

  for (unsigned width = threads; width > 1;) {
    const unsigned half = (width + 1) / 2;  // rounded up: an odd one out waits a step
    __syncthreads();
    for (unsigned k = 0; k < 16 && t + half < width; ++k) {
      bin[k * threads + t] += bin[k * threads + t + half];
    }
    width = half;
  }

  for (unsigned k = 0; k < 16 && t == 0; ++k) {
    atomicAdd(&bins[k], static_cast<unsigned long long>(bin[k * threads]));
  }
}
