// Arithmetic and comparisons of 16-bit floats, alone (.f16, .bf16) and in pairs (.f16x2, .bf16x2).
// A value is worked on as a double, which holds every sum and product of two exactly enough to be
// rounded once.
#include <cmath>

#include "isa/floats.hpp"
#include "isa/table.hpp"
#include "machine/lanes.hpp"

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

enum HalfFlags : std::int64_t { kFlush = 1, kSaturate = 2, kRelu = 4, kNan = 8, kXorSign = 16 };

/// A subnormal becomes a zero of its sign (.ftz).
template <bool B>
Bits flushed(Bits bits, std::int64_t flags) {
  const Bits exponent = B ? 0x7f80 : 0x7c00;
  return (flags & kFlush) && (bits & exponent) == 0 ? bits & 0x8000 : bits;
}

template <bool B>
Bits finished(double v, std::int64_t flags) {
  auto bits = static_cast<Bits>(narrow(v, format_of(B), Rounding::kNearest));
  bits = flushed<B>(bits, flags);
  if (flags & kSaturate) {
    constexpr Bits kOne = B ? 0x3f80 : 0x3c00;
    if (is_nan(bits, B) || (bits & 0x8000)) return 0;
    return bits < kOne ? bits : kOne;
  }
  if ((flags & kRelu) && !is_nan(bits, B) && (bits & 0x8000)) return 0;
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
void for_each_element(const Op& op, Mask mask, F f) {
  const unsigned each = op.count;
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
  const auto in = [&](Bits bits) { return value<B>(flushed<B>(bits, op.imm)); };
  for_each_element(op, mask, [&](unsigned i) {
    d[i] = finished<B>(F::apply(in(a[i]), in(b[i]), in(c[i])), op.imm);
  });
}

template <bool B, bool Negate>
void sign_change(Warp& warp, const Op& op, Mask mask) {
  Bits* d = warp.lanes<Bits>(op.d);
  const Bits* a = warp.lanes<Bits>(op.a);
  for_each_element(op, mask, [&](unsigned i) {
    const Bits v = flushed<B>(a[i], op.imm);
    d[i] = Negate ? v ^ 0x8000 : v & 0x7fff;
  });
}

/// -0 is less than +0; of a NaN and a number it is the number, unless .NaN was asked for.
template <bool B, bool Least>
void extreme(Warp& warp, const Op& op, Mask mask) {
  Bits* d = warp.lanes<Bits>(op.d);
  const Bits* a = warp.lanes<Bits>(op.a);
  const Bits* b = warp.lanes<Bits>(op.b);
  for_each_element(op, mask, [&](unsigned i) {
    Bits x = flushed<B>(a[i], op.imm), y = flushed<B>(b[i], op.imm);
    const Bits sign = (x ^ y) & 0x8000;
    if (op.imm & kXorSign) {
      x &= 0x7fff;
      y &= 0x7fff;
    }
    const bool xn = is_nan(x, B), yn = is_nan(y, B);
    Bits out = 0;
    if (xn || yn) {
      if ((op.imm & kNan) || (xn && yn)) {
        d[i] = 0x7fff;
        return;
      }
      out = xn ? y : x;
    } else {
      const auto ordered = [](Bits v) { return v & 0x8000 ? -1 - (v & 0x7fff) : int{v}; };
      out = (ordered(x) < ordered(y)) == Least ? x : y;
    }
    d[i] = op.imm & kXorSign ? static_cast<Bits>(out | sign) : out;
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

void emit_half(Builder& b, Type t, unsigned sources, Handler handler, std::int64_t flags) {
  Op& op = sources == 1   ? emit_plain(b, handler, width(t), {t})
           : sources == 2 ? emit_plain(b, handler, width(t), {t, t})
                          : emit_plain(b, handler, width(t), {t, t, t});
  if (sources < 3) op.c = op.a;
  if (sources < 2) op.b = op.a;
  op.imm = flags;
  op.count = is_pair(t) ? 2 : 1;
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
  std::int64_t flags = 0;
  if (b.take("ftz")) flags |= kFlush;
  if (b.take("sat")) flags |= kSaturate;
  if (Sources == 3 && b.take("relu")) flags |= kRelu;
  const Type t = take_half(b);
  if (is_bfloat(t) && (flags & (kFlush | kSaturate))) b.unsupported(".ftz or .sat with .bf16");
  if ((flags & kSaturate) && (flags & kRelu)) b.unsupported(".sat with .relu");
  emit_half(b, t, Sources, pick_format<Arithmetic16<F>::template Of>(t), flags);
}

template <class F>
void build_approximation(Builder& b) {
  if (!b.take("approx")) b.unsupported("only the .approx form is PTX");
  const std::int64_t flags = b.take("ftz") ? std::int64_t{kFlush} : 0;
  const Type t = take_half(b);
  if (std::is_same_v<F, Ex2> ? is_bfloat(t) != (flags != 0) : flags != 0) {
    b.unsupported(flags ? ".ftz with this type" : "this type without .ftz");
  }
  emit_half(b, t, 1, pick_format<Arithmetic16<F>::template Of>(t), flags);
}

template <bool Negate>
void build_sign(Builder& b) {
  const std::int64_t flags = b.take("ftz") ? std::int64_t{kFlush} : 0;
  const Type t = take_half(b);
  emit_half(b, t, 1, is_bfloat(t) ? &sign_change<true, Negate> : &sign_change<false, Negate>,
            flags);
}

template <bool Least>
void build_extreme(Builder& b) {
  std::int64_t flags = 0;
  if (b.take("ftz")) flags |= kFlush;
  if (b.take("NaN")) flags |= kNan;
  if (b.take("xorsign")) {
    if (!b.take("abs")) b.unsupported("this form");
    flags |= kXorSign;
  }
  const Type t = take_half(b);
  if (is_bfloat(t) && (flags & kFlush)) b.unsupported(".ftz with .bf16");
  emit_half(b, t, 2, is_bfloat(t) ? &extreme<true, Least> : &extreme<false, Least>, flags);
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

// op.imm of a comparison: outcomes, and above them:
enum CompareFlags : std::int64_t {
  kFlushOperands = 16,
  kAnd = 32,
  kOr = 64,
  kXor = 128,
  kNegated = 256,  // the predicate that is combined with
  kToOnes = 512,   // true is all ones, not 1.0
  kSecond = 1024,
  kWide = 2048  // one comparison's result in a register of 32 bits
};

/// Which lanes' elements number k (of op.count) compare so, with the predicate combined.
template <bool B>
Mask compared(Warp& warp, const Op& op, unsigned k) {
  const Bits* a = warp.lanes<Bits>(op.a);
  const Bits* b = warp.lanes<Bits>(op.b);
  Mask out = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::int64_t flush = op.imm & kFlushOperands ? std::int64_t{kFlush} : 0;
    const double x = value<B>(flushed<B>(a[lane * op.count + k], flush));
    const double y = value<B>(flushed<B>(b[lane * op.count + k], flush));
    const unsigned outcome = x < y ? kLess : x == y ? kEqual : x > y ? kGreater : kUnordered;
    if (op.imm & outcome) out |= kBit[lane];
  }
  return out;
}
Mask combined(Warp& warp, const Op& op, Mask result) {
  if (!(op.imm & (kAnd | kOr | kXor))) return result;
  const Mask c = warp.predicate(op.c) ^ (op.imm & kNegated ? kAllLanes : 0);
  return op.imm & kAnd ? result & c : op.imm & kOr ? result | c : result ^ c;
}

/// Of a pair, p is the lower half's result and q the upper one's; else q is the opposite of p.
template <bool B>
void setp(Warp& warp, const Op& op, Mask mask) {
  const Mask first = compared<B>(warp, op, 0);
  const Mask second = op.count == 2 ? compared<B>(warp, op, 1) : ~first;
  const auto put = [&](Slot slot, Mask result) {
    Mask& d = warp.predicate(slot);
    d = (d & ~mask) | (result & mask);
  };
  const Mask p = combined(warp, op, first), q = combined(warp, op, second);
  put(op.d, p);
  if (op.imm & kSecond) put(op.member, q);
}

template <bool B>
void set(Warp& warp, const Op& op, Mask mask) {
  constexpr Bits kOne = B ? 0x3f80 : 0x3c00;
  std::array<Mask, 2> result{};
  for (unsigned k = 0; k < op.count; ++k) result[k] = combined(warp, op, compared<B>(warp, op, k));
  for_each_lane(mask, [&](unsigned i) {
    if (op.imm & kWide) {
      warp.lanes<std::uint32_t>(op.d)[i] =
          result[0] & kBit[i] ? (op.imm & kToOnes ? ~0u : 0x3f80'0000u) : 0;
      return;
    }
    for (unsigned k = 0; k < op.count; ++k) {
      const Bits yes = op.imm & kToOnes ? 0xffff : kOne;
      warp.lanes<Bits>(op.d)[i * op.count + k] = result[k] & kBit[i] ? yes : 0;
    }
  });
}

template <bool Set>
void build_compare(Builder& b) {
  std::int64_t flags = 0;
  for (const RelationName& r : kRelations) {
    if (b.take(r.name)) {
      flags = r.outcomes;
      break;
    }
  }
  if (!flags) b.unsupported("this comparison");
  if (b.take("ftz")) flags |= kFlushOperands;
  if (b.take("and")) flags |= kAnd;
  if (b.take("or")) flags |= kOr;
  if (b.take("xor")) flags |= kXor;
  const bool combines = flags & (kAnd | kOr | kXor);
  unsigned result_width = 1;
  if constexpr (Set) {
    const Type result = b.take_type();
    const Type t = take_half(b);
    result_width = width(result);
    const bool integer = result == Type::kU16 || result == Type::kS16 || result == Type::kU32 ||
                         result == Type::kS32;
    if (integer) flags |= kToOnes;
    if (!is_pair(t) && result_width == 32) flags |= kWide;
    if (is_pair(t) ? result != t && !(integer && result_width == 32)
                   : result != t && !integer && result != Type::kF32) {
      b.unsupported("this type of result");
    }
    b.finish();
    b.expect_operands(combines ? 4 : 3, combines ? 4 : 3);
    const Slot d = b.result(0, result_width), x = b.source(1, t), y = b.source(2, t);
    const Slot c = combines ? b.predicate(3) : 0;
    if (combines && b.operand(3).negated) flags |= kNegated;
    Op& op = b.emit(is_bfloat(t) ? &set<true> : &set<false>);
    op.d = d;
    op.a = x;
    op.b = y;
    op.c = c;
    op.imm = flags;
    op.count = is_pair(t) ? 2 : 1;
  } else {
    const Type t = take_half(b);
    b.finish();
    b.expect_operands(combines ? 4 : 3, combines ? 4 : 3);
    const Operand& first = b.operand(0);
    if (is_pair(t) && first.second.empty()) b.unsupported("one result of two comparisons");
    const Slot d = b.predicate_named(first.name);
    Slot second = 0;
    if (!first.second.empty()) {
      flags |= kSecond;
      second = b.predicate_named(first.second);
    }
    const Slot x = b.source(1, t), y = b.source(2, t);
    const Slot c = combines ? b.predicate(3) : 0;
    if (combines && b.operand(3).negated) flags |= kNegated;
    Op& op = b.emit(is_bfloat(t) ? &setp<true> : &setp<false>);
    op.d = d;
    op.a = x;
    op.b = y;
    op.c = c;
    op.member = second;
    op.imm = flags;
    op.count = is_pair(t) ? 2 : 1;
  }
}

constexpr Row kRows[] = {
    {"add", build_arithmetic<Add, 2>}, {"sub", build_arithmetic<Sub, 2>},
    {"mul", build_arithmetic<Mul, 2>}, {"fma", build_arithmetic<Fma, 3>},
    {"ex2", build_approximation<Ex2>}, {"tanh", build_approximation<Tanh>},
    {"neg", build_sign<true>},         {"abs", build_sign<false>},
    {"min", build_extreme<true>},      {"max", build_extreme<false>},
    {"set", build_compare<true>},      {"setp", build_compare<false>},
};

}  // namespace

std::span<const Row> half_rows() {
  return kRows;
}

}  // namespace emu
