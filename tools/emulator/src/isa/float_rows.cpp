// Floating-point arithmetic. The usual case (round to nearest, nothing flushed, nothing
// saturated) has handlers of its own that the compiler vectorises; `general` does the rest.
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
struct Sin {
  static float apply(float a) { return canonical(static_cast<float>(std::sin(double{a}))); }
};
struct Cos {
  static float apply(float a) { return canonical(static_cast<float>(std::cos(double{a}))); }
};
struct Lg2 {
  static float apply(float a) { return canonical(static_cast<float>(std::log2(double{a}))); }
};
struct Ex2 {
  static float apply(float a) { return canonical(static_cast<float>(std::exp2(double{a}))); }
};
struct Tanh {
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
void general(Warp& warp, const Op& op, Mask mask) {
  const Mode mode = op.as<Mode>();
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  const T* c = warp.lanes<T>(op.c);
  for_each_lane(mask, [&](unsigned i) {
    T out = compute(mode.what, mode.rounding, flushed(a[i], mode.ftz), flushed(b[i], mode.ftz),
                    flushed(c[i], mode.ftz));
    out = flushed(out, mode.ftz);
    d[i] = mode.sat ? saturated(out) : canonical(out);
  });
}

/// A function of one or two operands with flushing and saturation round it.
template <class F, class T, bool Two>
void wrapped(Warp& warp, const Op& op, Mask mask) {
  const Mode mode = op.as<Mode>();
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  for_each_lane(mask, [&](unsigned i) {
    T out;
    if constexpr (Two) {
      out = F::apply(flushed(a[i], mode.ftz), flushed(b[i], mode.ftz));
    } else {
      out = F::apply(flushed(a[i], mode.ftz));
    }
    d[i] = flushed(out, mode.ftz);
  });
}

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
  if (approximate && !rough && !said) b.unsupported("no rounding");
  const bool plain = mode.rounding == Rounding::kNearest && !mode.ftz && !mode.sat;
  if (fast && what == Arithmetic::kDiv && t == Type::kF32) {
    return emit_float(b, t, 2, &wrapped<DivApprox, float, true>, mode);
  }
  Handler handler = t == Type::kF32 ? &general<float> : &general<double>;
  if (plain) {
    if constexpr (std::is_same_v<F, Fma>) {
      handler = t == Type::kF32 ? &map<F, float, float, float, float>
                                : &map<F, double, double, double, double>;
    } else if constexpr (std::is_same_v<F, Rcp> || std::is_same_v<F, Sqrt>) {
      handler = t == Type::kF32 ? &map<F, float, float> : &map<F, double, double>;
    } else {
      handler = t == Type::kF32 ? &map<F, float, float, float> : &map<F, double, double, double>;
    }
  }
  emit_float(b, t, sources, handler, mode);
}

template <class F>
void approximation(Builder& b) {
  if (!b.take("approx")) b.unsupported("only the .approx form is PTX");
  const Mode mode{Arithmetic::kAdd, Rounding::kNearest, b.take("ftz"), false};
  const Type t = take_wide_float(b);
  Handler handler = t == Type::kF32 ? &wrapped<F, float, false> : nullptr;
  if constexpr (std::is_same_v<F, Rsqrt>) {
    if (t == Type::kF64) handler = &wrapped<F, double, false>;
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
  emit_plain(b, &map<UpperHalf<F>, double, double>, width(t), {t});
  return true;
}

template <class F>
void sign_change(Builder& b) {
  const Mode mode{Arithmetic::kAdd, Rounding::kNearest, b.take("ftz"), false};
  const Type t = take_wide_float(b);
  emit_float(b, t, 1, t == Type::kF32 ? &wrapped<F, float, false> : &wrapped<F, double, false>,
             mode);
}

template <bool Least>
void extreme(Builder& b) {
  const Mode mode{Arithmetic::kAdd, Rounding::kNearest, b.take("ftz"), false};
  const bool nan = b.take("NaN");
  const Type t = take_wide_float(b);
  const Handler single = nan ? &wrapped<Extreme<true, Least>, float, true>
                             : &wrapped<Extreme<false, Least>, float, true>;
  emit_float(b, t, 2, t == Type::kF32 ? single : &wrapped<Extreme<false, Least>, double, true>,
             mode);
}

void copysign(Builder& b) {
  const Type t = take_wide_float(b);
  emit_plain(b,
             t == Type::kF32 ? &map<Copysign, float, float, float>
                             : &map<Copysign, double, double, double>,
             width(t), {t, t});
}

constexpr Row kRows[] = {
    {"add", [](Builder& b) { arithmetic<Add>(b, Arithmetic::kAdd, 2); }},
    {"sub", [](Builder& b) { arithmetic<Sub>(b, Arithmetic::kSub, 2); }},
    {"mul", [](Builder& b) { arithmetic<Mul>(b, Arithmetic::kMul, 2); }},
    {"fma", [](Builder& b) { arithmetic<Fma>(b, Arithmetic::kFma, 3); }},
    {"mad", [](Builder& b) { arithmetic<Fma>(b, Arithmetic::kFma, 3); }},
    {"div", [](Builder& b) { arithmetic<Div>(b, Arithmetic::kDiv, 2, true); }},
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
    {"neg", sign_change<Neg>},
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
