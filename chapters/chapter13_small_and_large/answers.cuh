#pragma once
#include "kernels.cuh"

namespace chapter13::answers {

// begin answer-many-small
/// The sums of many small arrays in one launch, a block for each.
///
/// \param in     the arrays, one behind the other
/// \param begin  where each begins, and where the last ends: gridDim.x + 1 positions, in elements
/// \param out    gridDim.x sums
__global__ void many_small(const int* in, const std::size_t* begin, Sum* out) {
  const std::size_t first = begin[blockIdx.x];
  const std::size_t n = begin[blockIdx.x + 1] - first;
  const Sum sum = chapter08::sum_by_warps(share<1>(in + first, n, threadIdx.x, blockDim.x));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
// end answer-many-small

}  // namespace chapter13::answers
