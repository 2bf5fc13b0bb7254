// judge: chapter00/1
// rejected: goal: block 0 reads 100 %
// One block copies everything, and the others leave.
#include <cstddef>

__global__ void copy(const int* in, int* out, std::size_t n) {
  if (blockIdx.x > 0) return;
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
}
