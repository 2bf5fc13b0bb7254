/// \file
/// Floating point as PTX has it: flushing, saturation, rounding modes, and 16-bit formats.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace emu {

enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };

/// A subnormal becomes a zero of its sign (.ftz).
inline float flush(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return (bits & 0x7f80'0000u) == 0 ? std::bit_cast<float>(bits & 0x8000'0000u) : v;
}

/// Hardware's only NaN of 32 bits, whatever came in.
inline float canonical(float v) {
  return v == v ? v : std::bit_cast<float>(0x7fff'ffffu);
}
inline double canonical(double v) {
  return v;
}

/// Into [0, 1]; a NaN becomes zero (.sat).
template <class T>
T saturated(T v) {
  return v > T{0} ? (v < T{1} ? v : T{1}) : T{0};  // false for a NaN
}

enum class Arithmetic : std::uint8_t { kAdd, kSub, kMul, kFma, kDiv, kRcp, kSqrt };

/// The operation's result, rounded once as the mode says.
float compute(Arithmetic what, Rounding mode, float a, float b, float c);
double compute(Arithmetic what, Rounding mode, double a, double b, double c);

/// Conversions. A long double holds every source exactly: 64-bit integers, floats of any size.
float from_half(std::uint16_t bits);
float from_bfloat(std::uint16_t bits);
std::uint16_t to_half(long double value, Rounding mode);
std::uint16_t to_bfloat(long double value, Rounding mode);
float to_float(long double value, Rounding mode);
double to_double(long double value, Rounding mode);

}  // namespace emu
