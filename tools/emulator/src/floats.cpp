#include "floats.hpp"

#include <algorithm>
#include <cfenv>
#include <limits>

namespace emu {
namespace {

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

float from_half(std::uint16_t bits) {
  const unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
  float size = 0;
  if (exponent == 31) {
    size =
        fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    size = std::ldexp(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25);
  }
  return bits & 0x8000 ? -size : size;
}

std::uint16_t to_half(long double value, Rounding mode) {
  if (std::isnan(value)) return 0x7fff;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double v = std::fabs(round_to(value, 10, -14, 15, mode));
  if (std::isinf(v)) return sign | 0x7c00;
  if (v == 0) return sign;
  int exponent = 0;
  std::frexp(v, &exponent);
  if (exponent - 1 < -14) return sign | static_cast<std::uint16_t>(std::ldexp(v, 24));
  return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 |
                                    (static_cast<int>(std::ldexp(v, 11 - exponent)) & 1023));
}

float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

std::uint16_t to_bfloat(long double value, Rounding mode) {
  if (std::isnan(value)) return 0x7fff;
  const auto v = static_cast<float>(round_to(value, 7, -126, 127, mode));
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16);
}

float to_float(long double value, Rounding mode) {
  if (std::isnan(value)) return canonical(std::numeric_limits<float>::quiet_NaN());
  return static_cast<float>(round_to(value, 23, -126, 127, mode));
}

double to_double(long double value, Rounding mode) {
  return static_cast<double>(round_to(value, 52, -1022, 1023, mode));
}

}  // namespace emu
