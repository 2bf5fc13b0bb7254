// judge: chapter09/1
// rejected: wrong: and should be
// Two counters in a word: right until one of them passes 65535.
#include <climits>
#include <cstddef>
__global__ void histogram(const unsigned char* in, unsigned* bins, std::size_t n) {
  __shared__ unsigned mine[128];
  for (unsigned b = threadIdx.x; b < 128; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    atomicAdd(&mine[in[i] / 2], 1u << (16 * (in[i] % 2)));
  __syncthreads();
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
    atomicAdd(&bins[b], mine[b / 2] >> (16 * (b % 2)) & 0xffff);
}
