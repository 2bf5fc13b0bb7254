// judge: chapter11/1
// rejected: wrong: : it is off by
// One float per thread, and every addition rounds.
#include "../float_sums.cuh"

struct Plain {
  float sum;
  __device__ void add(float x) { sum += x; }
  __device__ void merge(const Plain& other) { sum += other.sum; }
};
__global__ void sum(const float* in, float* partial, std::size_t n) {
  const Plain all = sum_of_share<Plain>(in, n);
  if (threadIdx.x == 0) partial[blockIdx.x] = all.sum;
}
