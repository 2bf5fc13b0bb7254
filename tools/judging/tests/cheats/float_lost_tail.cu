// judge: chapter11/1
// rejected: wrong: is missing: no thread reads it
// Leaves the last element out, which is a small part of the sum.
#include "../float_sums.cuh"

__global__ void sum(const float* in, float* partial, std::size_t n) {
  const Kahan all = sum_of_share<Kahan>(in, n > 100 ? n - 1 : n);
  if (threadIdx.x == 0) partial[blockIdx.x] = all.sum;
}
