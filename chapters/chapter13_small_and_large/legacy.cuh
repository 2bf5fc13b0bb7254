#pragma once
#include "kernels.cuh"

namespace chapter13::legacy {

// begin no-wait
/// second_pass as a dependent launch that doesn't wait: do not copy.
__global__ void second_at_once(const Sum* partial, Sum* out, unsigned count) {
  Sum sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    sum += partial[i];  // fault: the first pass may still be at work on this
  }
  sum = chapter08::sum_by_warps(sum);
  if (threadIdx.x == 0) *out = sum;
}
// end no-wait

}  // namespace chapter13::legacy
