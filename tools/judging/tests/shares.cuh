// What the kernels that stand for several GPUs have in common.
#pragma once
#include <cstddef>

/// The sum of a block's values, in thread 0. Of whole warps.
__device__ inline long long sum_in_block(long long value) {
  __shared__ long long part[32];
  const unsigned t = threadIdx.x;
  for (unsigned bits = 16; bits > 0; bits /= 2) value += __shfl_xor_sync(0xffffffff, value, bits);
  __syncthreads();
  if (t % 32 == 0) part[t / 32] = value;
  __syncthreads();
  for (unsigned warp = 1; t == 0 && warp < blockDim.x / 32; ++warp) value += part[warp];
  return value;
}

/// The sum of elements first to end, in thread 0.
__device__ inline long long sum_between(const int* in, std::size_t first, std::size_t end) {
  long long mine = 0;
  for (std::size_t i = first + threadIdx.x; i < end; i += blockDim.x) mine += in[i];
  return sum_in_block(mine);
}

/// The same of this block's share, of equal ones.
__device__ inline long long sum_of_share(const int* in, std::size_t n) {
  const std::size_t share = (n + gridDim.x - 1) / gridDim.x;
  const std::size_t end = share * (blockIdx.x + 1);
  return sum_between(in, share * blockIdx.x, end < n ? end : n);
}

/// *out becomes the sum of n ints. raise(flag) tells block 0 that its block's sum is stored, and
/// wait(flag) returns once it has been told.
template <class Raise, class Wait>
__device__ void hand_over(const int* in, long long* slots, unsigned* flags, long long* out,
                          std::size_t n, Raise raise, Wait wait) {
  long long mine = sum_of_share(in, n);
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    slots[blockIdx.x] = mine;
    raise(flags + blockIdx.x);
    return;
  }
  for (unsigned other = 1; other < gridDim.x; ++other) {
    wait(flags + other);
    mine += slots[other];
    flags[other] = 0;
  }
  *out = mine;
}
