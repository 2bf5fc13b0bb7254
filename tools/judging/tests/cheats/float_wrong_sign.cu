// judge: chapter11/1
// rejected: wrong: : it is off by
// Adds the excess once more, where it should take it away.
#include "../float_sums.cuh"

struct Wrong : Kahan {
  __device__ void add(float x) {
    const float wanted = x + excess;
    const float next = sum + wanted;
    excess = (next - sum) - wanted;
    sum = next;
  }
  __device__ void merge(const Wrong& other) {
    add(other.sum);
    add(other.excess);
  }
};
__global__ void sum(const float* in, float* partial, std::size_t n) {
  const Wrong all = sum_of_share<Wrong>(in, n);
  if (threadIdx.x == 0) partial[blockIdx.x] = all.sum;
}
