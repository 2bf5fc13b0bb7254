#include <cstddef>

/// *out becomes the sum of n ints, which begin at a multiple of 16 bytes. One block of whole warps.
__global__ void sum(const int* in, long long* out, std::size_t n) {
  __shared__ long long slot[32];
  const unsigned t = threadIdx.x;

  long long mine = 0;
  // [blank] all threads read, 16 bytes at a time
  //= for (std::size_t i = t; t < 32 && i < n; i += 32) mine += in[i];
  const int4* fours = reinterpret_cast<const int4*>(in);
  for (std::size_t v = t; v < n / 4; v += blockDim.x) {
    const int4 four = fours[v];
    mine += static_cast<long long>(four.x) + four.y + four.z + four.w;
  }
  if (t < n % 4) mine += in[n / 4 * 4 + t];
  // [/blank]

  for (unsigned offset = 16; offset > 0; offset /= 2) {
    mine += __shfl_xor_sync(0xffffffff, mine, offset);
  }
  if (t % 32 == 0) slot[t / 32] = mine;
  __syncthreads();
  if (t == 0) {
    long long total = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) total += slot[w];
    *out = total;
  }
}
