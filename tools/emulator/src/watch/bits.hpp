/// \file
/// Ranges of bits: one a byte of memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu {

/// Calls f(word index, mask) for the words that hold bits [first, first + count); stops, and
/// returns false, when f does.
template <class F>
bool for_bits(std::uint64_t first, std::uint64_t count, F f) {
  while (count) {
    const std::uint64_t shift = first % 64, n = std::min(count, 64 - shift);
    const std::uint64_t mask = (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << shift;
    if (!f(static_cast<std::size_t>(first / 64), mask)) return false;
    first += n;
    count -= n;
  }
  return true;
}

/// Sets bits; several threads may at once.
inline void set_bits(std::vector<std::uint64_t>& bits, std::uint64_t first, std::uint64_t count) {
  for_bits(first, count, [&](std::size_t word, std::uint64_t mask) {
    if ((__atomic_load_n(&bits[word], __ATOMIC_RELAXED) & mask) != mask) {
      __atomic_fetch_or(&bits[word], mask, __ATOMIC_RELAXED);
    }
    return true;
  });
}

inline bool all_set(std::vector<std::uint64_t>& bits, std::uint64_t first, std::uint64_t count) {
  return for_bits(first, count, [&](std::size_t word, std::uint64_t mask) {
    return (__atomic_load_n(&bits[word], __ATOMIC_RELAXED) & mask) == mask;
  });
}

}  // namespace emu
