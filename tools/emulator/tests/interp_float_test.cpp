// Floating point and conversions against a statement of their meaning in C++.
#include <cfenv>
#include <cmath>
#include <limits>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using u64 = std::uint64_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;

float f32(u64 v) {
  return std::bit_cast<float>(static_cast<u32>(v));
}
double f64(u64 v) {
  return std::bit_cast<double>(v);
}
u64 bits(float v) {
  return std::bit_cast<u32>(v);
}
u64 bits(double v) {
  return std::bit_cast<u64>(v);
}

const std::vector<u64> kSingles{bits(0.0f),
                                bits(-0.0f),
                                bits(1.0f),
                                bits(-1.0f),
                                bits(0.5f),
                                bits(1.5f),
                                bits(2.5f),
                                bits(-2.5f),
                                bits(3.4028235e38f),
                                bits(-3.4028235e38f),
                                bits(1.17549435e-38f),
                                1,
                                0x80000001,
                                0x007fffff,
                                bits(0.1f),
                                bits(1e10f),
                                bits(-1e10f),
                                bits(16777217.0f),
                                bits(2147483648.0f),
                                bits(4294967296.0f),
                                bits(9.3e18f),
                                0x7f800000,
                                0xff800000,
                                0x7fc00000,
                                bits(1e-20f)};
const std::vector<u64> kDoubles{bits(0.0),
                                bits(-0.0),
                                bits(1.0),
                                bits(-1.0),
                                bits(0.5),
                                bits(1.5),
                                bits(2.5),
                                bits(-3.5),
                                bits(1.7976931348623157e308),
                                bits(2.2250738585072014e-308),
                                1,
                                bits(0.1),
                                bits(1e10),
                                bits(-1e18),
                                bits(2147483647.5),
                                bits(1.8446744073709552e19),
                                bits(9.3e18),
                                bits(1e-310),
                                bits(65504.0),
                                bits(65520.0),
                                bits(5.9e-8),
                                bits(2.9e-8),
                                bits(1.00048828125),
                                0x7ff0000000000000,
                                0xfff0000000000000,
                                0x7ff8000000000000};
const std::vector<u64> kFewSingles{bits(0.0f), bits(1.0f), bits(-0.1f), bits(3e38f),
                                   1,          0x7f800000, 0x7fc00000};
const std::vector<u64> kFewDoubles{bits(0.0),   bits(1.0), bits(-0.1),
                                   bits(1e308), 1,         0x7ff0000000000000};

struct Mode {
  const char* name;
  int host;
};
const Mode kModes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

template <class T>
T in_mode(int mode, char op, T x, T y, T z) {
  const volatile T a = x, b = y, c = z;
  volatile T out = 0;
  std::fesetround(mode);
  switch (op) {
    case '+': out = a + b; break;
    case '-': out = a - b; break;
    case '*': out = a * b; break;
    case '/': out = a / b; break;
    case 'f': out = std::fma(T{a}, T{b}, T{c}); break;
    case 's': out = std::sqrt(T{a}); break;
    default: break;
  }
  std::fesetround(FE_TONEAREST);
  return out;
}

TEST(Float, ArithmeticInEveryMode) {
  const struct {
    const char* name;
    char op;
    unsigned n;
  } kOps[] = {{"add", '+', 2}, {"sub", '-', 2}, {"mul", '*', 2},
              {"div", '/', 2}, {"fma", 'f', 3}, {"sqrt", 's', 1}};
  const char* operands[] = {"", " %d, %a;", " %d, %a, %b;", " %d, %a, %b, %c;"};
  for (const auto& o : kOps) {
    for (const Mode& m : kModes) {
      check_case({std::string(o.name) + m.name + ".f32" + operands[o.n], 32,
                  std::vector<unsigned>(o.n, 32),
                  [&](u64 a, u64 b, u64 c) {
                    return bits(in_mode(m.host, o.op, f32(a), f32(b), f32(c)));
                  }},
                 {kSingles, kSingles, kFewSingles}, true);
      check_case({std::string(o.name) + m.name + ".f64" + operands[o.n], 64,
                  std::vector<unsigned>(o.n, 64),
                  [&](u64 a, u64 b, u64 c) {
                    return bits(in_mode(m.host, o.op, f64(a), f64(b), f64(c)));
                  }},
                 {kDoubles, kDoubles, kFewDoubles}, true);
    }
  }
}

float flushed(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
}

TEST(Float, FlushAndSaturate) {
  check_case({"add.ftz.f32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) { return bits(flushed(flushed(f32(a)) + flushed(f32(b)))); }},
             {kSingles, kSingles}, true);
  check_case({"mul.ftz.f32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) { return bits(flushed(flushed(f32(a)) * flushed(f32(b)))); }},
             {kSingles, kSingles}, true);
  check_case({"add.sat.f32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) {
                const float s = f32(a) + f32(b);
                return bits(std::isnan(s) || s <= 0 ? 0.0f : std::fmin(s, 1.0f));
              }},
             {kSingles, kSingles});
  check_case({"fma.rn.sat.f32 %d, %a, %b, %c;",
              32,
              {32, 32, 32},
              [](u64 a, u64 b, u64 c) {
                const float s = std::fma(f32(a), f32(b), f32(c));
                return bits(std::isnan(s) || s <= 0 ? 0.0f : std::fmin(s, 1.0f));
              }},
             {kSingles, kSingles, kFewSingles});
}

TEST(Float, NanOfHardwareIsCanonical) {
  check_case({"add.f32 %d, %a, %b;", 32, {32, 32}, [](u64, u64, u64) { return u64{0x7fffffff}; }},
             {{0x7fc12345, 0xffc00000, 0x7f800001}, {bits(1.0f)}});
}

TEST(Float, SignsAndExtremes) {
  check_case({"neg.f32 %d, %a;", 32, {32}, [](u64 a, u64, u64) { return a ^ 0x80000000; }},
             {kSingles}, true);
  check_case({"abs.f32 %d, %a;", 32, {32}, [](u64 a, u64, u64) { return a & 0x7fffffff; }},
             {kSingles}, true);
  check_case({"neg.f64 %d, %a;", 64, {64}, [](u64 a, u64, u64) { return a ^ u64 { 1 } << 63; }},
             {kDoubles}, true);
  check_case({"abs.f64 %d, %a;", 64, {64}, [](u64 a, u64, u64) { return a & ~(u64{1} << 63); }},
             {kDoubles}, true);
  check_case({"copysign.f32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) { return (a & 0x80000000) | (b & 0x7fffffff); }},
             {kSingles, kSingles}, true);
  const auto least = [](float a, float b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == 0 && b == 0) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  check_case({"min.f32 %d, %a, %b;",
              32,
              {32, 32},
              [&](u64 a, u64 b, u64) { return bits(least(f32(a), f32(b))); }},
             {kSingles, kSingles}, true);
  check_case({"max.f32 %d, %a, %b;",
              32,
              {32, 32},
              [&](u64 a, u64 b, u64) { return bits(-least(-f32(a), -f32(b))); }},
             {kSingles, kSingles}, true);
  check_case({"min.NaN.f32 %d, %a, %b;",
              32,
              {32, 32},
              [&](u64 a, u64 b, u64) {
                return std::isnan(f32(a)) || std::isnan(f32(b)) ? u64{0x7fffffff}
                                                                : bits(least(f32(a), f32(b)));
              }},
             {kSingles, kSingles});
  check_case({"max.f64 %d, %a, %b;",
              64,
              {64, 64},
              [](u64 a, u64 b, u64) {
                const double x = f64(a), y = f64(b);
                if (std::isnan(x)) return bits(y);
                if (std::isnan(y)) return bits(x);
                if (x == 0 && y == 0) return std::signbit(x) ? bits(y) : bits(x);
                return bits(x > y ? x : y);
              }},
             {kDoubles, kDoubles}, true);
}

TEST(Float, ComparisonsWithNan) {
  const struct {
    const char* name;
    std::function<bool(double, double)> f;
  } kRelations[] = {{"eq", [](double a, double b) { return a == b; }},
                    {"ne", [](double a, double b) { return a < b || a > b; }},
                    {"lt", [](double a, double b) { return a < b; }},
                    {"ge", [](double a, double b) { return a >= b; }},
                    {"equ", [](double a, double b) { return !(a < b || a > b); }},
                    {"neu", [](double a, double b) { return !(a == b); }},
                    {"ltu", [](double a, double b) { return !(a >= b); }},
                    {"leu", [](double a, double b) { return !(a > b); }},
                    {"gtu", [](double a, double b) { return !(a <= b); }},
                    {"geu", [](double a, double b) { return !(a < b); }},
                    {"num", [](double a, double b) { return !std::isnan(a) && !std::isnan(b); }},
                    {"nan", [](double a, double b) { return std::isnan(a) || std::isnan(b); }}};
  for (const auto& r : kRelations) {
    const std::string name = r.name;
    check_case({"{ .reg .pred %q; setp." + name + ".f32 %q, %a, %b; selp.b32 %d, 1, 0, %q; }",
                32,
                {32, 32},
                [&](u64 a, u64 b, u64) { return u64{r.f(f32(a), f32(b))}; }},
               {kSingles, kSingles});
    check_case({"{ .reg .pred %q; setp." + name + ".f64 %q, %a, %b; selp.b32 %d, 1, 0, %q; }",
                32,
                {64, 64},
                [&](u64 a, u64 b, u64) { return u64{r.f(f64(a), f64(b))}; }},
               {kDoubles, kDoubles});
  }
  check_case({"set.lt.f32.f32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) { return f32(a) < f32(b) ? bits(1.0f) : 0; }},
             {kSingles, kSingles});
  check_case({"{ .reg .pred %q; testp.subnormal.f32 %q, %a; selp.b32 %d, 1, 0, %q; }",
              32,
              {32},
              [](u64 a, u64, u64) { return u64{std::fpclassify(f32(a)) == FP_SUBNORMAL}; }},
             {kSingles});
  check_case({"{ .reg .pred %q; testp.normal.f64 %q, %a; selp.b32 %d, 1, 0, %q; }",
              32,
              {64},
              [](u64 a, u64, u64) { return u64{std::isnormal(f64(a))}; }},
             {kDoubles});
}

// Approximations are the true value, rounded: within every bound that the ISA gives.
TEST(Float, Approximations) {
  const struct {
    const char* text;
    double (*f)(double);
  } kFunctions[] = {{"rcp.approx.f32", [](double x) { return 1 / x; }},
                    {"sqrt.approx.f32", [](double x) { return std::sqrt(x); }},
                    {"rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }},
                    {"sin.approx.f32", [](double x) { return std::sin(x); }},
                    {"cos.approx.f32", [](double x) { return std::cos(x); }},
                    {"lg2.approx.f32", [](double x) { return std::log2(x); }},
                    {"ex2.approx.f32", [](double x) { return std::exp2(x); }},
                    {"tanh.approx.f32", [](double x) { return std::tanh(x); }}};
  const std::vector<u64> ordinary{bits(0.25f), bits(0.5f), bits(1.0f),
                                  bits(1.5f),  bits(2.0f), bits(3.1f)};
  for (const auto& f : kFunctions) {
    for (const u64 v : ordinary) {
      check_case({std::string(f.text) + " %d, %a;",
                  32,
                  {32},
                  [&](u64 a, u64, u64) { return bits(static_cast<float>(f.f(f32(a)))); }},
                 {{v}});
    }
  }
}

TEST(Float, ReciprocalOfUpperHalves) {
  check_case({"rcp.approx.ftz.f64 %d, %a;",
              64,
              {64},
              [](u64 a, u64, u64) { return bits(1 / f64(a >> 32 << 32)) >> 32 << 32; }},
             {{bits(3.0), bits(0.1), bits(-7e10), bits(0.0), 0x7ff0000000000000}});
}

long double whole(long double v, const std::string& mode) {
  if (mode == "rni") return std::nearbyint(v);
  if (mode == "rzi") return std::trunc(v);
  return mode == "rmi" ? std::floor(v) : std::ceil(v);
}

TEST(Convert, FloatToInteger) {
  const struct {
    const char* name;
    unsigned bits;
    bool s;
  } kTo[] = {{"s32", 32, true},  {"u32", 32, false}, {"s64", 64, true},
             {"u64", 64, false}, {"s16", 16, true},  {"u16", 16, false}};
  for (const auto& t : kTo) {
    for (const std::string mode : {"rni", "rzi", "rmi", "rpi"}) {
      for (const bool wide : {false, true}) {
        check_case({"cvt." + mode + "." + t.name + (wide ? ".f64" : ".f32") + " %d, %a;",
                    t.bits,
                    {wide ? 64u : 32u},
                    [&](u64 a, u64, u64) {
                      const long double v = wide ? f64(a) : f32(a);
                      if (std::isnan(v))
                        return !wide && t.bits != 64 ? u64{0} : u64{1} << (t.bits - 1);
                      const long double r = whole(v, mode);
                      const long double top = std::ldexp(1.0L, static_cast<int>(t.bits - t.s));
                      if (r >= top) return static_cast<u64>(top - 1);
                      if (r < (t.s ? -top : 0.0L)) return t.s ? u64{1} << (t.bits - 1) : 0;
                      return t.s ? static_cast<u64>(static_cast<i64>(r)) : static_cast<u64>(r);
                    }},
                   {wide ? kDoubles : kSingles});
      }
    }
  }
}

TEST(Convert, IntegerToFloat) {
  const std::vector<u64> values{0,
                                1,
                                0xffffffff,
                                0x80000000,
                                0x7fffffff,
                                16777217,
                                16777219,
                                0x123456789abcdef1,
                                ~u64{0},
                                u64{1} << 63,
                                (u64{1} << 53) + 1};
  for (const Mode& m : kModes) {
    const auto narrow = [&](auto v) {
      std::fesetround(m.host);
      const volatile float f = static_cast<float>(v);
      std::fesetround(FE_TONEAREST);
      return bits(float{f});
    };
    check_case({std::string("cvt") + m.name + ".f32.u32 %d, %a;",
                32,
                {32},
                [&](u64 a, u64, u64) {
                  volatile auto v = static_cast<u32>(a);
                  return narrow(v);
                }},
               {values});
    check_case({std::string("cvt") + m.name + ".f32.s64 %d, %a;",
                32,
                {64},
                [&](u64 a, u64, u64) {
                  volatile auto v = static_cast<i64>(a);
                  return narrow(v);
                }},
               {values});
    check_case({std::string("cvt") + m.name + ".f32.f64 %d, %a;",
                32,
                {64},
                [&](u64 a, u64, u64) {
                  volatile double v = f64(a);
                  return narrow(v);
                }},
               {kDoubles}, true);
  }
  check_case({"cvt.rn.f64.u64 %d, %a;",
              64,
              {64},
              [](u64 a, u64, u64) { return bits(static_cast<double>(a)); }},
             {values});
  check_case(
      {"cvt.rn.f64.s32 %d, %a;",
       64,
       {32},
       [](u64 a, u64, u64) { return bits(static_cast<double>(static_cast<std::int32_t>(a))); }},
      {values});
  check_case(
      {"cvt.f64.f32 %d, %a;", 64, {32}, [](u64 a, u64, u64) { return bits(double{f32(a)}); }},
      {kSingles}, true);
  check_case({"cvt.rni.f32.f32 %d, %a;",
              32,
              {32},
              [](u64 a, u64, u64) { return bits(std::nearbyint(f32(a))); }},
             {kSingles}, true);
  check_case({"cvt.sat.f32.f32 %d, %a;",
              32,
              {32},
              [](u64 a, u64, u64) {
                const float v = f32(a);
                return v > 0 ? bits(std::fmin(v, 1.0f)) : 0;
              }},
             {kSingles});
}

TEST(Convert, IntegerToInteger) {
  const std::vector<u64> values{0,
                                1,
                                127,
                                128,
                                255,
                                256,
                                32767,
                                32768,
                                65535,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                0x123456789abcdef0,
                                ~u64{0}};
  check_case({"cvt.s64.s32 %d, %a;",
              64,
              {32},
              [](u64 a, u64, u64) { return static_cast<u64>(i64{static_cast<std::int32_t>(a)}); }},
             {values});
  check_case({"cvt.u64.u32 %d, %a;", 64, {32}, [](u64 a, u64, u64) { return a & 0xffffffff; }},
             {values});
  check_case({"cvt.s32.s8 %d, %a;",
              32,
              {32},
              [](u64 a, u64, u64) { return static_cast<u64>(static_cast<std::int8_t>(a)); }},
             {values});
  check_case({"cvt.u32.u8 %d, %a;", 32, {32}, [](u64 a, u64, u64) { return a & 0xff; }}, {values});
  check_case({"cvt.s16.s8 %d, %a;",
              16,
              {32},
              [](u64 a, u64, u64) { return static_cast<u64>(static_cast<std::int8_t>(a)); }},
             {values});
  check_case({"cvt.u16.u32 %d, %a;", 16, {32}, [](u64 a, u64, u64) { return a & 0xffff; }},
             {values});
  check_case({"cvt.u32.u64 %d, %a;", 32, {64}, [](u64 a, u64, u64) { return a; }}, {values});
  check_case({"cvt.sat.s8.s32 %d, %a;",
              32,
              {32},
              [](u64 a, u64, u64) {
                return static_cast<u64>(std::clamp<i64>(static_cast<std::int32_t>(a), -128, 127));
              }},
             {values});
  check_case({"cvt.sat.u32.s32 %d, %a;",
              32,
              {32},
              [](u64 a, u64, u64) {
                const auto v = static_cast<std::int32_t>(a);
                return static_cast<u64>(v < 0 ? 0 : v);
              }},
             {values});
  check_case(
      {"cvt.sat.u8.u64 %d, %a;", 32, {64}, [](u64 a, u64, u64) { return std::min<u64>(a, 255); }},
      {values});
}

TEST(Convert, Halves) {
  // Every half to a float, by its fields; and back without loss.
  std::vector<u64> all;
  for (u64 h = 0; h < 65536; h += 3) all.push_back(h);
  const auto value = [](u64 h) {
    const int e = h >> 10 & 31;
    const double m = h & 1023;
    const double v = e == 31  ? (m != 0 ? NAN : INFINITY)
                     : e == 0 ? std::ldexp(m, -24)
                              : std::ldexp(1024 + m, e - 25);
    return static_cast<float>(h & 0x8000 ? -v : v);
  };
  check_case({"cvt.f32.f16 %d, %a;", 32, {16}, [&](u64 a, u64, u64) { return bits(value(a)); }},
             {all}, true);
  check_case({"{ .reg .f32 %e; cvt.f32.f16 %e, %a; cvt.rn.f16.f32 %d, %e; }",
              16,
              {16},
              [&](u64 a, u64, u64) { return std::isnan(value(a)) ? u64{0x7fff} : a; }},
             {all});
  // Between two halves: the nearer, the even one in the middle.
  const struct {
    double v;
    u64 rn, rz;
  } kRounded[] = {{1 + 1.0 / 2048, 0x3c00, 0x3c00}, {1 + 3.0 / 2048, 0x3c02, 0x3c01},
                  {65519, 0x7bff, 0x7bff},          {65520, 0x7c00, 0x7bff},
                  {std::ldexp(1.0, -25), 0, 0},     {std::ldexp(3.0, -26), 1, 0}};
  for (const auto& r : kRounded) {
    const auto narrow = bits(static_cast<float>(r.v));
    check_case({"cvt.rn.f16.f32 %d, %a;", 16, {32}, [&](u64, u64, u64) { return r.rn; }},
               {{narrow}});
    check_case({"cvt.rz.f16.f32 %d, %a;", 16, {32}, [&](u64, u64, u64) { return r.rz; }},
               {{narrow}});
  }
  check_case({"cvt.rn.bf16.f32 %d, %a;",
              16,
              {32},
              [](u64 a, u64, u64) { return (a + 0x7fff + (a >> 16 & 1)) >> 16; }},
             {{bits(1.0f), 0x3f808000, 0x3f818000, 0x3f80ffff}});
}

}  // namespace
}  // namespace emu::test
