#include "book/reference.hpp"

#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "book/cores.hpp"
#include "book/input.hpp"

namespace book {
namespace {

template <class Value>
std::int64_t add_up(std::size_t n, const Value& value) {
  std::vector<std::int64_t> sums(core_count());
  on_all_cores(n, [&](std::size_t part, std::size_t first, std::size_t last) {
    std::int64_t sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += value(i);
    sums[part] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

struct Known {
  std::size_t n;
  std::uint64_t seed;
  std::int64_t sum;
};

/// The sum of Value{seed}(i) for i in [0, n).
template <class Value>
std::int64_t sum_of(std::size_t n, std::uint64_t seed) {
  static std::array<std::optional<Known>, 4> known;
  static std::size_t next = 0;
  for (const auto& k : known) {
    if (k && k->n == n && k->seed == seed) return k->sum;
  }
  const std::int64_t sum = add_up(n, Value{seed});
  known[next] = Known{n, seed, sum};
  next = (next + 1) % known.size();
  return sum;
}

}  // namespace

std::int64_t sum_of_input(std::size_t n, std::uint64_t seed) {
  return sum_of<Input>(n, seed);
}

std::int64_t sum_of_small_input(std::size_t n, std::uint64_t seed) {
  return sum_of<SmallInput>(n, seed);
}

}  // namespace book
