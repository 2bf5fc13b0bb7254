// Integers packed into a register, each part against plain arithmetic on it.
#include <algorithm>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using u64 = std::uint64_t;

const std::vector<u64> kWords{0,          1,          0xffffffff, 0x80008000,
                              0x7fff7fff, 0x80007fff, 0x00010002, 0xffff0001,
                              0x12345678, 0xfedcba98, 0x807f01fe, 0x7f80ff00};

int part(u64 v, unsigned k, unsigned bits, bool s) {
  const int field = static_cast<int>(v >> bits * k & ((1u << bits) - 1));
  return s && field >> (bits - 1) ? field - (1 << bits) : field;
}

template <class F>
u64 parts(u64 a, u64 b, unsigned bits, bool s, F f) {
  u64 out = 0;
  for (unsigned k = 0; k < 32 / bits; ++k) {
    const int v = f(part(a, k, bits, s), part(b, k, bits, s));
    out |= (static_cast<u64>(v) & ((1u << bits) - 1)) << bits * k;
  }
  return out;
}

const struct {
  const char* name;
  int (*f)(int, int);
} kOperations[] = {{"add", [](int a, int b) { return a + b; }},
                   {"min", [](int a, int b) { return a < b ? a : b; }},
                   {"max", [](int a, int b) { return a < b ? b : a; }}};

TEST(Packed, Pairs) {
  for (const bool s : {false, true}) {
    const std::string type = s ? ".s16x2" : ".u16x2";
    for (const auto& o : kOperations) {
      check_case({o.name + type + " %d, %a, %b;",
                  32,
                  {32, 32},
                  [&](u64 a, u64 b, u64) { return parts(a, b, 16, s, o.f); }},
                 {kWords, kWords});
    }
  }
  check_case({"max.s16x2.relu %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) {
                return parts(a, b, 16, true, [](int x, int y) { return std::max({x, y, 0}); });
              }},
             {kWords, kWords});
  check_case({"min.s32.relu %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) {
                const auto s = [](u64 v) { return static_cast<std::int32_t>(v); };
                return static_cast<u64>(std::max(std::min(s(a), s(b)), 0));
              }},
             {kWords, kWords});
}

TEST(Packed, Video) {
  const struct {
    const char* name;
    int (*f)(int, int);
  } kVideo[] = {{"vadd", [](int a, int b) { return a + b; }},
                {"vsub", [](int a, int b) { return a - b; }},
                {"vavrg", [](int a, int b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }},
                {"vabsdiff", [](int a, int b) { return a > b ? a - b : b - a; }},
                {"vmin", [](int a, int b) { return a < b ? a : b; }},
                {"vmax", [](int a, int b) { return a < b ? b : a; }}};
  for (const unsigned n : {2u, 4u}) {
    for (const bool s : {false, true}) {
      const std::string t = s ? ".s32" : ".u32", types = t + t + t;
      for (const auto& v : kVideo) {
        const std::string name = v.name + std::to_string(n);
        check_case({name + types + " %d, %a, %b, %c;",
                    32,
                    {32, 32, 32},
                    [&](u64 a, u64 b, u64) { return parts(a, b, 32 / n, s, v.f); }},
                   {kWords, kWords, {0, 5}});
        check_case({name + types + ".add %d, %a, %b, %c;",
                    32,
                    {32, 32, 32},
                    [&](u64 a, u64 b, u64 c) {
                      for (unsigned k = 0; k < n; ++k) {
                        c += static_cast<u64>(v.f(part(a, k, 32 / n, s), part(b, k, 32 / n, s)));
                      }
                      return c;
                    }},
                   {kWords, kWords, {0, 7}});
      }
      const int most = (1 << (32 / n - s)) - 1, least = s ? -most - 1 : 0;
      check_case({"vsub" + std::to_string(n) + types + ".sat %d, %a, %b, %c;",
                  32,
                  {32, 32, 32},
                  [&](u64 a, u64 b, u64) {
                    return parts(a, b, 32 / n, s,
                                 [&](int x, int y) { return std::clamp(x - y, least, most); });
                  }},
                 {kWords, kWords, {0}});
      check_case({"vset" + std::to_string(n) + t + t + ".le %d, %a, %b, %c;",
                  32,
                  {32, 32, 32},
                  [&](u64 a, u64 b, u64) {
                    return parts(a, b, 32 / n, s, [](int x, int y) { return x <= y ? 1 : 0; });
                  }},
                 {kWords, kWords, {0}});
    }
  }
}

}  // namespace
}  // namespace emu::test
