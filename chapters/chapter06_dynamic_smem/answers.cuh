#pragma once
#include <cstddef>

#include "kernels.cuh"

namespace chapter06::answers {

// begin answer-warp-slots
/// One slot per warp: each warp adds up its own elements by shuffles, then thread 0 adds the slots.
///
/// \pre blockDim.x is a power of two, at most 1024
/// \pre launched with sizeof(int) bytes of dynamic shared memory per warp or more
__global__ void warp_slots(const int* in, int* partial, std::size_t n) {
  extern __shared__ int slot[];
  const unsigned t = threadIdx.x;
  const unsigned warps = (blockDim.x + 31) / 32;

  const int sum = chapter05::warp_sum(chapter05::load_and_add<4>(in, n), min(blockDim.x, 32u));
  if (t % 32 == 0) slot[t / 32] = sum;
  __syncthreads();

  if (t == 0) {
    int total = 0;
    for (unsigned w = 0; w < warps; ++w) total += slot[w];
    partial[blockIdx.x] = total;
  }
}
// end answer-warp-slots

// begin answer-round-up
/// The first offset, from `at` on, where a T may stand.
template <class T>
constexpr std::size_t aligned(std::size_t at) {
  return (at + alignof(T) - 1) / alignof(T) * alignof(T);
}

/// Where the squares begin if the ints come first, and how many bytes both arrays need.
constexpr std::size_t squares_at(unsigned block) {
  return aligned<long long>(block * sizeof(int));
}
constexpr std::size_t ints_first_bytes(unsigned block) {
  return squares_at(block) + block * sizeof(long long);
}

static_assert(squares_at(256) == 1024, "an even block leaves no gap");
static_assert(squares_at(255) == 1024, "an odd one leaves 4 bytes");
static_assert(ints_first_bytes(255) == moments_bytes(255) + 4);
// end answer-round-up

}  // namespace chapter06::answers
