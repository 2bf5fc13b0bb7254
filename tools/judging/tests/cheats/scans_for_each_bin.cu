// judge: chapter09/3
// rejected: goal: reads each byte once
// A thread per bin reads all bytes.
#include <cstddef>

__global__ void histogram(const unsigned char* in, unsigned* bins, std::size_t n) {
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) {
    unsigned mine = 0;
    for (std::size_t i = blockIdx.x; i < n; i += gridDim.x) mine += in[i] == b;
    if (mine) atomicAdd(bins + b, mine);
  }
}
