// judge: chapter11/1
// rejected: wrong: is off by
// Adds up elements of a thousandth or more alone.
#include "../float_sums.cuh"

struct KahanOfLargeOnes : Kahan {
  __device__ void add(float x) {
    if (x >= 1e-3F) Kahan::add(x);
  }
};
__global__ void sum(const float* in, float* partial, std::size_t n) {
  const KahanOfLargeOnes all = sum_of_share<KahanOfLargeOnes>(in, n);
  if (threadIdx.x == 0) partial[blockIdx.x] = all.sum;
}
