#include "book/variant.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

namespace book {
namespace {

constexpr std::size_t kLargestGrid = 0x7fffffff;
constexpr unsigned kLargestBlock = 1024;

}  // namespace

bool Blocks::takes(unsigned block) const {
  return block >= low && block <= high && block % multiple_of == 0 &&
         (!powers_of_two || (block & (block - 1)) == 0);
}

std::string Blocks::text() const {
  if (low == high) return fmt::format("block {} only", low);
  if (powers_of_two) return fmt::format("powers of two from {} to {}", low, high);
  if (multiple_of > 1 && low > multiple_of)
    return fmt::format("multiples of {} from {} to {}", multiple_of, low, high);
  if (multiple_of > 1) return fmt::format("multiples of {} up to {}", multiple_of, high);
  return fmt::format("blocks of {} to {}", low, high);
}

unsigned Blocks::nearest(unsigned wanted) const {
  for (unsigned block = std::min(wanted, kLargestBlock); block > 0; --block) {
    if (takes(block)) return block;
  }
  for (unsigned block = wanted + 1; block <= kLargestBlock; ++block) {
    if (takes(block)) return block;
  }
  throw std::logic_error(fmt::format("no block from 1 to {} is one of: {}", kLargestBlock, text()));
}

std::vector<Axis> at_large_n() {
  return {{"n", {std::size_t{1} << 28}}};
}

Blocks any_block(unsigned low, unsigned high) {
  return {.low = low, .high = high};
}

Blocks powers_of_two(unsigned low, unsigned high) {
  return {.low = low, .high = high, .powers_of_two = true};
}

Blocks whole_warps() {
  return {.low = 32, .multiple_of = 32};
}

std::vector<std::size_t> powers(unsigned first, unsigned last) {
  std::vector<std::size_t> values;
  for (unsigned k = first; k <= last; ++k) values.push_back(std::size_t{1} << k);
  return values;
}

unsigned grid_for(std::size_t n, unsigned block, std::size_t factor) {
  const std::size_t share = block * factor;
  const std::size_t grid = n / share + (n % share != 0 ? 1 : 0);
  if (grid > kLargestGrid) {
    throw bad_argument(
        fmt::format("n = {} at block {} needs {} blocks; the largest grid is 2147483647 (2^31 - 1)",
                    count_text(n), block, grid));
  }
  return static_cast<unsigned>(grid);
}

unsigned resident_grid(std::size_t n, unsigned block) {
  int device = 0;
  int sm_count = 0;
  int threads = 0;
  BOOK_CUDA(cudaGetDevice(&device));
  BOOK_CUDA(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
  BOOK_CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  const unsigned resident =
      static_cast<unsigned>(sm_count) * (static_cast<unsigned>(threads) / block);
  const std::size_t needed = n / block + (n % block != 0 ? 1 : 0);
  return static_cast<unsigned>(std::min<std::size_t>(resident, needed));
}

unsigned one_block(std::size_t /*n*/, unsigned /*block*/) {
  return 1;
}

unsigned library_grid(std::size_t /*n*/, unsigned /*block*/) {
  return 0;
}

const Axis* Variant::axis(const std::string& axis_name) const {
  const auto found = std::ranges::find(axes, axis_name, &Axis::name);
  return found == axes.end() ? nullptr : &*found;
}

}  // namespace book
