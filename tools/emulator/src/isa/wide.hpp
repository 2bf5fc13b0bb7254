/// \file
/// Products and sums of more bits than the host's integers have: not every host has some of 128.
#pragma once
#include <cstdint>
#include <type_traits>

namespace emu {

/// An integer of twice as many bits, up to 64.
template <class T>
using Double = std::conditional_t<std::is_signed_v<T>,
                                  std::conditional_t<sizeof(T) == 2, std::int32_t, std::int64_t>,
                                  std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>>;

/// The upper half of a product, whose lower half has as many bits as T.
template <class T>
constexpr T upper_product(T a, T b) {
  if constexpr (sizeof(T) < 8) {
    return static_cast<T>((static_cast<Double<T>>(a) * b) >> (8 * sizeof(T)));
  } else if constexpr (std::is_signed_v<T>) {
    // A negative number is 2^64 too large where it is taken for an unsigned one.
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<T>(upper_product(x, y) - (a < 0 ? y : 0) - (b < 0 ? x : 0));
  } else {
    const T a_low = a & 0xffff'ffff, a_high = a >> 32, b_low = b & 0xffff'ffff, b_high = b >> 32;
    const T one = a_high * b_low, other = a_low * b_high;
    const T middle = (a_low * b_low >> 32) + (one & 0xffff'ffff) + (other & 0xffff'ffff);
    return a_high * b_high + (one >> 32) + (other >> 32) + (middle >> 32);
  }
}
static_assert(upper_product<std::uint64_t>(~0ull, ~0ull) == ~0ull - 1);
static_assert(upper_product<std::int64_t>(-1, 1) == -1 && upper_product<std::int64_t>(-1, -1) == 0);

/// a + b + carry, and the carry out of it.
template <class T>
constexpr T add_carry(T a, T b, bool& carry) {
  const T sum = static_cast<T>(a + b), all = static_cast<T>(sum + carry);
  carry = sum < a || all < sum;
  return all;
}

}  // namespace emu
