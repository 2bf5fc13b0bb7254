// 16-bit floats and narrower formats against slow conversions that know only the formats' fields:
// a value is rounded by looking for its neighbours among all numbers of the format.
#include <algorithm>
#include <cmath>
#include <random>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using u64 = std::uint64_t;
using u32 = std::uint32_t;

/// A format by its fields: enough to list all its numbers.
class Slow {
 public:
  Slow(int fraction, int exponent_bits, bool infinities)
      : bits_(1 + exponent_bits + fraction), infinities_(infinities) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    for (u32 code = 0; code < (1u << (bits_ - 1)); ++code) {
      const int e = static_cast<int>(code >> fraction);
      const int f = static_cast<int>(code & ((1u << fraction) - 1));
      if (infinities ? e == (1 << exponent_bits) - 1 : code == (1u << (bits_ - 1)) - 1) break;
      numbers_.push_back(e == 0 ? std::ldexp(f, 1 - bias - fraction)
                                : std::ldexp((1 << fraction) + f, e - bias - fraction));
    }
  }
  double value(u64 code) const {
    const u64 sign = code >> (bits_ - 1) & 1, size = code & ((u64{1} << (bits_ - 1)) - 1);
    const double v = size < numbers_.size()                   ? numbers_[size]
                     : size == numbers_.size() && infinities_ ? INFINITY
                                                              : NAN;
    return sign ? -v : v;
  }
  /// mode: 'n', 'z', 'd' or 'u'.
  u64 code(long double v, char mode = 'n') const {
    if (std::isnan(v)) return (u64{1} << (bits_ - 1)) - 1;
    const bool negative = std::signbit(v);
    const u64 sign = u64{negative} << (bits_ - 1);
    const long double size = std::fabs(v);
    const auto above = std::ranges::lower_bound(numbers_, static_cast<long double>(size), {},
                                                [](double d) { return (long double){d}; });
    const auto up = static_cast<u64>(above - numbers_.begin());
    if (up < numbers_.size() && numbers_[up] == size) return sign | up;
    const u64 down = up - 1;
    const bool outwards = mode == (negative ? 'd' : 'u');
    if (std::isinf(v)) return sign | numbers_.size();
    if (mode != 'n') return sign | (outwards ? up : down);
    // Past the largest number the next one would have been twice its last step away.
    const long double next = up < numbers_.size() ? (long double){numbers_[up]}
                                                  : 2 * (long double){numbers_[down]} -
                                                        (long double){numbers_[down - 1]};
    const long double to_up = next - size, to_down = size - numbers_[down];
    if (to_up != to_down) return sign | (to_up < to_down ? up : down);
    return sign | (up % 2 == 0 ? up : down);
  }
  u64 largest() const { return numbers_.size() - 1; }

 private:
  int bits_;
  bool infinities_;
  std::vector<double> numbers_;
};

const Slow& half() {
  static const Slow format(10, 5, true);
  return format;
}
const Slow& bfloat() {
  static const Slow format(7, 8, true);
  return format;
}

std::vector<u64> corners(bool b) {
  const u64 one = b ? 0x3f80 : 0x3c00, inf = b ? 0x7f80 : 0x7c00, least = b ? 0x80 : 0x400;
  std::vector<u64> out{
      0,           0x8000, one,     one | 0x8000,       one + 1, one - 1,      1,      0x8001,
      least - 1,   least,  inf - 1, (inf - 1) | 0x8000, inf,     inf | 0x8000, 0x7fff, 0xfe00 | inf,
      one + 0x123, 0x4248, 0xc900};
  std::mt19937 random(b ? 7 : 5);
  for (int i = 0; i < 24; ++i) out.push_back(random() & 0xffff);
  return out;
}

struct Kind {
  const char* name;
  bool bfloat;
  const Slow& format;
};
std::vector<Kind> kinds() {
  return {{"f16", false, half()}, {"bf16", true, bfloat()}};
}

u64 pair_of(const std::function<u64(u64, u64, u64)>& f, u64 a, u64 b, u64 c) {
  return f(a & 0xffff, b & 0xffff, c & 0xffff) |
         f(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16;
}

/// An instruction on one value and on pairs. `name` has "T" for the type.
void check_both(const std::string& name, unsigned n, bool b,
                const std::function<u64(u64, u64, u64)>& f, const std::string& type) {
  const char* operands[] = {"", " %d, %a;", " %d, %a, %b;", " %d, %a, %b, %c;"};
  std::vector<u64> values = corners(b);
  check_case(
      {name + "." + type + operands[n], 16, std::vector<unsigned>(n, 16), f},
      {values, values, n == 3 ? std::vector<u64>(values.begin(), values.begin() + 26) : values});
  std::vector<u64> pairs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    pairs.push_back(values[i] | values[(i * 7 + 3) % values.size()] << 16);
  }
  const std::vector<u64> few(pairs.begin(), pairs.begin() + 12);
  check_case({name + "." + type + "x2" + operands[n], 32, std::vector<unsigned>(n, 32),
              [&](u64 x, u64 y, u64 z) { return pair_of(f, x, y, z); }},
             {pairs, few, few});
}

// A long double holds a sum of bfloats only when they aren't too far apart: then the smaller one
// decides nothing but which side of the larger the sum lies on.
long double sum(long double a, long double b) {
  const long double large = std::fabs(a) > std::fabs(b) ? a : b, small = large == a ? b : a;
  if (small != 0 && std::isfinite(large) && std::fabs(small) < std::fabs(large) * 0x1p-60L) {
    return std::nextafter(large, small > 0 ? (long double)INFINITY : -(long double)INFINITY);
  }
  return a + b;
}

TEST(Half, Arithmetic) {
  for (const Kind& k : kinds()) {
    const auto v = [&](u64 bits) { return (long double){k.format.value(bits)}; };
    const auto code = [&](long double x) { return k.format.code(x); };
    check_both(
        "add", 2, k.bfloat, [&](u64 a, u64 b, u64) { return code(sum(v(a), v(b))); }, k.name);
    check_both(
        "add.rn", 2, k.bfloat, [&](u64 a, u64 b, u64) { return code(sum(v(a), v(b))); }, k.name);
    check_both(
        "sub", 2, k.bfloat, [&](u64 a, u64 b, u64) { return code(sum(v(a), -v(b))); }, k.name);
    check_both(
        "mul", 2, k.bfloat, [&](u64 a, u64 b, u64) { return code(v(a) * v(b)); }, k.name);
    const auto fma = [&](u64 a, u64 b, u64 c) { return code(sum(v(a) * v(b), v(c))); };
    check_both("fma.rn", 3, k.bfloat, fma, k.name);
    check_both(
        "fma.rn.relu", 3, k.bfloat,
        [&](u64 a, u64 b, u64 c) {
          const u64 r = fma(a, b, c);
          return r & 0x8000 ? 0 : r;
        },
        k.name);
  }
}

TEST(Half, FlushAndSaturate) {
  const auto v = [&](u64 bits) { return half().value(bits); };
  const auto flushed = [](u64 bits) { return bits & 0x7c00 ? bits : bits & 0x8000; };
  const auto sat = [](u64 bits) {
    if ((bits & 0x8000) || (bits & 0x7fff) > 0x7c00) return u64{0};
    return std::min<u64>(bits, 0x3c00);
  };
  check_both(
      "add.ftz", 2, false,
      [&](u64 a, u64 b, u64) { return flushed(half().code(v(flushed(a)) + v(flushed(b)))); },
      "f16");
  check_both(
      "mul.sat", 2, false, [&](u64 a, u64 b, u64) { return sat(half().code(v(a) * v(b))); }, "f16");
  check_both(
      "fma.rn.ftz.sat", 3, false,
      [&](u64 a, u64 b, u64 c) {
        return sat(
            flushed(half().code(sum((long double){v(flushed(a))} * v(flushed(b)), v(flushed(c))))));
      },
      "f16");
}

TEST(Half, SignsAndExtremes) {
  for (const Kind& k : kinds()) {
    const auto nan = [&](u64 x) { return std::isnan(k.format.value(x)); };
    check_both(
        "neg", 1, k.bfloat, [](u64 a, u64, u64) { return a ^ 0x8000; }, k.name);
    check_both(
        "abs", 1, k.bfloat, [](u64 a, u64, u64) { return a & 0x7fff; }, k.name);
    const auto least = [&](u64 a, u64 b) {
      const double x = k.format.value(a), y = k.format.value(b);
      if (x == y) return a & 0x8000 ? a : b;
      return x < y ? a : b;
    };
    const auto most = [&](u64 a, u64 b) { return least(a, b) == a ? b : a; };
    for (const bool smallest : {true, false}) {
      const auto choose = [&](u64 a, u64 b) { return smallest ? least(a, b) : most(a, b); };
      const std::string name = smallest ? "min" : "max";
      check_both(
          name, 2, k.bfloat,
          [&](u64 a, u64 b, u64) {
            if (nan(a) && nan(b)) return u64{0x7fff};
            return nan(a) ? b : nan(b) ? a : choose(a, b);
          },
          k.name);
      check_both(
          name + ".NaN", 2, k.bfloat,
          [&](u64 a, u64 b, u64) { return nan(a) || nan(b) ? u64{0x7fff} : choose(a, b); }, k.name);
      check_both(
          name + ".xorsign.abs", 2, k.bfloat,
          [&](u64 a, u64 b, u64) {
            if (nan(a) && nan(b)) return u64{0x7fff};
            const u64 x = a & 0x7fff, y = b & 0x7fff;
            return (nan(a) ? y : nan(b) ? x : choose(x, y)) | ((a ^ b) & 0x8000);
          },
          k.name);
    }
  }
}

TEST(Half, Comparisons) {
  const struct {
    const char* name;
    std::function<bool(double, double)> f;
  } kRelations[] = {{"eq", [](double a, double b) { return a == b; }},
                    {"ne", [](double a, double b) { return a < b || a > b; }},
                    {"lt", [](double a, double b) { return a < b; }},
                    {"le", [](double a, double b) { return a <= b; }},
                    {"gt", [](double a, double b) { return a > b; }},
                    {"ge", [](double a, double b) { return a >= b; }},
                    {"equ", [](double a, double b) { return !(a < b || a > b); }},
                    {"neu", [](double a, double b) { return !(a == b); }},
                    {"ltu", [](double a, double b) { return !(a >= b); }},
                    {"leu", [](double a, double b) { return !(a > b); }},
                    {"gtu", [](double a, double b) { return !(a <= b); }},
                    {"geu", [](double a, double b) { return !(a < b); }},
                    {"num", [](double a, double b) { return !std::isnan(a) && !std::isnan(b); }},
                    {"nan", [](double a, double b) { return std::isnan(a) || std::isnan(b); }}};
  for (const Kind& k : kinds()) {
    const std::string t = k.name;
    const u64 one = k.bfloat ? 0x3f80 : 0x3c00;
    const auto values = corners(k.bfloat);
    std::vector<u64> pairs;
    for (std::size_t i = 0; i < values.size(); ++i) {
      pairs.push_back(values[i] | values[(i * 5 + 1) % values.size()] << 16);
    }
    for (const auto& r : kRelations) {
      const std::string n = r.name;
      const auto holds = [&](u64 a, u64 b) {
        return r.f(k.format.value(a & 0xffff), k.format.value(b & 0xffff));
      };
      check_case({"{ .reg .pred %q; setp." + n + "." + t + " %q, %a, %b; selp.b16 %d, 1, 0, %q; }",
                  16,
                  {16, 16},
                  [&](u64 a, u64 b, u64) { return u64{holds(a, b)}; }},
                 {values, values});
      check_case({"set." + n + "." + t + "." + t + " %d, %a, %b;",
                  16,
                  {16, 16},
                  [&](u64 a, u64 b, u64) { return holds(a, b) ? one : 0; }},
                 {values, values});
      check_case({"set." + n + "." + t + "x2." + t + "x2 %d, %a, %b;",
                  32,
                  {32, 32},
                  [&](u64 a, u64 b, u64) {
                    return (holds(a, b) ? one : 0) | (holds(a >> 16, b >> 16) ? one << 16 : 0);
                  }},
                 {pairs, pairs});
      check_case({"set." + n + ".u32." + t + "x2 %d, %a, %b;",
                  32,
                  {32, 32},
                  [&](u64 a, u64 b, u64) {
                    return u64{holds(a, b) ? 0xffffu : 0} |
                           u64{holds(a >> 16, b >> 16) ? 0xffff0000u : 0};
                  }},
                 {pairs, pairs});
    }
    // p tells of the lower half and q of the upper one, each combined with %r.
    check_case({"{ .reg .pred %p, %q, %r; .reg .b32 %u; setp.ne.b32 %r, %a, %b; setp.lt.and." + t +
                    "x2 %p|%q, %a, %b, %r; selp.b32 %d, 1, 0, %p; selp.b32 %u, 2, 0, %q;"
                    " or.b32 %d, %d, %u; }",
                32,
                {32, 32},
                [&](u64 a, u64 b, u64) {
                  const auto less = [&](u64 x, u64 y) {
                    return k.format.value(x & 0xffff) < k.format.value(y & 0xffff);
                  };
                  if (a == b) return u64{0};
                  return u64{less(a, b)} | u64{less(a >> 16, b >> 16)} << 1;
                }},
               {pairs, pairs});
  }
}

// The ISA's bounds: relative 2^-9.9 for ex2.approx.f16 and 2^-7 for bf16, absolute 2^-10.987 for
// tanh.approx.f16 and 2^-8 for bf16. Rounding the true value keeps them.
TEST(Half, ApproximationsOverAllValues) {
  for (const Kind& k : kinds()) {
    std::vector<u64> all;
    for (u64 h = 0; h < 65536; ++h) all.push_back(h);
    const std::string t = k.name;
    const auto code = [&](double v) { return k.format.code(v); };
    const auto flushed = [&](u64 x) { return k.bfloat && !(x & 0x7f80) ? x & 0x8000 : x; };
    check_case(
        {std::string("ex2.approx") + (k.bfloat ? ".ftz." : ".") + t + " %d, %a;",
         16,
         {16},
         [&](u64 a, u64, u64) { return flushed(code(std::exp2(k.format.value(flushed(a))))); }},
        {all});
    check_case({"tanh.approx." + t + " %d, %a;",
                16,
                {16},
                [&](u64 a, u64, u64) { return code(std::tanh(k.format.value(a))); }},
               {all});
  }
}

std::vector<u64> singles() {
  std::vector<u64> out{0,          0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000,
                       1,          0x80000001, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x477fe000,
                       0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x43e00000, 0x43e80000,
                       0x43e80001, 0x43f00000, 0x47600000, 0x47700000, 0x477fffff, 0x3b000000,
                       0x3a800000, 0x3a800001, 0x37000000, 0x37000001};
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) out.push_back(random());
  for (int i = 0; i < 300; ++i) out.push_back((random() & 0x83ffffff) | 0x3c000000);
  for (int i = 0; i < 300; ++i) out.push_back((random() & 0x8fffe000) | 0x30000000);
  return out;
}
double single(u64 bits) {
  return std::bit_cast<float>(static_cast<u32>(bits));
}

TEST(Half, FromFloats) {
  for (const Kind& k : kinds()) {
    for (const auto& [name, mode] :
         {std::pair{".rn", 'n'}, {".rz", 'z'}, {".rm", 'd'}, {".rp", 'u'}}) {
      check_case({std::string("cvt") + name + "." + k.name + ".f32 %d, %a;",
                  16,
                  {32},
                  [&, mode = mode](u64 a, u64, u64) { return k.format.code(single(a), mode); }},
                 {singles()});
    }
    check_case({std::string("cvt.rn.relu.") + k.name + ".f32 %d, %a;",
                16,
                {32},
                [&](u64 a, u64, u64) {
                  const u64 r = k.format.code(single(a));
                  return r & 0x8000 ? 0 : r;
                }},
               {singles()});
    check_case({std::string("cvt.rn.satfinite.") + k.name + ".f32 %d, %a;",
                16,
                {32},
                [&](u64 a, u64, u64) {
                  const u64 r = k.format.code(single(a)), size = r & 0x7fff;
                  return size == k.format.largest() + 1 ? (r & 0x8000) | k.format.largest() : r;
                }},
               {singles()});
    const auto values = singles();
    const std::vector<u64> few(values.begin(), values.begin() + 28);
    check_case({std::string("cvt.rz.") + k.name + "x2.f32 %d, %a, %b;",
                32,
                {32, 32},
                [&](u64 a, u64 b, u64) {
                  return k.format.code(single(a), 'z') << 16 | k.format.code(single(b), 'z');
                }},
               {values, few});
    // From doubles and integers: rounded once, not by way of a float.
    std::vector<u64> doubles;
    for (const u64 a : values) {
      const double d = single(a);
      doubles.push_back(std::bit_cast<u64>(d));
      doubles.push_back(std::bit_cast<u64>(d) + 1);
    }
    check_case({std::string("cvt.rn.") + k.name + ".f64 %d, %a;",
                16,
                {64},
                [&](u64 a, u64, u64) { return k.format.code(std::bit_cast<double>(a)); }},
               {doubles});
    check_case({std::string("cvt.rn.") + k.name + ".u64 %d, %a;",
                16,
                {64},
                [&](u64 a, u64, u64) { return k.format.code((long double)a); }},
               {{0, 1, 2049, 2051, 65519, 65520, 0x8080000000000000, 0x8080000000000001, ~u64{0},
                 0x8180000000000000}});
    check_case(
        {std::string("cvt.rn.") + k.name + ".s32 %d, %a;",
         16,
         {32},
         [&](u64 a, u64, u64) { return k.format.code((long double)static_cast<std::int32_t>(a)); }},
        {values});
  }
}

TEST(Half, ToWiderAndToIntegers) {
  for (const Kind& k : kinds()) {
    std::vector<u64> all;
    for (u64 h = 0; h < 65536; h += 5) all.push_back(h);
    const std::string t = k.name;
    check_case({"cvt.f64." + t + " %d, %a;",
                64,
                {16},
                [&](u64 a, u64, u64) { return std::bit_cast<u64>(k.format.value(a)); }},
               {all}, true);
    check_case({"cvt.rmi." + t + "." + t + " %d, %a;",
                16,
                {16},
                [&](u64 a, u64, u64) { return k.format.code(std::floor(k.format.value(a))); }},
               {all});
    check_case({"cvt.rzi.s32." + t + " %d, %a;",
                32,
                {16},
                [&](u64 a, u64, u64) {
                  const double v = std::trunc(k.format.value(a));
                  if (std::isnan(v)) return u64{0};
                  return static_cast<u64>(
                      static_cast<std::int64_t>(std::clamp(v, -2147483648.0, 2147483647.0)));
                }},
               {all});
  }
}

TEST(Half, EightBits) {
  const Slow e4m3(3, 4, false), e5m2(2, 5, true);
  const struct {
    const char* name;
    const Slow& format;
  } kFormats[] = {{"e4m3x2", e4m3}, {"e5m2x2", e5m2}};
  const auto values = singles();
  for (const auto& f : kFormats) {
    const auto finite = [&](double v) {
      const u64 code = f.format.code(v);
      return !std::isnan(v) && (code & 0x7f) > f.format.largest()
                 ? (code & 0x80) | f.format.largest()
                 : code;
    };
    const std::string name = f.name;
    check_case({"cvt.rn.satfinite." + name + ".f32 %d, %a, %b;",
                16,
                {32, 32},
                [&](u64 a, u64 b, u64) { return finite(single(a)) << 8 | finite(single(b)); }},
               {values, {values.begin(), values.begin() + 9}});
    check_case({"cvt.rn.satfinite.relu." + name + ".f32 %d, %a, %b;",
                16,
                {32, 32},
                [&](u64 a, u64 b, u64) {
                  const auto relu = [](u64 c) { return c & 0x80 ? 0 : c; };
                  return relu(finite(single(a))) << 8 | relu(finite(single(b)));
                }},
               {values, {values.begin(), values.begin() + 9}});
    std::vector<u64> halves, bytes;
    for (u64 h = 0; h < 65536; h += 3) halves.push_back(h | (h * 40503 & 0xffff) << 16);
    for (u64 p = 0; p < 65536; p += 7) bytes.push_back(p);
    check_case({"cvt.rn.satfinite." + name + ".f16x2 %d, %a;",
                16,
                {32},
                [&](u64 a, u64, u64) {
                  return finite(half().value(a >> 16 & 0xffff)) << 8 |
                         finite(half().value(a & 0xffff));
                }},
               {halves});
    check_case({"cvt.rn.f16x2." + name + " %d, %a;",
                32,
                {16},
                [&](u64 a, u64, u64) {
                  return half().code(f.format.value(a >> 8 & 0xff)) << 16 |
                         half().code(f.format.value(a & 0xff));
                }},
               {bytes});
  }
}

TEST(Half, Tf32) {
  // 10 bits of fraction in a float's place: a neighbour is 2^13 codes away.
  const auto values = singles();
  check_case({"cvt.rna.tf32.f32 %d, %a;",
              32,
              {32},
              [&](u64 a, u64, u64) {
                if (std::isnan(single(a))) return u64{0x7fffe000};
                const u64 down = a & 0xffffe000, up = down + 0x2000;
                return (a & 0x1fff) < 0x1000 ? down : up;
              }},
             {values});
  check_case({"cvt.rn.tf32.f32 %d, %a;",
              32,
              {32},
              [&](u64 a, u64, u64) {
                if (std::isnan(single(a))) return u64{0x7fffe000};
                const u64 down = a & 0xffffe000, up = down + 0x2000, rest = a & 0x1fff;
                if (rest == 0x1000) return down & 0x2000 ? up : down;
                return rest < 0x1000 ? down : up;
              }},
             {values});
}

TEST(Half, Atomics) {
  for (const Kind& k : kinds()) {
    const std::string t = k.name;
    Device device(
        module_text(".visible .entry k(.param .u64 out) {\n"
                    ".reg .b64 %rd<4>; .reg .b16 %h<4>; .reg .b32 %r<4>;\n"
                    "ld.param.u64 %rd1, [out]; mov.b16 %h1, " +
                    std::to_string(k.bfloat ? 0x3f80 : 0x3c00) +
                    "; mov.b32 %r1, {%h1, %h1};\n"
                    "atom.global.add.noftz." +
                    t +
                    " %h2, [%rd1], %h1;\n"
                    "red.add.noftz." +
                    t +
                    "x2 [%rd1+4], %r1;\n"
                    "red.global.add.relaxed.gpu.noftz." +
                    t +
                    " [%rd1+2], %h1;\n"
                    "ret;\n}"));
    const Address out = device.buffer(std::vector<std::uint16_t>(4, 0));
    device.argument(out);
    const LaunchResult r = device.run({1, 1, 1}, {64, 1, 1});
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (const std::uint16_t v : device.read<std::uint16_t>(out, 4)) {
      EXPECT_EQ(k.format.value(v), 64.0);
    }
  }
}

TEST(Half, VectorAtomics) {
  for (const Kind& k : kinds()) {
    const std::string t = k.name, h = ", {%h1, %h1, %h1, %h1", r = ", {%r1, %r1";
    Device device(module_text(
        ".visible .entry k(.param .u64 out) {\n"
        ".reg .b64 %rd<4>; .reg .b16 %h<9>; .reg .b32 %r<4>;\n"
        "ld.param.u64 %rd1, [out]; mov.b16 %h1, " +
        std::to_string(k.bfloat ? 0x3f80 : 0x3c00) + "; mov.b32 %r1, {%h1, %h1};\n" +
        "red.global.v8." + t + ".add.noftz [%rd1]" + h + ", %h1, %h1, %h1, %h1};\n" +
        "atom.global.v4." + t + ".add.noftz {%h2, %h3, %h4, %h5}, [%rd1]" + h + "};\n" +
        "red.global.add.noftz.v4." + t + "x2 [%rd1]" + r + ", %r1, %r1};\n" + "ret;\n}"));
    const Address out = device.buffer(std::vector<std::uint16_t>(9, 0));
    device.argument(out);
    const LaunchResult ran = device.run({1, 1, 1}, {32, 1, 1});
    ASSERT_FALSE(ran.fault) << ran.fault->message;
    const auto got = device.read<std::uint16_t>(out, 9);
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ(k.format.value(got[i]), i < 4 ? 96.0 : i < 8 ? 64.0 : 0.0) << t << " " << i;
    }
  }
}

}  // namespace
}  // namespace emu::test
