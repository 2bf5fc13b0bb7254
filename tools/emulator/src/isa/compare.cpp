// Comparisons and choices.
#include <cmath>

#include "isa/floats.hpp"
#include "isa/rows.hpp"
#include "isa/table.hpp"

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

enum class With : std::uint8_t { kNothing, kAnd, kOr, kXor };
struct Comparison {
  With with = With::kNothing;  ///< how the predicate c is combined with the result
  bool negated = false;        ///< that predicate
  bool ftz = false;            ///< subnormal operands count as zero
  bool to_float = false;       ///< of set: true is 1.0, not all ones
  bool two = false;            ///< there is a q: what the comparison's opposite gives
  Slot second = 0;             ///< q
};

template <Relation R, class T>
Mask compare(Warp& warp, const Op& op) {
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  Mask out = 0;
  if constexpr (std::is_same_v<T, float>) {
    if (op.as<Comparison>().ftz) {
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
  const auto& comparison = op.as<Comparison>();
  if (comparison.with == With::kNothing) return result;
  const Mask c = warp.predicate(op.c) ^ (comparison.negated ? kAllLanes : 0);
  return comparison.with == With::kAnd  ? result & c
         : comparison.with == With::kOr ? result | c
                                        : result ^ c;
}

template <Relation R, class T>
void setp(Warp& warp, const Op& op, Mask mask) {
  const Mask result = compare<R, T>(warp, op);
  const Mask p = combine(warp, op, result);
  const auto& comparison = op.as<Comparison>();
  const Mask q = comparison.two ? combine(warp, op, ~result) : 0;
  Mask& d = warp.predicate(op.d);
  d = (d & ~mask) | (p & mask);
  if (comparison.two) {
    Mask& second = warp.predicate(comparison.second);
    second = (second & ~mask) | (q & mask);
  }
}

template <Relation R, class T>
void set(Warp& warp, const Op& op, Mask mask) {
  const Mask result = combine(warp, op, compare<R, T>(warp, op));
  auto* d = warp.lanes<std::uint32_t>(op.d);
  const std::uint32_t yes = op.as<Comparison>().to_float ? 0x3f80'0000u : ~0u;
  for_each_lane(mask, [&](unsigned i) { d[i] = result & kBit[i] ? yes : 0; });
}

template <Relation R, bool Set, class T>
constexpr Forms kCompare = kForms<&setp<R, T>>;
template <Relation R, class T>
constexpr Forms kCompare<R, true, T>{&set<R, T>, &set<R, T>, &set<R, T>};
template <Relation R>
constexpr Forms kCompare<R, false, std::uint16_t>{&setp<R, std::uint16_t>, &setp<R, std::uint16_t>,
                                                  &setp<R, std::uint16_t>};
template <Relation R>
constexpr Forms kCompare<R, false, std::int16_t>{&setp<R, std::int16_t>, &setp<R, std::int16_t>,
                                                 &setp<R, std::int16_t>};

template <Relation R, bool Set, class... Ts>
Handler pick_type(Type t) {
  Handler h = nullptr;
  static_cast<void>(((holds<Ts>(t) && (h = kCompare<R, Set, Ts>, true)) || ...));
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
  Comparison comparison;
  comparison.ftz = b.take("ftz");
  comparison.with = b.take("and")   ? With::kAnd
                    : b.take("or")  ? With::kOr
                    : b.take("xor") ? With::kXor
                                    : With::kNothing;
  b.finish();
  const bool combined = comparison.with != With::kNothing;
  if (!handler || (comparison.ftz && t != Type::kF32)) b.unsupported("this comparison");
  b.expect_operands(combined ? 4 : 3, combined ? 4 : 3);
  if (Set) {
    comparison.to_float = *result == Type::kF32;
    if (*result != Type::kF32 && *result != Type::kU32 && *result != Type::kS32) {
      b.unsupported("this type of result");
    }
  }
  Operand first = b.operand(0);
  if (!first.second.empty()) {
    if (Set) b.unsupported("two results");
    comparison.two = true;
    comparison.second = b.predicate_named(first.second);
    first.second = {};
  }
  const Slot d = Set ? b.result(first, 32) : b.predicate_named(first.name);
  const Slot x = b.source(1, t), y = b.source(2, t);
  Slot c = 0;
  if (combined) {
    c = b.predicate(3);
    comparison.negated = b.operand(3).negated;
  }
  Op& op = b.emit(handler);
  op.d = d;
  op.a = x;
  op.b = y;
  op.c = c;
  op.put(comparison);
}

struct Choice {
  Mask flip = 0;  ///< of the predicate: all ones for `!p`
};
template <class T>
void selp(Warp& warp, const Op& op, Mask mask) {
  const Mask chosen = warp.predicate(op.c) ^ op.as<Choice>().flip;
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
  const Handler handler = width(t) == 16   ? Handler{&selp<std::uint16_t>}
                          : width(t) == 32 ? Handler{kForms<&selp<std::uint32_t>>}
                          : width(t) == 64 ? Handler{kForms<&selp<std::uint64_t>>}
                                           : nullptr;
  if (!handler) b.unsupported("this type");
  const Slot d = b.result(0, width(t)), x = b.source(1, t), y = b.source(2, t);
  const Slot c = b.predicate(3);
  Op& op = b.emit(handler);
  op.d = d;
  op.a = x;
  op.b = y;
  op.c = c;
  op.put(Choice{b.operand(3).negated ? kAllLanes : 0});
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
  return width(t) == 16   ? kMap<F, std::uint16_t, std::uint16_t, std::uint16_t, C>
         : width(t) == 32 ? kMap<F, std::uint32_t, std::uint32_t, std::uint32_t, C>
         : width(t) == 64 ? Handler{kMap<F, std::uint64_t, std::uint64_t, std::uint64_t, C>}
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

struct Property {
  int kind = 0;
};
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
    d = test(a[i], op.as<Property>().kind) ? d | kBit[i] : d & ~kBit[i];
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
      .put(Property{kind});
}

constexpr Row kRows[] = {
    {"setp", build_compare<false>},
    {"set", build_compare<true>},
    {"selp",
     build_selp,
     {.low_zeros = Traits::LowZeros::kLeast, .flow = Code::Flow::Kind::kSelects}},
    {"slct", build_slct},
    {"testp", build_testp},
};

}  // namespace

std::span<const Row> compare_rows() {
  return kRows;
}

}  // namespace emu
