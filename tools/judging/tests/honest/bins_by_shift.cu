// judge: chapter11/3
// Takes floats apart by their bits.
#include "../bins.cuh"

__global__ void sum(const float* in, unsigned long long* bins, std::size_t n) {
  fill_bins(in, bins, n, [](long long& bin, float x, unsigned k) { bin += shifted(x, k); });
}
