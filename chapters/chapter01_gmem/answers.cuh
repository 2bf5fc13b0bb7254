#pragma once
#include <cstddef>

namespace chapter01::answers {

// begin answer-by-three
/// A tree that folds three into one at each step: fewer steps, fewer barriers.
__global__ void gmem_by_three(int* data, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned third = (width + 2) / 3;
    if (t < third && i < n) {  // no other thread touches slots t, t + third and t + 2 * third
      int sum = data[i];
      if (t + third < width && i + third < n) sum += data[i + third];
      if (t + 2 * third < width && i + 2 * third < n) sum += data[i + 2 * third];
      data[i] = sum;
    }
    __syncthreads();
    width = third;
  }

  if (t == 0) partial[blockIdx.x] = data[i];
}
// end answer-by-three

}  // namespace chapter01::answers
