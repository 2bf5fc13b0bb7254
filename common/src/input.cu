#include "book/check.hpp"
#include "book/input.hpp"

namespace book {
namespace {

__global__ void fill(int* data, std::size_t n, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    data[i] = input_value(seed, i);
  }
}

}  // namespace

void fill_on_device(int* data, std::size_t n, std::uint64_t seed) {
  if (n == 0) return;
  constexpr unsigned kBlock = 256;
  const std::size_t blocks = (n + kBlock - 1) / kBlock;
  constexpr std::size_t kEnough = 1 << 14;  // fills any device; more would only queue
  fill<<<static_cast<unsigned>(blocks < kEnough ? blocks : kEnough), kBlock>>>(data, n, seed);
  BOOK_CUDA(cudaGetLastError());
}

}  // namespace book
