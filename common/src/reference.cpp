#include "book/reference.hpp"

#include <initializer_list>
#include <utility>

#include "book/cli.hpp"

namespace book {
namespace {

/// Sums of the usual seed's input over the first 2^power positions. Each program would add them up
/// again, which takes as long on the host as a chapter's starting does.
Sums written_down(std::initializer_list<std::pair<unsigned, std::int64_t>> sums) {
  Sums known;
  for (const auto& [power, sum] : sums) known.know(std::size_t{1} << power, Options{}.seed, sum);
  return known;
}

}  // namespace

std::int64_t sum_of_input(std::size_t n, std::uint64_t seed, Sums& known) {
  return sum_beside<Input>(known, n, seed);
}

std::int64_t sum_of_small_input(std::size_t n, std::uint64_t seed, Sums& known) {
  return sum_beside<SmallInput>(known, n, seed);
}

std::int64_t sum_of_input(std::size_t n, std::uint64_t seed) {
  static Sums known =
      written_down({{28, 34'224'479'413}, {29, 68'451'927'475}, {30, 136'902'046'886}});
  return sum_of_input(n, seed, known);
}

std::int64_t sum_of_small_input(std::size_t n, std::uint64_t seed) {
  static Sums known = written_down({{28, 939'491'370}});
  return sum_of_small_input(n, seed, known);
}

}  // namespace book
