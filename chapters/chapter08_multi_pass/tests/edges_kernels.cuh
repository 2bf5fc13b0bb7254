#pragma once
#include "../kernels.cuh"

namespace chapter08::edges {

/// One of three blocks hands in a sum; what the two others have done, the words say already.
__global__ void one_of_three(long long sum, unsigned long long* words, long long* out) {
  if (blockIdx.x == 0) hand_in(sum, words, out);
}

/// All blocks hand in the same sum at once.
__global__ void all_at_once(long long sum, unsigned long long* words, long long* out) {
  if (threadIdx.x == 0) hand_in(sum, words, out);
}

}  // namespace chapter08::edges
