#include "book/finished_sum.hpp"

#include <fmt/core.h>

#include <utility>

#include "book/reference.hpp"
#include "book/report.hpp"

namespace book {
namespace {

/// Elements of the two arrays of partial sums.
std::size_t scratch(const Shape& shape) {
  return 2 * std::size_t{shape.grid};
}

}  // namespace

void accept_small(std::size_t n) {
  if (n <= kMostSmall) return;
  throw bad_argument(
      fmt::format("n = {}: the sum of values 0 to {} is sure to fit an int only up to n = {}: "
                  "take a smaller n",
                  count_text(n), SmallInput::kLargest, count_text(kMostSmall)));
}

FinishedSum::Launch FinishedSum::launch(const Shape& shape) const {
  return {in(), out_.data(), partial_.data(), shape.n, shape.grid, shape.block, shape.shared_bytes};
}

std::size_t FinishedSum::device_bytes(const Shape& shape) const {
  return (shape.n + scratch(shape) + 1) * sizeof(int);
}

void FinishedSum::accept(const Shape& shape) const {
  accept_small(shape.n);
}

void FinishedSum::make_room(const Shape& shape, Fill fill) {
  partial_.resize(scratch(shape), fill);
  out_.resize(1, fill);
}

void FinishedSum::free_room() {
  partial_.release();
  out_.release();
}

void FinishedSum::fill_in(Array<int>& in, std::uint64_t seed) const {
  in.fill(SmallInput{seed});
}

std::int64_t FinishedSum::sum_of(std::size_t n, std::uint64_t seed) const {
  return sum_of_small_input(n, seed);
}

void FinishedSum::poison() {
  out_.poison(kPoison);
  // A partial sum left over from the last launch must not make this one right.
  partial_.poison(kPoison);
}

Verdict FinishedSum::check() {
  const int found = out_.to_host()[0];
  if (found == kPoison && found != expected()) return {false, "no sum was written"};
  if (found == expected()) return {true, fmt::format("finished sum {} as expected", found)};
  return {false, fmt::format("finished sum is {}, expected {} (off by {})", found, expected(),
                             found - expected())};
}

UsefulBytes FinishedSum::useful_bytes(const Shape& shape) const {
  return {.read = shape.n * sizeof(int), .written = sizeof(int)};
}

Sizes finished_sizes() {
  return {.most = kMostSmall, .most_embedded = kMostSmall};
}

Axis finished_axis() {
  Axis axis{"n"};
  for (unsigned k = 10; k <= 28; k += 2) axis.values.push_back(std::size_t{1} << k);
  return axis;
}

Variant as_finished(Variant v) {
  if (v.region.empty()) v.region = v.name;
  v.name += "_sum";
  v.params.emplace_back("finished", std::int64_t{1});
  v.sizes = finished_sizes();
  if (!v.axes.empty()) v.axes = {finished_axis()};
  return v;
}

}  // namespace book
