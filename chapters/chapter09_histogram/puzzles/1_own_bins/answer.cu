#include <cstddef>

/// Counts how often each value occurs in n bytes.
__global__ void histogram(const unsigned char* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[256];
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;

  // [blank] before the block counts
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  // [/blank]
  for (std::size_t i = first; i < n; i += threads) atomicAdd(&mine[in[i]], 1u);
  // [blank] before it adds its counts to the global ones
  __syncthreads();
  // [/blank]
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], mine[bin]);
}
