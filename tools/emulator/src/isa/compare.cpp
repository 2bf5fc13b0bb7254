// Comparisons and choices.
#include <cmath>

#include "isa/floats.hpp"
#include "isa/table.hpp"
#include "machine/lanes.hpp"

namespace emu {
namespace {

enum class Relation {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};

template <Relation R, class T>
bool holds_between(T a, T b) {
  if constexpr (R == Relation::kEq) return a == b;
  if constexpr (R == Relation::kLt) return a < b;
  if constexpr (R == Relation::kLe) return a <= b;
  if constexpr (R == Relation::kGt) return a > b;
  if constexpr (R == Relation::kGe) return a >= b;
  if constexpr (std::is_floating_point_v<T>) {
    const bool ordered = a == a && b == b;
    if constexpr (R == Relation::kNe) return ordered && a != b;  // ordered: false for a NaN
    if constexpr (R == Relation::kEqu) return !ordered || a == b;
    if constexpr (R == Relation::kNeu) return !ordered || a != b;
    if constexpr (R == Relation::kLtu) return !ordered || a < b;
    if constexpr (R == Relation::kLeu) return !ordered || a <= b;
    if constexpr (R == Relation::kGtu) return !ordered || a > b;
    if constexpr (R == Relation::kGeu) return !ordered || a >= b;
    if constexpr (R == Relation::kNum) return ordered;
    if constexpr (R == Relation::kNan) return !ordered;
  } else if constexpr (R == Relation::kNe) {
    return a != b;
  }
  return false;
}

enum CompareFlags : std::uint16_t {
  kFlush = 1,   // subnormal operands count as zero
  kNegate = 2,  // the predicate that is combined with is negated
  kAnd = 4,
  kOr = 8,
  kXor = 16,
  kSecond = 32,   // there is a q: what the comparison's opposite gives
  kToFloat = 64,  // of set: true is 1.0, not all ones
};

template <Relation R, class T>
Mask compare(Warp& warp, const Op& op) {
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  Mask out = 0;
  if constexpr (std::is_same_v<T, float>) {
    if (op.count & kFlush) {
      for (unsigned i = 0; i < kLanes; ++i) {
        out |= holds_between<R>(flush(a[i]), flush(b[i])) ? kBit[i] : 0;
      }
      return out;
    }
  }
  for (unsigned i = 0; i < kLanes; ++i) out |= holds_between<R>(a[i], b[i]) ? kBit[i] : 0;
  return out;
}

Mask combine(Warp& warp, const Op& op, Mask result) {
  if (!(op.count & (kAnd | kOr | kXor))) return result;
  const Mask c = warp.predicate(op.c) ^ (op.count & kNegate ? kAllLanes : 0);
  return op.count & kAnd ? result & c : op.count & kOr ? result | c : result ^ c;
}

template <Relation R, class T>
void setp(Warp& warp, const Op& op, Mask mask) {
  const Mask result = compare<R, T>(warp, op);
  const Mask p = combine(warp, op, result);
  const Mask q = op.count & kSecond ? combine(warp, op, ~result) : 0;
  Mask& d = warp.predicate(op.d);
  d = (d & ~mask) | (p & mask);
  if (op.count & kSecond) {
    Mask& second = warp.predicate(op.member);
    second = (second & ~mask) | (q & mask);
  }
}

template <Relation R, class T>
void set(Warp& warp, const Op& op, Mask mask) {
  const Mask result = combine(warp, op, compare<R, T>(warp, op));
  auto* d = warp.lanes<std::uint32_t>(op.d);
  const std::uint32_t yes = op.count & kToFloat ? 0x3f80'0000u : ~0u;
  for_each_lane(mask, [&](unsigned i) { d[i] = result & kBit[i] ? yes : 0; });
}

template <Relation R, bool Set, class... Ts>
Handler pick_type(Type t) {
  Handler h = nullptr;
  static_cast<void>(((holds<Ts>(t) && (h = Set ? &set<R, Ts> : &setp<R, Ts>, true)) || ...));
  return h;
}

template <Relation R, bool Set>
Handler pick_both(Type t) {
  return pick_type<R, Set, std::uint16_t, std::uint32_t, std::uint64_t, std::int16_t, std::int32_t,
                   std::int64_t, float, double>(t);
}
template <Relation R, bool Set>
Handler pick_float(Type t) {
  return pick_type<R, Set, float, double>(t);
}

template <bool Set>
Handler pick_relation(Builder& b, Type t) {
  const bool equality_only = t == Type::kB16 || t == Type::kB32 || t == Type::kB64;
  if (b.take("eq")) return pick_both<Relation::kEq, Set>(t);
  if (b.take("ne")) return pick_both<Relation::kNe, Set>(t);
  if (equality_only) return nullptr;
  if (b.take("lt")) return pick_both<Relation::kLt, Set>(t);
  if (b.take("le")) return pick_both<Relation::kLe, Set>(t);
  if (b.take("gt")) return pick_both<Relation::kGt, Set>(t);
  if (b.take("ge")) return pick_both<Relation::kGe, Set>(t);
  if (!is_float(t) && !is_signed(t)) {  // other names for unsigned comparisons
    if (b.take("lo")) return pick_both<Relation::kLt, Set>(t);
    if (b.take("ls")) return pick_both<Relation::kLe, Set>(t);
    if (b.take("hi")) return pick_both<Relation::kGt, Set>(t);
    if (b.take("hs")) return pick_both<Relation::kGe, Set>(t);
  }
  if (b.take("equ")) return pick_float<Relation::kEqu, Set>(t);
  if (b.take("neu")) return pick_float<Relation::kNeu, Set>(t);
  if (b.take("ltu")) return pick_float<Relation::kLtu, Set>(t);
  if (b.take("leu")) return pick_float<Relation::kLeu, Set>(t);
  if (b.take("gtu")) return pick_float<Relation::kGtu, Set>(t);
  if (b.take("geu")) return pick_float<Relation::kGeu, Set>(t);
  if (b.take("num")) return pick_float<Relation::kNum, Set>(t);
  if (b.take("nan")) return pick_float<Relation::kNan, Set>(t);
  return nullptr;
}

template <bool Set>
void build_compare(Builder& b) {
  std::optional<Type> result;
  if (Set) result = b.take_type();
  const Type t = b.take_type();
  const Handler handler = pick_relation<Set>(b, t);
  unsigned flags = 0;
  if (b.take("ftz")) flags |= kFlush;
  if (b.take("and")) flags |= kAnd;
  if (b.take("or")) flags |= kOr;
  if (b.take("xor")) flags |= kXor;
  b.finish();
  const bool combined = flags & (kAnd | kOr | kXor);
  if (!handler || ((flags & kFlush) && t != Type::kF32)) b.unsupported("this comparison");
  b.expect_operands(combined ? 4 : 3, combined ? 4 : 3);
  if (Set) {
    if (*result == Type::kF32) flags |= kToFloat;
    if (*result != Type::kF32 && *result != Type::kU32 && *result != Type::kS32) {
      b.unsupported("this type of result");
    }
  }
  Operand first = b.operand(0);
  Slot second = 0;
  if (!first.second.empty()) {
    if (Set) b.unsupported("two results");
    flags |= kSecond;
    second = b.predicate_named(first.second);
    first.second = {};
  }
  const Slot d = Set ? b.result(first, 32) : b.predicate_named(first.name);
  const Slot x = b.source(1, t), y = b.source(2, t);
  Slot c = 0;
  if (combined) {
    c = b.predicate(3);
    if (b.operand(3).negated) flags |= kNegate;
  }
  Op& op = b.emit(handler);
  op.d = d;
  op.a = x;
  op.b = y;
  op.c = c;
  op.member = second;
  op.count = static_cast<std::uint16_t>(flags);
}

template <class T>
void selp(Warp& warp, const Op& op, Mask mask) {
  const Mask chosen = warp.predicate(op.c) ^ static_cast<Mask>(op.imm);
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  if (mask == kAllLanes) {
    EMU_FOR_LANES d[i] = chosen & kBit[i] ? a[i] : b[i];
  } else {
    EMU_FOR_LANES d[i] = mask & kBit[i] ? (chosen & kBit[i] ? a[i] : b[i]) : d[i];
  }
}

void build_selp(Builder& b) {
  const Type t = b.take_type();
  b.finish();
  b.expect_operands(4, 4);
  const Handler handler = width(t) == 16   ? &selp<std::uint16_t>
                          : width(t) == 32 ? &selp<std::uint32_t>
                          : width(t) == 64 ? &selp<std::uint64_t>
                                           : nullptr;
  if (!handler) b.unsupported("this type");
  const Slot d = b.result(0, width(t)), x = b.source(1, t), y = b.source(2, t);
  const Slot c = b.predicate(3);
  Op& op = b.emit(handler);
  op.d = d;
  op.a = x;
  op.b = y;
  op.c = c;
  op.imm = b.operand(3).negated ? -1 : 0;
}

struct ChooseInteger {
  template <class T>
  static T apply(T a, T b, std::int32_t c) {
    return c >= 0 ? a : b;
  }
};
struct ChooseFloat {
  template <class T>
  static T apply(T a, T b, float c) {
    return c >= 0 ? a : b;  // a NaN chooses b
  }
};
struct ChooseFlushed {
  template <class T>
  static T apply(T a, T b, float c) {
    return flush(c) >= 0 ? a : b;
  }
};
template <class F, class C>
Handler pick_choice(Type t) {
  return width(t) == 16   ? &map<F, std::uint16_t, std::uint16_t, std::uint16_t, C>
         : width(t) == 32 ? &map<F, std::uint32_t, std::uint32_t, std::uint32_t, C>
         : width(t) == 64 ? &map<F, std::uint64_t, std::uint64_t, std::uint64_t, C>
                          : nullptr;
}
void build_slct(Builder& b) {
  const bool ftz = b.take("ftz");
  const Type t = b.take_type(), c = b.take_type();
  if (c != Type::kS32 && c != Type::kF32) b.unsupported("this type of choice");
  emit_plain(b,
             c == Type::kS32 ? pick_choice<ChooseInteger, std::int32_t>(t)
             : ftz           ? pick_choice<ChooseFlushed, float>(t)
                             : pick_choice<ChooseFloat, float>(t),
             width(t), {t, t, c});
}

template <class T>
bool test(T v, int kind) {
  switch (kind) {
    case 0: return std::isfinite(v);
    case 1: return std::isinf(v);
    case 2: return !std::isnan(v);
    case 3: return std::isnan(v);
    case 4: return std::isnormal(v);
    default: return std::fpclassify(v) == FP_SUBNORMAL;
  }
}
template <class T>
void testp(Warp& warp, const Op& op, Mask mask) {
  Mask& d = warp.predicate(op.d);
  const T* a = warp.lanes<T>(op.a);
  for_each_lane(mask, [&](unsigned i) {
    d = test(a[i], static_cast<int>(op.imm)) ? d | kBit[i] : d & ~kBit[i];
  });
}
void build_testp(Builder& b) {
  int kind = -1, n = 0;
  for (const char* name : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    if (b.take(name)) kind = n;
    ++n;
  }
  const Type t = b.take_type();
  if (kind < 0) b.unsupported("this test");
  emit_plain(b,
             t == Type::kF32   ? &testp<float>
             : t == Type::kF64 ? &testp<double>
                               : nullptr,
             1, {t})
      .imm = kind;
}

constexpr Row kRows[] = {
    {"setp", build_compare<false>}, {"set", build_compare<true>}, {"selp", build_selp},
    {"slct", build_slct},           {"testp", build_testp},
};

}  // namespace

std::span<const Row> compare_rows() {
  return kRows;
}

}  // namespace emu
