// judge: chapter11/2
// rejected: wrong: : it is off by
// Neumaier in each thread, and a plain tree.
#include "../float_sums.cuh"

struct Forgets {
  float sum, lost;
  __device__ void add(float x) {
    const float next = sum + x;
    lost += fabsf(sum) >= fabsf(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  __device__ void merge(const Forgets& other) {
    sum += other.sum;
    lost += other.lost;
  }
};
__global__ void sum(const float* in, float* partial, std::size_t n) {
  const Forgets all = sum_of_share<Forgets>(in, n);
  if (threadIdx.x == 0) partial[blockIdx.x] = all.sum + all.lost;
}
