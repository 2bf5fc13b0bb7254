// Arithmetic and comparisons of 16-bit floats, alone (.f16, .bf16) and in pairs (.f16x2, .bf16x2).
// A value is worked on as a double, which holds every sum and product of two exactly enough to be
// rounded once.
#include <cmath>

#include "isa/floats.hpp"
#include "isa/rows.hpp"
#include "isa/table.hpp"

namespace emu {
namespace {

using Bits = std::uint16_t;

constexpr const Format& format_of(bool bfloat) {
  return bfloat ? kBfloat : kHalf;
}
bool is_bfloat(Type t) {
  return t == Type::kBf16 || t == Type::kBf16x2;
}

template <bool B>
double value(Bits bits) {
  if constexpr (B) return from_bfloat(bits);
  return from_half(bits);
}
bool is_nan(Bits bits, bool bfloat) {
  return (bits & 0x7fff) > (bfloat ? 0x7f80 : 0x7c00);
}

struct Mode {
  unsigned elements = 1;  ///< in a register
  bool ftz = false, sat = false, relu = false;
  bool nan = false;  ///< .NaN: the result is one where a source is
  bool xorsign = false;
};

/// A subnormal becomes a zero of its sign (.ftz).
template <bool B>
Bits flushed(Bits bits, bool ftz) {
  const Bits exponent = B ? 0x7f80 : 0x7c00;
  return ftz && (bits & exponent) == 0 ? bits & 0x8000 : bits;
}

template <bool B>
Bits finished(double v, const Mode& mode) {
  auto bits = static_cast<Bits>(narrow(v, format_of(B), Rounding::kNearest));
  bits = flushed<B>(bits, mode.ftz);
  if (mode.sat) {
    constexpr Bits kOne = B ? 0x3f80 : 0x3c00;
    if (is_nan(bits, B) || (bits & 0x8000)) return 0;
    return bits < kOne ? bits : kOne;
  }
  if (mode.relu && !is_nan(bits, B) && (bits & 0x8000)) return 0;
  return bits;
}

struct Add {
  static double apply(double a, double b, double) { return fma_to_odd(a, 1, b); }
};
struct Sub {
  static double apply(double a, double b, double) { return fma_to_odd(a, 1, -b); }
};
struct Mul {
  static double apply(double a, double b, double) { return a * b; }
};
struct Fma {
  static double apply(double a, double b, double c) { return fma_to_odd(a, b, c); }
};
// Approximations of hardware's are replaced by the host's function, rounded.
struct Ex2 {
  static double apply(double a, double, double) { return std::exp2(a); }
};
struct Tanh {
  static double apply(double a, double, double) { return std::tanh(a); }
};

/// Elements of all lanes lie side by side, two a lane in a pair.
template <class F>
void for_each_element(unsigned each, Mask mask, F f) {
  for_each_lane(mask, [&](unsigned lane) {
    for (unsigned k = 0; k < each; ++k) f(lane * each + k);
  });
}

template <class F, bool B>
void arithmetic(Warp& warp, const Op& op, Mask mask) {
  Bits* d = warp.lanes<Bits>(op.d);
  const Bits* a = warp.lanes<Bits>(op.a);
  const Bits* b = warp.lanes<Bits>(op.b);
  const Bits* c = warp.lanes<Bits>(op.c);
  const Mode mode = op.as<Mode>();
  const auto in = [&](Bits bits) { return value<B>(flushed<B>(bits, mode.ftz)); };
  for_each_element(mode.elements, mask, [&](unsigned i) {
    d[i] = finished<B>(F::apply(in(a[i]), in(b[i]), in(c[i])), mode);
  });
}

template <bool B, bool Negate>
void sign_change(Warp& warp, const Op& op, Mask mask) {
  Bits* d = warp.lanes<Bits>(op.d);
  const Bits* a = warp.lanes<Bits>(op.a);
  const Mode mode = op.as<Mode>();
  for_each_element(mode.elements, mask, [&](unsigned i) {
    const Bits v = flushed<B>(a[i], mode.ftz);
    d[i] = Negate ? v ^ 0x8000 : v & 0x7fff;
  });
}

/// -0 is less than +0; of a NaN and a number it is the number, unless .NaN was asked for.
template <bool B, bool Least>
void extreme(Warp& warp, const Op& op, Mask mask) {
  Bits* d = warp.lanes<Bits>(op.d);
  const Bits* a = warp.lanes<Bits>(op.a);
  const Bits* b = warp.lanes<Bits>(op.b);
  const Mode mode = op.as<Mode>();
  for_each_element(mode.elements, mask, [&](unsigned i) {
    Bits x = flushed<B>(a[i], mode.ftz), y = flushed<B>(b[i], mode.ftz);
    const Bits sign = (x ^ y) & 0x8000;
    if (mode.xorsign) {
      x &= 0x7fff;
      y &= 0x7fff;
    }
    const bool xn = is_nan(x, B), yn = is_nan(y, B);
    Bits out = 0;
    if (xn || yn) {
      if (mode.nan || (xn && yn)) {
        d[i] = 0x7fff;
        return;
      }
      out = xn ? y : x;
    } else {
      const auto ordered = [](Bits v) { return v & 0x8000 ? -1 - (v & 0x7fff) : int{v}; };
      out = (ordered(x) < ordered(y)) == Least ? x : y;
    }
    d[i] = mode.xorsign ? static_cast<Bits>(out | sign) : out;
  });
}

template <template <bool> class Make>
Handler pick_format(Type t) {
  return is_bfloat(t) ? Make<true>::handler : Make<false>::handler;
}

Type take_half(Builder& b) {
  const Type t = b.take_type();
  if (!is_half(t)) b.unsupported("this type");
  return t;
}

void emit_half(Builder& b, Type t, unsigned sources, Handler handler, Mode mode) {
  Op& op = sources == 1   ? emit_plain(b, handler, width(t), {t})
           : sources == 2 ? emit_plain(b, handler, width(t), {t, t})
                          : emit_plain(b, handler, width(t), {t, t, t});
  if (sources < 3) op.c = op.a;
  if (sources < 2) op.b = op.a;
  mode.elements = is_pair(t) ? 2 : 1;
  op.put(mode);
}

template <class F>
struct Arithmetic16 {
  template <bool B>
  struct Of {
    static constexpr Handler handler = &arithmetic<F, B>;
  };
};

template <class F, unsigned Sources>
void build_arithmetic(Builder& b) {
  const bool said = b.take("rn");
  if (Sources == 3 && !said) b.unsupported("no rounding");
  Mode mode;
  mode.ftz = b.take("ftz");
  mode.sat = b.take("sat");
  mode.relu = Sources == 3 && b.take("relu");
  const Type t = take_half(b);
  if (is_bfloat(t) && (mode.ftz || mode.sat)) b.unsupported(".ftz or .sat with .bf16");
  if (mode.sat && mode.relu) b.unsupported(".sat with .relu");
  emit_half(b, t, Sources, pick_format<Arithmetic16<F>::template Of>(t), mode);
}

template <class F>
void build_approximation(Builder& b) {
  if (!b.take("approx")) b.unsupported("only the .approx form is PTX");
  const Mode mode{.ftz = b.take("ftz")};
  const Type t = take_half(b);
  if (std::is_same_v<F, Ex2> ? is_bfloat(t) != mode.ftz : mode.ftz) {
    b.unsupported(mode.ftz ? ".ftz with this type" : "this type without .ftz");
  }
  emit_half(b, t, 1, pick_format<Arithmetic16<F>::template Of>(t), mode);
}

template <bool Negate>
void build_sign(Builder& b) {
  const Mode mode{.ftz = b.take("ftz")};
  const Type t = take_half(b);
  emit_half(b, t, 1, is_bfloat(t) ? &sign_change<true, Negate> : &sign_change<false, Negate>, mode);
}

template <bool Least>
void build_extreme(Builder& b) {
  Mode mode;
  mode.ftz = b.take("ftz");
  mode.nan = b.take("NaN");
  mode.xorsign = b.take("xorsign");
  if (mode.xorsign && !b.take("abs")) b.unsupported("this form");
  const Type t = take_half(b);
  if (is_bfloat(t) && mode.ftz) b.unsupported(".ftz with .bf16");
  emit_half(b, t, 2, is_bfloat(t) ? &extreme<true, Least> : &extreme<false, Least>, mode);
}

// --- set, setp ------------------------------------------------------------------------------

// A relation is the set of outcomes that it is true for.
enum Outcome : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };
struct RelationName {
  const char* name;
  unsigned outcomes;
};
constexpr RelationName kRelations[] = {
    {"eq", kEqual},
    {"ne", kLess | kGreater},
    {"lt", kLess},
    {"le", kLess | kEqual},
    {"gt", kGreater},
    {"ge", kGreater | kEqual},
    {"equ", kEqual | kUnordered},
    {"neu", kLess | kGreater | kUnordered},
    {"ltu", kLess | kUnordered},
    {"leu", kLess | kEqual | kUnordered},
    {"gtu", kGreater | kUnordered},
    {"geu", kGreater | kEqual | kUnordered},
    {"num", kLess | kEqual | kGreater},
    {"nan", kUnordered},
};

enum class With : std::uint8_t { kNothing, kAnd, kOr, kXor };
struct Comparison {
  unsigned outcomes = 0;       ///< for which it is true
  With with = With::kNothing;  ///< how the predicate c is combined with the result
  bool negated = false;        ///< that predicate
  bool ftz = false;
  bool to_ones = false;  ///< true is all ones, not 1.0
  bool wide = false;     ///< one comparison's result in a register of 32 bits
  bool two = false;      ///< there is a q
  Slot second = 0;       ///< q
  unsigned elements = 1;
};

/// Which lanes' elements number k compare so.
template <bool B>
Mask compared(Warp& warp, const Op& op, unsigned k) {
  const auto& comparison = op.as<Comparison>();
  const Bits* a = warp.lanes<Bits>(op.a);
  const Bits* b = warp.lanes<Bits>(op.b);
  Mask out = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned i = lane * comparison.elements + k;
    const double x = value<B>(flushed<B>(a[i], comparison.ftz));
    const double y = value<B>(flushed<B>(b[i], comparison.ftz));
    const unsigned outcome = x < y ? kLess : x == y ? kEqual : x > y ? kGreater : kUnordered;
    if (comparison.outcomes & outcome) out |= kBit[lane];
  }
  return out;
}
Mask combined(Warp& warp, const Op& op, Mask result) {
  const auto& comparison = op.as<Comparison>();
  if (comparison.with == With::kNothing) return result;
  const Mask c = warp.predicate(op.c) ^ (comparison.negated ? kAllLanes : 0);
  return comparison.with == With::kAnd  ? result & c
         : comparison.with == With::kOr ? result | c
                                        : result ^ c;
}

/// Of a pair, p is the lower half's result and q the upper one's; else q is the opposite of p.
template <bool B>
void setp(Warp& warp, const Op& op, Mask mask) {
  const auto& comparison = op.as<Comparison>();
  const Mask first = compared<B>(warp, op, 0);
  const Mask second = comparison.elements == 2 ? compared<B>(warp, op, 1) : ~first;
  const auto put = [&](Slot slot, Mask result) {
    Mask& d = warp.predicate(slot);
    d = (d & ~mask) | (result & mask);
  };
  const Mask p = combined(warp, op, first), q = combined(warp, op, second);
  put(op.d, p);
  if (comparison.two) put(comparison.second, q);
}

template <bool B>
void set(Warp& warp, const Op& op, Mask mask) {
  constexpr Bits kOne = B ? 0x3f80 : 0x3c00;
  const auto& comparison = op.as<Comparison>();
  const unsigned each = comparison.elements;
  std::array<Mask, 2> result{};
  for (unsigned k = 0; k < each; ++k) result[k] = combined(warp, op, compared<B>(warp, op, k));
  for_each_lane(mask, [&](unsigned i) {
    if (comparison.wide) {
      warp.lanes<std::uint32_t>(op.d)[i] =
          result[0] & kBit[i] ? (comparison.to_ones ? ~0u : 0x3f80'0000u) : 0;
      return;
    }
    for (unsigned k = 0; k < each; ++k) {
      const Bits yes = comparison.to_ones ? 0xffff : kOne;
      warp.lanes<Bits>(op.d)[i * each + k] = result[k] & kBit[i] ? yes : 0;
    }
  });
}

Comparison take_comparison(Builder& b) {
  Comparison comparison;
  for (const RelationName& r : kRelations) {
    if (b.take(r.name)) {
      comparison.outcomes = r.outcomes;
      break;
    }
  }
  if (!comparison.outcomes) b.unsupported("this comparison");
  comparison.ftz = b.take("ftz");
  comparison.with = b.take("and")   ? With::kAnd
                    : b.take("or")  ? With::kOr
                    : b.take("xor") ? With::kXor
                                    : With::kNothing;
  return comparison;
}

/// The sources, once the results are known; `d` is the first of these.
void emit_comparison(Builder& b, Handler handler, Comparison comparison, Type t, Slot d) {
  const bool combines = comparison.with != With::kNothing;
  comparison.elements = is_pair(t) ? 2 : 1;
  const Slot x = b.source(1, t), y = b.source(2, t);
  const Slot c = combines ? b.predicate(3) : 0;
  comparison.negated = combines && b.operand(3).negated;
  Op& op = b.emit(handler);
  op.d = d;
  op.a = x;
  op.b = y;
  op.c = c;
  op.put(comparison);
}

void expect_sources(Builder& b, const Comparison& comparison) {
  b.finish();
  const std::size_t n = comparison.with == With::kNothing ? 3 : 4;
  b.expect_operands(n, n);
}

void build_set(Builder& b) {
  Comparison comparison = take_comparison(b);
  const Type result = b.take_type();
  const Type t = take_half(b);
  const unsigned bits = width(result);
  comparison.to_ones =
      result == Type::kU16 || result == Type::kS16 || result == Type::kU32 || result == Type::kS32;
  comparison.wide = !is_pair(t) && bits == 32;
  if (is_pair(t) ? result != t && (!comparison.to_ones || bits != 32)
                 : result != t && !comparison.to_ones && result != Type::kF32) {
    b.unsupported("this type of result");
  }
  expect_sources(b, comparison);
  emit_comparison(b, is_bfloat(t) ? &set<true> : &set<false>, comparison, t, b.result(0, bits));
}

void build_setp(Builder& b) {
  Comparison comparison = take_comparison(b);
  const Type t = take_half(b);
  expect_sources(b, comparison);
  const Operand& first = b.operand(0);
  if (is_pair(t) && first.second.empty()) b.unsupported("one result of two comparisons");
  const Slot d = b.predicate_named(first.name);
  if (!first.second.empty()) {
    comparison.two = true;
    comparison.second = b.predicate_named(first.second);
  }
  emit_comparison(b, is_bfloat(t) ? &setp<true> : &setp<false>, comparison, t, d);
}

constexpr Row kRows[] = {
    {"add", build_arithmetic<Add, 2>},
    {"sub", build_arithmetic<Sub, 2>},
    {"mul", build_arithmetic<Mul, 2>},
    {"fma", build_arithmetic<Fma, 3>},
    {"ex2", build_approximation<Ex2>},
    {"tanh", build_approximation<Tanh>},
    {"neg", build_sign<true>},
    {"abs", build_sign<false>},
    {"min", build_extreme<true>},
    {"max", build_extreme<false>},
    {"set", build_set},
    {"setp", build_setp},
};

}  // namespace

std::span<const Row> half_rows() {
  return kRows;
}

}  // namespace emu
