#include "book/sum.hpp"

#include <fmt/core.h>

#include "book/input.hpp"
#include "book/reference.hpp"

namespace book {

void IntegerSum::prepare(const Shape& shape, std::uint64_t seed, Fill fill) {
  const bool same_input = filled_ && shape.n == in_.size() && seed == seed_;
  seed_ = seed;
  in_.resize(shape.n, fill);
  make_room(shape, fill);
  if (same_input) return;
  expected_ = sum_of(shape.n, seed);
  restore();
  filled_ = true;
}

void IntegerSum::release() {
  in_.release();
  free_room();
  filled_ = false;
}

void IntegerSum::fill_in(Array<int>& in, std::uint64_t seed) const {
  in.fill(Input{seed});
}

std::int64_t IntegerSum::sum_of(std::size_t n, std::uint64_t seed) const {
  return sum_of_input(n, seed);
}

Sum::Launch Sum::launch(const Shape& shape) const {
  return {in(), partial_.data(), shape.n, shape.grid, shape.block, shape.shared_bytes};
}

std::size_t Sum::device_bytes(const Shape& shape) const {
  return (shape.n + shape.grid) * sizeof(int);
}

void Sum::accept(const Shape& shape) const {
  const std::size_t per_block = (shape.n + shape.grid - 1) / shape.grid;
  if (per_block > kMaxElementsPerBlock) {
    throw bad_argument(
        fmt::format("n = {} on {} blocks is {} elements per block, and a block's sum is sure to "
                    "fit an int only up to {}: take a smaller n",
                    shape.n, shape.grid, per_block, kMaxElementsPerBlock));
  }
}

void Sum::make_room(const Shape& shape, Fill fill) {
  partial_.resize(shape.grid, fill);
}

void Sum::free_room() {
  partial_.release();
}

void Sum::poison() {
  partial_.poison(kPoison);
}

Verdict Sum::check() {
  return compare_sums(partial_.to_host(), expected());
}

UsefulBytes Sum::useful_bytes(const Shape& shape) const {
  return {.read = shape.n * sizeof(int), .written = shape.grid * sizeof(int)};
}

}  // namespace book
