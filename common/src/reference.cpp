#include "book/reference.hpp"

namespace book {

std::int64_t sum_of_input(std::size_t n, std::uint64_t seed) {
  return sum_of<Input>(n, seed);
}

std::int64_t sum_of_small_input(std::size_t n, std::uint64_t seed) {
  return sum_of<SmallInput>(n, seed);
}

}  // namespace book
