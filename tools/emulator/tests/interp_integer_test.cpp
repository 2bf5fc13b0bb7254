// Every integer instruction against a statement of its meaning in C++, over corner values.
#include <algorithm>

#include "interp_support.hpp"

namespace emu::test {
namespace {

using u64 = std::uint64_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using u16 = std::uint16_t;
using i16 = std::int16_t;
using wide = __int128;

// A value of `bits` bits, with its sign or without, as a number that can't overflow below.
wide number(u64 v, unsigned bits, bool is_signed) {
  if (is_signed)
    return bits == 16   ? wide{static_cast<i16>(v)}
           : bits == 32 ? wide{static_cast<i32>(v)}
                        : wide{static_cast<i64>(v)};
  return bits == 16 ? wide{static_cast<u16>(v)} : bits == 32 ? wide{static_cast<u32>(v)} : wide{v};
}

std::vector<u64> corners(unsigned bits) {
  const u64 top = u64{1} << (bits - 1);
  std::vector<u64> v{0,
                     1,
                     2,
                     3,
                     7,
                     31,
                     32,
                     33,
                     top - 1,
                     top,
                     top + 1,
                     ~u64{0},
                     ~u64{0} - 1,
                     0x5555555555555555,
                     0x123456789abcdef0,
                     0x00ff00ff80017ffe};
  for (u64& x : v) x &= bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  return v;
}
std::vector<u64> few(unsigned bits) {
  const u64 top = u64{1} << (bits - 1);
  return {0, 1, top - 1, top, (top << 1) - 1, 0x1234567 & ((top << 1) - 1)};
}

struct Typed {
  const char* name;
  unsigned bits;
  bool is_signed;
};
const Typed kTypes[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                        {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

void binary(const std::string& op, const Typed& t, const std::function<wide(wide, wide)>& f) {
  check_case(
      {op + "." + t.name + " %d, %a, %b;",
       t.bits,
       {t.bits, t.bits},
       [&](u64 a, u64 b, u64) {
         return static_cast<u64>(f(number(a, t.bits, t.is_signed), number(b, t.bits, t.is_signed)));
       }},
      {corners(t.bits), corners(t.bits)});
}
void ternary(const std::string& op, const Typed& t,
             const std::function<wide(wide, wide, wide)>& f) {
  check_case(
      {op + "." + t.name + " %d, %a, %b, %c;",
       t.bits,
       {t.bits, t.bits, t.bits},
       [&](u64 a, u64 b, u64 c) {
         return static_cast<u64>(f(number(a, t.bits, t.is_signed), number(b, t.bits, t.is_signed),
                                   number(c, t.bits, t.is_signed)));
       }},
      {corners(t.bits), corners(t.bits), few(t.bits)});
}

TEST(Integer, Arithmetic) {
  for (const Typed& t : kTypes) {
    binary("add", t, [](wide a, wide b) { return a + b; });
    binary("sub", t, [](wide a, wide b) { return a - b; });
    binary("mul.lo", t, [](wide a, wide b) {
      return static_cast<wide>(static_cast<unsigned __int128>(a) *
                               static_cast<unsigned __int128>(b));
    });
    binary("min", t, [](wide a, wide b) { return std::min(a, b); });
    binary("max", t, [](wide a, wide b) { return std::max(a, b); });
    binary("div", t, [](wide a, wide b) { return b == 0 ? wide{-1} : a / b; });
    binary("rem", t, [](wide a, wide b) { return b == 0 ? a : a % b; });
    ternary("mad.lo", t, [](wide a, wide b, wide c) {
      return static_cast<wide>(static_cast<unsigned __int128>(a) *
                                   static_cast<unsigned __int128>(b) +
                               static_cast<unsigned __int128>(c));
    });
    ternary("sad", t, [](wide a, wide b, wide c) { return c + (a < b ? b - a : a - b); });
    if (t.bits < 64) {
      binary("mul.hi", t, [&](wide a, wide b) { return (a * b) >> t.bits; });
      ternary("mad.hi", t, [&](wide a, wide b, wide c) { return ((a * b) >> t.bits) + c; });
      check_case({std::string("mul.wide.") + t.name + " %d, %a, %b;",
                  2 * t.bits,
                  {t.bits, t.bits},
                  [&](u64 a, u64 b, u64) {
                    return static_cast<u64>(number(a, t.bits, t.is_signed) *
                                            number(b, t.bits, t.is_signed));
                  }},
                 {corners(t.bits), corners(t.bits)});
      check_case({std::string("mad.wide.") + t.name + " %d, %a, %b, %c;",
                  2 * t.bits,
                  {t.bits, t.bits, 2 * t.bits},
                  [&](u64 a, u64 b, u64 c) {
                    return static_cast<u64>(number(a, t.bits, t.is_signed) *
                                                number(b, t.bits, t.is_signed) +
                                            static_cast<wide>(c));
                  }},
                 {corners(t.bits), corners(t.bits), few(2 * t.bits)});
    }
  }
  // The high half of 64 bits, in parts of 32.
  check_case({"mul.hi.u64 %d, %a, %b;",
              64,
              {64, 64},
              [](u64 a, u64 b, u64) {
                const u64 al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
                const u64 middle =
                    (al * bl >> 32) + (ah * bl & 0xffffffff) + (al * bh & 0xffffffff);
                return ah * bh + (ah * bl >> 32) + (al * bh >> 32) + (middle >> 32);
              }},
             {corners(64), corners(64)});
}

TEST(Integer, Saturation) {
  const auto sat = [](wide v) { return std::clamp(v, wide{INT32_MIN}, wide{INT32_MAX}); };
  const Typed s32 = kTypes[3];
  binary("add.sat", s32, [&](wide a, wide b) { return sat(a + b); });
  binary("sub.sat", s32, [&](wide a, wide b) { return sat(a - b); });
  ternary("mad.hi.sat", s32, [&](wide a, wide b, wide c) { return sat((a * b >> 32) + c); });
}

TEST(Integer, OneOperand) {
  for (const Typed& t : kTypes) {
    const auto n = [&](u64 v) { return number(v, t.bits, t.is_signed); };
    if (t.is_signed) {
      check_case({std::string("neg.") + t.name + " %d, %a;",
                  t.bits,
                  {t.bits},
                  [&](u64 a, u64, u64) { return static_cast<u64>(-n(a)); }},
                 {corners(t.bits)});
      check_case({std::string("abs.") + t.name + " %d, %a;",
                  t.bits,
                  {t.bits},
                  [&](u64 a, u64, u64) { return static_cast<u64>(n(a) < 0 ? -n(a) : n(a)); }},
                 {corners(t.bits)});
    }
    if (t.bits >= 32) {
      check_case({std::string("bfind.") + t.name + " %d, %a;",
                  32,
                  {t.bits},
                  [&](u64 a, u64, u64) {
                    const u64 v = n(a) < 0 ? ~a : a;
                    for (int i = static_cast<int>(t.bits) - 1; i >= 0; --i)
                      if (v >> i & 1) return static_cast<u64>(i);
                    return ~u64{0};
                  }},
                 {corners(t.bits)});
      check_case({std::string("bfind.shiftamt.") + t.name + " %d, %a;",
                  32,
                  {t.bits},
                  [&](u64 a, u64, u64) {
                    const u64 v = n(a) < 0 ? ~a : a;
                    for (int i = static_cast<int>(t.bits) - 1; i >= 0; --i)
                      if (v >> i & 1) return static_cast<u64>(static_cast<int>(t.bits) - 1 - i);
                    return ~u64{0};
                  }},
                 {corners(t.bits)});
    }
  }
  for (const unsigned bits : {32u, 64u}) {
    const std::string b = ".b" + std::to_string(bits);
    check_case({"popc" + b + " %d, %a;",
                32,
                {bits},
                [&](u64 a, u64, u64) {
                  u64 n = 0;
                  for (unsigned i = 0; i < bits; ++i) n += a >> i & 1;
                  return n;
                }},
               {corners(bits)});
    check_case({"clz" + b + " %d, %a;",
                32,
                {bits},
                [&](u64 a, u64, u64) {
                  u64 n = 0;
                  while (n < bits && !(a >> (bits - 1 - n) & 1)) ++n;
                  return n;
                }},
               {corners(bits)});
    check_case({"brev" + b + " %d, %a;",
                bits,
                {bits},
                [&](u64 a, u64, u64) {
                  u64 n = 0;
                  for (unsigned i = 0; i < bits; ++i) n = n << 1 | (a >> i & 1);
                  return n;
                }},
               {corners(bits)});
  }
  for (const unsigned bits : {16u, 32u, 64u}) {
    const std::string b = ".b" + std::to_string(bits);
    check_case({"not" + b + " %d, %a;", bits, {bits}, [](u64 a, u64, u64) { return ~a; }},
               {corners(bits)});
    check_case({"cnot" + b + " %d, %a;", bits, {bits}, [](u64 a, u64, u64) { return u64{a == 0}; }},
               {corners(bits)});
    check_case(
        {"and" + b + " %d, %a, %b;", bits, {bits, bits}, [](u64 a, u64 c, u64) { return a & c; }},
        {corners(bits), corners(bits)});
    check_case(
        {"or" + b + " %d, %a, %b;", bits, {bits, bits}, [](u64 a, u64 c, u64) { return a | c; }},
        {corners(bits), corners(bits)});
    check_case(
        {"xor" + b + " %d, %a, %b;", bits, {bits, bits}, [](u64 a, u64 c, u64) { return a ^ c; }},
        {corners(bits), corners(bits)});
  }
}

TEST(Integer, Shifts) {
  const std::vector<u64> by{0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 0xffffffff};
  for (const Typed& t : kTypes) {
    check_case({std::string("shr.") + t.name + " %d, %a, %b;",
                t.bits,
                {t.bits, 32},
                [&](u64 a, u64 b, u64) {
                  return static_cast<u64>(number(a, t.bits, t.is_signed) >> std::min<u64>(b, 100));
                }},
               {corners(t.bits), by});
    if (!t.is_signed) {
      check_case({"shl.b" + std::to_string(t.bits) + " %d, %a, %b;",
                  t.bits,
                  {t.bits, 32},
                  [&](u64 a, u64 b, u64) { return b >= t.bits ? 0 : a << b; }},
                 {corners(t.bits), by});
    }
  }
  const auto pair = [](u64 a, u64 b) { return b << 32 | a; };
  check_case({"shf.l.wrap.b32 %d, %a, %b, %c;",
              32,
              {32, 32, 32},
              [&](u64 a, u64 b, u64 c) { return pair(a, b) << (c % 32) >> 32; }},
             {few(32), few(32), by});
  check_case({"shf.r.wrap.b32 %d, %a, %b, %c;",
              32,
              {32, 32, 32},
              [&](u64 a, u64 b, u64 c) { return pair(a, b) >> (c % 32); }},
             {few(32), few(32), by});
  check_case({"shf.l.clamp.b32 %d, %a, %b, %c;",
              32,
              {32, 32, 32},
              [&](u64 a, u64 b, u64 c) {
                const u64 n = std::min<u64>(c, 32);
                return n == 32 ? a : pair(a, b) << n >> 32;
              }},
             {few(32), few(32), by});
  check_case({"shf.r.clamp.b32 %d, %a, %b, %c;",
              32,
              {32, 32, 32},
              [&](u64 a, u64 b, u64 c) { return pair(a, b) >> std::min<u64>(c, 32); }},
             {few(32), few(32), by});
}

TEST(Integer, Fields) {
  const std::vector<u64> places{0, 1, 7, 8, 24, 31, 32, 33, 63, 64, 128, 130, 255, 256};
  for (const Typed& t : kTypes) {
    if (t.bits == 16) continue;
    check_case({std::string("bfe.") + t.name + " %d, %a, %b, %c;",
                t.bits,
                {t.bits, 32, 32},
                [&](u64 a, u64 b, u64 c) {  // as the ISA writes it
                  const unsigned msb = t.bits - 1, pos = b & 0xff, len = c & 0xff;
                  const bool sbit = !t.is_signed || len == 0
                                        ? false
                                        : (a >> std::min(pos + len - 1, msb) & 1) != 0;
                  u64 d = 0;
                  for (unsigned i = 0; i <= msb; ++i) {
                    const bool bit = i < len && pos + i <= msb ? (a >> (pos + i) & 1) != 0 : sbit;
                    d |= u64{bit} << i;
                  }
                  return d;
                }},
               {corners(t.bits), places, places});
  }
  for (const unsigned bits : {32u, 64u}) {
    for (const unsigned length : {0u, 1u, 5u, 31u, 32u, 64u, 255u}) {
      check_case(
          {"bfi.b" + std::to_string(bits) + " %d, %a, %b, %c, " + std::to_string(length) + ";",
           bits,
           {bits, bits, 32},
           [&](u64 a, u64 b, u64 c) {
             u64 f = b;
             const unsigned pos = c & 0xff, len = length & 0xff;
             for (unsigned i = 0; i < len && pos + i < bits; ++i)
               f = (f & ~(u64{1} << (pos + i))) | (a >> i & 1) << (pos + i);
             return f;
           }},
          {few(bits), few(bits), places});
    }
  }
  check_case({"bmsk.clamp.b32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) {
                u64 m = 0;
                for (u64 i = std::min<u64>(a, 32); i < std::min<u64>(a, 32) + std::min<u64>(b, 32);
                     ++i)
                  m |= i < 32 ? u64{1} << i : 0;
                return m;
              }},
             {places, places});
  check_case({"bmsk.wrap.b32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) {
                u64 m = 0;
                for (u64 i = a % 32; i < a % 32 + b % 32; ++i) m |= i < 32 ? u64{1} << i : 0;
                return m;
              }},
             {places, places});
  check_case({"szext.wrap.s32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) {
                const u64 n = b % 32;
                if (n == 0) return u64{0};
                const u64 v = a & ((u64{1} << n) - 1);
                return v >> (n - 1) & 1 ? v | ~u64{0} << n : v;
              }},
             {corners(32), places});
  check_case({"szext.clamp.u32 %d, %a, %b;",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) {
                const u64 n = std::min<u64>(b, 32);
                return a & ((u64{1} << n) - 1);
              }},
             {corners(32), places});
  check_case({"fns.b32 %d, %a, %b, %c;",
              32,
              {32, 32, 32},
              [](u64 mask, u64 base, u64 c) {  // as the ISA writes it
                const auto offset = static_cast<i32>(c);
                if (offset == 0) return mask >> base & 1 ? base : u64{0xffffffff};
                i64 count = std::abs(i64{offset}) - 1;
                const int step = offset < 0 ? -1 : 1;
                for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step) {
                  if (mask >> i & 1) {
                    if (count == 0) return static_cast<u64>(i);
                    --count;
                  }
                }
                return u64{0xffffffff};
              }},
             {corners(32), {0, 1, 5, 16, 31}, {0, 1, 2, 5, 0xffffffff, 0xfffffffe, 40}});
}

TEST(Integer, BytesAndLogic) {
  const auto byte = [](u64 v, unsigned k) { return v >> 8 * k & 0xff; };
  check_case({"prmt.b32 %d, %a, %b, %c;",
              32,
              {32, 32, 32},
              [&](u64 a, u64 b, u64 c) {
                u64 d = 0;
                for (unsigned k = 0; k < 4; ++k) {
                  const u64 s = c >> 4 * k & 15;
                  u64 v = byte(b << 32 | a, s & 7);
                  if (s & 8) v = v & 0x80 ? 0xff : 0;
                  d |= v << 8 * k;
                }
                return d;
              }},
             {few(32), corners(32), {0x3210, 0x7654, 0x0123, 0xfedc, 0x8888, 0x5140}});
  const struct {
    const char* mode;
    unsigned rows[4];
  } kModes[] = {
      // the ISA's table, d.b3 first
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (const auto& m : kModes) {
    check_case({std::string("prmt.b32.") + m.mode + " %d, %a, %b, %c;",
                32,
                {32, 32, 32},
                [&](u64 a, u64 b, u64 c) {
                  u64 d = 0;
                  for (unsigned k = 0; k < 4; ++k)
                    d |= byte(b << 32 | a, m.rows[c & 3] >> 4 * k & 7) << 8 * k;
                  return d;
                }},
               {{0x44332211}, {0x88776655}, {0, 1, 2, 3, 4, 7}});
  }
  for (unsigned table = 0; table < 256; table += table == 0xc0 ? 1 : 37) {
    check_case({"lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";",
                32,
                {32, 32, 32},
                [&](u64 a, u64 b, u64 c) {
                  u64 d = 0;
                  for (unsigned i = 0; i < 32; ++i)
                    d |= u64{table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1}
                         << i;
                  return d;
                }},
               {few(32), few(32), few(32)});
  }
  for (const bool sa : {false, true}) {
    for (const bool sb : {false, true}) {
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      const auto a8 = [&](u64 v, unsigned k, bool s) {
        return s ? i64{static_cast<std::int8_t>(byte(v, k))} : static_cast<i64>(byte(v, k));
      };
      const auto a16 = [&](u64 v, unsigned k) {
        const u64 h = v >> 16 * k & 0xffff;
        return sa ? i64{static_cast<i16>(h)} : static_cast<i64>(h);
      };
      check_case({"dp4a" + types + " %d, %a, %b, %c;",
                  32,
                  {32, 32, 32},
                  [&](u64 a, u64 b, u64 c) {
                    auto d = static_cast<i64>(c);
                    for (unsigned k = 0; k < 4; ++k) d += a8(a, k, sa) * a8(b, k, sb);
                    return static_cast<u64>(d);
                  }},
                 {corners(32), corners(32), few(32)});
      check_case({"dp2a.lo" + types + " %d, %a, %b, %c;",
                  32,
                  {32, 32, 32},
                  [&](u64 a, u64 b, u64 c) {
                    auto d = static_cast<i64>(c);
                    for (unsigned k = 0; k < 2; ++k) d += a16(a, k) * a8(b, k, sb);
                    return static_cast<u64>(d);
                  }},
                 {corners(32), corners(32), few(32)});
      check_case({"dp2a.hi" + types + " %d, %a, %b, %c;",
                  32,
                  {32, 32, 32},
                  [&](u64 a, u64 b, u64 c) {
                    auto d = static_cast<i64>(c);
                    for (unsigned k = 0; k < 2; ++k) d += a16(a, k) * a8(b, k + 2, sb);
                    return static_cast<u64>(d);
                  }},
                 {corners(32), corners(32), few(32)});
    }
  }
}

TEST(Integer, TwentyFourBits) {
  for (const bool s : {false, true}) {
    const auto low = [s](u64 v) {
      return s ? wide{static_cast<i32>(v << 8) >> 8} : wide(v & 0xffffff);
    };
    const std::string t = s ? ".s32" : ".u32";
    check_case({"mul24.lo" + t + " %d, %a, %b;",
                32,
                {32, 32},
                [&](u64 a, u64 b, u64) { return static_cast<u64>(low(a) * low(b)); }},
               {corners(32), corners(32)});
    check_case({"mul24.hi" + t + " %d, %a, %b;",
                32,
                {32, 32},
                [&](u64 a, u64 b, u64) { return static_cast<u64>(low(a) * low(b) >> 16); }},
               {corners(32), corners(32)});
    check_case({"mad24.lo" + t + " %d, %a, %b, %c;",
                32,
                {32, 32, 32},
                [&](u64 a, u64 b, u64 c) {
                  return static_cast<u64>(low(a) * low(b) + static_cast<wide>(c));
                }},
               {corners(32), few(32), few(32)});
  }
}

TEST(Integer, CarryChain) {
  using uwide = unsigned __int128;
  // 128 bits in two words: what comes out above is the carry's work.
  check_case({"{ .reg .b64 %lo; add.cc.u64 %lo, %a, %b; addc.u64 %d, %c, 0; }",
              64,
              {64, 64, 64},
              [](u64 a, u64 b, u64 c) { return c + static_cast<u64>((uwide{a} + b) >> 64); }},
             {corners(64), corners(64), few(64)});
  check_case({"{ .reg .b64 %lo; sub.cc.u64 %lo, %a, %b; subc.u64 %d, %c, 0; }",
              64,
              {64, 64, 64},
              [](u64 a, u64 b, u64 c) { return c - (a < b); }},
             {corners(64), corners(64), few(64)});
  // Mixed, as compilers divide 128 bits: a subtraction sets the flag where it didn't borrow.
  check_case({"{ .reg .b32 %lo; sub.cc.u32 %lo, %a, %b; addc.u32 %d, %c, 0; }",
              32,
              {32, 32, 32},
              [](u64 a, u64 b, u64 c) { return c + (a >= b); }},
             {corners(32), corners(32), few(32)});
  check_case({"{ .reg .b32 %lo; add.cc.u32 %lo, %a, %b; subc.u32 %d, %c, 0; }",
              32,
              {32, 32, 32},
              [](u64 a, u64 b, u64 c) { return c - 1 + ((a + b) >> 32); }},
             {corners(32), corners(32), few(32)});
  check_case({"{ .reg .b32 %lo; mad.lo.cc.u32 %lo, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0; }",
              32,
              {32, 32, 32},
              [](u64 a, u64 b, u64 c) { return (a * b + c) >> 32; }},
             {corners(32), corners(32), few(32)});
  check_case(
      {"{ .reg .b32 %lo; add.cc.u32 %lo, %a, %b; addc.cc.u32 %lo, %b, %c; addc.u32 %d, 0, 0; }",
       32,
       {32, 32, 32},
       [](u64 a, u64 b, u64 c) { return (b + c + ((a + b) >> 32)) >> 32; }},
      {corners(32), corners(32), few(32)});
}

TEST(Integer, Comparisons) {
  const struct {
    const char* name;
    std::function<bool(wide, wide)> f;
  } kRelations[] = {
      {"eq", [](wide a, wide b) { return a == b; }}, {"ne", [](wide a, wide b) { return a != b; }},
      {"lt", [](wide a, wide b) { return a < b; }},  {"le", [](wide a, wide b) { return a <= b; }},
      {"gt", [](wide a, wide b) { return a > b; }},  {"ge", [](wide a, wide b) { return a >= b; }}};
  for (const Typed& t : kTypes) {
    for (const auto& r : kRelations) {
      const auto holds = [&](u64 a, u64 b) {
        return r.f(number(a, t.bits, t.is_signed), number(b, t.bits, t.is_signed));
      };
      const std::string name = std::string(r.name) + "." + t.name;
      check_case({"{ .reg .pred %q; setp." + name + " %q, %a, %b; selp.b32 %d, 7, 9, %q; }",
                  32,
                  {t.bits, t.bits},
                  [&](u64 a, u64 b, u64) { return holds(a, b) ? 7 : 9; }},
                 {corners(t.bits), corners(t.bits)});
      check_case({"set." + std::string(r.name) + ".u32." + t.name + " %d, %a, %b;",
                  32,
                  {t.bits, t.bits},
                  [&](u64 a, u64 b, u64) { return holds(a, b) ? ~u64{0} : 0; }},
                 {corners(t.bits), corners(t.bits)});
    }
    for (const std::string combine : {"and", "or", "xor"}) {
      check_case(
          {"{ .reg .pred %q, %s, %e; setp.ne.b32 %e, %c, 0; setp.lt." + combine + "." + t.name +
               " %q|%s, %a, %b, !%e; selp.b32 %d, 1, 0, %q; @%s or.b32 %d, %d, 2; }",
           32,
           {t.bits, t.bits, 32},
           [&](u64 a, u64 b, u64 c) {
             const bool less = number(a, t.bits, t.is_signed) < number(b, t.bits, t.is_signed),
                        e = c == 0;
             const auto f = [&](bool x) {
               return combine == "and" ? x && e : combine == "or" ? x || e : x != e;
             };
             return u64{f(less)} | u64{f(!less)} << 1;
           }},
          {corners(t.bits), corners(t.bits), {0, 1}});
    }
  }
  check_case({"slct.u32.s32 %d, %a, %b, %c;",
              32,
              {32, 32, 32},
              [](u64 a, u64 b, u64 c) { return static_cast<i32>(c) >= 0 ? a : b; }},
             {few(32), few(32), corners(32)});
  check_case({"{ .reg .pred %q; setp.hi.u32 %q, %a, %b; selp.b32 %d, 1, 0, !%q; }",
              32,
              {32, 32},
              [](u64 a, u64 b, u64) { return u64{!(a > b)}; }},
             {corners(32), corners(32)});
}

}  // namespace
}  // namespace emu::test
