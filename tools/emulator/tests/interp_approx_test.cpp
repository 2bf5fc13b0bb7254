// Approximate functions over a sweep, within the errors that the PTX ISA gives, and reciprocals in
// every rounding mode.
#include <cfenv>
#include <cmath>
#include <random>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using u64 = std::uint64_t;

float f32(u64 bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
u64 bits(float v) {
  return std::bit_cast<std::uint32_t>(v);
}

/// Runs `instruction` (%d, %a[, %b]) on floats and gives back the results.
std::vector<float> results(const std::string& instruction, const std::vector<u64>& a,
                           const std::vector<u64>& b) {
  Device device(module_text(R"(
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n) {
  .reg .pred %p; .reg .b32 %i<4>; .reg .b64 %x<4>; .reg .f32 %a, %b, %d;
  mov.u32 %i0, %tid.x; mov.u32 %i1, %ctaid.x; mad.lo.u32 %i0, %i1, 128, %i0;
  ld.param.u32 %i2, [n]; setp.ge.u32 %p, %i0, %i2; @%p ret;
  ld.param.u64 %x1, [a]; mad.wide.u32 %x1, %i0, 8, %x1; ld.global.f32 %a, [%x1];
  ld.param.u64 %x1, [b]; mad.wide.u32 %x1, %i0, 8, %x1; ld.global.f32 %b, [%x1];
  )" + instruction + R"(
  ld.param.u64 %x1, [out]; mad.wide.u32 %x1, %i0, 4, %x1; st.global.f32 [%x1], %d; ret;
})"));
  const Address place = device.buffer(std::vector<float>(a.size()));
  device.argument(device.buffer(a)).argument(device.buffer(b)).argument(place);
  device.argument(static_cast<std::uint32_t>(a.size()));
  const LaunchResult r = device.run({static_cast<unsigned>(a.size() / 128 + 1), 1, 1}, {128, 1, 1});
  EXPECT_FALSE(r.fault) << r.fault->message;
  return device.read<float>(place, a.size());
}

/// Floats from `low` to `high` by their codes, with the ends.
std::vector<u64> sweep(float low, float high) {
  std::vector<u64> out{bits(low), bits(high)};
  std::mt19937 random(3);
  std::uniform_int_distribution<u64> code(bits(low), bits(high));
  for (int i = 0; i < 20000; ++i) out.push_back(code(random));
  return out;
}

TEST(Approximation, SweepsWithinTheIsasErrors) {
  const struct {
    const char* name;
    double (*f)(double);
    float low, high;
    double relative, absolute;
  } kFunctions[] = {
      {"rcp.approx.f32", [](double x) { return 1 / x; }, 1e-37f, 1e37f, 0x1p-23, 0},
      {"sqrt.approx.f32", [](double x) { return std::sqrt(x); }, 1e-37f, 3e38f, 0x1p-23, 0},
      {"rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 1e-37f, 3e38f, 0x1p-22, 0},
      {"sin.approx.f32", [](double x) { return std::sin(x); }, 1e-10f, 6.2831f, 0, 0x1p-20},
      {"cos.approx.f32", [](double x) { return std::cos(x); }, 1e-10f, 6.2831f, 0, 0x1p-20},
      {"lg2.approx.f32", [](double x) { return std::log2(x); }, 0.5f, 2.0f, 0, 0x1p-22},
      {"lg2.approx.f32", [](double x) { return std::log2(x); }, 2.0f, 3e38f, 0x1p-22, 0},
      {"ex2.approx.f32", [](double x) { return std::exp2(x); }, 1e-10f, 127.0f, 0x1p-22, 0},
      {"tanh.approx.f32", [](double x) { return std::tanh(x); }, 1e-10f, 50.0f, 0x1p-11, 0},
  };
  for (const auto& f : kFunctions) {
    SCOPED_TRACE(f.name);
    const auto a = sweep(f.low, f.high);
    const auto got = results(std::string(f.name) + " %d, %a;", a, a);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double want = f.f(f32(a[i]));
      ASSERT_LE(std::fabs(got[i] - want), std::fabs(want) * f.relative + f.absolute) << f32(a[i]);
    }
  }
}

TEST(Approximation, Corners) {
  const float inf = INFINITY, nan = NAN;
  const struct {
    const char* text;
    float a, want;
  } kCorners[] = {
      {"rcp.approx.f32", 0.0f, inf},
      {"rcp.approx.f32", -0.0f, -inf},
      {"rcp.approx.f32", inf, 0.0f},
      {"rcp.approx.f32", -inf, -0.0f},
      {"rcp.approx.ftz.f32", 1e-40f, inf},
      {"sqrt.approx.f32", -1.0f, nan},
      {"sqrt.approx.f32", -0.0f, -0.0f},
      {"sqrt.approx.f32", inf, inf},
      {"sqrt.approx.ftz.f32", -1e-40f, -0.0f},
      {"rsqrt.approx.f32", 0.0f, inf},
      {"rsqrt.approx.f32", -0.0f, -inf},
      {"rsqrt.approx.f32", inf, 0.0f},
      {"rsqrt.approx.f32", -2.0f, nan},
      {"sin.approx.f32", -0.0f, -0.0f},
      {"sin.approx.f32", inf, nan},
      {"cos.approx.f32", 0.0f, 1.0f},
      {"cos.approx.f32", inf, nan},
      {"lg2.approx.f32", 0.0f, -inf},
      {"lg2.approx.f32", -1.0f, nan},
      {"lg2.approx.f32", inf, inf},
      {"lg2.approx.ftz.f32", 1e-40f, -inf},
      {"ex2.approx.f32", -inf, 0.0f},
      {"ex2.approx.f32", inf, inf},
      {"ex2.approx.f32", 200.0f, inf},
      {"ex2.approx.ftz.f32", -140.0f, 0.0f},
      {"ex2.approx.f32", -0.0f, 1.0f},
      {"tanh.approx.f32", inf, 1.0f},
      {"tanh.approx.f32", -0.0f, -0.0f},
      {"tanh.approx.f32", -inf, -1.0f},
  };
  for (const auto& c : kCorners) {
    const float got = results(std::string(c.text) + " %d, %a;", {bits(c.a)}, {bits(c.a)})[0];
    if (std::isnan(c.want)) {
      EXPECT_TRUE(std::isnan(got)) << c.text << " of " << c.a;
    } else {
      EXPECT_EQ(bits(got), bits(c.want)) << c.text << " of " << c.a;
    }
  }
}

TEST(Approximation, Division) {
  for (const char* name : {"div.approx.f32", "div.full.f32"}) {
    const auto a = sweep(1e-3f, 1e3f), b = sweep(1e-30f, 1e30f);
    const auto got = results(std::string(name) + " %d, %a, %b;", a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double want = double{f32(a[i])} / f32(b[i]);
      if (want < 1.2e-38 || want > 3e38) continue;
      ASSERT_LE(std::fabs(got[i] - want), want * 0x1p-22) << f32(a[i]) << " / " << f32(b[i]);
    }
  }
  // Past 2^126 the approximate reciprocal is zero.
  const auto one = [](const char* text, float a, float b) {
    return results(text, {bits(a)}, {bits(b)})[0];
  };
  EXPECT_EQ(one("div.approx.f32 %d, %a, %b;", 1e38f, 2e38f), 0.0f);
  EXPECT_EQ(bits(one("div.approx.f32 %d, %a, %b;", 1e38f, -2e38f)), bits(-0.0f));
  EXPECT_TRUE(std::isnan(one("div.approx.f32 %d, %a, %b;", INFINITY, 2e38f)));
  EXPECT_EQ(one("div.approx.f32 %d, %a, %b;", 0x1p126f, 0x1p126f), 1.0f);
  EXPECT_EQ(one("div.full.f32 %d, %a, %b;", 1e38f, 2e38f), 0.5f);
}

TEST(Float, ReciprocalsInEveryMode) {
  const struct {
    const char* name;
    int mode;
  } kModes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  auto a = sweep(1e-44f, 3e38f);
  a.push_back(bits(-3.0f));
  for (const auto& m : kModes) {
    for (const bool ftz : {false, true}) {
      const auto got =
          results(std::string("rcp.") + m.name + (ftz ? ".ftz" : "") + ".f32 %d, %a;", a, a);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto flushed = [&](float v) {
          return ftz && std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
        };
        const volatile float x = flushed(f32(a[i])), unit = 1;
        std::fesetround(m.mode);
        const volatile float want = unit / x;
        std::fesetround(FE_TONEAREST);
        ASSERT_EQ(bits(got[i]), bits(flushed(want))) << m.name << ftz << ' ' << f32(a[i]);
      }
    }
  }
}

}  // namespace
}  // namespace emu::test
