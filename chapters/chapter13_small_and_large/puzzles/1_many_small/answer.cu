#include <cstddef>

/// out[k] becomes the sum of the elements from begin[k] up to begin[k + 1], of n arrays. Blocks
/// of whole warps.
__global__ void sums(const int* in, const unsigned* begin, unsigned* out, std::size_t n) {
  __shared__ unsigned slot[32];
  const unsigned t = threadIdx.x;
  if (blockIdx.x >= n) return;
  const unsigned first = begin[blockIdx.x], end = begin[blockIdx.x + 1];

  // [blank] all threads read, and the block adds up what they have
  //= unsigned mine = 0;
  //= for (unsigned i = first; t == 0 && i < end; ++i) mine += in[i];
  //= slot[0] = mine;
  unsigned mine = 0;
  for (unsigned i = first + t; i < end; i += blockDim.x) mine += in[i];
  mine = __reduce_add_sync(0xffffffff, mine);
  if (t % 32 == 0) slot[t / 32] = mine;
  __syncthreads();
  if (t >= 32) return;
  mine = __reduce_add_sync(0xffffffff, t < blockDim.x / 32 ? slot[t] : 0);
  // [/blank]

  if (t == 0) out[blockIdx.x] = mine;
}
