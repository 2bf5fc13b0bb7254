#pragma once
#include "kernels.cuh"

namespace chapter12::legacy {

// begin maximum-from-zero
/// Do not copy: these are faults that look right on the data that everyone tries first.
struct MaximumFromZero : Maximum {
  static __device__ MaximumFromZero none() { return {{0}}; }  // fault: larger than all negatives
};
// end maximum-from-zero

// begin maximum-without-nan
struct MaximumWithoutNan {
  using Result = float;
  float most;
  static __device__ MaximumWithoutNan none() { return {minus_infinity()}; }
  __device__ void add(float x, unsigned /*column*/) {
    most = fmaxf(most, x);  // fault: of a number and a NaN, fmaxf returns the number
  }
  __device__ void merge(const MaximumWithoutNan& other) { add(other.most, 0); }
  __device__ float value() const { return most; }
};
// end maximum-without-nan

// begin argmax-any-tie
/// Which of equal elements it names depends on who met whom first.
struct ArgmaxAnyTie : Argmax {
  static __device__ ArgmaxAnyTie none() { return {Argmax::none()}; }
  __device__ void add(float x, unsigned at) {
    if (x >= most || isnan(x)) *static_cast<Argmax*>(this) = {x, at};  // fault: the last of equals
  }
  __device__ void merge(const ArgmaxAnyTie& other) {
    if (other.column != kNoColumn) add(other.most, other.column);
  }
};
// end argmax-any-tie

// begin moments-added-up
struct MomentsAddedUp : Moments {
  static __device__ MomentsAddedUp none() { return {Moments::none()}; }
  __device__ void merge(const MomentsAddedUp& other) {
    if (other.count == 0) return;
    mean = (mean + other.mean) / 2;  // fault: the parts may differ in length
    squares += other.squares;        // fault: each is about its own mean
    count += other.count;
  }
};
// end moments-added-up

// begin moments-of-squares
/// The mean of the squares less the square of the mean: two large numbers, and their difference.
struct MomentsOfSquares {
  using Result = float2;
  float sum, squares;
  unsigned count;
  static __device__ MomentsOfSquares none() { return {0, 0, 0}; }
  __device__ void add(float x, unsigned /*column*/) {
    ++count;
    sum += x;
    squares += x * x;  // fault: rounds by more than the variance may be
  }
  __device__ void merge(const MomentsOfSquares& other) {
    sum += other.sum;
    squares += other.squares;
    count += other.count;
  }
  __device__ float2 value() const {
    const float mean = sum / static_cast<float>(count);
    return {mean, squares / static_cast<float>(count) - mean * mean};
  }
};
// end moments-of-squares

// begin row-of-one-block
/// An element per thread, and a block per row.
__global__ void row_of_one_block(const float* in, float* out, unsigned columns) {
  __shared__ Sum slot[32];
  Sum mine = Sum::none();
  if (threadIdx.x < columns)  // fault: elements from blockDim.x on belong to no thread
    mine.add(in[std::size_t{blockIdx.x} * columns + threadIdx.x], 0);
  const Sum total = merge_block(mine, slot);
  if (threadIdx.x == 0) out[blockIdx.x] = total.value();
}
// end row-of-one-block

// begin softmax-without-maximum
/// exp(x) / sum of exp(x), as the formula has it, by a block per row.
__global__ void softmax_without_maximum(const float* in, float* out, unsigned columns) {
  __shared__ Sum slot[32];
  const std::size_t row = std::size_t{blockIdx.x} * columns;
  Sum mine = Sum::none();
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x)
    mine.add(expf(in[row + c]), 0);  // fault: past 88.7 that is infinite, and inf / inf is NaN
  const float sum = merge_block(mine, slot).sum;
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x)
    out[row + c] = expf(in[row + c]) / sum;
}
// end softmax-without-maximum

// begin softmax-masked
/// Softmax online, whose merge takes -inf for a number like any other.
struct alignas(8) UnguardedExpSum {
  float most, sum;
  static __device__ UnguardedExpSum none() { return {minus_infinity(), 0}; }
  __device__ void merge(const UnguardedExpSum& other) {
    const float larger = fmaxf(most, other.most);
    // fault: two parts of nothing but -inf make it exp(-inf - -inf), which is NaN
    sum = sum * expf(most - larger) + other.sum * expf(other.most - larger);
    most = larger;
  }
};
__global__ void softmax_masked(const float* in, float* out, unsigned columns) {
  __shared__ UnguardedExpSum slot[32];
  const std::size_t row = std::size_t{blockIdx.x} * columns;
  UnguardedExpSum mine = UnguardedExpSum::none();
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) mine.merge({in[row + c], 1});
  const UnguardedExpSum all = merge_block(mine, slot);
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x)
    out[row + c] = expf(in[row + c] - all.most) / all.sum;
}
// end softmax-masked

}  // namespace chapter12::legacy
