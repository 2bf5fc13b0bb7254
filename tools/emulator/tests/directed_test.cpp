// Rounding from the nearest value gives what a host with rounding modes gives.
#include "isa/directed.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "machine/random.hpp"

namespace emu::test {
namespace {

template <class T>
std::vector<T> ends() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> all;
  for (const T v : {T{0}, Limits::denorm_min(), 3 * Limits::denorm_min(), Limits::min(),
                    std::nextafter(Limits::min(), T{0}), Limits::epsilon(), T{0.1}, T{1},
                    1 + Limits::epsilon(), T{3}, Limits::max(), Limits::max() / 2,
                    Limits::infinity(), std::sqrt(Limits::min()), std::sqrt(Limits::max())}) {
    all.push_back(v);
    all.push_back(-v);
  }
  all.push_back(Limits::quiet_NaN());
  return all;
}

template <class T>
bool same(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

constexpr Arithmetic kAll[] = {Arithmetic::kAdd, Arithmetic::kSub, Arithmetic::kMul,
                               Arithmetic::kFma, Arithmetic::kDiv, Arithmetic::kRcp,
                               Arithmetic::kSqrt};
constexpr Rounding kModes[] = {Rounding::kNearest, Rounding::kZero, Rounding::kDown, Rounding::kUp};

template <class T>
int wrong(T a, T b, T c) {
  int count = 0;
  for (const Arithmetic what : kAll) {
    for (const Rounding mode : kModes) {
      const T here = compute_from_nearest(what, mode, a, b, c);
      const T host = compute(what, mode, a, b, c);
      if (same(here, host)) continue;
      ++count;
      ADD_FAILURE() << std::hexfloat << a << ", " << b << ", " << c << ", operation "
                    << static_cast<int>(what) << ", mode " << static_cast<int>(mode) << ": " << here
                    << ", on the host " << host;
    }
  }
  return count;
}

template <class T>
class Directed : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Directed, Floats);

TYPED_TEST(Directed, RoundsTheEndsOfTheRangeAsHostsDo) {
  int count = 0;
  for (const TypeParam a : ends<TypeParam>()) {
    for (const TypeParam b : ends<TypeParam>()) {
      for (const TypeParam c : ends<TypeParam>()) {
        if (count < 5) count += wrong(a, b, c);
      }
    }
  }
}

TYPED_TEST(Directed, RoundsAnyNumbersAsHostsDo) {
  using Bits = std::conditional_t<sizeof(TypeParam) == 4, std::uint32_t, std::uint64_t>;
  Random random(1);
  const auto any = [&] { return std::bit_cast<TypeParam>(static_cast<Bits>(random.next())); };
  const auto near = [&] {  // of a size: sums and products come near each other
    return static_cast<TypeParam>(std::ldexp(static_cast<TypeParam>(random.next() >> 40),
                                             static_cast<int>(random.below(60)) - 40));
  };
  int count = 0;
  for (int i = 0; i < 50'000 && count < 5; ++i) {
    count += wrong(any(), any(), any());
    count += wrong(near(), -near(), near());
    const TypeParam a = near(), b = near();
    count += wrong(a, b, -a * b);  // all that is left is the product's error
  }
}

}  // namespace
}  // namespace emu::test
