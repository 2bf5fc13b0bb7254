/// \file
/// What the answer should be: the host's own totals.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "book/cores.hpp"
#include "book/input.hpp"

namespace book {

/// Totals over the first n positions of inputs, each remembered: a longer one goes on from the
/// longest known, on all of the host's cores, and what was asked for before costs nothing.
///
/// \tparam Total  `Total{}` is of no positions, and `+=` adds the total of others
template <class Total>
class Prefixes {
 public:
  /// The total over [0, n) for a seed. `part(first, last)` is the total over [first, last); it is
  /// called on several threads at once.
  template <class Part>
  Total up_to(std::size_t n, std::uint64_t seed, const Part& part) {
    std::map<std::size_t, Total>& known = known_[seed];
    known.try_emplace(0, Total{});
    auto [from, total] = *std::prev(known.upper_bound(n));
    if (from == n) return total;
    std::vector<Total> parts(core_count(), Total{});
    on_all_cores(n - from,
                 [&, begin = from](std::size_t core, std::size_t first, std::size_t last) {
                   parts[core] = part(begin + first, begin + last);
                 });
    for (const Total& each : parts) total += each;
    return known[n] = total;
  }

 private:
  std::map<std::uint64_t, std::map<std::size_t, Total>> known_;  // by seed and n
};

/// The sum of Value{seed}(i) for i in [0, n), in 64 bits.
template <class Value>
std::int64_t sum_of(std::size_t n, std::uint64_t seed) {
  static Prefixes<std::int64_t> known;
  return known.up_to(n, seed, [value = Value{seed}](std::size_t first, std::size_t last) {
    std::int64_t sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += static_cast<std::int64_t>(value(i));
    return sum;
  });
}

/// The sum of input_value(seed, i) for i in [0, n).
std::int64_t sum_of_input(std::size_t n, std::uint64_t seed);

/// The same of SmallInput's values.
std::int64_t sum_of_small_input(std::size_t n, std::uint64_t seed);

}  // namespace book
