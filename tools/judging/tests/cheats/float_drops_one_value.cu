// judge: chapter11/2
// rejected: wrong: missing
// Leaves elements out that are 3.3.
#include "../float_sums.cuh"

struct TwoSumOfOthers {
  float sum, lost;
  __device__ void add(float x) {
    if (x == 3.3F) return;
    const float next = sum + x, grown_by = next - sum;
    lost += (sum - (next - grown_by)) + (x - grown_by);
    sum = next;
  }
  __device__ void merge(const TwoSumOfOthers& other) {
    const float x = other.sum, next = sum + x, grown_by = next - sum;
    lost += (sum - (next - grown_by)) + (x - grown_by) + other.lost;
    sum = next;
  }
};
__global__ void sum(const float* in, float* partial, std::size_t n) {
  const TwoSumOfOthers all = sum_of_share<TwoSumOfOthers>(in, n);
  if (threadIdx.x == 0) partial[blockIdx.x] = all.sum + all.lost;
}
