#include <cstddef>

/// sums[g] becomes the sum of share g of n ints, which begin at a multiple of 16 bytes. Block g
/// stands for a GPU of speed[g]. Blocks of whole warps.
__global__ void shares(const int* in, const unsigned* speed, long long* sums, std::size_t n) {
  __shared__ long long part[32];
  const unsigned t = threadIdx.x;

  // [blank] where share g begins and ends: all GPUs are to be done at the same time
  //= std::size_t first = n * blockIdx.x / gridDim.x;
  //= std::size_t end = n * (blockIdx.x + 1) / gridDim.x;
  std::size_t before = 0, upto = 0, all = 0;
  for (unsigned g = 0; g < gridDim.x; ++g) {
    if (g < blockIdx.x) before += speed[g];
    if (g <= blockIdx.x) upto += speed[g];
    all += speed[g];
  }
  const std::size_t first = n * before / all / 4 * 4;
  const std::size_t end = upto == all ? n : n * upto / all / 4 * 4;
  // [/blank]

  long long mine = 0;
  // [blank] read the share, 16 bytes at a time
  //= for (std::size_t i = first + t; i < end; i += blockDim.x) mine += in[i];
  const int4* fours = reinterpret_cast<const int4*>(in + first);
  const std::size_t count = end - first;
  for (std::size_t v = t; v < count / 4; v += blockDim.x) {
    const int4 four = fours[v];
    mine += static_cast<long long>(four.x) + four.y + four.z + four.w;
  }
  if (t < count % 4) mine += in[first + count / 4 * 4 + t];
  // [/blank]

  for (unsigned bits = 16; bits > 0; bits /= 2) mine += __shfl_xor_sync(0xffffffff, mine, bits);
  if (t % 32 == 0) part[t / 32] = mine;
  __syncthreads();
  if (t != 0) return;
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) mine += part[warp];
  sums[blockIdx.x] = mine;
}
