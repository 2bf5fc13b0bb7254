#include "isa/directed.hpp"

#include <cfloat>
#include <cmath>
#include <limits>

namespace emu {
namespace {

/// Of 113 bits: it holds any product of two doubles, however small or large.
#if LDBL_MANT_DIG == 113
using Quad = long double;
#else
using Quad = __float128;
#endif

/// −1, 0 or 1; 0 where one of the two is no number.
int compare(Quad a, Quad b) {
  return (a > b) - (a < b);
}

/// The sign of `product + c − nearest`. The sum in 113 bits may have been rounded: where that
/// leaves it at `nearest`, what it misses by decides, which Knuth's way finds exactly.
int error_of_sum(Quad product, Quad c, Quad nearest) {
  const Quad sum = product + c;
  if (sum != nearest) return compare(sum, nearest);
  const Quad part = sum - product;
  return compare((product - (sum - part)) + (c - part), 0);
}

template <class T>
T to_nearest(Arithmetic what, T a, T b, T c) {
  switch (what) {
    case Arithmetic::kAdd: return a + b;
    case Arithmetic::kSub: return a - b;
    case Arithmetic::kMul: return a * b;
    case Arithmetic::kFma: return std::fma(a, b, c);
    case Arithmetic::kDiv: return a / b;
    case Arithmetic::kRcp: return T{1} / a;
    case Arithmetic::kSqrt: break;
  }
  return std::sqrt(a);
}

/// The sign of what the true value is more than the nearest.
template <class T>
int error(Arithmetic what, T nearest, T a, T b, T c) {
  const auto of_quotient = [&](Quad dividend, T divisor) {
    const int sign = compare(dividend, Quad{nearest} * divisor);
    return divisor < 0 ? -sign : sign;
  };
  switch (what) {
    case Arithmetic::kAdd: return error_of_sum(a, b, nearest);
    case Arithmetic::kSub: return error_of_sum(a, -Quad{b}, nearest);
    case Arithmetic::kMul: return compare(Quad{a} * b, nearest);
    case Arithmetic::kFma: return error_of_sum(Quad{a} * b, c, nearest);
    case Arithmetic::kDiv: return of_quotient(a, b);
    case Arithmetic::kRcp: return of_quotient(1, a);
    case Arithmetic::kSqrt: break;
  }
  return compare(a, Quad{nearest} * nearest);
}

/// A sum of nothing that is exactly nothing is −0 when it is rounded down, unless both parts are
/// +0.
template <class T>
bool is_sum_of_opposites(Arithmetic what, T a, T b, T c) {
  switch (what) {
    case Arithmetic::kAdd: return std::signbit(a) != std::signbit(b);
    case Arithmetic::kSub: return std::signbit(a) == std::signbit(b);
    case Arithmetic::kFma: return (std::signbit(a) != std::signbit(b)) != std::signbit(c);
    default: return false;
  }
}

template <class T>
T directed(Arithmetic what, Rounding mode, T a, T b, T c) {
  const T nearest = to_nearest(what, a, b, c);
  if (mode == Rounding::kNearest || std::isnan(nearest)) return nearest;
  const int more = error(what, nearest, a, b, c);
  if (more == 0) {
    const bool minus =
        mode == Rounding::kDown && nearest == 0 && is_sum_of_opposites(what, a, b, c);
    return minus ? -T{0} : nearest;
  }
  const bool positive = nearest != 0 ? nearest > 0 : more > 0;
  const bool up = mode == Rounding::kUp || (mode == Rounding::kZero && !positive);
  const T end = std::numeric_limits<T>::infinity();
  if (up) return more > 0 ? std::nextafter(nearest, end) : nearest;
  return more < 0 ? std::nextafter(nearest, -end) : nearest;
}

}  // namespace

float compute_from_nearest(Arithmetic what, Rounding mode, float a, float b, float c) {
  return directed(what, mode, a, b, c);
}
double compute_from_nearest(Arithmetic what, Rounding mode, double a, double b, double c) {
  return directed(what, mode, a, b, c);
}

}  // namespace emu
