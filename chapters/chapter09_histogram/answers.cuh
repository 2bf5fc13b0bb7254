#pragma once
#include <cstddef>

#include "kernels.cuh"

namespace chapter09::answers {

// begin answer-runs
/// count_per_lane, with one atomic per run of equal bytes that a thread meets.
///
/// \pre launched with 32 * kBins * sizeof(unsigned) bytes of dynamic shared memory
__global__ void count_runs(const unsigned char* in, unsigned* bins, std::size_t n) {
  extern __shared__ unsigned copies[];
  for (unsigned i = threadIdx.x; i < 32 * kBins; i += blockDim.x) copies[i] = 0;
  __syncthreads();

  unsigned* mine = copies + threadIdx.x % 32;
  unsigned value = 0;
  unsigned times = 0;  // in a row
  each_byte<1>(in, n, [&](unsigned next) {
    if (next != value) {
      atomicAdd(&mine[32 * value], times);
      value = next;
      times = 0;
    }
    ++times;
  });
  atomicAdd(&mine[32 * value], times);
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned k = 0; k < 32; ++k) sum += copies[32 * bin + (k + threadIdx.x) % 32];
    atomicAdd(&bins[bin], sum);
  }
}
// end answer-runs

}  // namespace chapter09::answers
