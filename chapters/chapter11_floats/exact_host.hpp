/// \file
/// The exact sum of floats on the host, by another way than the kernel's: a count for each
/// exponent, and one long number made of them at the end.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "book/reference.hpp"

namespace chapter11 {

/// A sum of floats with nothing rounded. It holds 2^39 of them.
class ExactSum {
 public:
  /// Adds an element.
  void add(float x) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    const std::uint32_t exponent = (bits >> 23) & 255;
    auto whole = static_cast<std::int64_t>(bits & 0x7fffff);
    if (exponent == 255) {
      ++(whole != 0 ? nans_ : x > 0 ? pluses_ : minuses_);
      return;
    }
    if (exponent > 0) whole += 0x800000;
    at_[exponent] += x < 0 ? -whole : whole;
    sizes_at_[exponent] += whole;
  }
  ExactSum& operator+=(const ExactSum& others) {
    for (std::size_t e = 0; e < at_.size(); ++e) {
      at_[e] += others.at_[e];
      sizes_at_[e] += others.sizes_at_[e];
    }
    nans_ += others.nans_;
    pluses_ += others.pluses_;
    minuses_ += others.minuses_;
    return *this;
  }

  /// The float nearest to the sum; of two that are as near, the even one. A sum beyond the largest
  /// float is an infinity, an exact 0 is +0.
  float nearest() const {
    if (nans_ > 0 || (pluses_ > 0 && minuses_ > 0)) return std::numeric_limits<float>::quiet_NaN();
    if (pluses_ > 0) return std::numeric_limits<float>::infinity();
    if (minuses_ > 0) return -std::numeric_limits<float>::infinity();
    const Long sum = long_sum();
    if (sum.top < 0) return 0;
    // The lowest bit that a float of this size keeps, counted from 2^-149.
    const int lowest = std::max(sum.top - 23, 0);
    std::int64_t kept = 0;
    for (int bit = sum.top; bit >= lowest; --bit) kept = 2 * kept + sum.bit[bit];
    if (lowest > 0 && sum.bit[lowest - 1]) {
      bool more = kept % 2 == 1;  // a tie goes up from an odd number
      for (int bit = 0; bit < lowest - 1; ++bit) more = more || sum.bit[bit];
      if (more) ++kept;
    }
    const double value = std::ldexp(static_cast<double>(kept), lowest - 149);
    const double most = std::numeric_limits<float>::max();
    const double size = value > most ? std::numeric_limits<double>::infinity() : value;
    return static_cast<float>(sum.negative ? -size : size);
  }
  /// The sum to a double's precision.
  double value() const {
    const Long sum = long_sum();
    double size = 0;
    for (int bit = sum.top; bit >= 0 && bit > sum.top - 53; --bit) {
      if (sum.bit[bit]) size += std::ldexp(1.0, bit - 149);
    }
    return sum.negative ? -size : size;
  }
  /// |found - sum| / |sum|; 0 where both are 0, infinite where only the sum is.
  double relative(float found) const {
    const double exact = value();
    const double off = std::abs(static_cast<double>(found) - exact);
    if (off == 0) return 0;
    return off / std::abs(exact);
  }
  /// The sum of the elements' magnitudes, to a double's precision.
  double magnitudes() const {
    double sum = 0;
    for (int e = 0; e < 255; ++e) {
      sum += std::ldexp(static_cast<double>(sizes_at_[e]), std::max(e, 1) - 150);
    }
    return sum;
  }

 private:
  /// A number's sign and its bits, the first of them 2^-149, and the highest that is set.
  struct Long {
    static constexpr int kBits = 384;
    std::array<bool, kBits> bit{};
    bool negative = false;
    int top = -1;
  };

  Long long_sum() const {
    // Bit by bit from below: what an exponent's count has more than one bit of is carried.
    Long sum;
    for (const int sign : {1, -1}) {
      std::int64_t carried = 0;
      sum.top = -1;
      for (int bit = 0; bit < Long::kBits; ++bit) {
        // Exponents 0 and 1 both count in 2^-149, and exponent e in 2^(e - 150).
        if (bit == 0) carried += sign * at_[0];
        if (bit + 1 < 255) carried += sign * at_[bit + 1];
        sum.bit[bit] = (carried & 1) != 0;
        carried >>= 1;
        if (sum.bit[bit]) sum.top = bit;
      }
      if (carried == 0) break;
      sum.negative = true;  // only -1 can be left: the other sign's bits are the magnitude's
    }
    return sum;
  }

  std::array<std::int64_t, 255> at_{}, sizes_at_{};  // by exponent: of the sum, of magnitudes
  std::uint64_t nans_ = 0, pluses_ = 0, minuses_ = 0;
};

/// The exact sum of Value{seed}(i) for i in [0, n).
template <class Value>
ExactSum exact_sum(std::size_t n, std::uint64_t seed) {
  static book::Prefixes<ExactSum> known;
  return known.up_to(n, seed, [value = Value{seed}](std::size_t first, std::size_t last) {
    ExactSum sum;
    for (std::size_t i = first; i < last; ++i) sum.add(value(i));
    return sum;
  });
}

}  // namespace chapter11
