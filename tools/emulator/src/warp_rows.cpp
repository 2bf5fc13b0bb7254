// What lanes of a warp do together. The warp's loop has seen to it that the lanes of the mask are
// all those that name each other and haven't exited.
#include <bit>

#include "lanes.hpp"
#include "table.hpp"

namespace emu {
namespace {

Op& emit_together(Builder& b, Handler handler, Slot member) {
  Op& op = b.emit(handler);
  op.control = Control::kTogether;
  op.member = member;
  return op;
}

// --- shfl.sync ------------------------------------------------------------------------------

enum class Shuffle { kUp, kDown, kButterfly, kIndex };

template <Shuffle Mode>
void shfl(Warp& warp, const Op& op, Mask mask) {
  std::array<std::uint32_t, kLanes> source;
  auto* d = warp.lanes<std::uint32_t>(op.d);
  const auto* a = warp.lanes<std::uint32_t>(op.a);
  const auto* b = warp.lanes<std::uint32_t>(op.b);
  const auto* c = warp.lanes<std::uint32_t>(op.c);
  for (unsigned i = 0; i < kLanes; ++i) source[i] = a[i];  // d may be a
  Mask in_range = 0;
  for_each_lane(mask, [&](unsigned lane) {
    const unsigned segment = c[lane] >> 8 & 31, clamp = c[lane] & 31, by = b[lane] & 31;
    const unsigned first = lane & segment;
    const unsigned last = first | (clamp & ~segment & 31);
    int from = 0;
    bool ok = false;
    if constexpr (Mode == Shuffle::kUp) {
      from = static_cast<int>(lane) - static_cast<int>(by);
      ok = from >= static_cast<int>(last);
    } else {
      from = static_cast<int>(Mode == Shuffle::kDown        ? lane + by
                              : Mode == Shuffle::kButterfly ? lane ^ by
                                                            : first | (by & ~segment));
      ok = from <= static_cast<int>(last);
    }
    if (!ok) from = static_cast<int>(lane);
    const auto j = static_cast<unsigned>(from);
    if (ok) in_range |= kBit[lane];
    if (!(mask >> j & 1)) {
      warp.warn(op, lane,
                "shfl.sync reads lane " + std::to_string(j) +
                    ", which the mask leaves out or which has exited");
    }
    d[lane] = source[j];
  });
  if (op.count) {
    Mask& p = warp.predicate(warp.code().lists[op.list]);
    p = (p & ~mask) | in_range;
  }
}

void build_shfl(Builder& b) {
  if (!b.take("sync")) b.unsupported("only the .sync form is PTX since sm_70");
  const Handler handler = b.take("up")     ? &shfl<Shuffle::kUp>
                          : b.take("down") ? &shfl<Shuffle::kDown>
                          : b.take("bfly") ? &shfl<Shuffle::kButterfly>
                          : b.take("idx")  ? &shfl<Shuffle::kIndex>
                                           : nullptr;
  if (!handler || b.take_type() != Type::kB32) b.unsupported("this form");
  b.finish();
  b.expect_operands(5, 5);
  const Operand& result = b.operand(0);
  const bool tells = !result.second.empty();
  const std::uint32_t list = tells ? b.list({b.predicate_named(result.second)}) : 0;
  const Slot d = b.result(0, 32), x = b.source(1, 32), y = b.source(2, 32), z = b.source(3, 32);
  const Slot member = b.source(4, 32);
  Op& op = emit_together(b, handler, member);
  op.d = d;
  op.a = x;
  op.b = y;
  op.c = z;
  op.list = list;
  op.count = tells;
}

// --- vote.sync ------------------------------------------------------------------------------

enum class Vote { kAll, kAny, kUni, kBallot };

template <Vote Kind>
void vote(Warp& warp, const Op& op, Mask mask) {
  const Mask yes = (warp.predicate(op.a) ^ static_cast<Mask>(op.imm)) & mask;
  if constexpr (Kind == Vote::kBallot) {
    for_each_lane(mask, [&](unsigned i) { warp.lanes<std::uint32_t>(op.d)[i] = yes; });
  } else {
    const bool result = Kind == Vote::kAll   ? yes == mask
                        : Kind == Vote::kAny ? yes != 0
                                             : yes == mask || yes == 0;
    Mask& d = warp.predicate(op.d);
    d = result ? d | mask : d & ~mask;
  }
}

void build_vote(Builder& b) {
  if (!b.take("sync")) b.unsupported("only the .sync form is PTX since sm_70");
  const bool ballot = b.take("ballot");
  const Handler handler = ballot          ? &vote<Vote::kBallot>
                          : b.take("all") ? &vote<Vote::kAll>
                          : b.take("any") ? &vote<Vote::kAny>
                          : b.take("uni") ? &vote<Vote::kUni>
                                          : nullptr;
  if (!handler || b.take_type() != (ballot ? Type::kB32 : Type::kPred)) b.unsupported("this form");
  b.finish();
  b.expect_operands(3, 3);
  const Slot d = b.result(0, ballot ? 32 : 1), x = b.predicate(1), member = b.source(2, 32);
  Op& op = emit_together(b, handler, member);
  op.d = d;
  op.a = x;
  op.imm = b.operand(1).negated ? -1 : 0;
}

// --- match.sync -----------------------------------------------------------------------------

template <class T>
void match_any(Warp& warp, const Op& op, Mask mask) {
  const T* a = warp.lanes<T>(op.a);
  std::array<Mask, kLanes> out{};
  for_each_lane(mask, [&](unsigned i) {
    for_each_lane(mask, [&](unsigned j) { out[i] |= a[i] == a[j] ? kBit[j] : 0; });
  });
  for_each_lane(mask, [&](unsigned i) { warp.lanes<std::uint32_t>(op.d)[i] = out[i]; });
}
template <class T>
void match_all(Warp& warp, const Op& op, Mask mask) {
  const T* a = warp.lanes<T>(op.a);
  const T first = a[std::countr_zero(mask)];
  bool same = true;
  for_each_lane(mask, [&](unsigned i) { same &= a[i] == first; });
  for_each_lane(mask, [&](unsigned i) { warp.lanes<std::uint32_t>(op.d)[i] = same ? mask : 0; });
  if (op.count) {
    Mask& p = warp.predicate(op.c);
    p = same ? p | mask : p & ~mask;
  }
}

void build_match(Builder& b) {
  const bool any = b.take("any"), all = b.take("all");
  if (!b.take("sync") || any == all) b.unsupported("this form");
  const Type t = b.take_type();
  b.finish();
  b.expect_operands(3, 3);
  if (t != Type::kB32 && t != Type::kB64) b.unsupported("this type");
  const bool wide = t == Type::kB64;
  const bool tells = !b.operand(0).second.empty();
  if (tells && any) b.unsupported("a predicate");
  const Slot p = tells ? b.predicate_named(b.operand(0).second) : 0;
  const Slot d = b.result(0, 32), x = b.source(1, t), member = b.source(2, 32);
  Op& op = emit_together(b,
                         any ? (wide ? &match_any<std::uint64_t> : &match_any<std::uint32_t>)
                             : (wide ? &match_all<std::uint64_t> : &match_all<std::uint32_t>),
                         member);
  op.d = d;
  op.a = x;
  op.c = p;
  op.count = tells;
}

// --- redux.sync -----------------------------------------------------------------------------

enum class Reduction { kAdd, kMin, kMax, kAnd, kOr, kXor };

template <Reduction Kind, class T>
void redux(Warp& warp, const Op& op, Mask mask) {
  const T* a = warp.lanes<T>(op.a);
  T out = a[std::countr_zero(mask)];
  for_each_lane(mask & (mask - 1), [&](unsigned i) {
    const T v = a[i];
    if constexpr (Kind == Reduction::kAdd) {
      out = static_cast<T>(static_cast<std::uint32_t>(out) + static_cast<std::uint32_t>(v));
    }
    if constexpr (Kind == Reduction::kMin) out = v < out ? v : out;
    if constexpr (Kind == Reduction::kMax) out = v > out ? v : out;
    if constexpr (Kind == Reduction::kAnd) out = out & v;
    if constexpr (Kind == Reduction::kOr) out = out | v;
    if constexpr (Kind == Reduction::kXor) out = out ^ v;
  });
  for_each_lane(mask, [&](unsigned i) { warp.lanes<T>(op.d)[i] = out; });
}

void build_redux(Builder& b) {
  if (!b.take("sync")) b.unsupported("this form");
  using U = std::uint32_t;
  using S = std::int32_t;
  const bool add = b.take("add"), min = b.take("min"), max = b.take("max");
  const bool conjunction = b.take("and"), disjunction = b.take("or"), parity = b.take("xor");
  const Type t = b.take_type();
  b.finish();
  b.expect_operands(3, 3);
  Handler handler = nullptr;
  if (t == Type::kU32 || t == Type::kS32) {
    const bool s = t == Type::kS32;
    if (add) handler = &redux<Reduction::kAdd, U>;
    if (min) handler = s ? &redux<Reduction::kMin, S> : &redux<Reduction::kMin, U>;
    if (max) handler = s ? &redux<Reduction::kMax, S> : &redux<Reduction::kMax, U>;
  } else if (t == Type::kB32) {
    if (conjunction) handler = &redux<Reduction::kAnd, U>;
    if (disjunction) handler = &redux<Reduction::kOr, U>;
    if (parity) handler = &redux<Reduction::kXor, U>;
  }
  if (!handler) b.unsupported("this form");
  const Slot d = b.result(0, 32), x = b.source(1, 32), member = b.source(2, 32);
  Op& op = emit_together(b, handler, member);
  op.d = d;
  op.a = x;
}

// --- the rest -------------------------------------------------------------------------------

void activemask(Warp& warp, const Op& op, Mask mask) {
  for_each_lane(mask, [&](unsigned i) { warp.lanes<std::uint32_t>(op.d)[i] = mask; });
}
void build_activemask(Builder& b) {
  if (b.take_type() != Type::kB32) b.unsupported("this type");
  emit_plain(b, &activemask, 32, {});
}

void elect(Warp& warp, const Op& op, Mask mask) {
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(mask));
  for_each_lane(mask, [&](unsigned i) { warp.lanes<std::uint32_t>(op.d)[i] = leader; });
  Mask& p = warp.predicate(op.c);
  p = (p & ~mask) | kBit[leader];
}
void build_elect(Builder& b) {
  if (!b.take("sync")) b.unsupported("this form");
  b.finish();
  b.expect_operands(2, 2);
  const Slot p = b.predicate_named(b.operand(0).second.empty() ? "_" : b.operand(0).second);
  const Slot d = b.result(0, 32), member = b.source(1, 32);
  Op& op = emit_together(b, &elect, member);
  op.d = d;
  op.c = p;
}

constexpr Row kRows[] = {
    {"shfl", build_shfl},
    {"vote", build_vote},
    {"match", build_match},
    {"redux", build_redux},
    {"activemask", build_activemask},
    {"elect", build_elect},
};

}  // namespace

std::span<const Row> warp_rows() {
  return kRows;
}

}  // namespace emu
