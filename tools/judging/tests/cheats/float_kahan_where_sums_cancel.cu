// judge: chapter11/2
// rejected: wrong: : it is off by
// Kahan takes the sum to be the larger one.
#include "../float_sums.cuh"

__global__ void sum(const float* in, float* partial, std::size_t n) {
  const Kahan all = sum_of_share<Kahan>(in, n);
  if (threadIdx.x == 0) partial[blockIdx.x] = all.sum - all.excess;
}
