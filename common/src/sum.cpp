#include "book/sum.hpp"

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
    throw bad_argument("n = " + std::to_string(shape.n) + " on " + std::to_string(shape.grid) +
                       " blocks is " + std::to_string(per_block) +
                       " elements a block, and a block's sum is sure to fit an int only up to " +
                       std::to_string(kMaxElementsPerBlock) + ": take a smaller n");
  }
}

void Sum::prepare(const Shape& shape, std::uint64_t seed, Fill fill) {
  const bool same_input = filled_ && shape.n == shape_.n && seed == seed_;
  shape_ = shape;
  seed_ = seed;
  fill_ = fill;
  in_.grow(shape.n);
  partial_.grow(shape.grid);
  if (same_input) return;
  expected_ = sum_of_input(shape.n, seed);
  restore();
  filled_ = true;
}

void Sum::release() {
  in_ = {};
  partial_ = {};
  filled_ = false;
}

void Sum::restore() {
  fill_input(in_.data(), shape_.n, seed_, fill_);
}

void Sum::poison() {
  partial_.copy_from(std::vector<int>(shape_.grid, kPoison));
}

Verdict Sum::check() {
  return compare_sums(partial_.to_host(shape_.grid), expected_);
}

UsefulBytes Sum::useful_bytes(const Shape& shape) const {
  return {.read = shape.n * sizeof(int), .written = shape.grid * sizeof(int)};
}

}  // namespace book
