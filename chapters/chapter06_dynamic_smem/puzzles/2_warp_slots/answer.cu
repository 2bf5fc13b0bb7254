#include <cstddef>

/// One partial sum per block of whole warps, eight elements per thread.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  extern __shared__ int slot[];  // one per warp
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (8 * blockDim.x) + t;
  int mine = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    const std::size_t i = first + k * blockDim.x;
    mine += i < n ? in[i] : 0;
  }

  // [blank] from each thread's `mine` to slot[0], the block's sum
  //= if (t % 32 == 0) slot[t / 32] = mine;
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    mine += __shfl_xor_sync(0xffffffff, mine, offset);
  }
  if (t % 32 == 0) slot[t / 32] = mine;
  __syncthreads();
  if (t == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; ++w) slot[0] += slot[w];
  }
  // [/blank]

  if (t == 0) partial[blockIdx.x] = slot[0];
}
