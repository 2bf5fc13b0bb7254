#include "book/cub_histogram.hpp"

#include <algorithm>
#include <cub/device/device_histogram.cuh>

#include "book/check.hpp"

namespace book {
namespace {

void histogram(void* storage, std::size_t& bytes, const unsigned char* in, unsigned* bins,
               std::size_t n) {
  // 257 borders make 256 bins of width 1. Where n fits an int, CUB itself counts in ints.
  BOOK_CUDA(cub::DeviceHistogram::HistogramEven(storage, bytes, in, bins, 257, 0, 256,
                                                static_cast<long long>(n)));
}

}  // namespace

std::size_t cub_histogram_bytes(std::size_t n) {
  std::size_t bytes = 0;
  histogram(nullptr, bytes, nullptr, nullptr, n);
  return std::max<std::size_t>(bytes, 1);
}

void cub_histogram(void* storage, std::size_t bytes, const unsigned char* in, unsigned* bins,
                   std::size_t n) {
  histogram(storage, bytes, in, bins, n);
}

}  // namespace book
