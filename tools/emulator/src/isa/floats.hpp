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

/// A binary format narrower than a double. `has_infinity` false: the code after the largest number
/// is the only NaN (E4M3).
struct Format {
  int fraction;        ///< bits of it
  int least_exponent;  ///< of a normal number
  int bits;
  bool has_infinity;
};
inline constexpr Format kHalf{10, -14, 16, true}, kBfloat{7, -126, 16, true},
    kTf32{10, -126, 19, true}, kE4m3{3, -6, 8, false}, kE5m2{2, -14, 8, true};

/// The bits of a value in a format, rounded once. `finite`: what is too large becomes the largest
/// number, also an infinity (.satfinite).
std::uint32_t narrow(double value, const Format& format, Rounding mode, bool finite = false);
/// And back, exactly.
double widen(std::uint32_t bits, const Format& format);

/// a * b + c, as near as a double comes, its last bit set where it isn't exact: rounding that to a
/// format of at most 50 bits rounds once. Products of the operands must be exact.
double fma_to_odd(double a, double b, double c);

/// Conversions. A long double holds every source exactly: 64-bit integers, floats of any size.
inline double from_half(std::uint16_t bits) {
  return widen(bits, kHalf);
}
inline float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}
/// A double next to the value, its last bit set where it isn't exact: see fma_to_odd.
double to_odd(long double value);
float to_float(long double value, Rounding mode);
double to_double(long double value, Rounding mode);

}  // namespace emu
