#pragma once
#include "../kernels.cuh"

namespace chapter12::hard_rows {

/// Mean and variance of elements that are 2^30 times smaller, and as many times larger again at the
/// end: exactly, unless something on the way is as large as 1.
struct SmallMoments {
  using Result = float2;
  Moments small;
  static __device__ SmallMoments none() { return {Moments::none()}; }
  __device__ void add(float x, unsigned column) { small.add(x * 0x1p-30f, column); }
  __device__ void merge(const SmallMoments& other) { small.merge(other.small); }
  __device__ float2 value() const {
    const float2 of_small = small.value();
    return {of_small.x * 0x1p30f, of_small.y * 0x1p60f};
  }
};

/// The place of the largest element, where each 3 is a NaN: of rows of nothing but 3, the first.
struct ArgmaxOfNans : Argmax {
  static __device__ ArgmaxOfNans none() { return {Argmax::none()}; }
  __device__ void add(float x, unsigned at) {
    Argmax::add(x == 3 ? __int_as_float(0x7fc00000) : x, at);
  }
};

}  // namespace chapter12::hard_rows
