// What the kernels with 16 bins per thread have in common.
#pragma once
#include <cstddef>

/// Puts each element of a block's share where `add` says, then adds up the threads' bins.
template <class Add>
__device__ inline void fill_bins(const float* in, unsigned long long* bins, std::size_t n,
                                 const Add& add) {
  extern __shared__ long long bin[];
  const unsigned t = threadIdx.x, threads = blockDim.x;
  for (unsigned k = 0; k < 16; ++k) bin[k * threads + t] = 0;
  const std::size_t stride = std::size_t{gridDim.x} * threads;
  for (std::size_t i = std::size_t{blockIdx.x} * threads + t; i < n; i += stride) {
    const float x = in[i];
    const unsigned k = __float_as_uint(x) >> 27 & 15;
    add(bin[k * threads + t], x, k);
  }
  for (unsigned width = threads; width > 1;) {
    const unsigned half = (width + 1) / 2;
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

/// x in units of 2^(16 k - 150), by integers alone.
__device__ inline long long shifted(float x, unsigned k) {
  const unsigned bits = __float_as_uint(x), exponent = bits >> 23 & 255;
  const unsigned whole = (bits & 0x7fffff) | (exponent > 0 ? 0x800000 : 0);
  const long long value = static_cast<long long>(whole) << ((exponent > 0 ? exponent : 1) - 16 * k);
  return bits >> 31 ? -value : value;
}
