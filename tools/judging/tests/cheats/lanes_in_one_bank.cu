// judge: chapter09/3
// rejected: goal: each lane of a warp counts in its own bank
// Two lanes share each copy.
#include <cstddef>

__global__ void histogram(const unsigned char* in, unsigned* bins, std::size_t n) {
  extern __shared__ unsigned copies[];
  for (unsigned i = threadIdx.x; i < 32 * 256; i += blockDim.x) copies[i] = 0;
  __syncthreads();
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned* mine = copies + threadIdx.x % 32 / 2;
  for (std::size_t i = first; i < n; i += threads) atomicAdd(&mine[32 * in[i]], 1u);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned k = 0; k < 32; ++k) sum += copies[32 * bin + (k + threadIdx.x) % 32];
    atomicAdd(&bins[bin], sum);
  }
}
