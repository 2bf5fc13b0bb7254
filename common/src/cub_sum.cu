#include "book/cub_sum.hpp"

#include <algorithm>
#include <cub/device/device_reduce.cuh>

#include "book/check.hpp"

namespace book {

std::size_t cub_sum_bytes(std::size_t n) {
  std::size_t wide = 0;
  std::size_t narrow = 0;
  BOOK_CUDA(cub::DeviceReduce::Sum(nullptr, wide, static_cast<const int*>(nullptr),
                                   static_cast<long long*>(nullptr), n));
  BOOK_CUDA(cub::DeviceReduce::Sum(nullptr, narrow, static_cast<const unsigned*>(nullptr),
                                   static_cast<unsigned*>(nullptr), n));
  return std::max<std::size_t>({wide, narrow, 1});
}

void cub_sum(void* storage, std::size_t bytes, const int* in, long long* out, std::size_t n) {
  BOOK_CUDA(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
}

void cub_sum(void* storage, std::size_t bytes, const unsigned* in, unsigned* out, std::size_t n) {
  BOOK_CUDA(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
}

}  // namespace book
