#pragma once
#include "kernels.cuh"

namespace chapter12::answers {

// begin answer-log-sum-exp
/// The logarithm of the sum of exp(x) along a row, in one reading: the largest element plus the
/// logarithm of the sum of what is left of the others. A row of nothing but -inf has -inf.
struct LogSumExp {
  using Result = float;
  ExpSum all;
  static __device__ LogSumExp none() { return {ExpSum::none()}; }
  __device__ void add(float x, unsigned /*column*/) { all.merge({x, 1}); }
  __device__ void merge(const LogSumExp& other) { all.merge(other.all); }
  __device__ float value() const { return all.most + logf(all.sum); }
};
// end answer-log-sum-exp

}  // namespace chapter12::answers
