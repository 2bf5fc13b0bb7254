#include <cstddef>

/// One partial sum per block of whole warps, eight elements per thread.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (8 * blockDim.x) + t;
  int mine = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    const std::size_t i = first + k * blockDim.x;
    mine += i < n ? in[i] : 0;
  }

  // [blank] the block's sum from each thread's `mine`
  __shared__ int slot[32];
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    mine += __shfl_xor_sync(0xffffffff, mine, offset);
  }
  if (t % 32 == 0) slot[t / 32] = mine;
  __syncthreads();
  if (t >= 32) return;

  mine = t < blockDim.x / 32 ? slot[t] : 0;
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    mine += __shfl_xor_sync(0xffffffff, mine, offset);
  }
  // [/blank]

  if (t == 0) partial[blockIdx.x] = mine;
}
