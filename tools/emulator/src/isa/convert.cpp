// Moves and conversions.
#include <cmath>
#include <cstring>
#include <limits>

#include "isa/floats.hpp"
#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "machine/access.hpp"
#include "machine/block.hpp"

namespace emu {
namespace {

// --- mov ------------------------------------------------------------------------------------

template <class T>
void move(Warp& warp, const Op& op, Mask mask) {
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  if (mask == kAllLanes) {
    EMU_FOR_LANES d[i] = a[i];
  } else {
    EMU_FOR_LANES d[i] = mask & kBit[i] ? a[i] : d[i];
  }
}
void move_predicate(Warp& warp, const Op& op, Mask mask) {
  Mask& d = warp.predicate(op.d);
  d = (d & ~mask) | (warp.predicate(op.a) & mask);
}

/// One register to several parts, or back.
struct Parts {
  std::uint32_t list = 0;  ///< their registers
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;  ///< of a part
};
template <bool Split>
void move_parts(Warp& warp, const Op& op, Mask mask) {
  const auto& parts = op.as<Parts>();
  const std::size_t part = parts.bytes, whole = part * parts.count;
  for_each_lane(mask, [&](unsigned i) {
    std::byte bytes[16];
    if (Split) std::memcpy(bytes, warp.lanes<std::byte>(op.a) + i * whole, whole);
    for (unsigned k = 0; k < parts.count; ++k) {
      std::byte* slot = warp.lanes<std::byte>(warp.code().lists[parts.list + k]) + i * part;
      Split ? std::memcpy(slot, bytes + k * part, part) : std::memcpy(bytes + k * part, slot, part);
    }
    if (!Split) std::memcpy(warp.lanes<std::byte>(op.d) + i * whole, bytes, whole);
  });
}

struct Clock {
  unsigned shift = 0;   ///< to the half that is read
  bool global = false;  ///< one for all blocks
};
template <class T>
void read_clock(Warp& warp, const Op& op, Mask mask) {
  const auto& clock = op.as<Clock>();
  Block& block = warp.block();
  const auto now =
      static_cast<T>((clock.global ? block.global_clock() : block.clock()) >> clock.shift);
  warp.poll();
  block.stir();
  for_each_lane(mask, [&](unsigned i) { warp.lanes<T>(op.d)[i] = now; });
}

bool build_clock(Builder& b, Type t) {
  const std::string_view name = b.operand(1).name;
  const bool wide = name == "%clock64" || name == "%globaltimer";
  const bool narrow = name == "%clock" || name == "%clock_hi" || name == "%globaltimer_lo" ||
                      name == "%globaltimer_hi";
  if (!wide && !narrow) return false;
  if (width(t) != (wide ? 64 : 32)) b.unsupported("this size of a clock");
  const Slot d = b.result(0, width(t));
  Op& op = b.emit(wide ? &read_clock<std::uint64_t> : &read_clock<std::uint32_t>);
  op.control = Control::kClock;
  op.d = d;
  op.put(
      Clock{.shift = name.ends_with("_hi") ? 32u : 0, .global = name.starts_with("%globaltimer")});
  return true;
}

void build_parts(Builder& b, Type t) {
  const bool split = b.operand(0).kind == Operand::Kind::kList;
  b.sums(split ? Code::Flow::Sum::kSplits : Code::Flow::Sum::kJoins);
  const Operand& parts = b.operand(split ? 0 : 1);
  const std::size_t n = parts.elements.size();
  if ((n != 2 && n != 4) || width(t) > 64 || width(t) / n < 16) b.unsupported("these parts");
  const auto part = static_cast<unsigned>(width(t) / n);
  std::vector<std::uint32_t> slots;
  for (const Operand& e : parts.elements) {
    slots.push_back(split ? b.result(e, part) : b.source(e, part));
  }
  const Slot whole = split ? b.source(1, width(t)) : b.result(0, width(t));
  const std::uint32_t list = b.list(slots);
  Op& op = b.emit(split ? &move_parts<true> : &move_parts<false>);
  (split ? op.a : op.d) = whole;
  op.put(Parts{list, static_cast<std::uint32_t>(n), part / 8});
}

void build_mov(Builder& b) {
  const Type t = b.take_type();
  b.finish();
  b.expect_operands(2, 2);
  if (b.operand(0).kind == Operand::Kind::kList || b.operand(1).kind == Operand::Kind::kList) {
    return build_parts(b, t);
  }
  if (build_clock(b, t)) return;
  const Handler handler = t == Type::kPred ? &move_predicate
                          : width(t) == 16 ? Handler{&move<std::uint16_t>}
                          : width(t) == 32 ? Handler{kForms<&move<std::uint32_t>>}
                          : width(t) == 64 ? Handler{kForms<&move<std::uint64_t>>}
                                           : nullptr;
  emit_plain(b, handler, width(t), {t});
}

// --- cvt ------------------------------------------------------------------------------------

enum class ToInteger : std::uint8_t { kNearest, kZero, kDown, kUp, kNot };

struct Conversion {
  Type to, from;
  Rounding rounding;
  ToInteger to_integer;
  bool ftz, sat;
  bool relu = false, finite = false;
  std::uint8_t to_bytes = 0, from_bytes = 0;  ///< of the registers
};

/// Bits of a register to the value of a type, exactly.
long double value_of(Type t, std::uint64_t bits) {
  switch (t) {
    case Type::kU8: return static_cast<std::uint8_t>(bits);
    case Type::kS8: return static_cast<std::int8_t>(bits);
    case Type::kU16: return static_cast<std::uint16_t>(bits);
    case Type::kS16: return static_cast<std::int16_t>(bits);
    case Type::kU32: return static_cast<std::uint32_t>(bits);
    case Type::kS32: return static_cast<std::int32_t>(bits);
    case Type::kU64: return bits;
    case Type::kS64: return static_cast<std::int64_t>(bits);
    case Type::kF16: return from_half(static_cast<std::uint16_t>(bits));
    case Type::kBf16: return from_bfloat(static_cast<std::uint16_t>(bits));
    case Type::kF32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default: return std::bit_cast<double>(bits);
  }
}

long double whole(long double v, ToInteger mode) {
  switch (mode) {
    case ToInteger::kNearest: return std::nearbyint(v);  // the host rounds half to even
    case ToInteger::kZero: return std::trunc(v);
    case ToInteger::kDown: return std::floor(v);
    case ToInteger::kUp: return std::ceil(v);
    case ToInteger::kNot: break;
  }
  return v;
}

std::uint64_t integer_bits(const Conversion& c, long double v) {
  const unsigned bits = width(c.to);
  if (std::isnan(v)) {
    const bool zero = c.from != Type::kF64 && bits != 64;
    return zero ? 0 : std::uint64_t{1} << (bits - 1);
  }
  const bool s = is_signed(c.to);
  const long double least = s ? -std::ldexp(1.0L, static_cast<int>(bits) - 1) : 0.0L;
  const long double most = std::ldexp(1.0L, static_cast<int>(s ? bits - 1 : bits)) - 1;
  const long double clamped = v < least ? least : v > most ? most : v;
  return s ? static_cast<std::uint64_t>(static_cast<std::int64_t>(clamped))
           : static_cast<std::uint64_t>(clamped);
}

/// What is negative becomes zero; a NaN stays one.
std::uint32_t relu(std::uint32_t bits, const Format& format) {
  const bool nan = std::isnan(widen(bits, format));
  return !nan && bits >> (format.bits - 1) ? 0 : bits;
}

std::uint64_t convert_one(const Conversion& c, std::uint64_t bits) {
  long double v = value_of(c.from, bits);
  if (!is_float(c.to)) {
    if (is_float(c.from)) {
      if (c.ftz && c.from == Type::kF32) v = flush(static_cast<float>(v));
      return integer_bits(c, whole(v, c.to_integer));
    }
    if (c.sat) return integer_bits(c, v);
    return is_signed(c.from) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v))
                             : static_cast<std::uint64_t>(v);
  }
  if (c.ftz && c.from == Type::kF32) v = flush(static_cast<float>(v));
  if (c.to_integer != ToInteger::kNot) v = whole(v, c.to_integer);
  if (c.sat) v = saturated(v);
  switch (c.to) {
    case Type::kF16:
    case Type::kBf16: {
      const Format& format = c.to == Type::kF16 ? kHalf : kBfloat;
      const std::uint32_t narrowed = narrow(to_odd(v), format, c.rounding, c.finite);
      return c.relu ? relu(narrowed, format) : narrowed;
    }
    case Type::kF32: {
      const float f = to_float(v, c.rounding);
      return std::bit_cast<std::uint32_t>(c.ftz ? flush(f) : f);
    }
    default: return std::bit_cast<std::uint64_t>(to_double(v, c.rounding));
  }
}

/// Any conversion, one lane at a time.
void convert_slowly(Warp& warp, const Op& op, Mask mask) {
  const Conversion c = op.as<Conversion>();
  const unsigned from = c.from_bytes, to = c.to_bytes;
  for_each_lane(mask, [&](unsigned i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, warp.lanes<std::byte>(op.a) + std::size_t{i} * from, from);
    std::uint64_t out = convert_one(c, bits);
    // A register wider than the type: sign or zeros above.
    const unsigned n = width(c.to);
    if (n < 64) {
      out &= (std::uint64_t{1} << n) - 1;
      if (is_signed(c.to) && (out >> (n - 1) & 1)) out |= ~std::uint64_t{0} << n;
    }
    std::memcpy(warp.lanes<std::byte>(op.d) + std::size_t{i} * to, &out, to);
  });
}

/// An integer or float to another by the host's own conversion, where that means the same.
template <class To, class From>
struct Cast {
  static To apply(From v) { return static_cast<To>(v); }
};
template <class To, class From>
constexpr Forms kCast = kMap<Cast<To, From>, To, From>;

struct WidenHalf {
  static float apply(std::uint16_t v) { return canonical(static_cast<float>(from_half(v))); }
};
struct WidenBfloat {
  static float apply(std::uint16_t v) { return canonical(from_bfloat(v)); }
};
struct NarrowToHalf {
  static std::uint16_t apply(float v) {
    return static_cast<std::uint16_t>(narrow(double{v}, kHalf, Rounding::kNearest));
  }
};

/// A float to the nearest whole number, or the next one in a direction.
template <ToInteger Mode, class T>
T whole_of(T v) {
  if constexpr (Mode == ToInteger::kNearest) return std::nearbyint(v);
  if constexpr (Mode == ToInteger::kZero) return std::trunc(v);
  if constexpr (Mode == ToInteger::kDown) return std::floor(v);
  if constexpr (Mode == ToInteger::kUp) return std::ceil(v);
  return v;
}

/// A float to an integer of 32 or 64 bits; what is out of range becomes the nearest that there is.
template <ToInteger Mode, bool Flush, class To, class From>
struct FloatToInteger {
  static To apply(From a) {
    constexpr auto kTop = static_cast<From>(std::uint64_t{1} << (8 * sizeof(To) - 1));
    constexpr From kPast = std::is_signed_v<To> ? kTop : 2 * kTop;
    constexpr From kLeast = std::numeric_limits<To>::min();
    constexpr To kNan = sizeof(To) == 4 && sizeof(From) == 4
                            ? To{0}
                            : static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1));
    if constexpr (Flush) a = flush(a);
    const From v = whole_of<Mode>(a);
    const bool above = v >= kPast, below = v < kLeast, nan = v != v;
    const To inside = static_cast<To>(above || below || nan ? From{0} : v);
    return above   ? std::numeric_limits<To>::max()
           : below ? std::numeric_limits<To>::min()
           : nan   ? kNan
                   : inside;
  }
};
template <ToInteger Mode, bool Flush, class From>
Handler float_to_integer(Type to) {
  const auto form = []<class To>(To) -> Handler {
    return kMap<FloatToInteger<Mode, Flush, To, From>, To, From>;
  };
  if constexpr (Mode == ToInteger::kZero || sizeof(From) == 4) {  // what programs use
    if (to == Type::kU32) return form(std::uint32_t{});
    if (to == Type::kS32) return form(std::int32_t{});
  }
  if constexpr (Mode == ToInteger::kZero && !Flush) {
    if (to == Type::kU64) return form(std::uint64_t{});
    if (to == Type::kS64) return form(std::int64_t{});
  }
  return nullptr;
}

/// A float to a float, rounded to the nearest.
template <ToInteger Mode, bool Flush, bool Saturate, class To, class From>
struct FloatToFloat {
  static To apply(From a) {
    if constexpr (Flush && sizeof(From) == 4) a = flush(a);
    From v = whole_of<Mode>(a);
    if constexpr (Saturate) v = saturated(v);
    To out = canonical(static_cast<To>(v));
    if constexpr (Flush && sizeof(To) == 4) out = flush(out);
    return out;
  }
};
template <ToInteger Mode, bool Flush, bool Saturate>
Handler float_to_float(Type to, Type from) {
  if (to == Type::kF32 && from == Type::kF32) {
    return kMap<FloatToFloat<Mode, Flush, Saturate, float, float>, float, float>;
  }
  if constexpr (Mode == ToInteger::kNot) {
    if (to == Type::kF32)
      return kMap<FloatToFloat<Mode, Flush, Saturate, float, double>, float, double>;
    if (from == Type::kF32)
      return kMap<FloatToFloat<Mode, Flush, Saturate, double, float>, double, float>;
  }
  if constexpr (!Flush && !Saturate) {
    if (from == Type::kF64 && to == Type::kF64) {
      return kMap<FloatToFloat<Mode, Flush, Saturate, double, double>, double, double>;
    }
  }
  return nullptr;
}

/// From a float of 32 or 64 bits to what a register of its own size holds; null for none of these.
Handler quick_of_float(const Conversion& c) {
  const auto is_wide_float = [](Type t) { return t == Type::kF32 || t == Type::kF64; };
  if (!is_wide_float(c.from) || c.rounding != Rounding::kNearest || c.relu || c.finite ||
      c.from_bytes != width(c.from) / 8 || c.to_bytes != width(c.to) / 8) {
    return nullptr;
  }
  const auto in_mode = [&]<ToInteger Mode>() -> Handler {
    if (is_wide_float(c.to)) {
      return c.ftz   ? c.sat ? float_to_float<Mode, true, true>(c.to, c.from)
                             : float_to_float<Mode, true, false>(c.to, c.from)
               : c.sat ? float_to_float<Mode, false, true>(c.to, c.from)
                     : float_to_float<Mode, false, false>(c.to, c.from);
    }
    if constexpr (Mode == ToInteger::kNot) {
      return nullptr;
    } else {
      if (c.from == Type::kF64) return float_to_integer<Mode, false, double>(c.to);
      return c.ftz ? float_to_integer<Mode, true, float>(c.to)
                   : float_to_integer<Mode, false, float>(c.to);
    }
  };
  switch (c.to_integer) {
    case ToInteger::kNearest: return in_mode.operator()<ToInteger::kNearest>();
    case ToInteger::kZero: return in_mode.operator()<ToInteger::kZero>();
    case ToInteger::kDown: return in_mode.operator()<ToInteger::kDown>();
    case ToInteger::kUp: return in_mode.operator()<ToInteger::kUp>();
    case ToInteger::kNot: return in_mode.operator()<ToInteger::kNot>();
  }
  return nullptr;
}

Handler quick(const Conversion& c) {
  if (const Handler handler = quick_of_float(c)) return handler;
  if (c.sat || c.ftz || c.relu || c.finite || c.to_integer != ToInteger::kNot ||
      c.from_bytes != width(c.from) / 8 || c.to_bytes != width(c.to) / 8)
    return nullptr;
  const bool nearest = c.rounding == Rounding::kNearest;
  const auto from_integer = [&]<class To>(To) -> Handler {
    switch (c.from) {
      case Type::kU16: return kCast<To, std::uint16_t>;
      case Type::kS16: return kCast<To, std::int16_t>;
      case Type::kU32: return kCast<To, std::uint32_t>;
      case Type::kS32: return kCast<To, std::int32_t>;
      case Type::kU64: return kCast<To, std::uint64_t>;
      case Type::kS64: return kCast<To, std::int64_t>;
      default: return nullptr;
    }
  };
  switch (c.to) {
    case Type::kU16:
    case Type::kS16: return from_integer(std::uint16_t{});
    case Type::kU32:
    case Type::kS32: return from_integer(std::uint32_t{});
    case Type::kU64:
    case Type::kS64: return from_integer(std::uint64_t{});
    case Type::kF32:
      if (c.from == Type::kF16) return kMap<WidenHalf, float, std::uint16_t>;
      if (c.from == Type::kBf16) return kMap<WidenBfloat, float, std::uint16_t>;
      return nearest && !is_float(c.from) ? from_integer(float{}) : nullptr;
    case Type::kF16:
      return nearest && c.from == Type::kF32 ? Handler{kMap<NarrowToHalf, std::uint16_t, float>}
                                             : nullptr;
    case Type::kF64:
      if (c.from == Type::kF32) return nullptr;
      return nearest && !is_float(c.from) ? from_integer(double{}) : nullptr;
    default: return nullptr;
  }
}

bool convertible(Type t) {
  return t != Type::kPred && t != Type::kB8 && t != Type::kB16 && t != Type::kB32 &&
         t != Type::kB64 && t != Type::kB128 && !is_pair(t);
}

// --- cvt of pairs and of formats that have no type of their own -----------------------------

constexpr const Format* kFormats[] = {&kHalf, &kBfloat, &kTf32, &kE4m3, &kE5m2};
struct Packing {
  unsigned to, from;  // in kFormats
  Rounding rounding;
  bool away, relu, finite;
};

std::uint32_t packed(double v, const Packing& p) {
  const Format& format = *kFormats[p.to];
  const std::uint32_t bits = narrow(v, format, p.rounding, p.finite);
  return p.relu ? relu(bits, format) : bits;
}

/// Two floats to a pair: the first source is the upper half. Bits of an element: 16, or 8.
template <class Pair>
void pack_floats(Warp& warp, const Op& op, Mask mask) {
  const Packing p = op.as<Packing>();
  for_each_lane(mask, [&](unsigned i) {
    const std::uint32_t upper = packed(double{warp.lanes<float>(op.a)[i]}, p);
    const std::uint32_t lower = packed(double{warp.lanes<float>(op.b)[i]}, p);
    warp.lanes<Pair>(op.d)[i] = static_cast<Pair>(upper << 4 * sizeof(Pair) | lower);
  });
}

/// A pair of one format to a pair of another.
template <class To, class From>
void repack(Warp& warp, const Op& op, Mask mask) {
  const Packing p = op.as<Packing>();
  for_each_lane(mask, [&](unsigned i) {
    const From in = warp.lanes<From>(op.a)[i];
    const unsigned half = 4 * sizeof(From);
    const auto one = [&](std::uint32_t bits) {
      return packed(widen(bits & ((1u << half) - 1), *kFormats[p.from]), p);
    };
    warp.lanes<To>(op.d)[i] =
        static_cast<To>(one(std::uint32_t{in} >> half) << 4 * sizeof(To) | one(in));
  });
}

/// A float rounded to the 19 bits of TF32, the rest of the register zero.
void to_tf32(Warp& warp, const Op& op, Mask mask) {
  const Packing p = op.as<Packing>();
  for_each_lane(mask, [&](unsigned i) {
    const float v = warp.lanes<float>(op.a)[i];
    std::uint32_t out = packed(double{v}, p) << 13;
    if (p.away && std::isfinite(v)) {  // to nearest, the middle away from zero
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
      out = (bits + 0x1000u) & 0xffff'e000u;
      if (p.finite && (out & 0x7fff'ffffu) >= 0x7f80'0000u) out -= 0x2000u;
    }
    warp.lanes<std::uint32_t>(op.d)[i] = out;
  });
}

/// True when the instruction was one of these, and is built.
bool build_packed_cvt(Builder& b) {
  constexpr std::pair<std::string_view, unsigned> kNames[] = {
      {"f16x2", 0}, {"bf16x2", 1}, {"tf32", 2}, {"e4m3x2", 3}, {"e5m2x2", 4}};
  std::vector<unsigned> formats;
  bool from_float = false;
  for (const std::string_view modifier : b.in().modifiers) {
    for (const auto& [name, number] : kNames) {
      if (modifier == name) formats.push_back(number);
    }
    from_float |= modifier == "f32";
  }
  if (formats.empty()) return false;
  b.sums(Code::Flow::Sum::kLoses);
  for (const auto& [name, number] : kNames) {
    for (const unsigned f : formats) {
      if (f == number) b.take(name);
    }
  }
  Packing p{};
  p.to = formats[0];
  p.from = formats.size() > 1 ? formats[1] : 0;
  const bool eight = p.to >= 3;
  p.away = b.take("rna");
  p.rounding = b.take("rz") ? Rounding::kZero : Rounding::kNearest;
  if (!b.take("rn") && p.rounding == Rounding::kNearest && !p.away) b.unsupported("no rounding");
  p.relu = b.take("relu");
  p.finite = b.take("satfinite");
  if (p.away != (p.away && p.to == 2) || (eight && !p.finite)) b.unsupported("this form");
  if (from_float) {
    if (formats.size() != 1 || b.take_type() != Type::kF32) b.unsupported("these types");
    if (p.to == 2) {
      emit_plain(b, &to_tf32, 32, {Type::kF32}).put(p);
    } else {
      const Handler handler = eight ? &pack_floats<std::uint16_t> : &pack_floats<std::uint32_t>;
      emit_plain(b, handler, eight ? 16 : 32, {Type::kF32, Type::kF32}).put(p);
    }
    return true;
  }
  if (formats.size() != 2) b.unsupported("these types");
  if (eight && p.from <= 1) {
    emit_plain(b, &repack<std::uint16_t, std::uint32_t>, 16, {Type::kB32}).put(p);
  } else if (p.to == 0 && p.from >= 3) {
    emit_plain(b, &repack<std::uint32_t, std::uint16_t>, 32, {Type::kB16}).put(p);
  } else {
    b.unsupported("these types");
  }
  return true;
}

void build_cvt(Builder& b) {
  if (build_packed_cvt(b)) return;
  Conversion c{};
  c.rounding = b.take("rz")   ? Rounding::kZero
               : b.take("rm") ? Rounding::kDown
               : b.take("rp") ? Rounding::kUp
                              : Rounding::kNearest;
  b.take("rn");
  c.to_integer = b.take("rni")   ? ToInteger::kNearest
                 : b.take("rzi") ? ToInteger::kZero
                 : b.take("rmi") ? ToInteger::kDown
                 : b.take("rpi") ? ToInteger::kUp
                                 : ToInteger::kNot;
  c.ftz = b.take("ftz");
  c.sat = b.take("sat");
  c.relu = b.take("relu");
  c.finite = b.take("satfinite");
  c.to = b.take_type();
  c.from = b.take_type();
  b.finish();
  b.expect_operands(2, 2);
  if (!convertible(c.to) || !convertible(c.from)) b.unsupported("these types");
  if ((c.relu || c.finite) && (!is_half(c.to) || c.from != Type::kF32)) {
    b.unsupported("this form with these types");
  }
  if (is_float(c.from) && !is_float(c.to) && c.to_integer == ToInteger::kNot) {
    b.unsupported("no rounding to an integer");
  }
  const unsigned from = b.register_width(b.operand(1), std::max(16u, width(c.from)));
  const unsigned to = b.register_width(b.operand(0), std::max(16u, width(c.to)));
  if (from < width(c.from) || to < width(c.to)) b.unsupported("a register too small");
  const Slot d = b.result(0, to);
  const Slot a = b.source(b.operand(1), from, is_float(c.from));
  c.from_bytes = static_cast<std::uint8_t>(from / 8);
  c.to_bytes = static_cast<std::uint8_t>(to / 8);
  b.low_bits(std::min(width(c.from), is_float(c.to) ? width(c.from) : width(c.to)));
  if (c.sat || c.relu || c.finite || c.to_integer != ToInteger::kNot) {
    b.sums(Code::Flow::Sum::kLoses);
  }
  const Handler fast = quick(c);
  Op& op = b.emit(fast ? fast : &convert_slowly);
  op.d = d;
  op.a = a;
  op.put(c);
}

// --- addresses ------------------------------------------------------------------------------

/// A window's address added or taken away; where from may have 32 bits only.
struct WindowShift {
  Address by = 0;
  bool narrow = false;
};
void shift_window(Warp& warp, const Op& op, Mask mask) {
  const auto [by, narrow] = op.as<WindowShift>();
  auto* d = warp.lanes<std::uint64_t>(op.d);
  if (narrow) {
    const auto* a = warp.lanes<std::uint32_t>(op.a);
    EMU_FOR_LANES d[i] = mask & kBit[i] ? a[i] + by : d[i];
  } else {
    const auto* a = warp.lanes<std::uint64_t>(op.a);
    EMU_FOR_LANES d[i] = mask & kBit[i] ? a[i] + by : d[i];
  }
}

struct Window {
  const char* space;
  Address base;
};
constexpr Window kWindows[] = {
    {"shared", kSharedWindow},
    {"shared::cta", kSharedWindow},
    {"shared::cluster", kSharedWindow},
    {"local", kLocalWindow},
    {"param", kParameterWindow},
    {"param::entry", kParameterWindow},
    {"global", 0},
    {"const", 0},
};

void build_cvta(Builder& b) {
  const bool to = b.take("to");
  const Window* window = nullptr;
  for (const Window& w : kWindows) {
    if (b.take(w.space)) window = &w;
  }
  const Type t = b.take_type();
  if (!window || t != Type::kU64) b.unsupported("this form");
  b.finish();
  b.expect_operands(2, 2);
  const unsigned from = b.register_width(b.operand(1), 64);
  if (from != 64 && from != 32) b.unsupported("an address of this size");
  const Slot d = b.result(0, 64), a = b.source(1, from);
  Op& op = b.emit(window->base == 0 && from == 64 ? kForms<&move<std::uint64_t>>
                                                  : kForms<&shift_window>);
  op.d = d;
  op.a = a;
  op.put(WindowShift{to ? 0 - window->base : window->base, from == 32});
}

struct InWindow {
  Address window = 0;  ///< 0 for global, which is what lies in no window
  Address bytes = 0;
};
void isspacep(Warp& warp, const Op& op, Mask mask) {
  Mask& d = warp.predicate(op.d);
  const Address window = op.as<InWindow>().window, bytes = op.as<InWindow>().bytes;
  for_each_lane(mask, [&](unsigned i) {
    const Address a = warp.lanes<std::uint64_t>(op.a)[i];
    const auto in = [a](Address base) { return a - base < kWindowBytes; };
    const bool yes = window ? a - window < bytes
                            : !in(kSharedWindow) && !in(kLocalWindow) && !in(kParameterWindow);
    d = yes ? d | kBit[i] : d & ~kBit[i];
  });
}
void isspacep_const(Warp& warp, const Op& op, Mask mask) {
  Mask& d = warp.predicate(op.d);
  d &= ~mask;  // constants of this device lie in global memory
}

void build_isspacep(Builder& b) {
  const Window* window = nullptr;
  for (const Window& w : kWindows) {
    if (b.take(w.space)) window = &w;
  }
  if (!window) b.unsupported("this space");
  const std::string_view space = window->space;
  const bool constant = space == "const";
  const bool own = space == "shared" || space == "shared::cta";  // without other blocks'
  emit_plain(b, constant ? &isspacep_const : &isspacep, 1, {Type::kU64})
      .put(InWindow{window->base, own ? kClusterStep : kWindowBytes});
}

using Sum = Code::Flow::Sum;
using LowZeros = Traits::LowZeros;
constexpr Row kRows[] = {
    {"mov", build_mov, {.low_zeros = LowZeros::kOfFirst, .sum = Sum::kMoves}},
    {"cvt", build_cvt, {.low_zeros = LowZeros::kOfFirst, .sum = Sum::kMoves}},
    {"cvta", build_cvta, {.low_zeros = LowZeros::kOfFirst, .sum = Sum::kMoves}},
    {"isspacep", build_isspacep},
};

}  // namespace

std::span<const Row> convert_rows() {
  return kRows;
}

}  // namespace emu
