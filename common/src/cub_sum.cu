#include "book/cub_sum.hpp"

#include <algorithm>
#include <cub/device/device_reduce.cuh>

#include "book/check.hpp"

namespace book {
namespace {

/// Bytes that CUB asks for. A sum keeps one value per block, so it depends on the types.
template <class In, class Out>
std::size_t bytes_of(std::size_t n) {
  std::size_t bytes = 0;
  BOOK_CUDA(cub::DeviceReduce::Sum(nullptr, bytes, static_cast<const In*>(nullptr),
                                   static_cast<Out*>(nullptr), n));
  return bytes;
}

}  // namespace

std::size_t cub_sum_bytes(std::size_t n) {
  return std::max<std::size_t>({bytes_of<int, long long>(n), bytes_of<unsigned, unsigned>(n),
                                bytes_of<long long, long long>(n), bytes_of<float, float>(n), 1});
}

void cub_sum(void* storage, std::size_t bytes, const int* in, long long* out, std::size_t n) {
  BOOK_CUDA(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
}

void cub_sum(void* storage, std::size_t bytes, const unsigned* in, unsigned* out, std::size_t n) {
  BOOK_CUDA(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
}

void cub_sum(void* storage, std::size_t bytes, const long long* in, long long* out, std::size_t n) {
  BOOK_CUDA(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
}

void cub_sum(void* storage, std::size_t bytes, const float* in, float* out, std::size_t n) {
  BOOK_CUDA(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
}

}  // namespace book
