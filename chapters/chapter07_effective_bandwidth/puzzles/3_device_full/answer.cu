#include <cstddef>

/// One partial sum per block of whole warps, for any grid. The input begins at a multiple of 16.
__global__ void sum(const int* in, int* partial, std::size_t n) {
  const unsigned t = threadIdx.x;
  // [blank] the whole kernel
  __shared__ int slot[32];
  const int4* fours = reinterpret_cast<const int4*>(in);
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + t;

  int mine = 0;
#pragma unroll 4
  for (std::size_t i = thread; i < n / 4; i += threads) {
    const int4 v = fours[i];
    mine += v.x + v.y + v.z + v.w;
  }
  if (thread < n % 4) mine += in[n / 4 * 4 + thread];

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
  if (t == 0) partial[blockIdx.x] = mine;
  // [/blank]
}
