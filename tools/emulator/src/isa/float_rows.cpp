// Floating-point arithmetic. The usual case (round to nearest, nothing flushed, nothing
// saturated) has handlers of its own that the compiler vectorises; `general` does the rest.
#include <array>
#include <cfenv>
#include <cmath>

#include "isa/floats.hpp"
#include "isa/rows.hpp"
#include "isa/table.hpp"

namespace emu {
namespace {

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return canonical(a + b);
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return canonical(a - b);
  }
};
struct Mul {
  template <class T>
  static T apply(T a, T b) {
    return canonical(a * b);
  }
};
struct Fma {
  template <class T>
  static T apply(T a, T b, T c) {
    return canonical(std::fma(a, b, c));
  }
};
struct Div {
  template <class T>
  static T apply(T a, T b) {
    return canonical(a / b);
  }
};
/// div.approx: a times an approximate reciprocal of b, which for the largest b is zero.
struct DivApprox {
  static float apply(float a, float b) {
    if (std::fabs(b) > 0x1p126f && std::isfinite(b)) return canonical(a * std::copysign(0.0f, b));
    return canonical(a / b);
  }
};
struct Rcp {
  template <class T>
  static T apply(T a) {
    return canonical(T{1} / a);
  }
};
struct Sqrt {
  template <class T>
  static T apply(T a) {
    return canonical(std::sqrt(a));
  }
};

// Approximations of hardware's are replaced by the host's function, rounded: closer to the truth
// than ISA's bounds ask for, and not the same bits as a GPU's.
struct Rsqrt {
  static float apply(float a) { return canonical(static_cast<float>(1 / std::sqrt(double{a}))); }
  static double apply(double a) { return 1 / std::sqrt(a); }
};
struct Sin : Rare {
  static float apply(float a) { return canonical(static_cast<float>(std::sin(double{a}))); }
};
struct Cos : Rare {
  static float apply(float a) { return canonical(static_cast<float>(std::cos(double{a}))); }
};
struct Lg2 : Rare {
  static float apply(float a) { return canonical(static_cast<float>(std::log2(double{a}))); }
};
struct Ex2 : Rare {
  static float apply(float a) { return canonical(static_cast<float>(std::exp2(double{a}))); }
};
struct Tanh : Rare {
  static float apply(float a) { return canonical(static_cast<float>(std::tanh(double{a}))); }
};

struct Neg {
  template <class T>
  static T apply(T a) {
    return -a;
  }
};
struct Abs {
  template <class T>
  static T apply(T a) {
    return std::fabs(a);
  }
};
struct Copysign {
  template <class T>
  static T apply(T a, T b) {
    return std::copysign(b, a);  // the sign of the first, the rest of the second
  }
};
/// -0 is less than +0; of a NaN and a number it is the number.
template <bool Nan, bool Least>
struct Extreme {
  template <class T>
  static T apply(T a, T b) {
    const bool an = a != a, bn = b != b;
    if (an || bn) {
      if (Nan || (an && bn)) return canonical(a + b);
      return an ? b : a;
    }
    if (a == b) return std::signbit(a) == Least ? a : b;
    return (a < b) == Least ? a : b;
  }
};

#ifndef __wasm__  // which rounds to the nearest only
int host_mode(Rounding mode) {
  switch (mode) {
    case Rounding::kZero: return FE_TOWARDZERO;
    case Rounding::kDown: return FE_DOWNWARD;
    case Rounding::kUp: return FE_UPWARD;
    case Rounding::kNearest: break;
  }
  return FE_TONEAREST;
}

/// Between its beginning and its end the host rounds so.
class RoundingMode {
 public:
  explicit RoundingMode(Rounding mode) : before_(std::fegetround()) {
    std::fesetround(host_mode(mode));
  }
  RoundingMode(const RoundingMode&) = delete;
  ~RoundingMode() { std::fesetround(before_); }

 private:
  int before_;
};

/// What comes from there is computed after this, and what goes there before: a compiler knows of no
/// modes, and would move arithmetic past them.
inline void keep_here(const void* row) {
  asm volatile("" : : "r"(row) : "memory");
}
#endif

/// Of the general form.
struct Mode {
  Arithmetic what;
  Rounding rounding;
  bool ftz, sat;
};

template <class T>
T flushed(T v, bool ftz) {
  if constexpr (std::is_same_v<T, float>) return ftz ? flush(v) : v;
  return v;
}

template <class T>
using Row32 = std::array<T, kLanes>;

/// The operand itself, or a copy that is flushed.
template <class T>
const T* flushed_row(const T* a, bool ftz, Row32<T>& room) {
  if (!ftz) return a;
  EMU_FOR_LANES room[i] = flushed(a[i], true);
  return room.data();
}

template <class F, class T>
void general(Warp& warp, const Op& op, Mask mask) {
  const Mode mode = op.as<Mode>();
  alignas(64) Row32<T> room_a, room_b, room_c, out;
  const T* a = flushed_row(warp.lanes<T>(op.a), mode.ftz, room_a);
  const T* b = flushed_row(warp.lanes<T>(op.b), mode.ftz, room_b);
  const T* c = flushed_row(warp.lanes<T>(op.c), mode.ftz, room_c);
  const auto each = [&] {
    if constexpr (std::is_same_v<F, Fma>) {
      EMU_FOR_LANES out[i] = F::apply(a[i], b[i], c[i]);
    } else if constexpr (std::is_same_v<F, Rcp> || std::is_same_v<F, Sqrt>) {
      EMU_FOR_LANES out[i] = F::apply(a[i]);
    } else {
      EMU_FOR_LANES out[i] = F::apply(a[i], b[i]);
    }
  };
  if (mode.rounding == Rounding::kNearest) {
    each();
  } else {
#ifdef __wasm__
    for_each_lane(mask, [&](unsigned i) {
      out[i] = canonical(compute(mode.what, mode.rounding, a[i], b[i], c[i]));
    });
#else
    const RoundingMode set(mode.rounding);
    for (const T* row : {a, b, c}) keep_here(row);
    each();
    keep_here(out.data());
#endif
  }
  T* d = warp.lanes<T>(op.d);
  if (mode.ftz) {
    EMU_FOR_LANES out[i] = flushed(out[i], true);
  }
  if (mode.sat) {
    EMU_FOR_LANES out[i] = saturated(out[i]);
  }
  EMU_FOR_LANES d[i] = mask & kBit[i] ? out[i] : d[i];
}

/// A function of one or two operands with flushing and saturation round it.
template <class F, class T, bool Two>
void wrapped(Warp& warp, const Op& op, Mask mask) {
  const Mode mode = op.as<Mode>();
  alignas(64) Row32<T> room_a, room_b;
  const T* a = flushed_row(warp.lanes<T>(op.a), mode.ftz, room_a);
  const T* b = flushed_row(warp.lanes<T>(op.b), Two && mode.ftz, room_b);
  T* d = warp.lanes<T>(op.d);
  if constexpr (std::is_base_of_v<Rare, F>) {  // a call per lane
    for_each_lane(mask, [&](unsigned i) { d[i] = flushed(F::apply(a[i]), mode.ftz); });
  } else {
    EMU_FOR_LANES {
      T out;
      if constexpr (Two) {
        out = F::apply(a[i], b[i]);
      } else {
        out = F::apply(a[i]);
      }
      d[i] = mask & kBit[i] ? out : d[i];
    }
    if (mode.ftz) {
      EMU_FOR_LANES d[i] = mask & kBit[i] ? flushed(d[i], true) : d[i];
    }
  }
}

/// The same as a handler for each kind of host; what calls a function for each lane is compiled
/// once.
template <class F, class T, bool Two>
constexpr Forms kWrapped = kForms<&wrapped<F, T, Two>>;
template <class F, class T, bool Two>
requires(std::is_base_of_v<Rare, F>) constexpr Forms kWrapped<F, T, Two>{
    &wrapped<F, T, Two>, &wrapped<F, T, Two>, &wrapped<F, T, Two>};

using Sum = Code::Flow::Sum;

Rounding take_rounding(Builder& b, bool& said) {
  said = true;
  if (b.take("rn")) return Rounding::kNearest;
  if (b.take("rz")) return Rounding::kZero;
  if (b.take("rm")) return Rounding::kDown;
  if (b.take("rp")) return Rounding::kUp;
  said = false;
  return Rounding::kNearest;
}

Type take_wide_float(Builder& b) {
  const Type t = b.take_type();
  if (t != Type::kF32 && t != Type::kF64) b.unsupported("this type");
  return t;
}

void emit_float(Builder& b, Type t, unsigned sources, Handler handler, const Mode& mode) {
  Op& op = sources == 1   ? emit_plain(b, handler, width(t), {t})
           : sources == 2 ? emit_plain(b, handler, width(t), {t, t})
                          : emit_plain(b, handler, width(t), {t, t, t});
  op.put(mode);
}

/// `approximate`: "approx" or "full" may stand in place of a rounding mode.
template <class F>
void arithmetic(Builder& b, Arithmetic what, unsigned sources, bool approximate = false) {
  const bool fast = approximate && b.take("approx");
  const bool rough = fast || (approximate && b.take("full"));
  bool said = false;
  Mode mode{what, take_rounding(b, said), b.take("ftz"), b.take("sat")};
  const Type t = take_wide_float(b);
  if (mode.ftz && t != Type::kF32) b.unsupported(".ftz with .f64");
  if (mode.sat) b.sums(Sum::kLoses);
  if (approximate && !rough && !said) b.unsupported("no rounding");
  const bool plain = mode.rounding == Rounding::kNearest && !mode.ftz && !mode.sat;
  if (fast && what == Arithmetic::kDiv && t == Type::kF32) {
    return emit_float(b, t, 2, kWrapped<DivApprox, float, true>, mode);
  }
  Handler handler = t == Type::kF32 ? kForms<&general<F, float>> : kForms<&general<F, double>>;
  if (plain) {
    if constexpr (std::is_same_v<F, Fma>) {
      handler = t == Type::kF32 ? kMap<F, float, float, float, float>
                                : kMap<F, double, double, double, double>;
    } else if constexpr (std::is_same_v<F, Rcp> || std::is_same_v<F, Sqrt>) {
      handler = t == Type::kF32 ? kMap<F, float, float> : kMap<F, double, double>;
    } else {
      handler = t == Type::kF32 ? kMap<F, float, float, float> : kMap<F, double, double, double>;
    }
  }
  emit_float(b, t, sources, handler, mode);
}

template <class F>
void approximation(Builder& b) {
  if (!b.take("approx")) b.unsupported("only the .approx form is PTX");
  const Mode mode{Arithmetic::kAdd, Rounding::kNearest, b.take("ftz"), false};
  const Type t = take_wide_float(b);
  Handler handler = t == Type::kF32 ? Handler{kWrapped<F, float, false>} : nullptr;
  if constexpr (std::is_same_v<F, Rsqrt>) {
    if (t == Type::kF64) handler = kWrapped<F, double, false>;
  }
  emit_float(b, t, 1, handler, mode);
}

/// `.approx.ftz.f64` works on the upper halves: the lower half of the result is zero. What nvcc
/// makes of a division refines it.
template <class F>
struct UpperHalf {
  static double apply(double a) {
    const auto upper = [](double v) {
      return std::bit_cast<double>(std::bit_cast<std::uint64_t>(v) & 0xffff'ffff'0000'0000u);
    };
    const auto flushed = [](double v) {
      return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0, v) : v;
    };
    return upper(flushed(F::apply(flushed(upper(a)))));
  }
};

/// True when the instruction was that form, and is built.
template <class F>
bool approximate_double(Builder& b) {
  const auto& modifiers = b.in().modifiers;
  if (modifiers.size() != 3 || modifiers[0] != "approx" || modifiers[1] != "ftz" ||
      modifiers[2] != "f64") {
    return false;
  }
  b.take_any("approx", "ftz");
  const Type t = b.take_type();
  emit_plain(b, kMap<UpperHalf<F>, double, double>, width(t), {t});
  return true;
}

template <class F>
void sign_change(Builder& b) {
  const Mode mode{Arithmetic::kAdd, Rounding::kNearest, b.take("ftz"), false};
  const Type t = take_wide_float(b);
  emit_float(b, t, 1, t == Type::kF32 ? kWrapped<F, float, false> : kWrapped<F, double, false>,
             mode);
}

template <bool Least>
void extreme(Builder& b) {
  const Mode mode{Arithmetic::kAdd, Rounding::kNearest, b.take("ftz"), false};
  const bool nan = b.take("NaN");
  const Type t = take_wide_float(b);
  const Handler single = nan ? kWrapped<Extreme<true, Least>, float, true>
                             : kWrapped<Extreme<false, Least>, float, true>;
  emit_float(b, t, 2, t == Type::kF32 ? single : kWrapped<Extreme<false, Least>, double, true>,
             mode);
}

void copysign(Builder& b) {
  const Type t = take_wide_float(b);
  emit_plain(b,
             t == Type::kF32 ? kMap<Copysign, float, float, float>
                             : kMap<Copysign, double, double, double>,
             width(t), {t, t});
}

constexpr Row kRows[] = {
    {"add", [](Builder& b) { arithmetic<Add>(b, Arithmetic::kAdd, 2); }, {.sum = Sum::kAdds}},
    {"sub", [](Builder& b) { arithmetic<Sub>(b, Arithmetic::kSub, 2); }, {.sum = Sum::kSubtracts}},
    {"mul", [](Builder& b) { arithmetic<Mul>(b, Arithmetic::kMul, 2); }, {.sum = Sum::kMultiplies}},
    {"fma",
     [](Builder& b) { arithmetic<Fma>(b, Arithmetic::kFma, 3); },
     {.sum = Sum::kMultipliesAndAdds}},
    {"mad",
     [](Builder& b) { arithmetic<Fma>(b, Arithmetic::kFma, 3); },
     {.sum = Sum::kMultipliesAndAdds}},
    {"div",
     [](Builder& b) { arithmetic<Div>(b, Arithmetic::kDiv, 2, true); },
     {.sum = Sum::kDivides}},
    {"rcp",
     [](Builder& b) {
       if (!approximate_double<Rcp>(b)) arithmetic<Rcp>(b, Arithmetic::kRcp, 1, true);
     }},
    {"sqrt", [](Builder& b) { arithmetic<Sqrt>(b, Arithmetic::kSqrt, 1, true); }},
    {"rsqrt",
     [](Builder& b) {
       if (!approximate_double<Rsqrt>(b)) approximation<Rsqrt>(b);
     }},
    {"sin", approximation<Sin>},
    {"cos", approximation<Cos>},
    {"lg2", approximation<Lg2>},
    {"ex2", approximation<Ex2>},
    {"tanh", approximation<Tanh>},
    {"neg", sign_change<Neg>, {.sum = Sum::kNegates}},
    {"abs", sign_change<Abs>},
    {"min", extreme<true>},
    {"max", extreme<false>},
    {"copysign", copysign},
};

}  // namespace

std::span<const Row> float_rows() {
  return kRows;
}

}  // namespace emu
