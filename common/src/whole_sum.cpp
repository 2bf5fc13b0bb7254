#include "book/whole_sum.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "book/cub_sum.hpp"

namespace book {
namespace {

/// Scratch memory of a launch: what each block leaves, and what is made of that on the way to one.
std::size_t scratch(const Shape& shape) {
  return 2 * std::size_t{shape.grid} + 64;
}

/// No sum of values 0…255 that fits the memory.
template <class Out>
constexpr Out kNoSum = static_cast<Out>(0xbad0bad0bad0bad0);

}  // namespace

template <class Out>
WholeSum<Out>::Launch WholeSum<Out>::launch(const Shape& shape) const {
  return {.in = in(),
          .out = out_.data(),
          .partial = partial_.data(),
          .rung = rung_.data(),
          .ticket = ticket_.data(),
          .word = word_.data(),
          .storage = storage_.data(),
          .storage_bytes = storage_.bytes(),
          .n = shape.n,
          .grid = shape.grid,
          .block = shape.block,
          .shared_bytes = shape.shared_bytes};
}

template <class Out>
std::size_t WholeSum<Out>::device_bytes(const Shape& shape) const {
  return shape.n * sizeof(int) + (scratch(shape) + 1) * sizeof(Out) + shape.grid * sizeof(int) +
         sizeof(unsigned) + kWords * sizeof(unsigned long long) + cub_sum_bytes(shape.n);
}

template <class Out>
void WholeSum<Out>::make_room(const Shape& shape, Fill fill) {
  out_.resize(1, fill);
  partial_.resize(scratch(shape), fill);
  rung_.resize(shape.grid, fill);
  ticket_.grow(1);
  word_.grow(kWords);
  storage_.grow(cub_sum_bytes(shape.n));
  ticket_.copy_from(std::vector<unsigned>{0});
  word_.copy_from(std::vector<unsigned long long>(kWords));
}

template <class Out>
void WholeSum<Out>::free_room() {
  out_.release();
  partial_.release();
  rung_.release();
  ticket_ = {};
  word_ = {};
  storage_ = {};
}

template <class Out>
void WholeSum<Out>::poison() {
  out_.poison(kNoSum<Out>);
  // A partial sum that no kernel wrote must not be right by being left over.
  partial_.poison(kNoSum<Out>);
  rung_.poison(kPoison);
}

template <class Out>
Verdict WholeSum<Out>::check() {
  const Out found = out_.to_host()[0];
  const auto modulo = static_cast<Out>(expected());
  // An unsigned sum is meant to wrap; a signed one that does is wrong.
  const bool agrees = std::is_unsigned_v<Out> ? found == modulo : std::int64_t{found} == expected();
  std::string text = fmt::format("sum is {}", found);
  if (!agrees) text += fmt::format(", expected {}", expected());
  if (std::is_unsigned_v<Out> && modulo != expected()) {
    text += fmt::format(" (modulo 2^32 of {})", expected());
  }
  const std::vector<unsigned long long> words = word_.to_host(kWords);
  const auto left = std::ranges::find_if(words, [](unsigned long long word) { return word != 0; });
  if (const unsigned ticket = ticket_.to_host(1)[0];
      agrees && (ticket != 0 || left != words.end())) {
    text += fmt::format(", but the next launch begins with ticket {}", ticket);
    if (left != words.end()) text += fmt::format(" and word {}", *left);
    return {false, text};
  }
  return {agrees, text};
}

template <class Out>
UsefulBytes WholeSum<Out>::useful_bytes(const Shape& shape) const {
  return {.read = shape.n * sizeof(int), .written = sizeof(Out)};
}

template class WholeSum<int>;
template class WholeSum<long long>;
template class WholeSum<unsigned>;

}  // namespace book
