// Arithmetic of several words: the carry goes from one instruction to the next in a flag, here a
// predicate that each function has where it needs one.
#include "isa/rows.hpp"
#include "isa/table.hpp"
#include "isa/wide.hpp"

namespace emu {

void build_add(Builder& b);  // integer.cpp
void build_sub(Builder& b);
void build_mad(Builder& b);

namespace {

enum class Kind { kAdd, kSub, kMadLo, kMadHi };
struct Carry {
  Slot flag = 0;
  bool in = false, out = false;  ///< whether it goes in and whether it comes out
};

template <class T, Kind What>
void carried(Warp& warp, const Op& op, Mask mask) {
  using U = std::make_unsigned_t<T>;
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  const T* c = warp.lanes<T>(op.c);
  const auto& carry = op.as<Carry>();
  Mask& flag = warp.predicate(carry.flag);
  for_each_lane(mask, [&](unsigned i) {
    bool bit = carry.in && (flag >> i & 1);
    const auto x = static_cast<U>(a[i]), y = static_cast<U>(b[i]);
    U sum = 0;
    if constexpr (What == Kind::kAdd) {
      sum = add_carry(x, y, bit);
    } else if constexpr (What == Kind::kSub) {
      // The flag is the carry of a + ~b + 1, so it is set where nothing was borrowed. Between
      // subtractions that can't be told from a borrow, as the ISA has it, but compilers' division
      // of 128 bits takes it up by an addc.
      if (!carry.in) bit = true;
      sum = add_carry(x, static_cast<U>(~y), bit);
    } else {
      const U part =
          What == Kind::kMadHi ? static_cast<U>(upper_product(a[i], b[i])) : static_cast<U>(x * y);
      sum = add_carry(part, static_cast<U>(c[i]), bit);
    }
    d[i] = static_cast<T>(sum);
    if (carry.out) flag = bit ? flag | kBit[i] : flag & ~kBit[i];
  });
}

template <Kind What>
Handler carried_handler(Type t) {
  switch (t) {
    case Type::kU32: return &carried<std::uint32_t, What>;
    case Type::kS32: return &carried<std::int32_t, What>;
    case Type::kU64: return &carried<std::uint64_t, What>;
    case Type::kS64: return &carried<std::int64_t, What>;
    default: return nullptr;
  }
}

template <Kind What>
void build(Builder& b, bool in, bool out) {
  const Type t = b.take_type();
  const Slot flag = b.carry(in, out);
  b.sums(Code::Flow::Sum::kLoses);
  Op& op = What == Kind::kAdd || What == Kind::kSub
               ? emit_plain(b, carried_handler<What>(t), width(t), {t, t})
               : emit_plain(b, carried_handler<What>(t), width(t), {t, t, t});
  op.put(Carry{flag, in, out});
}

void build_madc(Builder& b, bool in, bool out) {
  const bool lo = b.take("lo"), hi = b.take("hi");
  if (lo == hi) b.unsupported("lo or hi");
  lo ? build<Kind::kMadLo>(b, in, out) : build<Kind::kMadHi>(b, in, out);
}

using LowZeros = Traits::LowZeros;
constexpr Row kRows[] = {
    {"add",
     [](Builder& b) { b.take("cc") ? build<Kind::kAdd>(b, false, true) : build_add(b); },
     {.low_zeros = LowZeros::kLeast, .sum = Code::Flow::Sum::kAdds}},
    {"addc", [](Builder& b) { build<Kind::kAdd>(b, true, b.take("cc")); }},
    {"sub",
     [](Builder& b) { b.take("cc") ? build<Kind::kSub>(b, false, true) : build_sub(b); },
     {.low_zeros = LowZeros::kLeast, .sum = Code::Flow::Sum::kSubtracts}},
    {"subc", [](Builder& b) { build<Kind::kSub>(b, true, b.take("cc")); }},
    {"mad",
     [](Builder& b) { b.take("cc") ? build_madc(b, false, true) : build_mad(b); },
     {.low_zeros = LowZeros::kSumOrThird, .sum = Code::Flow::Sum::kMultipliesAndAdds}},
    {"madc", [](Builder& b) { build_madc(b, true, b.take("cc")); }},
};

}  // namespace

std::span<const Row> carry_rows() {
  return kRows;
}

}  // namespace emu
