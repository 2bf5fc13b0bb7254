#pragma once
#include "../take_home.cuh"

namespace take_home::edges {

/// One of three blocks hands in a sum; what the two others have done, the words say already.
__global__ void one_of_three(long long sum, unsigned long long* words, long long* out) {
  auto total = static_cast<unsigned long long>(sum);
  if (blockIdx.x == 0 && hand_in(total, words)) *out = static_cast<long long>(total);
}

/// All blocks hand in the same sum at once.
__global__ void all_at_once(long long sum, unsigned long long* words, long long* out) {
  auto total = static_cast<unsigned long long>(sum);
  if (threadIdx.x == 0 && hand_in(total, words)) *out = static_cast<long long>(total);
}

}  // namespace take_home::edges
