#pragma once
#include <cstddef>

namespace chapterNN {

// begin chapterNN-rung
/// One partial sum per block: its first thread adds the block's elements, one after another.
///
/// \param in       n elements in device memory; left as they are
/// \param partial  gridDim.x sums, one per block
/// \param n        number of elements; the last block's share may be short
/// \pre gridDim.x * blockDim.x >= n
__global__ void rung(const int* in, int* partial, std::size_t n) {
  if (threadIdx.x != 0) return;  // the others have nothing to add
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;

  int sum = 0;
  for (std::size_t i = first; i < first + blockDim.x && i < n; ++i) sum += in[i];
  partial[blockIdx.x] = sum;
}
// end chapterNN-rung

}  // namespace chapterNN
