/// \file
/// What rows of the instruction table are made of. An operation is a struct with a static `apply`
/// on one lane's values; `map` makes a handler of it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "decode/builder.hpp"
#include "machine/host.hpp"
#include "machine/lanes.hpp"
#include "machine/warp.hpp"
#include "ptx/types.hpp"

namespace emu {

/// d = F(a), F(a, b) or F(a, b, c) for every lane of the mask; others keep what they have.
template <class F, class D, class A>
void map(Warp& warp, const Op& op, Mask mask) {
  D* const d = warp.lanes<D>(op.d);
  const A* const a = warp.lanes<A>(op.a);
  if (mask == kAllLanes) {
    EMU_FOR_LANES d[i] = F::apply(a[i]);
  } else {
    EMU_FOR_LANES d[i] = mask & kBit[i] ? F::apply(a[i]) : d[i];
  }
}
template <class F, class D, class A, class B>
void map(Warp& warp, const Op& op, Mask mask) {
  D* const d = warp.lanes<D>(op.d);
  const A* const a = warp.lanes<A>(op.a);
  const B* const b = warp.lanes<B>(op.b);
  if (mask == kAllLanes) {
    EMU_FOR_LANES d[i] = F::apply(a[i], b[i]);
  } else {
    EMU_FOR_LANES d[i] = mask & kBit[i] ? F::apply(a[i], b[i]) : d[i];
  }
}
template <class F, class D, class A, class B, class C>
void map(Warp& warp, const Op& op, Mask mask) {
  D* const d = warp.lanes<D>(op.d);
  const A* const a = warp.lanes<A>(op.a);
  const B* const b = warp.lanes<B>(op.b);
  const C* const c = warp.lanes<C>(op.c);
  if (mask == kAllLanes) {
    EMU_FOR_LANES d[i] = F::apply(a[i], b[i], c[i]);
  } else {
    EMU_FOR_LANES d[i] = mask & kBit[i] ? F::apply(a[i], b[i], c[i]) : d[i];
  }
}

/// An operation derived from this is compiled once, not for each kind of host; so is all that
/// gives registers of 16 bits.
struct Rare {};

/// The same as a handler for each kind of host.
template <class F, class D, class... Sources>
inline constexpr Forms kMap = kForms<&map<F, D, Sources...>>;
template <class F, class D, class... Sources>
requires(sizeof(D) == 2 ||
         std::is_base_of_v<Rare, F>) inline constexpr Forms kMap<F, D, Sources...>{
    &map<F, D, Sources...>, &map<F, D, Sources...>, &map<F, D, Sources...>};

/// Whether a register of PTX type `type` is held as a T.
template <class T>
constexpr bool holds(Type type) {
  if (type == Type::kPred) return false;
  if constexpr (std::is_same_v<T, float>) {
    return type == Type::kF32;
  } else if constexpr (std::is_same_v<T, double>) {
    return type == Type::kF64;
  } else {
    return !is_float(type) && width(type) == 8 * sizeof(T) &&
           is_signed(type) == std::is_signed_v<T>;
  }
}

/// The handler for the first of `Ts` that holds the type, made by Make<T>; null for none.
template <template <class> class Make, class... Ts>
Handler pick(Type type) {
  Handler handler = nullptr;
  static_cast<void>(((holds<Ts>(type) && (handler = Make<Ts>::handler, true)) || ...));
  return handler;
}

/// Arithmetic in a type wide enough that nothing overflows into undefined behaviour.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;

/// `d, a[, b[, c]]` with the sizes given. Checks that all modifiers were taken.
inline Op& emit_plain(Builder& b, Handler handler, unsigned result_width,
                      std::initializer_list<Type> sources) {
  b.finish();
  if (!handler) b.unsupported("this type");
  b.expect_operands(sources.size() + 1, sources.size() + 1);
  std::array<Slot, 3> slots{};
  std::size_t n = 0;
  for (const Type t : sources) {
    slots[n] = b.source(n + 1, t);
    ++n;
  }
  const Slot d = b.result(0, result_width);
  Op& op = b.emit(handler);
  op.d = d;
  op.a = slots[0];
  op.b = slots[1];
  op.c = slots[2];
  return op;
}

}  // namespace emu
