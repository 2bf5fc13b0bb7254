// judge: chapter11/3
// rejected: wrong: bins[
// 2^150 in one step is an infinity.
#include "../bins.cuh"

__global__ void sum(const float* in, unsigned long long* bins, std::size_t n) {
  fill_bins(in, bins, n, [](long long& bin, float x, unsigned k) {
    bin += __float2ll_rz(x * exp2f(150.0f - 16.0f * k));
  });
}
