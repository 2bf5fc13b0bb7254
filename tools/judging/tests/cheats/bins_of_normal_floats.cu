// judge: chapter11/3
// rejected: wrong: bins[0] is
// A float's hidden bit, also where there is none.
#include "../bins.cuh"

__global__ void sum(const float* in, unsigned long long* bins, std::size_t n) {
  fill_bins(in, bins, n, [](long long& bin, float x, unsigned k) {
    const unsigned bits = __float_as_uint(x), exponent = bits >> 23 & 255;
    const long long value = static_cast<long long>((bits & 0x7fffff) | 0x800000);
    const long long whole = value << (exponent - 16 * k);
    bin += bits >> 31 ? -whole : whole;
  });
}
