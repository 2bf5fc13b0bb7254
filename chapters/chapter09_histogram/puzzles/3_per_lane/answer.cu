#include <cstddef>

/// Counts how often each value occurs in n bytes. 32 KB of dynamic shared memory.
__global__ void histogram(const unsigned char* in, unsigned* bins, std::size_t n) {
  extern __shared__ unsigned copies[];  // 256 bins for each of 32 lanes
  for (unsigned i = threadIdx.x; i < 32 * 256; i += blockDim.x) copies[i] = 0;
  __syncthreads();

  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  // [blank] count into this lane's copy
  //= for (std::size_t i = first; i < n; i += threads) atomicAdd(&copies[32 * in[i]], 1u);
  unsigned* mine = copies + threadIdx.x % 32;
  for (std::size_t i = first; i < n; i += threads) atomicAdd(&mine[32 * in[i]], 1u);
  // [/blank]
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
    unsigned sum = 0;
    // [blank] the sum of this bin's 32 copies
    //= for (unsigned k = 0; k < 32; ++k) sum += copies[32 * bin + k];
    for (unsigned k = 0; k < 32; ++k) sum += copies[32 * bin + (k + threadIdx.x) % 32];
    // [/blank]
    atomicAdd(&bins[bin], sum);
  }
}
