// Arithmetic of several words: the carry goes from one instruction to the next in a flag, here a
// predicate that each function has where it needs one.
#include "isa/table.hpp"
#include "machine/lanes.hpp"

namespace emu {

void build_add(Builder& b);  // integer.cpp
void build_sub(Builder& b);
void build_mad(Builder& b);

namespace {

enum class Kind { kAdd, kSub, kMadLo, kMadHi };
constexpr std::int64_t kIn = 1, kOut = 2;

/// op.member is the flag; op.imm says whether it goes in and whether it comes out.
template <class T, Kind What>
void carried(Warp& warp, const Op& op, Mask mask) {
  using Wide = std::conditional_t<sizeof(T) == 4, std::uint64_t, unsigned __int128>;
  using WideSigned = std::conditional_t<sizeof(T) == 4, std::int64_t, __int128>;
  using U = std::make_unsigned_t<T>;
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  const T* c = warp.lanes<T>(op.c);
  Mask& flag = warp.predicate(op.member);
  for_each_lane(mask, [&](unsigned i) {
    const U in = op.imm & kIn ? flag >> i & 1 : 0;
    Wide sum = 0;
    if constexpr (What == Kind::kAdd) {
      sum = Wide{static_cast<U>(a[i])} + static_cast<U>(b[i]) + in;
    } else if constexpr (What == Kind::kSub) {
      // The flag is the carry of a + ~b + 1, so it is set where nothing was borrowed. Between
      // subtractions that can't be told from a borrow, as the ISA has it, but compilers' division
      // of 128 bits takes it up by an addc.
      const U first = op.imm & kIn ? in : 1;
      sum = Wide{static_cast<U>(a[i])} + static_cast<U>(~static_cast<U>(b[i])) + first;
    } else {
      const Wide product = std::is_signed_v<T>
                               ? static_cast<Wide>(static_cast<WideSigned>(a[i]) * b[i])
                               : static_cast<Wide>(static_cast<U>(a[i])) * static_cast<U>(b[i]);
      const U part = static_cast<U>(What == Kind::kMadHi ? product >> (8 * sizeof(T)) : product);
      sum = Wide{part} + static_cast<U>(c[i]) + in;
    }
    d[i] = static_cast<T>(static_cast<U>(sum));
    if (op.imm & kOut) {
      const bool out = (sum >> (8 * sizeof(T))) & 1;
      flag = out ? flag | kBit[i] : flag & ~kBit[i];
    }
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
  const Slot flag = b.carry();
  Op& op = What == Kind::kAdd || What == Kind::kSub
               ? emit_plain(b, carried_handler<What>(t), width(t), {t, t})
               : emit_plain(b, carried_handler<What>(t), width(t), {t, t, t});
  op.member = flag;
  op.imm = (in ? kIn : 0) | (out ? kOut : 0);
}

void build_madc(Builder& b, bool in, bool out) {
  const bool lo = b.take("lo"), hi = b.take("hi");
  if (lo == hi) b.unsupported("lo or hi");
  lo ? build<Kind::kMadLo>(b, in, out) : build<Kind::kMadHi>(b, in, out);
}

constexpr Row kRows[] = {
    {"add", [](Builder& b) { b.take("cc") ? build<Kind::kAdd>(b, false, true) : build_add(b); }},
    {"addc", [](Builder& b) { build<Kind::kAdd>(b, true, b.take("cc")); }},
    {"sub", [](Builder& b) { b.take("cc") ? build<Kind::kSub>(b, false, true) : build_sub(b); }},
    {"subc", [](Builder& b) { build<Kind::kSub>(b, true, b.take("cc")); }},
    {"mad", [](Builder& b) { b.take("cc") ? build_madc(b, false, true) : build_mad(b); }},
    {"madc", [](Builder& b) { build_madc(b, true, b.take("cc")); }},
};

}  // namespace

std::span<const Row> carry_rows() {
  return kRows;
}

}  // namespace emu
