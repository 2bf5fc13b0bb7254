// atom and red. Lanes take their turns in the order of their numbers. Blocks run on several host
// threads, so global memory is updated by the host's own atomic operations.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "isa/floats.hpp"
#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "machine/access.hpp"
#include "machine/block.hpp"

namespace emu {
namespace {

struct Add {
  template <class T>
  static T apply(T old, T b, T) {
    if constexpr (std::is_floating_point_v<T>) {
      return canonical(old + b);
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(old) + static_cast<Wrapping<T>>(b));
    }
  }
};
/// f32 in global memory: hardware flushes subnormals, in and out.
struct AddFlushed {
  static float apply(float old, float b, float) { return canonical(flush(flush(old) + flush(b))); }
};
/// Floats of 16 bits, one or a pair: rounded to nearest, subnormals kept.
template <bool Bfloat>
struct AddHalves {
  static std::uint16_t one(std::uint16_t old, std::uint16_t b) {
    const auto value = [](std::uint16_t v) {
      return Bfloat ? double{from_bfloat(v)} : from_half(v);
    };
    const double sum = fma_to_odd(value(old), 1, value(b));
    return static_cast<std::uint16_t>(narrow(sum, Bfloat ? kBfloat : kHalf, Rounding::kNearest));
  }
  static std::uint16_t apply(std::uint16_t old, std::uint16_t b, std::uint16_t) {
    return one(old, b);
  }
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b, std::uint32_t) {
    const auto upper = [](std::uint32_t v) { return static_cast<std::uint16_t>(v >> 16); };
    const auto lower = [](std::uint32_t v) { return static_cast<std::uint16_t>(v); };
    return std::uint32_t{one(upper(old), upper(b))} << 16 | one(lower(old), lower(b));
  }
};
struct Min {
  template <class T>
  static T apply(T old, T b, T) {
    return b < old ? b : old;
  }
};
struct Max {
  template <class T>
  static T apply(T old, T b, T) {
    return b > old ? b : old;
  }
};
struct And {
  template <class T>
  static T apply(T old, T b, T) {
    return old & b;
  }
};
struct Or {
  template <class T>
  static T apply(T old, T b, T) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T old, T b, T) {
    return old ^ b;
  }
};
struct Exchange {
  template <class T>
  static T apply(T, T b, T) {
    return b;
  }
};
struct CompareAndSwap {
  template <class T>
  static T apply(T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct Increment {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b, std::uint32_t) {
    return old >= b ? 0 : old + 1;
  }
};
struct Decrement {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b, std::uint32_t) {
    return old == 0 || old > b ? b : old - 1;
  }
};

template <class T>
using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class F, class T>
T update(std::byte* at, T b, T c, bool& changed) {
  auto* place = reinterpret_cast<Bits<T>*>(at);
  Bits<T> old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (true) {
    const auto now = std::bit_cast<Bits<T>>(F::apply(std::bit_cast<T>(old), b, c));
    changed |= now != old;
    if (__atomic_compare_exchange_n(place, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      return std::bit_cast<T>(old);
    }
  }
}

/// In shared memory, which one thread of the host has to itself.
template <class F, class T>
T update_alone(std::byte* at, T b, T c, bool& changed) {
  Bits<T> old;
  std::memcpy(&old, at, sizeof old);
  const auto now = std::bit_cast<Bits<T>>(F::apply(std::bit_cast<T>(old), b, c));
  changed |= now != old;
  std::memcpy(at, &now, sizeof now);
  return std::bit_cast<T>(old);
}

template <class F, class T, Space S, bool Tells>
void atomic(Warp& warp, const Op& op, Mask mask) {
  Located found;
  warp.poll();
  warp.block().update();
  locate(warp, op, mask, S, Direction::kAtomic, sizeof(T), found);
  const T* b = warp.lanes<T>(op.b);
  const T* c = warp.lanes<T>(op.c);
  T* d = warp.lanes<T>(op.d);
  bool changed = false;
  for_each_lane(mask, [&](unsigned i) {
    std::byte* const at = found.run ? found.run + i * sizeof(T) : found.at[i];
    const T old = S == Space::kShared ? update_alone<F, T>(at, b[i], c[i], changed)
                                      : update<F, T>(at, b[i], c[i], changed);
    if (Tells) d[i] = old;
  });
  if (!changed) warp.block().unchanged();
  tell_accessed(warp);
}

template <class F, class T, bool Tells>
Handler in_space(Space space) {
  switch (space) {
    case Space::kGeneric: return &atomic<F, T, Space::kGeneric, Tells>;
    case Space::kGlobal: return &atomic<F, T, Space::kGlobal, Tells>;
    case Space::kShared: return &atomic<F, T, Space::kShared, Tells>;
    default: return nullptr;
  }
}

template <class F, bool Tells, class... Ts>
Handler of_type(Type t, Space space) {
  Handler h = nullptr;
  static_cast<void>(((holds<Ts>(t) && (h = in_space<F, Ts, Tells>(space), true)) || ...));
  return h;
}

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

bool is_bits(Type t) {
  return t == Type::kB16 || t == Type::kB32 || t == Type::kB64;
}

using Sum = Code::Flow::Sum;

template <bool Tells>
Handler pick_atomic(Builder& b, Type t, Space space, bool noftz) {
  if (b.take("add")) {
    b.sums(Sum::kAdds);
    if (t == Type::kF32 && space == Space::kGlobal && !noftz) {
      return in_space<AddFlushed, float, Tells>(space);
    }
    if (is_half(t)) {
      if (!noftz) b.unsupported("16-bit floats without .noftz");
      if (t == Type::kF16) return in_space<AddHalves<false>, U16, Tells>(space);
      if (t == Type::kBf16) return in_space<AddHalves<true>, U16, Tells>(space);
      if (t == Type::kF16x2) return in_space<AddHalves<false>, U32, Tells>(space);
      return in_space<AddHalves<true>, U32, Tells>(space);
    }
    return is_bits(t) ? nullptr : of_type<Add, Tells, U32, S32, U64, float, double>(t, space);
  }
  if (b.take("min"))
    return is_bits(t) ? nullptr : of_type<Min, Tells, U32, S32, U64, S64>(t, space);
  if (b.take("max"))
    return is_bits(t) ? nullptr : of_type<Max, Tells, U32, S32, U64, S64>(t, space);
  if (b.take("inc")) return t == Type::kU32 ? in_space<Increment, U32, Tells>(space) : nullptr;
  if (b.take("dec")) return t == Type::kU32 ? in_space<Decrement, U32, Tells>(space) : nullptr;
  if (!is_bits(t)) return nullptr;
  if (b.take("and")) return of_type<And, Tells, U32, U64>(t, space);
  if (b.take("or")) return of_type<Or, Tells, U32, U64>(t, space);
  if (b.take("xor")) return of_type<Xor, Tells, U32, U64>(t, space);
  if (b.take("exch")) {
    b.sums(Sum::kMoves);
    return of_type<Exchange, Tells, U32, U64>(t, space);
  }
  if (b.take("cas")) {
    b.sums(Sum::kSwaps);
    return of_type<CompareAndSwap, Tells, U16, U32, U64>(t, space);
  }
  return nullptr;
}

/// Several elements side by side, each updated by itself. The list: the summands, then the places
/// of what was there.
struct AtomicVector {
  using Head = MemoryOperand;
  MemoryOperand at = {};
  std::uint32_t list = 0;
  std::uint32_t elements = 0;
};
template <class F, class T, Space S, bool Tells>
void atomic_vector(Warp& warp, const Op& op, Mask mask) {
  Located found;
  const unsigned count = op.as<AtomicVector>().elements;
  const unsigned bytes = sizeof(T) * count;
  warp.poll();
  warp.block().update();
  locate(warp, op, mask, S, Direction::kAtomic, bytes, found);
  const std::uint32_t* slots = warp.code().lists.data() + op.as<AtomicVector>().list;
  bool changed = true;  // not worth a look
  for_each_lane(mask, [&](unsigned i) {
    std::byte* const at = found.run ? found.run + i * bytes : found.at[i];
    std::array<T, kMostBytes / sizeof(T)> b;  // read first: results may replace them
    for (unsigned e = 0; e < count; ++e) b[e] = warp.lanes<T>(slots[e])[i];
    for (unsigned e = 0; e < count; ++e) {
      const T old = update<F, T>(at + e * sizeof(T), b[e], b[e], changed);
      if (Tells) warp.lanes<T>(slots[count + e])[i] = old;
    }
  });
  tell_accessed(warp);
}

template <class F, class T, bool Tells>
Handler vector_in_space(Space space) {
  if (space == Space::kGlobal) return &atomic_vector<F, T, Space::kGlobal, Tells>;
  if (space == Space::kGeneric) return &atomic_vector<F, T, Space::kGeneric, Tells>;
  return nullptr;
}

template <bool Tells>
Handler pick_vector(Builder& b, Type t, Space space, bool noftz) {
  if (!b.take("add") || noftz != is_half(t)) return nullptr;
  b.sums(Sum::kAdds);
  switch (t) {
    case Type::kF32: return vector_in_space<AddFlushed, float, Tells>(space);
    case Type::kF16: return vector_in_space<AddHalves<false>, U16, Tells>(space);
    case Type::kBf16: return vector_in_space<AddHalves<true>, U16, Tells>(space);
    case Type::kF16x2: return vector_in_space<AddHalves<false>, U32, Tells>(space);
    case Type::kBf16x2: return vector_in_space<AddHalves<true>, U32, Tells>(space);
    default: return nullptr;
  }
}

template <bool Tells>
void build_vector(Builder& b, unsigned count, Space space, Ordering order, bool noftz) {
  const Type t = b.take_type();
  const Handler handler = pick_vector<Tells>(b, t, space, noftz);
  b.finish();
  if (!handler || width(t) / 8 * count > kMostBytes) {
    b.unsupported("this operation on this vector");
  }
  const std::size_t place = Tells ? 1 : 0;
  b.expect_operands(place + 2, place + 2);
  const auto elements = [&](std::size_t i) -> const std::vector<Operand>& {
    const Operand& list = b.operand(i);
    if (list.kind != Operand::Kind::kList || list.elements.size() != count) {
      b.unsupported("so many elements");
    }
    return list.elements;
  };
  std::vector<std::uint32_t> slots;
  for (const Operand& e : elements(place + 1)) {
    slots.push_back(b.source(e, width(t), is_float(t)));
  }
  if (Tells) {
    for (const Operand& e : elements(0)) slots.push_back(b.result(e, width(t)));
  }
  const AddressOperand address = b.address(place);
  const std::uint32_t list = b.list(slots);
  order.element = static_cast<std::uint8_t>(width(t) / 8);
  const MemoryOperand at = b.access(address, order);
  Op& op = b.emit(handler);
  op.a = address.base;
  op.put(AtomicVector{at, list, count});
}

template <bool Tells>
void build(Builder& b) {
  Space space = Space::kGeneric;
  if (b.take("global")) space = Space::kGlobal;
  if (b.take_any("shared", "shared::cta", "shared::cluster")) space = Space::kShared;
  Ordering order{.order = Order::kRelaxed, .scope = SyncScope::kDevice, .silent = !Tells};
  b.take("relaxed");
  if (b.take("acquire")) order.order = Order::kAcquire;
  if (b.take("release")) order.order = Order::kRelease;
  if (b.take("acq_rel")) order.order = Order::kAcquireRelease;
  if (b.take("cta")) order.scope = SyncScope::kBlock;
  if (b.take("cluster")) order.scope = SyncScope::kCluster;
  if (b.take("sys")) order.scope = SyncScope::kSystem;
  b.take("gpu");
  const bool noftz = b.take("noftz");
  if (const unsigned count = b.take("v2") ? 2 : b.take("v4") ? 4 : b.take("v8") ? 8 : 0) {
    return build_vector<Tells>(b, count, space, order, noftz);
  }
  const Type t = b.take_type();
  const bool swaps = std::ranges::count(b.in().modifiers, "cas") != 0;
  const Handler handler = pick_atomic<Tells>(b, t, space, noftz);
  b.finish();
  if (!handler) b.unsupported("this operation on this type");
  const std::size_t place = Tells ? 1 : 0;
  const bool three = b.operands() == place + 3;
  b.expect_operands(place + 2, place + 3);
  if (three != swaps) b.unsupported("so many operands");
  const Slot d = Tells ? b.result(0, width(t)) : 0;
  const Slot x = b.source(place + 1, t);
  const Slot y = three ? b.source(place + 2, t) : x;
  const AddressOperand address = b.address(place);
  const MemoryOperand at = b.access(address, order);
  Op& op = b.emit(handler);
  op.d = d;
  op.a = address.base;
  op.b = x;
  op.c = y;
  op.put(at);
}

constexpr Traits kParts{.parts = Traits::Parts::kSharedLoads};
constexpr Row kRows[] = {{"atom", build<true>, kParts}, {"red", build<false>, kParts}};

}  // namespace

std::span<const Row> atomic_rows() {
  return kRows;
}

}  // namespace emu
