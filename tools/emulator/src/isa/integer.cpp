// Integer arithmetic and bits.
#include <algorithm>
#include <bit>
#include <limits>

#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "isa/wide.hpp"

namespace emu {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
std::int32_t saturate(std::int64_t v) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      v, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}
struct AddSat : Rare {
  static std::int32_t apply(std::int32_t a, std::int32_t b) {
    return saturate(std::int64_t{a} + b);
  }
};
struct SubSat : Rare {
  static std::int32_t apply(std::int32_t a, std::int32_t b) {
    return saturate(std::int64_t{a} - b);
  }
};
struct MulLo {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct MulHi {
  template <class T>
  static T apply(T a, T b) {
    return upper_product(a, b);
  }
};
struct MulWide {
  template <class T>
  static Double<T> apply(T a, T b) {
    return static_cast<Double<T>>(static_cast<Double<T>>(a) * static_cast<Double<T>>(b));
  }
};
struct MadLo {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulLo::apply(a, b), c);
  }
};
struct MadHi {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulHi::apply(a, b), c);
  }
};
struct MadHiSat : Rare {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    return saturate(std::int64_t{MulHi::apply(a, b)} + c);
  }
};
struct MadWide {
  template <class T>
  static Double<T> apply(T a, T b, Double<T> c) {
    return Add::apply(MulWide::apply(a, b), c);
  }
};
/// The product of the low 24 bits, 48 bits long.
template <class T>
std::int64_t product24(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    const auto low = [](T v) {
      return std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(v) << 8) >> 8};
    };
    return low(a) * low(b);
  } else {
    return std::int64_t{a & 0xffffff} * std::int64_t{b & 0xffffff};
  }
}
struct Mul24Lo : Rare {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(product24(a, b));
  }
};
struct Mul24Hi : Rare {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(product24(a, b) >> 16);
  }
};
struct Mad24Lo : Rare {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(Mul24Lo::apply(a, b), c);
  }
};
struct Mad24Hi : Rare {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(Mul24Hi::apply(a, b), c);
  }
};
struct Mad24HiSat : Rare {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    return saturate((product24(a, b) >> 16) + c);
  }
};
struct Sad : Rare {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(c, a < b ? Sub::apply(b, a) : Sub::apply(a, b));
  }
};
/// Division by zero is unspecified in PTX; hardware gives all ones, and the dividend for rem.
struct Div : Rare {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Sub::apply(T{0}, a);  // the lowest number has no opposite
    }
    return static_cast<T>(a / b);
  }
};
struct Rem : Rare {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct Neg {
  template <class T>
  static T apply(T a) {
    return Sub::apply(T{0}, a);
  }
};
struct Abs {
  template <class T>
  static T apply(T a) {
    return a < 0 ? Neg::apply(a) : a;
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot : Rare {
  template <class T>
  static T apply(T a) {
    return a == 0;
  }
};
/// Shifts by the width or more shift everything out.
struct Shl {
  template <class T>
  static T apply(T a, std::uint32_t n) {
    return n < 8 * sizeof(T) ? static_cast<T>(static_cast<Wrapping<T>>(a) << n) : T{0};
  }
};
struct Shr {
  template <class T>
  static T apply(T a, std::uint32_t n) {
    if (n >= 8 * sizeof(T)) return a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
  }
};
std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}
struct ShfLeftWrap {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return static_cast<std::uint32_t>(joined(a, b) << (c & 31) >> 32);
  }
};
struct ShfLeftClamp {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return c >= 32 ? a : ShfLeftWrap::apply(a, b, c);
  }
};
struct ShfRightWrap {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return static_cast<std::uint32_t>(joined(a, b) >> (c & 31));
  }
};
struct ShfRightClamp {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return c >= 32 ? b : ShfRightWrap::apply(a, b, c);
  }
};
struct Popc {
  template <class T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct Clz : Rare {
  template <class T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Brev : Rare {
  template <class T>
  static T apply(T a) {
    T out = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) out |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return out;
  }
};
struct Bfind : Rare {
  template <class T>
  static std::uint32_t apply(T a) {
    const auto bits = static_cast<Unsigned<T>>(a < 0 ? ~a : a);
    return static_cast<std::uint32_t>(std::bit_width(bits)) - 1;  // none: all ones
  }
};
struct BfindShift : Rare {
  template <class T>
  static std::uint32_t apply(T a) {
    const std::uint32_t at = Bfind::apply(a);
    return at == ~0u ? at : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - at;
  }
};
struct Fns : Rare {
  static std::uint32_t apply(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
    if (base > 31) return ~0u;
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    std::int64_t left = offset > 0 ? offset : -std::int64_t{offset};
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
      if ((mask >> at & 1) && --left == 0) return static_cast<std::uint32_t>(at);
    }
    return ~0u;
  }
};
struct Bfe {
  template <class T>
  static T apply(T a, std::uint32_t position, std::uint32_t length) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const unsigned at = position & 0xff, n = length & 0xff;
    if (n == 0) return 0;
    // Past the top: zeros, or the sign.
    const T field = Shr::apply(a, at);
    if (n >= kBits) return field;
    const unsigned away = kBits - n;
    return static_cast<T>(static_cast<T>(static_cast<Unsigned<T>>(field) << away) >> away);
  }
};
struct FurtherSources {
  std::uint32_t list = 0;  ///< in Code::lists
};
template <class T>
void bfi(Warp& warp, const Op& op, Mask mask) {  // of four sources the length is the last
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  const auto* position = warp.lanes<std::uint32_t>(op.c);
  const auto* length = warp.lanes<std::uint32_t>(warp.code().lists[op.as<FurtherSources>().list]);
  T* d = warp.lanes<T>(op.d);
  EMU_FOR_LANES {
    const std::uint32_t n = length[i] & 0xff, at = position[i] & 0xff;
    const T ones = n < 8 * sizeof(T) ? static_cast<T>((T{1} << n) - 1) : static_cast<T>(-1);
    const T field = Shl::apply(ones, at);
    const T out = (b[i] & ~field) | (Shl::apply(a[i], at) & field);
    d[i] = mask & kBit[i] ? out : d[i];
  }
}
template <bool Clamp>
struct Bmsk : Rare {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t at = Clamp ? std::min(a, 32u) : a & 31;
    const std::uint32_t n = Clamp ? std::min(b, 32u) : b & 31;
    const std::uint64_t ones = (std::uint64_t{1} << n) - 1;
    return static_cast<std::uint32_t>(ones << at);
  }
};
template <bool Clamp>
struct Szext : Rare {
  template <class T>
  static T apply(T a, std::uint32_t b) {
    const std::uint32_t n = Clamp ? std::min(b, 32u) : b & 31;
    if (n == 0) return 0;
    const unsigned away = 32 - n;
    return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(a) << away) >> away);
  }
};

template <class A, class B>
struct Dp4a : Rare {  // sign of the words' bytes: that of A and of B
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned k = 0; k < 32; k += 8) {
      c += static_cast<std::uint32_t>(static_cast<A>(a >> k) * static_cast<B>(b >> k));
    }
    return c;
  }
};
template <class A, class B, unsigned From>
struct Dp2a : Rare {  // halves of a with two bytes of b
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned k = 0; k < 2; ++k) {
      c += static_cast<std::uint32_t>(static_cast<A>(a >> 16 * k) *
                                      static_cast<B>(b >> (8 * k + From)));
    }
    return c;
  }
};

enum class Permute { kIndex, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
template <Permute Mode>
struct Prmt {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint64_t bytes = joined(a, b);
    const auto byte = [&](unsigned n) { return static_cast<std::uint32_t>(bytes >> 8 * n & 0xff); };
    std::uint32_t out = 0;
    const unsigned s = c & 3;
    for (unsigned k = 0; k < 4; ++k) {
      std::uint32_t v = 0;
      if constexpr (Mode == Permute::kIndex) {
        const unsigned chosen = c >> 4 * k & 15;
        v = byte(chosen & 7);
        if (chosen & 8) v = v & 0x80 ? 0xff : 0;
      } else if constexpr (Mode == Permute::kF4e) {
        v = byte(s + k);
      } else if constexpr (Mode == Permute::kB4e) {
        v = byte((s + 8 - k) & 7);
      } else if constexpr (Mode == Permute::kRc8) {
        v = byte(s);
      } else if constexpr (Mode == Permute::kEcl) {
        v = byte(std::max(k, s));
      } else if constexpr (Mode == Permute::kEcr) {
        v = byte(std::min(k, s));
      } else {
        v = byte((s & 1) * 2 + (k & 1));
      }
      out |= v << 8 * k;
    }
    return out;
  }
};

/// Each bit of the table says what becomes of one combination of a, b and c's bits.
struct LogicTable {
  std::uint32_t bits = 0;
};
void lop3(Warp& warp, const Op& op, Mask mask) {
  const std::uint32_t table = op.as<LogicTable>().bits;
  std::array<std::uint32_t, 8> on{};
  for (unsigned k = 0; k < 8; ++k) on[k] = table >> k & 1 ? ~0u : 0;
  auto* d = warp.lanes<std::uint32_t>(op.d);
  const auto* a = warp.lanes<std::uint32_t>(op.a);
  const auto* b = warp.lanes<std::uint32_t>(op.b);
  const auto* c = warp.lanes<std::uint32_t>(op.c);
  EMU_FOR_LANES {
    const std::uint32_t x = a[i], y = b[i], z = c[i];
    const std::uint32_t low =
        (~y & ((~z & on[0]) | (z & on[1]))) | (y & ((~z & on[2]) | (z & on[3])));
    const std::uint32_t high =
        (~y & ((~z & on[4]) | (z & on[5]))) | (y & ((~z & on[6]) | (z & on[7])));
    const std::uint32_t out = (~x & low) | (x & high);
    d[i] = mask & kBit[i] ? out : d[i];
  }
}

// Predicates are masks: logic on them is logic on words.
enum class Logic { kAnd, kOr, kXor, kNot };
template <Logic Kind>
void predicate_logic(Warp& warp, const Op& op, Mask mask) {
  const Mask a = warp.predicate(op.a), b = warp.predicate(op.b);
  const Mask out = Kind == Logic::kAnd   ? a & b
                   : Kind == Logic::kOr  ? a | b
                   : Kind == Logic::kXor ? a ^ b
                                         : ~a;
  Mask& d = warp.predicate(op.d);
  d = (d & ~mask) | (out & mask);
}

template <class F>
struct Of {
  template <class T>
  struct Unary {
    static constexpr Forms handler = kMap<F, T, T>;
  };
  template <class T>
  struct Binary {
    static constexpr Forms handler = kMap<F, T, T, T>;
  };
  template <class T>
  struct Ternary {
    static constexpr Forms handler = kMap<F, T, T, T, T>;
  };
  template <class T>
  struct Shift {
    static constexpr Forms handler = kMap<F, T, T, std::uint32_t>;
  };
  template <class T>
  struct Count {
    static constexpr Forms handler = kMap<F, std::uint32_t, T>;
  };
  template <class T>
  struct Field {
    static constexpr Forms handler = kMap<F, T, T, std::uint32_t, std::uint32_t>;
  };
  template <class T>
  struct Wide {
    static constexpr Forms handler = kMap<F, Double<T>, T, T>;
  };
  template <class T>
  struct WideAdd {
    static constexpr Forms handler = kMap<F, Double<T>, T, T, Double<T>>;
  };
};

using Sum = Code::Flow::Sum;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

template <template <class> class Make>
Handler any(Type t) {
  return pick<Make, U16, U32, U64, S16, S32, S64>(t);
}
/// Of what does the same to bits with a sign and without.
template <template <class> class Make>
Handler any_sign(Type t) {
  if (is_float(t)) return nullptr;
  return width(t) == 16   ? Handler{Make<U16>::handler}
         : width(t) == 32 ? Handler{Make<U32>::handler}
         : width(t) == 64 ? Handler{Make<U64>::handler}
                          : nullptr;
}
template <template <class> class Make>
Handler any32(Type t) {
  return pick<Make, U32, S32>(t);
}
template <template <class> class Make>
Handler any_bits(Type t) {
  return is_signed(t) ? nullptr : pick<Make, U16, U32, U64>(t);
}
template <template <class> class Make>
Handler any_signed(Type t) {
  return pick<Make, S16, S32, S64>(t);
}

void binary(Builder& b, Handler (*handler)(Type)) {
  const Type t = b.take_type();
  emit_plain(b, handler(t), width(t), {t, t});
}
void unary(Builder& b, Handler (*handler)(Type)) {
  const Type t = b.take_type();
  emit_plain(b, handler(t), width(t), {t});
}
void count_bits(Builder& b, Handler (*handler)(Type)) {
  const Type t = b.take_type();
  emit_plain(b, width(t) < 32 ? nullptr : handler(t), 32, {t});
}

template <class Saturating>
void add_or_sub(Builder& b, Handler (*handler)(Type)) {
  const bool sat = b.take("sat");
  const Type t = b.take_type();
  if (sat && t != Type::kS32) b.unsupported("saturation of this type");
  if (sat) b.sums(Sum::kLoses);
  emit_plain(b, sat ? kMap<Saturating, S32, S32, S32> : handler(t), width(t), {t, t});
}

void multiply(Builder& b) {
  const bool lo = b.take("lo"), hi = b.take("hi"), wide = b.take("wide");
  const Type t = b.take_type();
  if (lo + hi + wide != 1) b.unsupported("lo, hi or wide");
  if (hi) b.sums(Sum::kLoses);
  if (wide) {
    emit_plain(b, pick<Of<MulWide>::Wide, U16, U32, S16, S32>(t), 2 * width(t), {t, t});
  } else {
    emit_plain(b, lo ? any_sign<Of<MulLo>::Binary>(t) : any<Of<MulHi>::Binary>(t), width(t),
               {t, t});
  }
}

Type doubled(Type t) {
  switch (t) {
    case Type::kU16: return Type::kU32;
    case Type::kS16: return Type::kS32;
    case Type::kU32: return Type::kU64;
    default: return Type::kS64;
  }
}

void multiply_add(Builder& b) {
  const bool lo = b.take("lo"), hi = b.take("hi"), wide = b.take("wide"), sat = b.take("sat");
  const Type t = b.take_type();
  if (lo + hi + wide != 1) b.unsupported("lo, hi or wide");
  if (hi) b.sums(Sum::kLoses);
  if (sat && (!hi || t != Type::kS32)) b.unsupported("saturation of this type");
  if (wide) {
    emit_plain(b, pick<Of<MadWide>::WideAdd, U16, U32, S16, S32>(t), 2 * width(t),
               {t, t, doubled(t)});
    return;
  }
  emit_plain(b,
             sat  ? kMap<MadHiSat, S32, S32, S32, S32>
             : lo ? any_sign<Of<MadLo>::Ternary>(t)
                  : any<Of<MadHi>::Ternary>(t),
             width(t), {t, t, t});
}

void multiply24(Builder& b) {
  const bool lo = b.take("lo"), hi = b.take("hi");
  const Type t = b.take_type();
  if (lo == hi) b.unsupported("lo or hi");
  emit_plain(b, lo ? any32<Of<Mul24Lo>::Binary>(t) : any32<Of<Mul24Hi>::Binary>(t), 32, {t, t});
}
void multiply_add24(Builder& b) {
  const bool lo = b.take("lo"), hi = b.take("hi"), sat = b.take("sat");
  const Type t = b.take_type();
  if (lo == hi) b.unsupported("lo or hi");
  if (sat && (!hi || t != Type::kS32)) b.unsupported("saturation of this type");
  emit_plain(b,
             sat  ? kMap<Mad24HiSat, S32, S32, S32, S32>
             : lo ? any32<Of<Mad24Lo>::Ternary>(t)
                  : any32<Of<Mad24Hi>::Ternary>(t),
             32, {t, t, t});
}

template <Logic Kind>
void logic(Builder& b, Handler (*handler)(Type)) {
  const Type t = b.take_type();
  if (t == Type::kPred) {
    emit_plain(b, &predicate_logic<Kind>, 1, {t, t});
  } else {
    emit_plain(b, handler(t), width(t), {t, t});
  }
}

void shift(Builder& b, Handler (*handler)(Type)) {
  const Type t = b.take_type();
  emit_plain(b, handler(t), width(t), {t, Type::kU32});
}

void funnel(Builder& b) {
  const bool left = b.take("l"), right = b.take("r"), clamp = b.take("clamp"),
             wrap = b.take("wrap");
  const Type t = b.take_type();
  if (left == right || clamp == wrap || t != Type::kB32) b.unsupported("this form");
  const Handler handler =
      left
          ? (clamp ? kMap<ShfLeftClamp, U32, U32, U32, U32> : kMap<ShfLeftWrap, U32, U32, U32, U32>)
          : (clamp ? kMap<ShfRightClamp, U32, U32, U32, U32>
                   : kMap<ShfRightWrap, U32, U32, U32, U32>);
  emit_plain(b, handler, 32, {t, t, Type::kU32});
}

template <class T>
struct MakeBfi {
  static constexpr Forms handler = kForms<&bfi<T>>;
};
void insert_bits(Builder& b) {
  const Type t = b.take_type();
  const Handler handler = is_signed(t) ? nullptr : pick<MakeBfi, U32, U64>(t);
  b.finish();
  if (!handler) b.unsupported("this type");
  b.expect_operands(5, 5);
  const Slot d = b.result(0, width(t));
  const Slot first = b.source(1, t), second = b.source(2, t);
  const Slot position = b.source(3, 32);
  const std::uint32_t length = b.list({b.source(4, 32)});
  Op& op = b.emit(handler);
  op.d = d;
  op.a = first;
  op.b = second;
  op.c = position;
  op.put(FurtherSources{length});
}

void mask_bits(Builder& b) {
  const bool clamp = b.take("clamp"), wrap = b.take("wrap");
  if (clamp == wrap || b.take_type() != Type::kB32) b.unsupported("this form");
  emit_plain(b, clamp ? kMap<Bmsk<true>, U32, U32, U32> : kMap<Bmsk<false>, U32, U32, U32>, 32,
             {Type::kB32, Type::kB32});
}
void extend(Builder& b) {
  const bool clamp = b.take("clamp"), wrap = b.take("wrap");
  const Type t = b.take_type();
  if (clamp == wrap) b.unsupported("this form");
  emit_plain(b,
             clamp ? any32<Of<Szext<true>>::template Shift>(t)
                   : any32<Of<Szext<false>>::template Shift>(t),
             32, {t, Type::kU32});
}

void dot4(Builder& b) {
  const Type s = b.take_type(), t = b.take_type();
  const bool sa = s == Type::kS32, sb = t == Type::kS32;
  if ((!sa && s != Type::kU32) || (!sb && t != Type::kU32)) b.unsupported("these types");
  using S = std::int8_t;
  using U = std::uint8_t;
  emit_plain(
      b,
      sa ? (sb ? kMap<Dp4a<S, S>, U32, U32, U32, U32> : kMap<Dp4a<S, U>, U32, U32, U32, U32>)
         : (sb ? kMap<Dp4a<U, S>, U32, U32, U32, U32> : kMap<Dp4a<U, U>, U32, U32, U32, U32>),
      32, {s, t, Type::kB32});
}

template <unsigned From>
Handler dot2_handler(bool sa, bool sb) {
  using S = std::int8_t;
  using U = std::uint8_t;
  return sa ? (sb ? kMap<Dp2a<S16, S, From>, U32, U32, U32, U32>
                  : kMap<Dp2a<S16, U, From>, U32, U32, U32, U32>)
            : (sb ? kMap<Dp2a<U16, S, From>, U32, U32, U32, U32>
                  : kMap<Dp2a<U16, U, From>, U32, U32, U32, U32>);
}
void dot2(Builder& b) {
  const bool lo = b.take("lo"), hi = b.take("hi");
  const Type s = b.take_type(), t = b.take_type();
  const bool sa = s == Type::kS32, sb = t == Type::kS32;
  if (lo == hi || (!sa && s != Type::kU32) || (!sb && t != Type::kU32)) b.unsupported("this form");
  emit_plain(b, lo ? dot2_handler<0>(sa, sb) : dot2_handler<16>(sa, sb), 32, {s, t, Type::kB32});
}

template <Permute Mode>
constexpr Forms kPermute = kMap<Prmt<Mode>, U32, U32, U32, U32>;
void permute(Builder& b) {
  if (b.take_type() != Type::kB32) b.unsupported("this type");
  if (b.in().modifiers.size() > 1) b.sums(Sum::kLoses);  // another mode
  const Handler handler = b.take("f4e")    ? kPermute<Permute::kF4e>
                          : b.take("b4e")  ? kPermute<Permute::kB4e>
                          : b.take("rc8")  ? kPermute<Permute::kRc8>
                          : b.take("ecl")  ? kPermute<Permute::kEcl>
                          : b.take("ecr")  ? kPermute<Permute::kEcr>
                          : b.take("rc16") ? kPermute<Permute::kRc16>
                                           : kPermute<Permute::kIndex>;
  emit_plain(b, handler, 32, {Type::kB32, Type::kB32, Type::kB32});
}

void logic3(Builder& b) {
  if (b.take_type() != Type::kB32) b.unsupported("this type");
  b.finish();
  b.expect_operands(5, 5);
  if (b.operand(4).kind != Operand::Kind::kInteger) b.unsupported("a table that is not a number");
  const Slot d = b.result(0, 32);
  const Slot x = b.source(1, 32), y = b.source(2, 32), z = b.source(3, 32);
  Op& op = b.emit(kForms<&lop3>);
  op.d = d;
  op.a = x;
  op.b = y;
  op.c = z;
  op.put(LogicTable{static_cast<std::uint32_t>(b.operand(4).bits & 0xff)});
}

template <class F>
struct Relu : Rare {
  static S32 apply(S32 a, S32 b) { return std::max(F::apply(a, b), S32{0}); }
};
template <class F>
void extreme(Builder& b) {
  if (b.take("relu")) {
    const Type t = b.take_type();
    if (t != Type::kS32) b.unsupported(".relu with this type");
    emit_plain(b, kMap<Relu<F>, S32, S32, S32>, 32, {t, t});
  } else {
    binary(b, any<Of<F>::template Binary>);
  }
}

using LowZeros = Traits::LowZeros;
constexpr Row kRows[] = {
    {"mul", multiply, {.low_zeros = LowZeros::kSum, .sum = Sum::kMultiplies}},
    {"mul24", multiply24},
    {"mad24", multiply_add24},
    {"sad",
     [](Builder& b) {
       const Type t = b.take_type();
       emit_plain(b, any<Of<Sad>::Ternary>(t), width(t), {t, t, t});
     }},
    {"div", [](Builder& b) { binary(b, any<Of<Div>::Binary>); }},
    {"rem", [](Builder& b) { binary(b, any<Of<Rem>::Binary>); }},
    {"neg", [](Builder& b) { unary(b, any_signed<Of<Neg>::Unary>); }, {.sum = Sum::kNegates}},
    {"abs", [](Builder& b) { unary(b, any_signed<Of<Abs>::Unary>); }},
    {"min", [](Builder& b) { extreme<Min>(b); }},
    {"max", [](Builder& b) { extreme<Max>(b); }},
    {"and",
     [](Builder& b) { logic<Logic::kAnd>(b, any_bits<Of<And>::Binary>); },
     {.low_zeros = LowZeros::kMost, .sum = Sum::kMasks, .flow = Code::Flow::Kind::kAnds}},
    {"or",
     [](Builder& b) { logic<Logic::kOr>(b, any_bits<Of<Or>::Binary>); },
     {.low_zeros = LowZeros::kLeast, .sum = Sum::kSets, .flow = Code::Flow::Kind::kOrs}},
    {"xor",
     [](Builder& b) { logic<Logic::kXor>(b, any_bits<Of<Xor>::Binary>); },
     {.low_zeros = LowZeros::kLeast, .sum = Sum::kFlips}},
    {"not",
     [](Builder& b) {
       const Type t = b.take_type();
       if (t == Type::kPred) {
         emit_plain(b, &predicate_logic<Logic::kNot>, 1, {t});
       } else {
         emit_plain(b, any_bits<Of<Not>::Unary>(t), width(t), {t});
       }
     }},
    {"cnot", [](Builder& b) { unary(b, any_bits<Of<Cnot>::Unary>); }},
    {"shl",
     [](Builder& b) { shift(b, any_bits<Of<Shl>::Shift>); },
     {.low_zeros = LowZeros::kShifted, .sum = Sum::kShiftsLeft}},
    {"shr", [](Builder& b) { shift(b, any<Of<Shr>::Shift>); }, {.sum = Sum::kShiftsRight}},
    {"shf", funnel},
    {"popc", [](Builder& b) { count_bits(b, any_bits<Of<Popc>::Count>); }},
    {"clz", [](Builder& b) { count_bits(b, any_bits<Of<Clz>::Count>); }},
    {"brev",
     [](Builder& b) {
       const Type t = b.take_type();
       emit_plain(b, is_signed(t) ? nullptr : pick<Of<Brev>::Unary, U32, U64>(t), width(t), {t});
     }},
    {"bfind",
     [](Builder& b) {
       const bool shift_amount = b.take("shiftamt");
       count_bits(b, shift_amount ? any<Of<BfindShift>::Count> : any<Of<Bfind>::Count>);
     }},
    {"fns",
     [](Builder& b) {
       if (b.take_type() != Type::kB32) b.unsupported("this type");
       emit_plain(b, kMap<Fns, U32, U32, U32, S32>, 32, {Type::kB32, Type::kB32, Type::kS32});
     }},
    {"bfe",
     [](Builder& b) {
       const Type t = b.take_type();
       emit_plain(b, pick<Of<Bfe>::Field, U32, U64, S32, S64>(t), width(t),
                  {t, Type::kU32, Type::kU32});
     },
     {.sum = Sum::kTakes}},
    {"bfi", insert_bits},
    {"bmsk", mask_bits},
    {"szext", extend},
    {"dp4a", dot4, {.sum = Sum::kDots}},
    {"dp2a", dot2},
    {"prmt", permute, {.sum = Sum::kPermutes}},
    {"lop3", logic3},
};

}  // namespace

std::span<const Row> integer_rows() {
  return kRows;
}

// For carry.cpp, which has `add` and `mad` with a carry out of them.
void build_add(Builder& b) {
  add_or_sub<AddSat>(b, any_sign<Of<Add>::Binary>);
}
void build_sub(Builder& b) {
  add_or_sub<SubSat>(b, any_sign<Of<Sub>::Binary>);
}
void build_mad(Builder& b) {
  multiply_add(b);
}

}  // namespace emu
