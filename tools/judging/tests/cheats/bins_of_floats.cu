// judge: chapter11/3
// rejected: wrong: bins[
// Bins that are floats: their sums round, and depend on the order.
#include "../bins.cuh"

__global__ void sum(const float* in, unsigned long long* bins, std::size_t n) {
  fill_bins(in, bins, n, [](long long& bin, float x, unsigned k) {
    const float before = static_cast<float>(bin);
    bin = static_cast<long long>(before + static_cast<float>(shifted(x, k)));
  });
}
