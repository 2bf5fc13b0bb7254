#pragma once
#include <cstddef>

namespace chapter19 {

// begin planted
/// One thread per block adds the block's elements, one after another.
__global__ void planted(const int* in, int* partial, std::size_t n) {
  if (threadIdx.x != 0) return;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x;
  int sum = 0;
  for (std::size_t i = first; i < first + blockDim.x && i < n; ++i) sum += in[i];
  partial[blockIdx.x] = sum;
}
// end planted

}  // namespace chapter19
