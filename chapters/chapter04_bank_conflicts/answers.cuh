#pragma once
#include <cstddef>

#include "kernels.cuh"

namespace chapter04::answers {

// begin answer-passes
/// How many passes one load of 4-byte words takes; word(lane) is the word that a lane reads.
template <class Word>
constexpr unsigned passes(Word word) {
  unsigned most = 0;
  for (unsigned bank = 0; bank < 32; ++bank) {
    unsigned different = 0;  // words of this bank, each counted at the first lane that reads it
    for (unsigned lane = 0; lane < 32; ++lane) {
      bool first = word(lane) % 32 == bank;
      for (unsigned before = 0; before < lane; ++before) first &= word(before) != word(lane);
      different += first;
    }
    most = different > most ? different : most;
  }
  return most;
}

static_assert(passes([](unsigned lane) { return 7 * lane; }) == 1, "7 and 32 have no divisor");
static_assert(passes([](unsigned lane) { return 24 * lane; }) == 8, "24 and 32 have 8");
static_assert(passes([](unsigned) { return 5u; }) == 1, "one word for all");
static_assert(passes([](unsigned lane) { return lane % 2 * 32; }) == 2, "two words, one bank");
static_assert(passes([](unsigned lane) { return padded(32 * lane); }) == 1, "a padded column");
// end answer-passes

// begin answer-swizzled
/// Where slot i lies when no word is left free: each row of 32 has its slots in another order.
__host__ __device__ constexpr unsigned swizzled(unsigned i) {
  return i ^ (i / 32 % 32);
}

/// strided_padded without the padding.
__global__ void strided_swizzled(const int* in, int* partial, std::size_t n) {
  __shared__ int tile[1024];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  tile[swizzled(t)] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned slot = 2 * s * t;
    if (slot + s < blockDim.x) tile[swizzled(slot)] += tile[swizzled(slot + s)];
    __syncthreads();
  }

  if (t == 0) partial[blockIdx.x] = tile[0];
}
// end answer-swizzled

}  // namespace chapter04::answers
