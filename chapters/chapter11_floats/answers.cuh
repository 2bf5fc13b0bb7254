#pragma once
#include "kernels.cuh"

namespace chapter11::answers {

// begin answer-two-sum
/// What an addition has lost, found without asking which operand is larger.
struct TwoSum {
  float sum, lost;
  __device__ void add(float x) {
    const float next = sum + x;
    const float grown_by = next - sum;          // x, as far as it has arrived
    const float left_of_sum = next - grown_by;  // the old sum, as far as it is still there
    lost += (sum - left_of_sum) + (x - grown_by);
    sum = next;
  }
  __device__ void merge(const TwoSum& other) {
    add(other.sum);
    lost += other.lost;
  }
  __device__ float value() const { return sum + lost; }
};
// end answer-two-sum

}  // namespace chapter11::answers
