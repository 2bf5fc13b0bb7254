/// \file
/// What the answer should be: the host's own sum.
#pragma once
#include <cstddef>
#include <cstdint>

namespace book {

/// The sum of input_value(seed, i) for i in [0, n), in 64 bits, on all of the host's cores.
///
/// The last few (n, seed) are remembered: the driver asks once for each variant.
std::int64_t sum_of_input(std::size_t n, std::uint64_t seed);

/// The same of SmallInput's values.
std::int64_t sum_of_small_input(std::size_t n, std::uint64_t seed);

}  // namespace book
