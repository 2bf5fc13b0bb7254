#include "book/sum.hpp"

#include <fmt/core.h>

#include "book/input.hpp"
#include "book/reference.hpp"

namespace book {

Sum::Launch Sum::launch(const Shape& shape) const {
  return {in_.data(), partial_.data(), shape.n, shape.grid, shape.block, shape.shared_bytes};
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

void Sum::prepare(const Shape& shape, std::uint64_t seed, Fill fill) {
  const bool same_input = filled_ && shape.n == in_.size() && seed == seed_;
  seed_ = seed;
  in_.resize(shape.n, fill);
  partial_.resize(shape.grid, fill);
  if (same_input) return;
  expected_ = sum_of_input(shape.n, seed);
  restore();
  filled_ = true;
}

void Sum::release() {
  in_.release();
  partial_.release();
  filled_ = false;
}

void Sum::restore() {
  in_.fill(Input{seed_});
}

void Sum::poison() {
  partial_.poison(kPoison);
}

Verdict Sum::check() {
  return compare_sums(partial_.to_host(), expected_);
}

UsefulBytes Sum::useful_bytes(const Shape& shape) const {
  return {.read = shape.n * sizeof(int), .written = shape.grid * sizeof(int)};
}

}  // namespace book
