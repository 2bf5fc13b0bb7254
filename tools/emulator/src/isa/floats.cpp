#include "isa/floats.hpp"

#include <algorithm>
#include <cfenv>
#include <limits>

#include "isa/directed.hpp"

namespace emu {
namespace {

#ifndef __wasm__  // which has no rounding modes, though its library names them
int host_mode(Rounding mode) {
  switch (mode) {
    case Rounding::kZero: return FE_TOWARDZERO;
    case Rounding::kDown: return FE_DOWNWARD;
    case Rounding::kUp: return FE_UPWARD;
    case Rounding::kNearest: break;
  }
  return FE_TONEAREST;
}

/// Volatile operands and result keep the compiler from moving the arithmetic past the mode.
template <class T>
T compute_in_mode(Arithmetic what, Rounding mode, T a_in, T b_in, T c_in) {
  const int before = std::fegetround();
  std::fesetround(host_mode(mode));
  const volatile T a = a_in, b = b_in, c = c_in;
  volatile T out = 0;
  switch (what) {
    case Arithmetic::kAdd: out = a + b; break;
    case Arithmetic::kSub: out = a - b; break;
    case Arithmetic::kMul: out = a * b; break;
    case Arithmetic::kFma: out = std::fma(T{a}, T{b}, T{c}); break;
    case Arithmetic::kDiv: out = a / b; break;
    case Arithmetic::kRcp: out = T{1} / a; break;
    case Arithmetic::kSqrt: out = std::sqrt(T{a}); break;
  }
  std::fesetround(before);
  return out;
}
#else
template <class T>
T compute_in_mode(Arithmetic what, Rounding mode, T a, T b, T c) {
  return compute_from_nearest(what, mode, a, b, c);
}
#endif

/// `value` rounded to a format with so many bits of fraction and such a range of exponents.
long double round_to(long double value, int fraction, int least_exponent, int most_exponent,
                     Rounding mode) {
  if (value == 0 || !std::isfinite(value)) return value;
  const bool negative = std::signbit(value);
  const long double size = negative ? -value : value;
  int exponent = 0;
  std::frexp(size, &exponent);
  const int quantum = std::max(exponent - 1, least_exponent) - fraction;
  const long double scaled = std::ldexp(size, -quantum);
  long double whole = std::floor(scaled);
  const long double rest = scaled - whole;
  const bool outwards = mode == (negative ? Rounding::kDown : Rounding::kUp);
  if (mode == Rounding::kNearest) {
    if (rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) != 0)) whole += 1;
  } else if (outwards && rest > 0) {
    whole += 1;
  }
  long double out = std::ldexp(whole, quantum);
  const long double most = std::ldexp(2.0L - std::ldexp(1.0L, -fraction), most_exponent);
  if (out > most) {
    out = mode == Rounding::kNearest || outwards ? std::numeric_limits<long double>::infinity()
                                                 : most;
  }
  return negative ? -out : out;
}

}  // namespace

float compute(Arithmetic what, Rounding mode, float a, float b, float c) {
  return compute_in_mode(what, mode, a, b, c);
}
double compute(Arithmetic what, Rounding mode, double a, double b, double c) {
  return compute_in_mode(what, mode, a, b, c);
}

std::uint32_t narrow(double value, const Format& format, Rounding mode, bool finite) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << (format.bits - 1);
  const std::uint32_t magnitude_mask = (1u << (format.bits - 1)) - 1;
  // The code past all numbers: infinity, or the only NaN.
  const std::uint32_t past =
      format.has_infinity ? magnitude_mask >> format.fraction << format.fraction : magnitude_mask;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  std::uint64_t fraction = bits & 0xf'ffff'ffff'ffffu;
  if (exponent == 1024) {
    if (fraction) return magnitude_mask;  // the canonical NaN
    return sign | (finite ? past - 1 : past);
  }
  if (exponent == -1023) {
    if (fraction == 0) return sign;
  } else {
    fraction |= std::uint64_t{1} << 52;
  }
  const int real_exponent = exponent == -1023 ? -1022 : exponent;
  const int below =
      real_exponent < format.least_exponent ? format.least_exponent - real_exponent : 0;
  const int shift = 52 - format.fraction + below;
  std::uint64_t whole = 0, rest = fraction, half = 1;
  if (shift < 63) {
    half = std::uint64_t{1} << (shift - 1);
    whole = fraction >> shift;
    rest = fraction & (2 * half - 1);
  } else {
    half = ~std::uint64_t{0};  // far below the least number: less than half of it
  }
  const bool outwards = mode == (sign ? Rounding::kDown : Rounding::kUp);
  if (mode == Rounding::kNearest ? rest > half || (rest == half && (whole & 1))
                                 : outwards && rest != 0) {
    ++whole;
  }
  // A carry out of the fraction raises the exponent, as it should.
  std::uint64_t code = whole;
  if (!below) {
    const auto biased = static_cast<std::uint64_t>(real_exponent - format.least_exponent);
    code += biased << format.fraction;
  }
  if (code >= past) code = finite || (mode != Rounding::kNearest && !outwards) ? past - 1 : past;
  return sign | static_cast<std::uint32_t>(code);
}

double widen(std::uint32_t bits, const Format& format) {
  const std::uint32_t top = (1u << (format.bits - 1 - format.fraction)) - 1;
  const std::uint32_t exponent = bits >> format.fraction & top;
  const std::uint32_t fraction = bits & ((1u << format.fraction) - 1);
  const std::uint64_t sign = static_cast<std::uint64_t>(bits >> (format.bits - 1) & 1) << 63;
  const bool all_ones = fraction == (1u << format.fraction) - 1;
  if (exponent == top && (format.has_infinity || all_ones)) {
    const bool nan = !format.has_infinity || fraction != 0;
    return std::bit_cast<double>(sign | (nan ? 0x7ff8'0000'0000'0000u : 0x7ff0'0000'0000'0000u));
  }
  const auto power = [](int e) {  // 2 to the e, e in the range of normal doubles
    return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  };
  const double size =
      exponent == 0
          ? fraction * power(format.least_exponent - format.fraction)
          : ((1u << format.fraction) + fraction) *
                power(format.least_exponent - format.fraction + static_cast<int>(exponent) - 1);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | sign);
}

namespace {
/// `near` is a neighbour of a value that it misses by `error`: the neighbour with an odd last bit.
double odd_neighbour(double near, double error) {
  auto bits = std::bit_cast<std::uint64_t>(near);
  if (error == 0 || (bits & 1) || !std::isfinite(near)) return near;
  bits += (error > 0) == (near > 0) ? 1 : std::uint64_t{0} - 1;
  return std::bit_cast<double>(bits);
}
}  // namespace

double to_odd(long double value) {
  const auto near = static_cast<double>(value);
  const long double error = value - static_cast<long double>(near);
  return odd_neighbour(near, error > 0 ? 1 : error < 0 ? -1 : 0);
}

double fma_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product;  // Knuth's exact error of a sum
  const double error = (product - (sum - part)) + (c - part);
  return odd_neighbour(sum, error);
}

float to_float(long double value, Rounding mode) {
  if (std::isnan(value)) return canonical(std::numeric_limits<float>::quiet_NaN());
  return static_cast<float>(round_to(value, 23, -126, 127, mode));
}

double to_double(long double value, Rounding mode) {
  return static_cast<double>(round_to(value, 52, -1022, 1023, mode));
}

}  // namespace emu
