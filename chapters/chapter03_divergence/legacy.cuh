#pragma once
#include <cstddef>

namespace chapter03::legacy {

// begin in-step-classic
/// A last warp that counts on lanes running in step, kept for that fault. Do not copy.
__global__ void in_step_classic(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[t] = i < n ? in[i] : 0;
  __syncthreads();

  unsigned half = blockDim.x / 2;
  for (; half > 32; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }

  if (t < 32) {
    volatile int* v = tile;
    for (; half > 0; half /= 2) {
      if (t < half) v[t] = v[t] + v[t + half];
      // the fault: nothing makes the lanes meet here again before the next round
    }
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end in-step-classic

}  // namespace chapter03::legacy
